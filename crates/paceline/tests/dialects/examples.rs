//! Each provider's worked examples, read by its own dialect; and what a dialect's file may not say.

use core::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paceline::dialect::{self, Example, Provider};
use paceline::{Observation, WallTime};
use serde_json::{Value, json};

#[test]
fn worked_examples_are_read_as_they_say() {
    let mut failures = Vec::new();
    for provider in dialect::all() {
        for (i, example) in provider.examples.iter().enumerate() {
            if let Err(difference) = check(provider, example) {
                failures.push(format!("{} example {}: {difference}", provider.slug, i + 1));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_provider_says_where_it_is_from() {
    for own in dialect::all() {
        assert!(
            !own.name.is_empty() && !own.source.is_empty(),
            "{}",
            own.slug
        );
        assert_eq!(own.date.len(), "2026-12-02".len(), "{}", own.slug);
    }
}

/// Each value of each example, in turn, is something that nobody should send.
#[test]
fn no_value_makes_a_dialect_panic_or_wait_for_ever() {
    let digits = "9".repeat(400);
    let deep = "[".repeat(10_000);
    let nasty = [
        "",
        "-1",
        "0",
        "NaN",
        "1e309",
        "0/0",
        "-5/-7",
        ",,,",
        ";=;",
        ":",
        "[",
        "{",
        "null",
        "\"",
        "0, 0",
        "1:0",
        "{\"a\":[{}]}",
        "18446744073709551616",
        "2025-05-01T22:02:18Z",
        &digits,
        &deep,
    ];
    for provider in dialect::all() {
        for example in &provider.examples {
            for (at, value) in
                (0..=example.headers.len()).flat_map(|at| nasty.map(|value| (at, value)))
            {
                let mut own = example.clone();
                match own.headers.get_mut(at) {
                    Some((_, old)) => *old = value.into(),
                    None => own.body = Some(value.into()),
                }
                let seen = read(provider, &own);
                let longest = Duration::from_secs(1 << 31);
                let waits = [seen.wait, seen.retry_after];
                assert!(
                    waits.iter().flatten().all(|wait| *wait <= longest),
                    "{own:?}"
                );
                assert!(
                    !seen.verdict.is_refusal() || seen.wait != Some(Duration::ZERO),
                    "{own:?}"
                );
                let silent = example.body.is_none() && own.body.is_none();
                let served = own.status == 200 && silent;
                assert!(!served || !seen.verdict.is_refusal(), "{own:?}");
            }
        }
    }
}

fn check(provider: &Provider, example: &Example) -> Result<(), String> {
    let read = reading(&read(provider, example));
    for (key, value) in read.as_object().expect("an object") {
        let expected = example.expect.iter().find(|(own, _)| **own == **key);
        let expected = expected.map_or(Value::Null, |(_, text)| {
            serde_json::from_str(text).expect("a value")
        });
        let same = match (value.as_f64(), expected.as_f64()) {
            (Some(one), Some(other)) => (one - other).abs() < 0.001,
            _ => *value == expected,
        };
        if !same {
            return Err(format!("{key} is {value}, expected {expected}"));
        }
    }
    Ok(())
}

fn read(provider: &Provider, example: &Example) -> Observation {
    let mut headers = HeaderMap::new();
    for (name, value) in &example.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a field name");
        headers.append(name, HeaderValue::from_str(value).expect("a field value"));
    }
    let status = StatusCode::from_u16(example.status).expect("a status");
    let body = example.body.as_deref().map(str::as_bytes);
    provider
        .dialect
        .read(status, &headers, body, wall(&example.now))
}

fn reading(seen: &Observation) -> Value {
    let binding = seen.binding();
    let seconds = |span: Option<Duration>| span.map(|span| span.as_secs_f64());
    json!({
        "class": seen.verdict.code(),
        "retry_after_seconds": seconds(seen.retry_after),
        "wait_seconds": seconds(seen.wait),
        "limit": binding.and_then(|own| own.limit_milli).map(|milli| milli as f64 / 1000.0),
        "remaining": binding.and_then(|own| own.remaining),
        "reset_in_seconds": seconds(binding.and_then(|own| own.reset)),
    })
}

/// As a reset of that instant is read.
fn wall(now: &str) -> WallTime {
    let mut headers = HeaderMap::new();
    headers.insert(
        "x-ratelimit-reset",
        HeaderValue::from_str(now).expect("a date"),
    );
    let epoch = WallTime(Duration::ZERO);
    let seen = paceline::response::read(StatusCode::OK, &headers, epoch);
    WallTime(seen.windows[0].reset.expect("an instant"))
}
