//! Scenarios read: what is right, and every way to be wrong.

use core::time::Duration;

use super::*;
use crate::{RetryAfter, Wrap};

mod fields;
mod properties;
mod servers;

const ARENA: &str = include_str!("../../../../../arena/scenarios.jsonl");

/// Right in every way; what a test adds comes last.
fn scenario(server: &str, more: &str) -> String {
    format!(
        r#"{{"name": "n", "shape": "flat", "requests": 10, "workers": 2, "latency": 0.1, "server": {server}{more}}}"#
    )
}

/// As the error is displayed, without the line, which is 7.
fn complaint(text: &str) -> String {
    let error = Scenario::from_json_line(7, text).expect_err(text);
    assert_eq!(error.line, 7, "{text}");
    error.to_string().replacen("line 7: ", "", 1)
}

#[test]
fn what_is_left_out_is_usual() {
    let read = Scenario::from_json(&scenario(r#"{"kind": "open"}"#, "")).unwrap();
    let expected = Scenario {
        name: "n".into(),
        group: None,
        shape: Shape::Flat,
        requests: 10,
        workers: 2,
        latency: Duration::from_millis(100),
        jitter: Duration::ZERO,
        seeds: 1,
        give_up_after: Duration::from_secs(300),
        server: ServerSpec::open(),
        ideal: None,
        target: None,
        independent: None,
        shared_spacing: None,
    };
    assert_eq!(read, expected);
}

#[test]
fn json_and_toml_say_the_same() {
    let json = r#"{
        "name": "a tree", "group": "g", "shape": "tree", "requests": 1e3, "workers": 10, "fanout": 3,
        "latency": 0.2, "jitter": 0.2, "seeds": 5, "give_up_after": 60.5, "ideal": 12.5,
        "target": {"outcome": "completes", "elapsed": 343.65, "refused": 45, "failed": 0},
        "independent": {"elapsed": 7, "failed_runs": 1, "runs": 2, "failed_requests": 3, "refused": 4, "sent": 5},
        "shared_spacing": {"elapsed": 7},
        "server": {"kind": "all-of", "status": 503, "retry_after": 60, "parts": [
            {"kind": "token-bucket", "rates": [[0, 10], [20, 0], [80.5, 10]], "burst": 4},
            {"kind": "gcra", "rate": 2}, {"kind": "gcra", "rate": 2, "burst": 3},
            {"kind": "fixed-window", "limit": 5, "window": 10, "phase": 3},
            {"kind": "sliding-log", "limit": 5, "window": 10},
            {"kind": "sliding-log", "limit": 5, "window": 10, "count_refused": true},
            {"kind": "concurrency", "max": 5}, {"kind": "open"}, {"kind": "always", "retry_after": "float"}],
          "wrap": [
            {"kind": "random", "p": 0.05, "status": 503}, {"kind": "outage", "windows": [[5, 8], [9, 9.5]], "retry_after": "ceil"},
            {"kind": "nth", "nth": [1, 20]}, {"kind": "poison"}, {"kind": "poison", "request": 0},
            {"kind": "rival", "rate": 5}, {"kind": "rival", "rate": 0.5, "poisson": true}]}
    }"#;
    let toml = r#"
name = "a tree"
group = "g"
shape = "tree"
requests = 1_000
workers = 0xA
fanout = 3
latency = 0.2
jitter = 2e-1
seeds = 5
give_up_after = 60.5
ideal = 12.5
target = { outcome = "completes", elapsed = 343.65, refused = 45, failed = 0 }
independent = { elapsed = 7, failed_runs = 1, runs = 2, failed_requests = 3, refused = 4, sent = 5 }

[server]
kind = "all-of"
status = 503
retry_after = 60
parts = [
    { kind = "token-bucket", rates = [[0, 10], [20, 0], [80.5, 10]], burst = 4 },
    { kind = "gcra", rate = 2 }, { kind = "gcra", rate = 2, burst = 3 },
    { kind = "fixed-window", limit = 5, window = 10, phase = 3 },
    { kind = "sliding-log", limit = 5, window = 10 },
    { kind = "sliding-log", limit = 5, window = 10, count_refused = true },
    { kind = "concurrency", max = 5 }, { kind = "open" }, { kind = "always", retry_after = "float" },
]
wrap = [
    { kind = "random", p = 0.05, status = 503 },
    { kind = "outage", windows = [[5, 8], [9, 9.5]], retry_after = "ceil" },
    { kind = "nth", nth = [1, 20] }, { kind = "poison" }, { kind = "poison", request = 0 },
    { kind = "rival", rate = 5 }, { kind = "rival", rate = 0.5, poisson = true },
]
"#;
    let (s, ms) = (Duration::from_secs, Duration::from_millis);
    let parts = [
        ServerSpec::token_bucket_with_rates([(s(0), 10.0), (s(20), 0.0), (ms(80_500), 10.0)], 4),
        ServerSpec::gcra(2.0),
        ServerSpec::token_bucket(2.0, 3),
        ServerSpec::fixed_window(5, s(10), s(3)),
        ServerSpec::sliding_log(5, s(10)),
        ServerSpec::sliding_log_counting_refused(5, s(10)),
        ServerSpec::concurrency(5),
        ServerSpec::open(),
        ServerSpec::always().retry_after(RetryAfter::Float),
    ];
    let server = ServerSpec::all_of(parts)
        .status(503)
        .retry_after(RetryAfter::Seconds(60.0))
        .wrap(Wrap::random(0.05).status(503))
        .wrap(Wrap::outage([s(5)..s(8), s(9)..ms(9500)]).retry_after(RetryAfter::Ceil))
        .wrap(Wrap::nth([1, 20]))
        .wrap(Wrap::poison(7))
        .wrap(Wrap::poison(0))
        .wrap(Wrap::rival(5.0))
        .wrap(Wrap::poisson_rival(0.5));
    let expected = Scenario {
        name: "a tree".into(),
        group: Some("g".into()),
        shape: Shape::Tree { fanout: 3 },
        requests: 1000,
        workers: 10,
        latency: ms(200),
        jitter: ms(200),
        seeds: 5,
        give_up_after: ms(60_500),
        server,
        ideal: Some(12.5),
        target: Some(Target {
            elapsed: 343.65,
            refused: 45,
            failed: 0,
        }),
        independent: Some(Baseline {
            elapsed: 7.0,
            failed_runs: 1,
            runs: 2,
            failed_requests: 3,
            refused: 4,
            sent: 5,
        }),
        shared_spacing: None,
    };
    assert_eq!(Scenario::from_json(json).as_ref(), Ok(&expected));
    assert_eq!(Scenario::from_toml(toml).as_ref(), Ok(&expected));
}

#[test]
fn every_line_of_the_arena_reads() {
    let read: Vec<_> = Scenario::from_json_lines(ARENA).collect();
    assert_eq!(read.len(), 446);
    for (line, scenario) in read {
        let scenario = scenario.unwrap();
        assert!(scenario.target.is_some(), "{line}");
        assert!(scenario.group.is_some(), "{line}");
        assert!(scenario.independent.is_some() && scenario.shared_spacing.is_some());
    }
}

#[test]
fn a_bad_line_does_not_spoil_the_others() {
    let good = scenario(r#"{"kind": "open"}"#, "");
    let text = format!("\u{feff}{good}\r\n\r\n  \n{{\"name\": 1}}\nnonsense\n{good}");
    let read: Vec<(u64, Option<String>)> = Scenario::from_json_lines(&text)
        .map(|(line, read)| (line, read.err().map(|error| error.to_string())))
        .collect();
    let complaint = |line: u64, text: &str| (line, Some(format!("line {line}: {text}")));
    assert_eq!(
        read,
        [
            (1, None),
            complaint(
                4,
                "latency: is missing; must be seconds from 0 to 1000000000"
            ),
            complaint(
                5,
                "is not JSON at column 2: expected ident; must be one JSON object"
            ),
            (6, None),
        ]
    );
}

#[test]
fn what_nests_too_deep_is_an_error_in_both_languages() {
    let deep = "{\"kind\": \"all-of\", \"parts\": [".repeat(200) + &"]}".repeat(200);
    let said = complaint(&scenario(&deep, ""));
    let (field, problem) = said.split_once(": ").unwrap();
    assert!(field.starts_with("server.parts[0].parts[0]"), "{field}");
    assert_eq!(problem, "nests too deep; must be at most 32 levels");
    for levels in [40, 100_000] {
        let deep = format!(
            "name = \"n\"\nserver = {}{}",
            "[".repeat(levels),
            "]".repeat(levels)
        );
        assert_eq!(Scenario::from_toml(&deep).unwrap_err().line, 2, "{levels}");
    }
}

#[test]
fn an_error_names_the_line_of_its_field() {
    let json = "\n{\n  \"name\": \"n\",\n  \"latency\": 0,\n  \"server\": {\n    \"kind\": \"gcra\",\n    \"rate\":\n -1\n  },\n  \"shape\": \"flat\", \"requests\": 1, \"workers\": 1\n}";
    let error = Scenario::from_json(json).unwrap_err();
    assert_eq!((error.line, error.field.as_str()), (7, "server.rate"));
    let broken = json.replace("-1", "-1 2");
    let error = Scenario::from_json(&broken).unwrap_err();
    assert_eq!((error.line, error.field.as_str()), (8, "server"));

    let toml = "name = \"n\"\nlatency = nan\n[server]\nkind = \"gcra\"\nrate = inf\n";
    let error = Scenario::from_toml(toml).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: latency: must be seconds from 0 to 1000000000, not NaN"
    );
    let error = Scenario::from_toml("name = \"n\"\nlatency = \n").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.problem.starts_with("is not TOML: "), "{error}");
}

#[test]
fn no_text_and_texts_of_two_scenarios_are_errors() {
    for text in ["", " \n", "[]", "3", "null", "{} {}"] {
        assert!(Scenario::from_json(text).is_err(), "{text:?}");
    }
    assert!(Scenario::from_toml("").is_err());
    let two = scenario(r#"{"kind": "open"}"#, "").repeat(2);
    assert_eq!(
        complaint(&two),
        "has more after the first value; must be one JSON object (several, one a line, are JSON Lines)"
    );
}
