//! Scenarios read: what is right, and every way to be wrong.

use core::time::Duration;

use super::*;
use crate::{RetryAfter, Wrap};

const ARENA: &str = include_str!("../../../../arena/scenarios.jsonl");

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
        "latency": 0.2, "jitter": 0.2, "seeds": 5, "give_up_after": 60.5, "ideal": 12.5, "nobody": {"asks": [null]},
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
made = 2026-11-30

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
fn what_a_scenario_lacks_is_named() {
    const KEYS: [(&str, &str); 6] = [
        ("name", "a text that is not empty"),
        ("shape", "one of flat, tree, burst"),
        ("requests", "a whole number from 1 to 1000000"),
        ("workers", "a whole number from 1 to 1000000"),
        ("latency", "seconds from 0 to 1000000000"),
        (
            "server",
            "an object with a kind, such as {\"kind\": \"gcra\", \"rate\": 2}",
        ),
    ];
    for (key, words) in KEYS {
        let good = scenario(r#"{"kind": "open"}"#, "");
        for bad in [
            good.replace(&format!("\"{key}\""), "\"other\""),
            good.replace(
                &format!("\"{key}\""),
                &format!("\"{key}\": null, \"other\""),
            ),
        ] {
            assert_eq!(
                complaint(&bad),
                format!("{key}: is missing; must be {words}")
            );
        }
    }
}

#[test]
fn what_a_scenario_cannot_have_is_named_with_what_would_be_right() {
    let good = scenario(r#"{"kind": "open"}"#, ", \"end\": 0");
    for (from, to, expected) in [
        (
            r#""n""#,
            r#"" ""#,
            "name: must be a text that is not empty, not \" \"",
        ),
        (
            r#""n""#,
            "[1]",
            "name: must be a text that is not empty, not a list",
        ),
        (
            r#""flat""#,
            r#""Flat""#,
            "shape: must be one of flat, tree, burst, not \"Flat\"",
        ),
        (
            "10",
            "1000000000",
            "requests: must be a whole number from 1 to 1000000, not 1000000000",
        ),
        (
            "10",
            "10.5",
            "requests: must be a whole number from 1 to 1000000, not 10.5",
        ),
        (
            "10",
            "1e300",
            "requests: must be a whole number from 1 to 1000000, not 1e300",
        ),
        (
            "10",
            "\"10\"",
            "requests: must be a whole number from 1 to 1000000, not \"10\"",
        ),
        ("10", "NaN", "requests: must be a finite number, not NaN"),
        (
            "10",
            "1e999",
            "requests: is not JSON at column 49: number out of range; must be one JSON object",
        ),
        (
            "2",
            "0",
            "workers: must be a whole number from 1 to 1000000, not 0",
        ),
        (
            "2",
            "-2",
            "workers: must be a whole number from 1 to 1000000, not -2",
        ),
        (
            "0.1",
            "-0.1",
            "latency: must be seconds from 0 to 1000000000, not -0.1",
        ),
        (
            "0.1",
            "-Infinity",
            "latency: must be a finite number, not -Infinity",
        ),
        (
            "0.1",
            "1e200",
            "latency: must be seconds from 0 to 1000000000, not 1e200",
        ),
        (
            "\"end\": 0",
            "\"jitter\": 0.2",
            "jitter: must be at most the latency (0.1 s), since no half-trip is shorter than nothing, not 0.2",
        ),
        (
            "\"end\": 0",
            "\"seeds\": 0",
            "seeds: must be a whole number from 1 to 10000, not 0",
        ),
        (
            "\"end\": 0",
            "\"fanout\": 0",
            "fanout: must be a whole number from 1 to 1000000, not 0",
        ),
        (
            "\"end\": 0",
            "\"give_up_after\": 0",
            "give_up_after: must be seconds, from a nanosecond to 1000000000, not 0",
        ),
        (
            "\"end\": 0",
            "\"ideal\": \"soon\"",
            "ideal: must be a number from 0 to 1000000000, not \"soon\"",
        ),
        (
            "\"end\": 0",
            "\"target\": {\"elapsed\": 1, \"refused\": 2}",
            "target.failed: is missing; must be a whole number of at least 0",
        ),
        (
            "\"end\": 0",
            "\"name\": \"m\"",
            "name: is there twice; must be there once",
        ),
        (
            "\"end\": 0}",
            "\"end\": 0, ",
            "is not JSON at column 115: EOF while parsing a value; must be one JSON object",
        ),
        (
            "\"end\": 0}",
            "\"end\": [0}",
            "end[1]: is not JSON at column 115: expected `,` or `]`; must be one JSON object",
        ),
    ] {
        assert_eq!(complaint(&good.replacen(from, to, 1)), expected);
    }
}

#[test]
fn what_a_server_cannot_have_is_named_with_what_would_be_right() {
    const RATE: &str = "must be a number above 0 and at most 1000000000";
    const SECONDS: &str = "must be seconds, from a nanosecond to 1000000000";
    const KINDS: &str = "must be one of token-bucket, gcra, fixed-window, sliding-log, concurrency, all-of, open, always";
    const WRAPS: &str = "must be one of random, outage, nth, poison, rival";
    const WORDS: &str =
        "must be one of none, zero, ceil, floor, floor1, float, or a number of seconds from 0 on";
    for (server, expected) in [
        (
            "7",
            "server: must be an object with a kind, such as {\"kind\": \"gcra\", \"rate\": 2}, not 7",
        ),
        ("{}", &format!("server.kind: is missing; {KINDS}")),
        (
            r#"{"kind": "leaky"}"#,
            &format!("server.kind: {KINDS}, not \"leaky\""),
        ),
        (
            r#"{"kind": "gcra"}"#,
            &format!("server.rate: is missing; {RATE}"),
        ),
        (
            r#"{"kind": "gcra", "rate": 0}"#,
            &format!("server.rate: {RATE}, not 0"),
        ),
        (
            r#"{"kind": "gcra", "rate": -3}"#,
            &format!("server.rate: {RATE}, not -3"),
        ),
        (
            r#"{"kind": "gcra", "rate": NaN}"#,
            "server.rate: must be a finite number, not NaN",
        ),
        (
            r#"{"kind": "gcra", "rate": Infinity}"#,
            "server.rate: must be a finite number, not Infinity",
        ),
        (
            r#"{"kind": "token-bucket", "rate": 2}"#,
            "server.burst: is missing; must be a whole number from 1 to 1000000000",
        ),
        (
            r#"{"kind": "token-bucket", "rate": 2, "rates": [[0, 1]], "burst": 1}"#,
            "server.rates: must not be there together with rate",
        ),
        (
            r#"{"kind": "token-bucket", "rates": [], "burst": 1}"#,
            "server.rates: must be a list of [from, rate], at least one, such as [[0, 10], [20, 2]], not an empty list",
        ),
        (
            r#"{"kind": "token-bucket", "rates": [[0, 1], [5, 1], [5, 2]], "burst": 1}"#,
            "server.rates[2][0]: must be later than the one before (5 s), not 5",
        ),
        (
            r#"{"kind": "token-bucket", "rates": [[0, 1], [5, -1]], "burst": 1}"#,
            "server.rates[1][1]: must be a number from 0 to 1000000000, not -1",
        ),
        (
            r#"{"kind": "token-bucket", "rates": [[0, 1], 5], "burst": 1}"#,
            "server.rates[1]: must be [from, rate], such as [20, 2], not 5",
        ),
        (
            r#"{"kind": "token-bucket", "rates": [[0, 1, 2]], "burst": 1}"#,
            "server.rates[0]: must be [from, rate], such as [20, 2], not a list of 3",
        ),
        (
            r#"{"kind": "token-bucket", "rates": [[0, 0]], "burst": 1}"#,
            "server.rates: must have a rate above 0; for a server that refuses everything there is always",
        ),
        (
            r#"{"kind": "fixed-window", "limit": 2, "window": 0}"#,
            &format!("server.window: {SECONDS}, not 0"),
        ),
        (
            r#"{"kind": "fixed-window", "limit": 2, "window": 1e-12}"#,
            &format!("server.window: {SECONDS}, not 1e-12"),
        ),
        (
            r#"{"kind": "fixed-window", "limit": 0, "window": 1}"#,
            "server.limit: must be a whole number of at least 1, not 0",
        ),
        (
            r#"{"kind": "sliding-log", "limit": 1, "window": 1, "count_refused": 1}"#,
            "server.count_refused: must be true or false, not 1",
        ),
        (
            r#"{"kind": "concurrency", "max": 1.5}"#,
            "server.max: must be a whole number of at least 1, not 1.5",
        ),
        (
            r#"{"kind": "all-of", "parts": []}"#,
            "server.parts: must be a list of servers, at least one, not an empty list",
        ),
        (
            r#"{"kind": "all-of", "parts": [{"kind": "open"}, {"kind": "gcra", "rate": true}]}"#,
            &format!("server.parts[1].rate: {RATE}, not true"),
        ),
        (
            r#"{"kind": "open", "status": 199}"#,
            "server.status: must be a whole number from 200 to 599, not 199",
        ),
        (
            r#"{"kind": "open", "retry_after": "soon"}"#,
            &format!("server.retry_after: {WORDS}, not \"soon\""),
        ),
        (
            r#"{"kind": "open", "retry_after": -1}"#,
            &format!("server.retry_after: {WORDS}, not -1"),
        ),
        (
            r#"{"kind": "open", "wrap": {"kind": "random"}}"#,
            "server.wrap: must be a list of objects, each with a kind, not an object",
        ),
        (
            r#"{"kind": "open", "wrap": [{"kind": "poison"}, {"kind": "random", "p": 1.5}]}"#,
            "server.wrap[1].p: must be a number from 0 to 1, not 1.5",
        ),
        (
            r#"{"kind": "open", "wrap": [{"kind": "flaky"}]}"#,
            &format!("server.wrap[0].kind: {WRAPS}, not \"flaky\""),
        ),
        (
            r#"{"kind": "open", "wrap": [{"kind": "outage", "windows": [[1, 2], [8, 5]]}]}"#,
            "server.wrap[0].windows[1][1]: must be later than its begin (8 s), not 5",
        ),
        (
            r#"{"kind": "open", "wrap": [{"kind": "nth", "nth": [1, 0]}]}"#,
            "server.wrap[0].nth[1]: must be a whole number of at least 1, not 0",
        ),
        (
            r#"{"kind": "open", "wrap": [{"kind": "rival", "rate": 1e7}]}"#,
            "server.wrap[0].rate: must be a number above 0 and at most 1000000, not 10000000.0",
        ),
    ] {
        assert_eq!(complaint(&scenario(server, "")), expected, "{server}");
    }
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
}

mod properties {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    /// Words that mean something somewhere, and some that do not.
    const WORDS: [&str; 24] = [
        "flat",
        "tree",
        "burst",
        "kind",
        "token-bucket",
        "gcra",
        "fixed-window",
        "sliding-log",
        "concurrency",
        "all-of",
        "open",
        "always",
        "random",
        "outage",
        "nth",
        "poison",
        "rival",
        "none",
        "ceil",
        "",
        "é\u{0}\"",
        "rate",
        "window",
        "parts",
    ];

    const KEYS: [&str; 28] = [
        "name",
        "shape",
        "requests",
        "workers",
        "latency",
        "jitter",
        "seeds",
        "fanout",
        "give_up_after",
        "server",
        "ideal",
        "target",
        "independent",
        "kind",
        "rate",
        "rates",
        "burst",
        "limit",
        "window",
        "phase",
        "max",
        "parts",
        "status",
        "retry_after",
        "wrap",
        "p",
        "windows",
        "nth",
    ];

    fn leaf() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-3_i64..12).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            proptest::sample::select(&WORDS).prop_map(Value::from),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let key = || proptest::sample::select(&KEYS).prop_map(str::to_owned);
        leaf().prop_recursive(5, 64, 8, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((key(), inner), 0..8)
                    .prop_map(|entries| Value::from(entries.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    /// A value anywhere in a scenario becomes another.
    fn replace(value: &mut Value, at: &mut usize, by: &Value) {
        if *at == 0 {
            *value = by.clone();
        }
        *at = at.wrapping_sub(1);
        match value {
            Value::Array(list) => list.iter_mut().for_each(|value| replace(value, at, by)),
            Value::Object(map) => map.values_mut().for_each(|value| replace(value, at, by)),
            _ => {}
        }
    }

    fn read_and_make(text: &str) {
        match Scenario::from_json(text) {
            Ok(scenario) => assert!(scenario.server.model(1).is_ok(), "{text}"),
            Err(error) => assert!(!error.problem.is_empty() && error.line >= 1, "{text}"),
        }
    }

    proptest! {
        #[test]
        fn any_value_is_read_or_refused(value in value()) {
            read_and_make(&value.to_string());
            let scenario = json!({
                "name": "n", "shape": "flat", "requests": 1, "workers": 1, "latency": 0, "server": value,
            });
            read_and_make(&scenario.to_string());
        }

        #[test]
        fn a_scenario_with_anything_in_it_is_read_or_refused(line in 0..446_usize, at in 0..60_usize, by in value()) {
            let text = ARENA.lines().nth(line).expect("so many lines");
            let mut scenario: Value = serde_json::from_str(text).expect("an object");
            replace(&mut scenario, &mut { at }, &by);
            read_and_make(&scenario.to_string());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}", line in 0..446_usize, cut in 0..900_usize) {
            let good = ARENA.lines().nth(line).expect("so many lines");
            let cut = cut.min(good.len());
            for text in [text.clone(), good[..cut].to_owned(), format!("{}{text}{}", &good[..cut], &good[cut..])] {
                read_and_make(&text);
                if let Err(error) = Scenario::from_toml(&text) {
                    prop_assert!(error.line >= 1);
                }
            }
        }
    }
}
