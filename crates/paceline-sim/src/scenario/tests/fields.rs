//! Every way for a scenario's own fields to be wrong.

use super::{complaint, scenario};

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
fn a_key_that_nothing_asks_for_is_a_mistake_wherever_it_is() {
    let open = r#"{"kind": "open"}"#;
    let target = r#", "target": {"elapsed": 1, "refused": 0, "failed": 0, "lost": 0}"#;
    for (server, more, place) in [
        (open, r#", "jiter": 0.5"#, "jiter"),
        (open, target, "target.lost"),
        (
            r#"{"kind": "fixed-window", "limit": 3, "window": 1, "burst": 3}"#,
            "",
            "server.burst",
        ),
        (
            r#"{"kind": "open", "wrap": [{"kind": "random", "p": 0.1, "rate": 1}]}"#,
            "",
            "server.wrap[0].rate",
        ),
        (
            r#"{"kind": "all-of", "parts": [{"kind": "open", "max": 1}]}"#,
            "",
            "server.parts[0].max",
        ),
    ] {
        let complaint = complaint(&scenario(server, more));
        let start = format!("{place}: is not a key here; must be one of ");
        assert!(complaint.starts_with(&start), "{complaint}");
    }
}
