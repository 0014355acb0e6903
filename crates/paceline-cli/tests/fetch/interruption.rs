//! Ctrl-C, and going on after it.

use super::*;

#[test]
fn an_interruption_lets_what_is_under_way_finish_and_a_resumed_run_does_the_rest() {
    let held = AtomicU32::new(0);
    let server = Server::start(move |seen| {
        if seen.line == "GET /4x" && held.fetch_add(1, Ordering::Relaxed) == 0 {
            // Under way when the interruption comes.
            std::thread::sleep(std::time::Duration::from_millis(700));
        }
        reply(200, "", &seen.line)
    });
    let folder = Folder::new();
    let input: String = (1..=30).map(|n| format!("{}/{n}x\n", server.url)).collect();
    folder.write("urls.txt", input);
    let args = [
        "-i",
        "urls.txt",
        "--results",
        "r.ndjson",
        "--resume",
        "--out",
        "out",
        "--json",
        "--total",
        "9h",
        "--limit",
        "4/h",
    ];
    let child = fetch(&folder, &args).spawn().unwrap();
    server.wait_for(4);
    interrupt(child.id());
    let ended = end(child);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
    let results = lines(&folder.read("r.ndjson"));
    let summary = &ended.facts()[0];
    assert_sums(summary, &results);
    assert_eq!(
        (&summary["ok"], &summary["sent"], &summary["interrupted"]),
        (&json!(4), &json!(4), &json!(true))
    );
    assert!(
        summary["reasons"]
            .as_object()
            .unwrap()
            .keys()
            .all(|reason| reason == "cancelled"),
        "{summary}"
    );

    // The last line was cut off, as by a power loss.
    let text = folder.read("r.ndjson");
    folder.write("r.ndjson", format!("{text}{{\"line\":9,\"url\":\"http"));
    let ended = run(fetch(&folder, &args[..args.len() - 2]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = &ended.facts()[0];
    assert_eq!(
        (&summary["ok"], &summary["skipped"]),
        (&json!(26), &json!(4))
    );
    let results = lines(&folder.read("r.ndjson"));
    let mut done: Vec<_> = results
        .iter()
        .filter(|result| result["ok"] == true)
        .map(|result| result["line"].as_u64().unwrap())
        .collect();
    done.dedup();
    assert_eq!(done, (1..=30).collect::<Vec<_>>());
    assert_eq!(server.seen().len(), 30);
    assert_eq!(folder.names("out").len(), 30);
}

#[test]
fn a_second_interruption_drops_what_is_under_way() {
    let server = Server::start(|_| {
        std::thread::sleep(std::time::Duration::from_secs(30));
        Vec::new()
    });
    let folder = Folder::new();
    let child = fetch(&folder, &[&server.url, "--json"]).spawn().unwrap();
    server.wait_for(1);
    let start = std::time::Instant::now();
    interrupt(child.id());
    interrupt_until_ended(&child, start);
    let ended = end(child);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let facts = ended.facts();
    assert_eq!(
        (&facts[0]["reason"], &facts[1]["sent"]),
        (&json!("cancelled"), &json!(1))
    );
    assert!(
        start.elapsed() < std::time::Duration::from_secs(4),
        "the grace was waited for"
    );
}

fn interrupt(process: u32) {
    let status = Command::new("kill")
        .args(["-INT", &process.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Signals that come before the first was seen are one signal: repeat until it has ended.
fn interrupt_until_ended(child: &std::process::Child, start: std::time::Instant) {
    let process = child.id().to_string();
    for _ in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(200));
        if start.elapsed() > std::time::Duration::from_secs(3) {
            return;
        }
        // It may have ended by now.
        let _ = Command::new("kill")
            .args(["-INT", &process])
            .stderr(Stdio::null())
            .status();
    }
}
