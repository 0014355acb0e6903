//! `paceline fetch`, as a person or a script meets it: the built command before scripted servers on
//! loopback.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on is red")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use support::{Folder, Seen, Server, end, fetch, lines, reply, run};

const KEYS: [&str; 11] = [
    "line",
    "url",
    "status",
    "ok",
    "attempts",
    "waited_s",
    "elapsed_s",
    "bytes",
    "file",
    "reason",
    "error",
];

/// A server that says which target was asked for; `/404` and the like answer with that status.
fn echo() -> Server {
    Server::start(|seen| {
        let target = seen.line.split(' ').nth(1).unwrap();
        let number = target.trim_start_matches('/').parse().ok();
        let status = number.filter(|status| *status >= 400).unwrap_or(200);
        reply(status, "", &format!("you asked for {target}"))
    })
}

fn keys(fact: &Value) -> Vec<&str> {
    fact.as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// requests = ok + failed = result lines, and every failure has its reason.
fn assert_sums(summary: &Value, results: &[Value]) {
    let number = |key: &str| summary[key].as_u64().unwrap();
    let ok = results.iter().filter(|result| result["ok"] == true).count() as u64;
    assert_eq!(
        (number("requests"), number("ok")),
        (results.len() as u64, ok),
        "{summary}"
    );
    assert_eq!(
        number("requests"),
        number("ok") + number("failed"),
        "{summary}"
    );
    let reasons = summary["reasons"].as_object().unwrap();
    assert_eq!(
        reasons
            .values()
            .map(|failures| failures.as_u64().unwrap())
            .sum::<u64>(),
        number("failed")
    );
    for key in ["elapsed_s", "waited_s", "slowest_s"] {
        assert!(summary[key].is_number(), "{summary}");
    }
}

#[test]
fn results_and_the_sum_have_the_keys_of_the_contract() {
    let (folder, server) = (Folder::new(), echo());
    let (one, missing) = (
        format!("{}/1", server.url.replace("://", "://me:pw@")),
        format!("{}/404", server.url),
    );
    let ended = run(fetch(&folder, &[&one, &missing, "--json"]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let last: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_eq!(summary, &last);
    assert_sums(summary, results);
    assert_eq!(
        (&summary["sent"], &summary["refused"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(summary["reasons"], json!({"final": 1}));
    for result in results {
        let mut expected = KEYS.to_vec();
        expected.sort_unstable();
        assert_eq!(keys(result), expected);
    }
    assert_eq!(results[0]["url"], format!("{}/1", server.url));
    assert_eq!(
        (&results[0]["bytes"], &results[0]["error"]),
        (&json!(16), &Value::Null)
    );
    assert_eq!(
        (&results[1]["status"], &results[1]["reason"]),
        (&json!(404), &json!("final"))
    );
    assert!(!format!("{ended:?}").contains("pw"));
    let basic = server.seen().iter().any(|seen| {
        seen.headers
            .contains(&"authorization: basic bwu6chc=".into())
    });
    assert!(basic, "{:?}", server.seen());
}

#[test]
fn bad_lines_are_named_and_the_others_are_done() {
    let (folder, server) = (Folder::new(), echo());
    let url = &server.url;
    let input = format!(
        "# a list\n{url}/1\n\nexample.com\n{{\"url\":\"{url}/2\",\
         \"headers\":{{\"X-A\":\"b\"}},\"body\":\"data\"}}\n{{\"url\":7}}\nftp://a/\n{url}/3"
    );
    folder.write("urls.txt", input);
    let ended = run(fetch(&folder, &["--input", "urls.txt", "--json"]));
    assert_eq!(ended.code, Some(1));
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_sums(summary, results);
    assert_eq!(summary["reasons"], json!({"invalid": 3}));
    let failed: Vec<_> = results
        .iter()
        .filter(|result| result["ok"] == false)
        .collect();
    for (result, line) in failed.iter().zip([4, 6, 7]) {
        assert_eq!(
            (&result["line"], &result["attempts"], &result["url"]),
            (&json!(line), &json!(0), &Value::Null)
        );
        assert!(
            result["error"]
                .as_str()
                .unwrap()
                .starts_with(&format!("line {line}: ")),
            "{result}"
        );
    }
    let posted = server
        .seen()
        .into_iter()
        .find(|seen| seen.line == "POST /2")
        .unwrap();
    assert_eq!(posted.body, "data");
    assert!(posted.headers.contains(&"x-a: b".into()));
}

#[test]
fn what_is_typed_wrong_says_what_would_be_right_before_anything_is_sent() {
    let (folder, server) = (Folder::new(), echo());
    folder.write(
        "paceline.toml",
        "[upstream.a]\nhosts = [\"a.example\"]\nlimits = [\"10/0s\"]\n",
    );
    folder.write("good.toml", "");
    folder.write("file", "");
    folder.write("urls", server.url.as_str());
    folder.write("notes", "precious\nnotes");
    folder.write("headers", "# mine\nX-A: b\nX-B: \u{7}\n");
    let url = server.url.as_str();
    let wrong: &[(&[&str], i32, &str)] = &[
        (
            &[url],
            2,
            "paceline.toml:3:11: upstream.a.limits[0]: \"10/0s\" is not a limit",
        ),
        (&["--config", "good.toml"], 2, "nothing to fetch"),
        (
            &["--config", "none.toml", url],
            2,
            "none.toml: it cannot be read",
        ),
        (
            &["--config", "good.toml", "--input", "none.txt"],
            2,
            "none.txt cannot be read: No such file",
        ),
        (
            &["--config", "good.toml", "--input", "."],
            2,
            ". cannot be read: is a directory",
        ),
        (
            &["--config", "good.toml", "--limit", "-1/s", url],
            2,
            "the amount is negative",
        ),
        (
            &["--config", "good.toml", "--limit", "10/0s", url],
            2,
            "the period is zero",
        ),
        (
            &["--config", "good.toml", "--total", "10", url],
            2,
            "\"10\" has no unit",
        ),
        (
            &["--config", "good.toml", "--timeout", "0s", url],
            2,
            "expected more than 0s",
        ),
        (
            &["--config", "good.toml", "--concurrency", "0", url],
            2,
            "0 is not in 1..=10000",
        ),
        (&["--config", "good.toml", "--resume", url], 2, "--results"),
        (
            &["--config", "good.toml", "--share", "machine", url],
            2,
            "does not share a pace with other processes yet",
        ),
        (
            &["--config", "good.toml", "--share", "redis://:secret@h", url],
            2,
            "redis://…@h",
        ),
        (
            &["--config", "good.toml", "--dialect", "github", url],
            2,
            "no dialect \"github\"",
        ),
        (
            &["--config", "good.toml", "--plot", "o.svg", url],
            2,
            "draws no charts yet",
        ),
        (
            &["--config", "good.toml", "-H", "secret", url],
            2,
            "expected 'Name: value'",
        ),
        (
            &["--config", "good.toml", "-H", "@headers", url],
            2,
            "headers:3: the value of x-b",
        ),
        (
            &["--config", "good.toml", "--method", "G T", url],
            2,
            "\"G T\" is not a method",
        ),
        (
            &["--config", "good.toml", "--data", "@none", url],
            2,
            "none cannot be read",
        ),
        (
            &["--config", "good.toml", "--out", "file", url],
            3,
            "--out: file cannot be written to",
        ),
        (
            &["--config", "good.toml", "--results", "none/r", url],
            3,
            "--results: none/r cannot be opened",
        ),
        (
            &[
                "--config",
                "good.toml",
                "--input",
                "urls",
                "--results",
                "./urls",
            ],
            2,
            "--results: ./urls is read by --input and would be written over",
        ),
        (
            &[
                "--config",
                "good.toml",
                "--results",
                "notes",
                "--resume",
                url,
            ],
            3,
            "its last line is not a result",
        ),
        (
            &["--config", "good.toml", "--metrics", "192.0.2.1:1", url],
            3,
            "--metrics: 192.0.2.1:1 cannot be served",
        ),
    ];
    for (args, code, says) in wrong {
        let ended = run(fetch(&folder, args));
        assert_eq!(ended.code, Some(*code), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
        assert!(
            !ended.stderr.contains("secret"),
            "{args:?}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    assert_eq!(server.seen().len(), 0);
    assert_eq!(folder.read("urls"), server.url);
    assert_eq!(folder.read("notes"), "precious\nnotes");
}

#[test]
fn servers_that_break_off_or_talk_too_much_fail_their_line_alone() {
    let server = Server::start(|seen| match seen.line.as_str() {
        "GET /half" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it".to_vec(),
        "GET /chunk" => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf".to_vec(),
        "GET /large" => reply(200, "", &"x".repeat(2000)),
        "GET /endless" => {
            let part = format!("3e8\r\n{}\r\n", "x".repeat(1000));
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{part}{part}").into()
        }
        "GET /headers" => {
            let fields: String = (0..1024)
                .map(|n| format!("x-{n:04}: {}\r\n", "v".repeat(55)))
                .collect();
            reply(200, &fields, "")
        }
        "GET /nonsense" => b"\0\x01\x02 what is this\r\n\r\n".to_vec(),
        "GET /nothing" => Vec::new(),
        _ => reply(200, "", "fine"),
    });
    let folder = Folder::new();
    let places = [
        "half", "chunk", "large", "endless", "headers", "nonsense", "nothing", "good",
    ];
    let urls: Vec<_> = places
        .iter()
        .map(|place| format!("{}/{place}", server.url))
        .collect();
    let mut args: Vec<&str> = urls.iter().map(String::as_str).collect();
    args.extend([
        "--max-body",
        "1KiB",
        "--out",
        "out",
        "--json",
        "--best-effort",
        "--concurrency",
        "1",
    ]);
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_sums(summary, results);
    let expected = [
        (Some("failure"), "broke off after 10 bytes"),
        (Some("failure"), "broke off after"),
        (Some("too_large"), "larger than 1024 bytes (--max-body)"),
        (Some("too_large"), "larger than 1024 bytes (--max-body)"),
        (None, "message head is too large"),
        (None, "invalid HTTP"),
        (None, "connection closed before message completed"),
    ];
    for (result, (reason, says)) in results.iter().zip(expected) {
        assert_eq!(result["ok"], false, "{result}");
        assert!(
            reason.is_none_or(|reason| result["reason"] == reason),
            "{result}"
        );
        assert!(result["error"].as_str().unwrap().contains(says), "{result}");
    }
    assert_eq!(results[7]["ok"], true);
    // No half file stays.
    assert_eq!(folder.names("out").len(), 1);
}

#[test]
fn an_upstream_that_nobody_reaches_fails_and_nothing_hangs() {
    let folder = Folder::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/", silent.local_addr().unwrap());
    let closed = format!("http://{closed}/");
    let args = [
        &closed,
        &silent,
        "--json",
        "--total",
        "500ms",
        "--timeout",
        "300ms",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let facts = ended.facts();
    assert_sums(&facts[2], &facts[..2]);
    assert!(
        facts[0]["error"]
            .as_str()
            .unwrap()
            .contains("Connection refused"),
        "{facts:?}"
    );
    assert_eq!(facts[1]["status"], Value::Null);
    assert!(facts[2]["sent"].as_u64().unwrap() >= 2);
}

#[test]
fn pages_are_followed_and_each_is_a_request() {
    let server = Server::start(|seen| match seen.line.as_str() {
        "GET /items" => reply(
            200,
            "link: </style>; rel=preload\r\nlink: <?page=2>; rel=\"next last\"\r\n",
            "1",
        ),
        "GET /items?page=2" => reply(200, "link: </moved>; rel=next\r\n", "2"),
        "GET /moved" => reply(302, "location: /deep/3\r\n", ""),
        // Relative to where the answer came from, not to what was asked.
        "GET /deep/3" => reply(200, "link: <4>; rel=next\r\n", "3"),
        "GET /deep/4" => reply(200, "link: </items>; rel=next\r\n", "4"),
        _ => reply(404, "", ""),
    });
    let folder = Folder::new();
    let url = format!("{}/items", server.url);
    let args = [
        &url,
        "--paginate",
        "--out",
        "out",
        "--json",
        "-H",
        "X-Key: k",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_sums(summary, results);
    assert_eq!(
        (&summary["requests"], &summary["sent"]),
        (&json!(4), &json!(5))
    );
    assert!(results.iter().all(|result| result["line"] == 1));
    assert_eq!(results[0]["next"], format!("{url}?page=2"));
    // The fourth leads back to the first: the walk ends, and says so.
    assert!(ended.stderr.contains("fetched before"), "{}", ended.stderr);
    assert_eq!(server.seen().len(), 5);
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.headers.contains(&"x-key: k".into()))
    );
    let names = folder.names("out");
    assert_eq!(
        names
            .iter()
            .map(|name| folder.read(&format!("out/{name}")))
            .collect::<String>(),
        "1234"
    );
    assert_eq!(names[0], "000001-127.0.0.1_items");
}

#[test]
fn pages_and_redirects_elsewhere_get_no_credentials() {
    let elsewhere = Server::start(|_| reply(200, "", "elsewhere"));
    let there = elsewhere.url.clone();
    let server = Server::start(move |seen| match seen.line.as_str() {
        "GET /redirect" => reply(302, &format!("location: {there}/a\r\n"), ""),
        _ => reply(200, &format!("link: <{there}/b>; rel=next\r\n"), ""),
    });
    let folder = Folder::new();
    let (redirect, pages) = (
        format!("{}/redirect", server.url),
        format!("{}/pages", server.url),
    );
    let args = [
        &redirect,
        &pages,
        "--paginate",
        "-H",
        "Authorization: Bearer secret",
        "-H",
        "Cookie: secret",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let leaks = |seen: &Seen| seen.headers.iter().any(|line| line.contains("secret"));
    assert!(server.seen().iter().all(leaks));
    assert_eq!(elsewhere.seen().len(), 2);
    assert!(
        !elsewhere.seen().iter().any(leaks),
        "{:?}",
        elsewhere.seen()
    );
    assert!(!format!("{ended:?}").contains("secret"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_certificates_fetches_http_all_the_same() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &[&server.url]);
    command
        .env("SSL_CERT_FILE", "none")
        .env("SSL_CERT_DIR", "none");
    let ended = run(command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("https will not work here"),
        "{ended:?}"
    );
}

#[test]
fn refused_requests_are_sent_again_and_counted() {
    let asked = AtomicU32::new(0);
    let server = Server::start(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => reply(429, "retry-after: 1\r\n", ""),
        1 => reply(503, "", ""),
        _ => reply(200, "", "served"),
    });
    let folder = Folder::new();
    let ended = run(fetch(&folder, &[&server.url, "--json"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let facts = ended.facts();
    assert_eq!(
        (&facts[0]["attempts"], &facts[1]["sent"]),
        (&json!(3), &json!(3))
    );
    assert!(facts[1]["refused"].as_u64().unwrap() >= 1, "{facts:?}");
    assert!(facts[0]["waited_s"].as_f64().unwrap() >= 1.0, "{facts:?}");
    assert_eq!(facts[0]["waited_s"], facts[1]["waited_s"]);
}

#[test]
fn a_limit_that_is_typed_is_kept() {
    let (folder, server) = (Folder::new(), echo());
    let input: String = (0..6).map(|n| format!("{}/{n}x\n", server.url)).collect();
    folder.write("urls.txt", input);
    let args = ["-i", "urls.txt", "--limit", "2/0.5s", "--json"];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = &ended.facts()[6];
    assert!(summary["elapsed_s"].as_f64().unwrap() >= 1.0, "{summary}");
    assert_eq!(summary["refused"], 0);
}

#[test]
fn standard_input_is_read_as_it_comes() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &["--input", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        // The next line is written when the one before has its result: nothing is held back.
        writeln!(stdin, "{}/{n}x", server.url).unwrap();
        let mut result = String::new();
        stdout.read_line(&mut result).unwrap();
        assert_eq!(lines(&result)[0]["line"], n + 1);
    }
    drop(stdin);
    let ended = end(child);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("3 ok, 0 failed"), "{}", ended.stderr);
}

#[test]
fn who_stops_reading_ends_it_without_a_fuss() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &["--input", "-", "--concurrency", "1"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    // It ends although its input does not.
    writeln!(stdin, "{}/1x", server.url).unwrap();
    let ended = end(child);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

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

#[test]
fn a_walk_that_broke_off_goes_on_at_the_page_that_failed() {
    let asked = AtomicU32::new(0);
    let server = Server::start(move |seen| match seen.line.as_str() {
        "GET /1" => reply(200, "link: </2>; rel=next\r\n", ""),
        "GET /2" if asked.fetch_add(1, Ordering::Relaxed) == 0 => reply(404, "", ""),
        "GET /2" => reply(200, "link: </3>; rel=next\r\n", ""),
        _ => reply(200, "", ""),
    });
    let folder = Folder::new();
    let url = format!("{}/1", server.url);
    let args = [&url, "--paginate", "--results", "r", "--resume"];
    let codes: Vec<_> = (0..3).map(|_| run(fetch(&folder, &args)).code).collect();
    assert_eq!(codes, [Some(1), Some(0), Some(0)]);
    let asked: Vec<_> = server.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(asked, ["GET /1", "GET /2", "GET /2", "GET /3"]);
}

#[test]
fn metrics_are_served_while_it_runs() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &["--input", "-", "--metrics", "127.0.0.1:0"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    writeln!(stdin, "{}/token=secret", server.url).unwrap();
    let (mut said, mut result) = (String::new(), String::new());
    stdout.read_line(&mut result).unwrap();
    stderr.read_line(&mut said).unwrap();
    let url = said.trim().strip_prefix("metrics: ").unwrap();
    let out = run(fetch(&folder, &[url, "--out", "out"]));
    assert_eq!(out.code, Some(0), "{out:?}");
    let text = folder.read(&format!("out/{}", folder.names("out")[0]));
    assert!(
        text.contains("paceline_requests_total{gate=\"origin\",class=\"ok\"} 1"),
        "{text}"
    );
    assert!(
        !text.contains("secret") && !text.contains("127.0.0.1"),
        "{text}"
    );
    drop(stdin);
    assert_eq!(end(child).code, Some(0));
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
