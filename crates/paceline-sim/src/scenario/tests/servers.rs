//! Every way for a server to be wrong.

use super::{complaint, scenario};

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
