//! `paceline fetch`, as a person or a script meets it: the built command before scripted servers on
//! loopback.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on is red")]

#[path = "../support/mod.rs"]
mod support;

mod hidden;
mod input;
mod interruption;
mod metrics;
mod pages;
mod upstreams;

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
