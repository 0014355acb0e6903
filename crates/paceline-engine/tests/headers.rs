//! Heads of real and hostile responses, and how they are to be read (`vectors/`).
//!
//! Cases of one provider's dialect, and those that need a body, are for the dialects' own tests.

use core::time::Duration;
use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paceline_engine::{Observation, Unit, Verdict, WallTime, Window, response};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Cases that are not read as they should be, and why.
const UNREAD: &[(&str, &str)] = &[(
    "RAD-029",
    "holds a NUL, which `http` does not let into a field value, so that no response can carry it",
)];

#[test]
fn heads_are_read_as_expected() {
    let mut failures = Vec::new();
    let mut unread: BTreeMap<_, _> = UNREAD.iter().copied().collect();
    let files = [
        include_str!("vectors/headers.jsonl"),
        include_str!("vectors/others.jsonl"),
    ];
    for line in files.iter().flat_map(|file| file.lines()) {
        let case: Value = serde_json::from_str(line).expect("one JSON object a line");
        if !case["dialect"].is_null() || case.get("body").is_some() {
            continue;
        }
        let id = text(&case["id"]);
        let outcome = check(&case);
        match (unread.remove(id), outcome) {
            (None, Err(differences)) => {
                failures.push(format!("{id} ({}): {differences}", text(&case["why"])));
            }
            (Some(reason), Ok(())) => {
                failures.push(format!(
                    "{id} is read now; it was listed because it {reason}"
                ));
            }
            _ => {}
        }
    }
    failures.extend(
        unread
            .keys()
            .map(|id| format!("{id} is listed and there is no such case")),
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(case: &Value) -> Result<(), String> {
    let headers = headers(case).ok_or("this head cannot be represented")?;
    let status = case["status"]
        .as_u64()
        .and_then(|status| u16::try_from(status).ok());
    let status = StatusCode::from_u16(status.expect("a number")).expect("a status");
    let observation = response::read(status, &headers, wall(text(&case["now"])));
    let read = reading(&observation);
    let expected = case["expected"].as_object().expect("an object");
    let differences: Vec<_> = expected
        .iter()
        .filter(|(key, expected)| !contains(&read[key.as_str()], expected))
        .map(|(key, expected)| format!("{key} is {} and should be {expected}", read[key.as_str()]))
        .collect();
    if differences.is_empty() {
        Ok(())
    } else {
        Err(differences.join(", "))
    }
}

fn headers(case: &Value) -> Option<HeaderMap> {
    let latin_1 = case["header_encoding"] == "latin-1";
    let mut headers = HeaderMap::new();
    for field in case["headers"].as_array().expect("a list") {
        let (name, value) = (text(&field[0]), text(&field[1]));
        let bytes = if latin_1 {
            let latin_1 = |char| u8::try_from(u32::from(char)).expect("a Latin-1 character");
            value.chars().map(latin_1).collect()
        } else {
            value.as_bytes().to_vec()
        };
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a field name");
        headers.append(name, HeaderValue::from_bytes(&bytes).ok()?);
    }
    Some(headers)
}

/// The observation in the shape of `expected`.
fn reading(observation: &Observation) -> Value {
    let binding = observation.binding();
    let window = |window: Option<&Window>| {
        json!({
            "name": window.and_then(|window| window.name.clone()),
            "unit": window.map(|window| match &window.unit {
                Unit::Requests => "requests",
                Unit::Concurrent => "concurrent-requests",
                Unit::Other(unit) => unit,
                _ => "unknown",
            }),
            "limit": window.and_then(|window| Some(window.limit_milli? as f64 / 1000.0)),
            "remaining": window.and_then(|window| {
                Some(window.remaining? as f64 + f64::from(window.remaining_milli) / 1000.0)
            }),
            "reset_in_seconds": seconds(window.and_then(|window| window.reset)),
            "window_seconds": seconds(window.and_then(|window| window.length)),
        })
    };
    let top = window(binding);
    json!({
        "class": observation.verdict.code(),
        "retry_after_seconds": seconds(observation.retry_after),
        "wait_seconds": seconds(observation.wait),
        "limit": top["limit"],
        "remaining": top["remaining"],
        "reset_in_seconds": top["reset_in_seconds"],
        "windows": observation.windows.iter().map(|own| window(Some(own))).collect::<Vec<_>>(),
        "flags": observation.flags.iter().collect::<Vec<_>>(),
    })
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(|duration| duration.as_secs_f64())
}

/// Numbers within a thousandth, every member of a list somewhere, every key of an object.
fn contains(read: &Value, expected: &Value) -> bool {
    match (read, expected) {
        (Value::Number(read), Value::Number(expected)) => {
            let difference = read
                .as_f64()
                .zip(expected.as_f64())
                .map(|(a, b)| (a - b).abs());
            difference.is_some_and(|difference| difference <= 0.001)
        }
        (Value::Array(read), Value::Array(expected)) => expected
            .iter()
            .all(|expected| read.iter().any(|read| contains(read, expected))),
        (Value::Object(read), Value::Object(expected)) => expected.iter().all(|(key, expected)| {
            let read = read.get(key);
            read.is_some_and(|read| contains(read, expected))
        }),
        (read, expected) => read == expected,
    }
}

/// `2025-05-01T22:01:18.900Z`, as all cases write it.
fn wall(now: &str) -> WallTime {
    let (whole, fraction) = now
        .trim_end_matches('Z')
        .split_once('.')
        .unwrap_or((now, "0"));
    let date = format!("{}Z", whole.trim_end_matches('Z'));
    let number = |range: core::ops::Range<usize>| date[range].parse::<u64>().expect("digits");
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let months = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let years: u64 = (1970..year).map(|year| 365 + u64::from(leap(year))).sum();
    let months: u64 = months.iter().zip(1..month).map(|(days, _)| days).sum();
    let hours = (years + months + day - 1) * 24 + number(11..13);
    let seconds = (hours * 60 + number(14..16)) * 60 + number(17..19);
    let nanos = format!("{fraction:0<9}").parse().expect("digits");
    WallTime(Duration::new(seconds, nanos))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Every field that is read, and some shapes of names that invite trouble.
const FIELDS: &[&str] = &[
    "retry-after",
    "retry-after-ms",
    "retry-after-short",
    "x-ratelimit-retry-after",
    "requestlimit-default-retryafter",
    "ratelimit",
    "ratelimit-policy",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "x-rate-limit",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-used",
    "x-ratelimit-reset",
    "x-ratelimit-reset-after",
    "x-ratelimit-limit-minute",
    "x-ratelimit-remaining-minute",
    "anthropic-ratelimit-tokens-reset",
    "x-ratelimit-",
    "date",
    "age",
];

fn value() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(0x20_u8..=0xFF, 0..40).boxed();
    let digits = "-?[0-9]{1,40}(\\.[0-9]{1,12})?(, ?[0-9]{1,20})*".prop_map(String::into_bytes);
    let structured =
        "\"?[a-z]{1,5}\"?(;[rtqw]=-?[0-9]{1,16}){0,4}(, \"?[a-z]{1,5}\"?;r=[0-9]{1,3}){0,3}";
    let dated = "[A-Z][a-z]{2}, [0-9]{1,2}[ -](Jan|feb|DEC)[ -][0-9]{2,4} \
                 [0-9]{2}:[0-9]{2}:[0-9]{2} (GMT|UTC|x)";
    let rfc3339 =
        "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:?[0-9]{2})?";
    prop_oneof![
        bytes,
        digits.boxed(),
        structured.prop_map(String::into_bytes).boxed(),
        dated.prop_map(String::into_bytes).boxed(),
        rfc3339.prop_map(String::into_bytes).boxed(),
        "([0-9]{1,20}(ns|us|ms|s|m|h|d)){1,4}"
            .prop_map(String::into_bytes)
            .boxed(),
        "limit=[0-9]{1,18}, remaining=[0-9]{1,3}, reset=[0-9]{1,17}"
            .prop_map(String::into_bytes)
            .boxed(),
    ]
}

fn head() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    prop::collection::vec((prop::sample::select(FIELDS), value()), 0..8)
}

proptest! {
    /// No field fails a response, asks for more than 2^31 seconds, or asks for a wait of nothing.
    #[test]
    fn any_bytes_in_any_field_are_harmless(
        head in head(),
        status in 100_u16..600,
        now in prop::sample::select(vec![0, 1_746_136_878, u64::MAX]).prop_map(Duration::from_secs),
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in head {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(name, value);
            }
        }
        let longest = Duration::from_secs(response::LONGEST_SECONDS);
        for status in [200, 204, status] {
            let status = StatusCode::from_u16(status).expect("a status");
            let observation = response::read(status, &headers, WallTime(now));
            if status.is_success() {
                prop_assert_eq!(observation.verdict, Verdict::Ok);
            }
            prop_assert!(observation.wait.is_none_or(|wait| wait <= longest && !wait.is_zero()));
            prop_assert!(observation.retry_after.is_none_or(|hint| hint <= longest));
            let resets = observation.windows.iter().filter_map(|window| window.reset);
            prop_assert!(resets.max().is_none_or(|reset| reset <= longest));
            prop_assert!(observation.windows.len() <= 64);
        }
    }
}
