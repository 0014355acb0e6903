//! `fetch --share machine`: real processes, real files, a server on loopback that enforces a limit exactly.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on is red")]
#![allow(dead_code, reason = "of the support, each test file uses its own part")]

mod lab;
mod status;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;
mod top;

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use lab::{Lab, came, sum};
use paceline::testing::{LimitedService, Script, ServerSpec};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// From the first arrival to the last, in seconds.
fn took(lab: &Lab) -> f64 {
    let stats = lab.stats();
    let span = stats.last_at.unwrap() - stats.first_at.unwrap();
    span.as_secs_f64()
}

#[test]
fn ten_processes_keep_one_burst_and_one_rate_and_none_is_refused() {
    let lab = Lab::new(ServerSpec::token_bucket(10.0, 50), ms(20));
    let came = lab.run(10, 8, &["--limit", "10/s burst 50"]);
    assert_eq!((sum(&came, "ok"), sum(&came, "refused")), (80, 0));
    assert_eq!(lab.stats().refused, 0);
    let took = took(&lab);
    assert!((2.9..3.3).contains(&took), "thirty at ten a second: {took}");
}

#[test]
fn a_slow_server_is_asked_at_its_rate_by_all_together() {
    let lab = Lab::new(ServerSpec::token_bucket(10.0, 10), ms(470));
    let came = lab.run(4, 20, &["--limit", "10/s burst 10", "--concurrency", "4"]);
    assert_eq!((sum(&came, "ok"), sum(&came, "refused")), (80, 0));
    let took = took(&lab);
    assert!(
        (6.9..7.3).contains(&took),
        "seventy at ten a second: {took}"
    );
}

#[test]
fn never_more_than_a_strict_limit_in_any_stretch() {
    // The first of them connect, the later ones need not: that much closer they may arrive than they were sent.
    let connecting = ms(150);
    let window = ms(2_000) - connecting;
    let lab = Lab::new(ServerSpec::sliding_log(20, window), ms(5));
    let came = lab.run(5, 16, &["--limit", "20/2s"]);
    assert_eq!((sum(&came, "ok"), sum(&came, "refused")), (80, 0));
    assert_eq!(lab.stats().most_within(window), 20);
}

#[test]
fn places_in_flight_are_counted_across_processes() {
    let lab = Lab::new(ServerSpec::concurrency(3), ms(50));
    let came = lab.run(4, 10, &["--limit", "3 in flight"]);
    assert_eq!((sum(&came, "ok"), sum(&came, "refused")), (40, 0));
    assert_eq!(lab.stats().max_in_flight, 3);
}

#[test]
fn a_page_alone_is_as_fast_as_without_sharing() {
    let lab = Lab::new(ServerSpec::open(), ms(80));
    lab.run(1, 1, &[]);
    let came = lab.run(1, 1, &["--limit", "10/s burst 50"]);
    let elapsed = came[0].results[0]["elapsed_s"].as_f64().unwrap();
    let waited = came[0].results[0]["waited_s"].as_f64().unwrap();
    assert!(waited < 0.005, "{waited}");
    assert!(elapsed < 0.5, "{elapsed}");
}

#[test]
fn whoever_comes_first_goes_first() {
    let lab = Lab::new(ServerSpec::open(), ms(0));
    let limit = ["--limit", "10/s burst 1"];
    let first = lab.start(10, &limit);
    lab.wait_for(2);
    let second = lab.start(1, &limit);
    let first = came(first);
    let second = came(second);
    assert_eq!(first.summary["ok"], 10);
    let waited = second.results[0]["waited_s"].as_f64().unwrap();
    assert!(
        (0.5..1.2).contains(&waited),
        "behind those who waited: {waited}"
    );
}

