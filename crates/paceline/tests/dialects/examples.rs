//! All providers: where they are from, and that no value makes their dialects fail. That each reads its worked examples as
//! they say is checked when its file is read, and that every file is read by `dialect/known.rs`.

use core::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paceline::dialect::{self, Example, Provider};
use paceline::{Observation, WallTime};

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
