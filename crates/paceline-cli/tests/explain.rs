//! Responses explained from the command line: what is read in them, in facts and in words.

#[path = "support/folder.rs"]
mod folder;

use folder::{Folder, Said};
use serde_json::{Value, json};

const CASES: &str = include_str!("../../paceline-engine/tests/vectors/headers.jsonl");
const OTHERS: &str = include_str!("../../paceline-engine/tests/vectors/others.jsonl");
const NOW: &str = "2025-05-01T22:01:18Z";

fn explain(test: &str, arguments: &[&str], input: &str) -> Said {
    Folder::of("explain", test).run("explain", arguments, input)
}

fn facts(said: &Said) -> Vec<Value> {
    let lines = said.out.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

#[test]
fn every_case_is_read_as_expected() {
    for (test, cases, most) in [("cases", CASES, 186), ("others", OTHERS, 460)] {
        let said = explain(test, &["--jsonl"], cases);
        assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
        let read = facts(&said);
        let cases: Vec<Value> = cases
            .lines()
            .map(|line| serde_json::from_str(line).expect("a case"))
            .collect();
        assert_eq!(read.len(), cases.len());
        assert!(cases.len() >= most, "{}", cases.len());
        let mut failures = Vec::new();
        for (case, read) in cases.iter().zip(&read) {
            assert_eq!(case["id"], read["id"]);
            for (key, expected) in case["expected"].as_object().expect("an object") {
                if !contains(&read[key], expected) {
                    failures.push(format!(
                        "{} ({}): {key} is {} and should be {expected}",
                        case["id"], case["why"], read[key]
                    ));
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

/// Numbers within a thousandth, every member of a list somewhere, every key of an object.
fn contains(read: &Value, expected: &Value) -> bool {
    match (read, expected) {
        (Value::Number(read), Value::Number(expected)) => {
            let both = read.as_f64().zip(expected.as_f64());
            both.is_some_and(|(read, expected)| (read - expected).abs() <= 0.001)
        }
        (Value::Array(read), Value::Array(expected)) => expected
            .iter()
            .all(|expected| read.iter().any(|read| contains(read, expected))),
        (Value::Object(read), Value::Object(expected)) => expected
            .iter()
            .all(|(key, expected)| read.get(key).is_some_and(|read| contains(read, expected))),
        (read, expected) => read == expected,
    }
}

#[test]
fn a_response_is_one_object_with_exactly_these_keys() {
    let arguments = [
        "--status",
        "429",
        "-H",
        "Retry-After: 120",
        "--now",
        NOW,
        "--json",
    ];
    let said = explain("object", &arguments, "");
    assert_eq!(
        facts(&said),
        [json!({
            "id": null, "class": "rate_limited", "retry_after_seconds": 120, "limit": null, "remaining": null,
            "reset_in_seconds": null, "wait_seconds": 120, "scope": null, "bucket": null, "windows": [],
            "flags": [], "dialect": null,
        })]
    );
}

#[test]
fn a_bad_line_is_named_and_the_rest_goes_on() {
    let input = "nonsense\n\n[1]\n{\"status\": 42}\n{\"status\": 429, \"headers\": [[\"a b\", \"c\"]]}\n\
                 {\"status\": 200, \"now\": \"noon\"}\n{\"status\": 200, \"dialect\": \"githb\"}\n{\"id\": 7, \"status\": 429}\n";
    let said = explain("bad", &["--jsonl"], input);
    assert_eq!(said.code, Some(2));
    let facts = facts(&said);
    let lines: Vec<_> = facts.iter().map(|fact| fact["line"].as_u64()).collect();
    assert_eq!(
        lines,
        [Some(1), Some(3), Some(4), Some(5), Some(6), Some(7), None]
    );
    for (fact, words) in facts.iter().zip([
        "it is not JSON",
        "it is not an object",
        "expected a number from 100 to 999",
        "headers[0]: \"a b\" is no header's name",
        "now: \"noon\" is no instant",
        "dialect: there is no dialect \"githb\"; expected github?",
    ]) {
        let error = fact["error"].as_str().expect("an error");
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(facts[6]["class"], "rate_limited");
}

#[test]
fn people_are_told_what_each_field_means_and_when_to_go_on() {
    let arguments = [
        "--status",
        "403",
        "--dialect",
        "github",
        "--now",
        NOW,
        "-H",
        "x-ratelimit-remaining: 0",
        "-H",
        "x-ratelimit-reset: 1746138678",
        "-H",
        "x-ratelimit-resource: core",
        "-H",
        "content-type: text/html",
    ];
    let said = explain("people", &arguments, "");
    assert_eq!(said.code, Some(0), "{}", said.talk);
    for line in [
        "403 Forbidden: refused because of a limit",
        "      0 requests are left of x-ratelimit",
        "      x-ratelimit starts anew in 1800 s (30 min); by its size it is an instant in seconds since 1970",
        "      the bucket is core",
        "  say nothing about limits: content-type",
        "The next request may go in 1800 s (30 min), at 2025-05-01T22:31:18Z.",
        "  Nothing is left of x-ratelimit until then.",
    ] {
        assert!(
            said.out.lines().any(|own| own == line),
            "{line}\n{}",
            said.out
        );
    }
}

/// What is said at the end about one response: when the next may go, and why then.
fn last_words(test: &str, dialect: &str, status: &str, fields: &[&str], body: &str) -> String {
    let folder = Folder::of("explain", test).with("body", body);
    let mut arguments = vec![
        "--status",
        status,
        "--now",
        NOW,
        "--dialect",
        dialect,
        "--body",
        "body",
    ];
    for field in fields {
        arguments.extend(["-H", field]);
    }
    let said = folder.run("explain", &arguments, "");
    assert_eq!(said.code, Some(0), "{}", said.talk);
    let last = said.out.trim_end().rsplit("\n\n").next();
    last.unwrap_or_default().to_owned()
}

#[test]
fn people_are_told_which_hint_won_and_why_others_did_not() {
    let discord = [
        "Retry-After: 3",
        "X-RateLimit-Remaining: 4",
        "X-RateLimit-Reset-After: 9",
    ];
    assert_eq!(
        last_words("won", "discord", "429", &discord, r#"{"retry_after":600}"#),
        "The next request may go in 600 s (10 min), at 2025-05-01T22:11:18Z.\n  \
         body: retry_after says so.\n  \
         Retry-After says 3 s, and the longer of two hints counts.\n  \
         x-ratelimit starts anew in 9 s, but something is left of it: it did not refuse."
    );
    let zero = [
        "Retry-After: 0",
        "X-RateLimit-Remaining: 0",
        "X-RateLimit-Reset: 20",
    ];
    assert_eq!(
        last_words("zero", "discord", "429", &zero, "{}"),
        "The next request may go in 20 s, at 2025-05-01T22:01:38Z.\n  \
         Nothing is left of x-ratelimit until then.\n  \
         Retry-After says 0 s, which is no hint after a refusal."
    );
    assert_eq!(
        last_words("least", "slack", "429", &[], ""),
        "The next request of the same route may go in 30 s, at 2025-05-01T22:01:48Z.\n  \
         Nothing is named: it is the dialect's least pause, and longer if that was not enough."
    );
    let conflict = [
        "Retry-After: 5",
        "X-RateLimit-Remaining: 0",
        "X-RateLimit-Reset: 20",
    ];
    assert_eq!(
        last_words("conflict", "mw-koa", "429", &conflict, ""),
        "The next request may go in 5 s, at 2025-05-01T22:01:23Z.\n  \
         Retry-After says so.\n  \
         x-ratelimit starts anew in 20 s, but a wait that is named goes first."
    );
    let refill = r#"{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":COST,"throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":89,"restoreRate":50}}}}"#;
    assert_eq!(
        last_words(
            "refill",
            "shopify-graphql",
            "200",
            &[],
            &refill.replace("COST", "502")
        ),
        "The next request may go in 8.26 s, at 2025-05-01T22:01:26.26Z.\n  \
         By then enough has come back for what was asked."
    );
    assert_eq!(
        last_words(
            "dear",
            "shopify-graphql",
            "200",
            &[],
            &refill.replace("COST", "1200")
        ),
        "This request will never be served: it asks for more than there ever is.\n  \
         This one is not worth sending again."
    );
    assert_eq!(
        last_words("own", "mw-koa", "404", &["Retry-After: 5"], ""),
        "The next request may go at once; this one again in 5 s.\n  \
         Retry-After says 5 s, which is no pause for others: the answer is no refusal."
    );
    let aged = [
        "Age: 30",
        "X-RateLimit-Remaining: 0",
        "X-RateLimit-Reset: 20",
    ];
    assert_eq!(
        last_words("aged", "mw-koa", "200", &aged, ""),
        "The next request may go at once."
    );
    assert_eq!(
        last_words("flight", "twilio", "429", &[], ""),
        "The next request may go when one that is under way has ended."
    );
    let bill = r#"{"error":{"code":"insufficient_quota"}}"#;
    assert_eq!(
        last_words("bill", "openai", "429", &[], bill),
        "The next request will not be served soon: waiting a little is pointless.\n  \
         This one is not worth sending again."
    );
}

#[test]
fn of_several_heads_the_last_counts() {
    let heads = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /x\r\n\
                 Retry-After: 99\r\n\r\nHTTP/2 429\r\nretry-after:\r\n 7\r\n\r\nHTTP/1.1 is no status line";
    let fact = &facts(&explain("heads", &["--json"], heads))[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("rate_limited"), &json!(7))
    );
    let unix = "\nHTTP/1.1 429 Too Many Requests\nRetry-After: 7";
    let fact = &facts(&explain("unix", &["--json"], unix))[0];
    assert_eq!(fact["wait_seconds"], json!(7));
}

#[test]
fn of_a_long_body_a_part_is_read_and_that_is_said() {
    let long = format!("<Code>SlowDown</Code>{}", " ".repeat(3 << 20));
    let folder = Folder::of("explain", "long").with("b", long);
    let said = folder.run(
        "explain",
        &["--status", "503", "--dialect", "s3", "--body", "b"],
        "",
    );
    assert!(
        said.out
            .starts_with("503 Service Unavailable: refused because of a limit")
    );
    assert!(
        said.out.contains("the body is longer than 1 MiB"),
        "{}",
        said.out
    );
}

#[test]
fn options_that_are_wrong_are_named() {
    for (test, arguments, words) in [
        (
            "noon",
            vec!["--status", "429", "--now", "noon"],
            "--now: \"noon\" is no instant; expected an instant such as",
        ),
        ("status", vec!["--status", "99"], "99 is not in 100..=999"),
        (
            "missing",
            vec!["--status", "429", "--body", "none.json"],
            "--body: none.json cannot be read",
        ),
        (
            "colon",
            vec!["--status", "429", "-H", "Retry-After"],
            "--header: there is no colon in it; expected 'Name: value'",
        ),
        (
            "name",
            vec!["--status", "429", "--dialect", "gihub"],
            "--dialect: there is no dialect \"gihub\"; expected github?",
        ),
    ] {
        let said = explain(test, &arguments, "");
        assert_eq!(said.code, Some(2), "{test}");
        assert!(said.talk.contains(words), "{test}: {}", said.talk);
    }
}

#[test]
fn a_response_may_be_piped_in_as_curl_prints_it() {
    let response = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\n\r\n{\"ok\":false}";
    let said = explain("piped", &["--json"], response);
    let fact = &facts(&said)[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("rate_limited"), &json!(5))
    );
    let said = explain("empty", &[], "");
    assert_eq!(said.code, Some(2));
    assert!(said.talk.contains("curl -si URL"), "{}", said.talk);
}

#[test]
fn bodies_are_read_by_the_dialect_that_knows_them() {
    let folder =
        Folder::of("explain", "body").with("denied.json", r#"{"error":{"code":"maxlag"}}"#);
    let arguments = [
        "--status",
        "200",
        "--body",
        "denied.json",
        "--dialect",
        "mediawiki",
        "--json",
    ];
    let said = folder.run("explain", &arguments, "");
    let fact = &facts(&said)[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("overloaded"), &json!(5))
    );
}

/// A dialect of one's own has the form of those that are built in, and may build on them.
#[test]
fn a_configuration_brings_dialects_of_its_own() {
    let own = r#"
[dialect.shop]
also = ["shopify-rest"]
pause = "7s"
[[dialect.shop.when]]
status = [409]
at = "body: error"
is = ["busy"]
class = "rate_limited"
"#;
    let folder = Folder::of("explain", "own")
        .with("paceline.toml", own)
        .with("b.json", r#"{"error":"busy"}"#);
    let arguments = [
        "--dialect",
        "shop",
        "--status",
        "409",
        "--body",
        "b.json",
        "-H",
        "X-Shopify-Shop-Api-Call-Limit: 39/40",
        "--json",
    ];
    let fact = &facts(&folder.run("explain", &arguments, ""))[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("rate_limited"), &json!(7))
    );
    assert_eq!(fact["remaining"], json!(1));
}

#[test]
fn what_is_wrong_with_a_dialect_is_told_with_its_place() {
    let own = "[dialect.mine]\npause = 3\nalso = [\"gitub\"]\n[[dialect.mine.when]]\nis = [\"a\"]\nclass = \"ok-ish\"\n";
    let folder = Folder::of("explain", "wrong").with("paceline.toml", own);
    let said = folder.run("explain", &["--dialects"], "");
    assert_eq!(said.code, Some(2));
    for error in [
        "paceline.toml:2:9: dialect.mine.pause: an integer does not belong here; expected a duration, such as \"60s\"",
        "paceline.toml:3:9: dialect.mine.also[0]: there is no dialect \"gitub\"; expected github?",
        "paceline.toml:4:1: dialect.mine.when[0]: it does not say where to look; expected at = \"body: error.code\"",
        "paceline.toml:6:9: dialect.mine.when[0].class: \"ok-ish\" is not one of them; expected one of: ok, rate_limited",
    ] {
        assert!(said.talk.contains(error), "{error}\n{}", said.talk);
    }
}
