//! What reading one response's head costs: `cargo bench -p paceline --features config --bench reading`.
//!
//! Each head is what an API behind a gateway sends: twelve fields of its own, and those that speak about limits. It is read
//! as clients do: where no dialect is spoken, and in GitHub's, which has rules of every kind.

use core::time::Duration;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};
use paceline::response::dialect::Dialect;
use paceline::{WallTime, dialect};

fn main() {
    divan::main();
}

type Fields = [(&'static str, &'static str)];

const USUAL: &Fields = &[
    ("date", "Thu, 01 May 2025 22:01:18 GMT"),
    ("content-type", "application/json; charset=utf-8"),
    ("content-length", "5312"),
    ("cache-control", "private, max-age=60, s-maxage=60"),
    ("vary", "Accept, Authorization, Cookie"),
    ("etag", "W/\"4d1b8c0f1e9d2a6b\""),
    ("server", "nginx"),
    (
        "strict-transport-security",
        "max-age=31536000; includeSubdomains; preload",
    ),
    ("x-content-type-options", "nosniff"),
    ("access-control-allow-origin", "*"),
    ("x-request-id", "C0DE:1A2B:3C4D5E:6F7081:6813F0AE"),
    (
        "link",
        "<https://api.example.com/items?page=2>; rel=\"next\"",
    ),
];

const TRIPLE: &Fields = &[
    ("x-ratelimit-limit", "5000"),
    ("x-ratelimit-remaining", "4987"),
    ("x-ratelimit-reset", "1746138738"),
];

const DRAFT_7: &Fields = &[
    ("ratelimit", "limit=100, remaining=50, reset=30"),
    ("ratelimit-policy", "100;w=60"),
];

const DRAFT_8: &Fields = &[
    ("ratelimit", "\"default\";r=50;t=30"),
    ("ratelimit-policy", "\"default\";q=100;w=60"),
];

const DRAFT_8_TWICE: &Fields = &[
    ("ratelimit", "\"burst\";r=9;t=1, \"daily\";r=4870;t=36000"),
    (
        "ratelimit-policy",
        "\"burst\";q=10;w=1, \"daily\";q=5000;w=86400",
    ),
];

const REFUSED: &Fields = &[("retry-after", "30")];

/// No dialect, and one by its name.
const DIALECTS: [&str; 2] = ["none", "github"];

fn read(bencher: Bencher<'_, '_>, dialect: &str, status: StatusCode, speaking: &Fields) {
    let dialect = match dialect {
        "none" => Dialect::PLAIN,
        name => dialect::named(name).expect("a dialect").dialect.clone(),
    };
    let mut headers = HeaderMap::new();
    for &(name, value) in USUAL.iter().chain(speaking) {
        let name = HeaderName::from_static(name);
        headers.append(name, HeaderValue::from_static(value));
    }
    // Twenty seconds after it was written: the clocks differ, as they do.
    let wall = WallTime(Duration::from_secs(1_746_136_898));
    bencher
        .counter(ItemsCount::new(headers.len()))
        .bench_local(|| {
            let (dialect, headers) = (black_box(&dialect), black_box(&headers));
            // What was read is dropped as it is by clients: soon.
            drop(black_box(dialect.read(
                black_box(status),
                headers,
                None,
                black_box(wall),
            )));
        });
}

#[divan::bench(args = DIALECTS, sample_size = 1000)]
fn no_limit_field(bencher: Bencher<'_, '_>, dialect: &str) {
    read(bencher, dialect, StatusCode::OK, &[]);
}

#[divan::bench(args = DIALECTS, sample_size = 1000)]
fn retry_after_of_a_refusal(bencher: Bencher<'_, '_>, dialect: &str) {
    read(bencher, dialect, StatusCode::TOO_MANY_REQUESTS, REFUSED);
}

#[divan::bench(args = DIALECTS, sample_size = 1000)]
fn ratelimit_of_draft_7(bencher: Bencher<'_, '_>, dialect: &str) {
    read(bencher, dialect, StatusCode::OK, DRAFT_7);
}

#[divan::bench(args = DIALECTS, sample_size = 1000)]
fn ratelimit_of_draft_8(bencher: Bencher<'_, '_>, dialect: &str) {
    read(bencher, dialect, StatusCode::OK, DRAFT_8);
}

#[divan::bench(args = DIALECTS, sample_size = 1000)]
fn ratelimit_of_two_windows(bencher: Bencher<'_, '_>, dialect: &str) {
    read(bencher, dialect, StatusCode::OK, DRAFT_8_TWICE);
}

#[divan::bench(args = DIALECTS, sample_size = 1000)]
fn x_ratelimit_with_an_epoch(bencher: Bencher<'_, '_>, dialect: &str) {
    read(bencher, dialect, StatusCode::OK, TRIPLE);
}
