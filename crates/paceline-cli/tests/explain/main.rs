//! Responses explained from the command line: what is read in them, in facts and in words.

#[path = "../support/folder.rs"]
mod folder;

mod dialects;
mod given;
mod mistakes;
mod people;

use folder::{Folder, Said};
use serde_json::{Value, json};

const CASES: &str = include_str!("../../../paceline-engine/tests/vectors/headers.jsonl");
const OTHERS: &str = include_str!("../../../paceline-engine/tests/vectors/others.jsonl");
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
    for (test, cases, most) in [("cases", CASES, 186), ("others", OTHERS, 472)] {
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
            "reset_in_seconds": null, "wait_seconds": 120, "scope": null, "kind": "rate", "costs": [], "bucket": null,
            "windows": [], "flags": [], "dialect": null,
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
        "expected a whole number from 100 to 999",
        "headers[0]: \"a b\" is no header's name",
        "now: \"noon\" is no instant",
        "dialect: there is no dialect \"githb\"; expected github?",
    ]) {
        let error = fact["error"].as_str().expect("an error");
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(facts[6]["class"], "rate_limited");
}
