//! Almost every response says nothing about limits; reading its head costs no heap allocation.

use core::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};
use paceline_engine::response::dialect::{Dialect, Effect, Test, When};
use paceline_engine::{Answer, Verdict, WallTime};

/// What an API behind a gateway sends, and names that look like those of limits.
const SILENT: &[(&str, &str)] = &[
    ("date", "Thu, 01 May 2025 22:01:18 GMT"),
    ("content-type", "application/json; charset=utf-8"),
    ("content-length", "5312"),
    ("cache-control", "private, max-age=60, s-maxage=60"),
    ("vary", "Accept, Authorization, Cookie"),
    ("etag", "W/\"4d1b8c0f1e9d2a6b\""),
    ("server", "nginx"),
    ("strict-transport-security", "max-age=31536000; preload"),
    ("x-content-type-options", "nosniff"),
    ("x-request-id", "C0DE:1A2B:3C4D5E:6F7081:6813F0AE"),
    ("age", "0"),
    ("set-cookie", "session=0123456789abcdef; HttpOnly; Secure"),
    ("referrer-policy", "no-referrer"),
];

/// One that looks at a field and into bodies.
fn dialect() -> Dialect {
    let when = |at: &str| When {
        statuses: vec![],
        at: Some(at.parse().expect("a place")),
        test: Test::Present,
        then: Effect {
            class: Some(Verdict::RateLimited),
            ..Effect::default()
        },
    };
    Dialect {
        when: vec![when("x-throttled"), when("body: error.code")],
        bucket: Some("x-ratelimit-resource".parse().expect("a place")),
        pause: Some(Duration::from_secs(60)),
        ..Dialect::PLAIN
    }
}

fn allocations(dialect: &Dialect, status: u16, more: &[(&'static str, &'static str)]) -> u64 {
    let mut headers = HeaderMap::new();
    for &(name, value) in SILENT.iter().chain(more) {
        let name = HeaderName::from_static(name);
        headers.append(name, HeaderValue::from_static(value));
    }
    let status = StatusCode::from_u16(status).expect("a status");
    let wall = WallTime(Duration::from_secs(1_746_136_878));
    let read = || dialect.read(status, &headers, None, wall);
    assert_eq!(read().answer, Answer::Status(status.as_u16()));
    allocation_counter::measure(|| (0..1000).for_each(|_| drop(read()))).count_total
}

#[test]
fn a_head_that_says_nothing_about_limits_costs_no_allocation() {
    for status in [200, 204, 302, 404, 429, 503] {
        assert_eq!(allocations(&Dialect::PLAIN, status, &[]), 0, "{status}");
        assert_eq!(allocations(&dialect(), status, &[]), 0, "{status}");
    }
}

#[test]
fn nor_does_a_plain_retry_after() {
    for (status, value) in [(429, "30"), (503, "Thu, 01 May 2025 22:02:18 GMT")] {
        assert_eq!(
            allocations(&Dialect::PLAIN, status, &[("retry-after", value)]),
            0,
            "{value}"
        );
    }
}

#[test]
fn a_structured_field_costs_its_window_and_its_name() {
    let draft_8 = [
        ("ratelimit", "\"default\";r=50;t=30"),
        ("ratelimit-policy", "\"default\";q=100;w=60"),
    ];
    // The list of windows, the name of the one, and the policies while they are joined to it.
    assert_eq!(allocations(&Dialect::PLAIN, 200, &draft_8), 3 * 1000);
}
