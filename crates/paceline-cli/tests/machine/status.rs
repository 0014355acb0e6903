//! `paceline status`: what is shared, and taking it back.

use super::*;
use serde_json::Value;

fn gates(lab: &Lab) -> Vec<Value> {
    let ended = lab.status(&["--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    object["gates"].as_array().unwrap().clone()
}

#[test]
fn where_nothing_is_shared_there_is_nothing_to_see() {
    let lab = Lab::new(ServerSpec::open(), ms(0));
    assert!(gates(&lab).is_empty());
    let ended = lab.status(&[]);
    assert_eq!(
        (ended.code, &*ended.stdout),
        (Some(0), "no pace is shared\n")
    );
    let ended = lab.status(&["--reset", "nobody"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("no upstream is called nobody"),
        "{ended:?}"
    );
}

#[test]
fn a_pause_is_seen_and_a_reset_ends_it() {
    let script = Script::status(429)
        .header("retry-after", "60")
        .then(200)
        .forever();
    let lab = Lab::before(LimitedService::scripted(script));
    let limit = ["--limit", "10/s burst 50", "--total", "90s"];
    let mut told = lab.start(1, &limit);
    lab.wait_for(1);
    let held = lab.start(1, &limit);
    let start = Instant::now();
    let paused = loop {
        let gates = gates(&lab);
        let paused = gates
            .iter()
            .any(|gate| gate["reason"] == "pause" && gate["waiting"] == 2);
        if paused || start.elapsed() > Duration::from_secs(10) {
            break gates;
        }
    };
    let gate = &paused[0];
    assert_eq!(
        (&gate["upstream"], &gate["processes"]),
        (&lab.origin().into(), &2.into())
    );
    let wait = gate["throttled_for_s"].as_f64().unwrap();
    assert!((40.0..62.0).contains(&wait), "{gate}");
    assert!(
        gate["throttled_until"].as_str().unwrap().ends_with('Z'),
        "{gate}"
    );
    assert_eq!(gate["limits"][0]["limit"], "10/s burst 50");
    let people = lab.status(&[]);
    assert!(
        people.stdout.contains("the upstream asked for a pause"),
        "{people:?}"
    );

    let ended = lab.status(&["--reset", &lab.origin()]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), "1 reset\n"));
    let held = came(held);
    assert_eq!(held.summary["ok"], 1);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "it went on at once"
    );
    // Whoever was told itself keeps to that.
    told.kill().unwrap();
    told.wait().unwrap();
}

#[test]
fn a_record_of_a_newer_version_is_named_and_nothing_is_made_of_it() {
    let lab = Lab::new(ServerSpec::open(), ms(0));
    lab.run(1, 1, &[]);
    lab.becomes_newer();
    let ended = lab.status(&[]);
    assert_eq!(
        (ended.code, &*ended.stdout),
        (Some(0), "no pace is shared\n")
    );
    let says = format!(
        "warning: {} is left out: section 0 of the record cannot be read: a newer version wrote it; update this program\n",
        lab.origin()
    );
    assert_eq!(ended.stderr, says);
    assert!(gates(&lab).is_empty());
}

#[test]
fn a_budget_of_server_time_says_what_is_left_and_what_a_request_takes() {
    let lab = Lab::new(ServerSpec::open(), ms(100));
    let came = lab.run(2, 3, &["--limit", "30s server time / 60s"]);
    assert_eq!(sum(&came, "ok"), 6);
    let gate = &gates(&lab)[0];
    let limit = &gate["limits"][0];
    assert_eq!(limit["limit"], "30s server time / m");
    let left = limit["available"].as_f64().unwrap();
    let takes = limit["expected_s"].as_f64().unwrap();
    assert!((20.0..29.4).contains(&left), "{limit}");
    assert!((0.1..2.0).contains(&takes), "{limit}");
    let people = lab.status(&[]).stdout;
    assert!(
        people.contains(" s left, and a request takes 0."),
        "{people}"
    );
}