#[test]
fn a_pause_that_one_is_told_holds_the_others() {
    let script = Script::status(429)
        .header("retry-after", "3")
        .then(200)
        .forever();
    let lab = Lab::before(LimitedService::scripted(script));
    let began = Instant::now();
    let first = lab.start(1, &[]);
    lab.wait_for(1);
    std::thread::sleep(ms(50));
    let hurried = came(lab.start(1, &["--total", "100ms"]));
    let line = &hurried.results[0];
    assert_eq!(
        (&line["ok"], &line["reason"]),
        (&false.into(), &"deadline".into())
    );
    assert!(line["error"].as_str().unwrap().contains("pause"), "{line}");
    assert!(began.elapsed() < ms(2_500), "it was told at once");
    let patient = came(lab.start(1, &[]));
    assert_eq!(patient.summary["refused"], 0);
    assert!(began.elapsed() >= ms(2_900), "{:?}", began.elapsed());
    assert_eq!(came(first).summary["ok"], 1);
}

#[test]
fn what_a_killed_process_held_is_free_within_a_second() {
    let lab = Lab::new(ServerSpec::open(), ms(60_000));
    let limit = [
        "--limit",
        "2 in flight",
        "--timeout",
        "2s",
        "--total",
        "10s",
    ];
    let mut holds = lab.start(2, &["--limit", "2 in flight", "--timeout", "60s"]);
    lab.wait_for(2);
    let waits = lab.start(1, &limit);
    std::thread::sleep(ms(300));
    assert_eq!(lab.stats().received, 2);
    holds.kill().unwrap();
    holds.wait().unwrap();
    let killed = Instant::now();
    lab.wait_for(3);
    assert!(killed.elapsed() < ms(1_000), "{:?}", killed.elapsed());
    drop(came(waits));
}

/// What it learned is tried thrice: on a busy machine requests arrive in another rhythm than they leave in, and one that is a few
/// milliseconds early is refused, now and then.
#[test]
fn what_one_learned_is_known_to_the_next() {
    let lab = Lab::new(ServerSpec::token_bucket(5.0, 5), ms(20));
    // After thirty it is still being narrowed down, which costs one process alone two refusals in the next ten now and then.
    let learns = lab.run(1, 60, &[]);
    assert_eq!(learns[0].summary["ok"], 60);
    assert!(lab.stats().refused > 0, "nobody said what the limit is");
    let mut refused = [0; 3];
    for own in &mut refused {
        let before = lab.stats();
        let knows = lab.run(1, 10, &[]);
        assert_eq!(knows[0].summary["ok"], 10);
        let after = lab.stats();
        *own = after.refused - before.refused;
        // Who knows nothing sends all ten at once.
        let arrived = &after.arrivals[before.arrivals.len()..];
        let first = arrived.iter().filter(|at| **at < arrived[0] + ms(100));
        assert!(first.count() <= 6, "{arrived:?}");
    }
    refused.sort_unstable();
    assert!(refused[1] <= 1, "it knew: {refused:?}");
}

#[test]
fn a_folder_that_cannot_be_shared_is_said_and_a_pace_is_kept_all_the_same() {
    let lab = Lab::new(ServerSpec::token_bucket(20.0, 5), ms(5));
    let state = lab.folder.path().join("state");
    std::os::unix::fs::symlink("/tmp", &state).unwrap();
    let came = lab.run(1, 10, &["--limit", "20/s burst 5"]);
    assert_eq!((sum(&came, "ok"), sum(&came, "refused")), (10, 0));
    let said = &came[0].said;
    assert!(said.contains("is a symbolic link"), "{said}");
    assert!(said.contains("for this process alone"), "{said}");
}

#[test]
fn nobody_else_can_look_into_the_folder_and_no_credential_is_in_it() {
    let lab = Lab::new(ServerSpec::open(), ms(0));
    let secret = "Authorization: Bearer s3cr3t-s3cr3t-s3cr3t";
    lab.run(1, 2, &["-H", secret, "--limit", "10/s"]);
    let state = lab.folder.path().join("state");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    for entry in std::fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            assert_eq!(mode(&path), 0o600, "{path:?}");
            let bytes = std::fs::read(&path).unwrap();
            let held = bytes.windows(6).any(|window| window == b"s3cr3t");
            assert!(!held, "{path:?}");
        }
    }
}
