//! Worked examples in a dialect's file: each is read by the dialect when the file is, and has to be read as it says.

use core::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paceline_engine::response::dialect::Dialect;
use paceline_engine::{Observation, WallTime, response};

use super::Example;
use super::values::{TABLE, TEXT, tables};
use crate::config::document::{Node, Table};
use crate::upstream::text::quote;

pub(super) const KEYS: [&str; 5] = ["now", "status", "headers", "body", "expect"];
pub(super) const EXPECT_KEYS: [&str; 8] = [
    "class",
    "retry_after_seconds",
    "limit",
    "remaining",
    "reset_in_seconds",
    "wait_seconds",
    "scope",
    "bucket",
];

/// These need not be named where they are read.
const OPTIONAL: [&str; 2] = ["scope", "bucket"];

const PAIRS: &str = r#"an array of names and values, such as [["Retry-After", "5"]]"#;
const INSTANT: &str = "an instant, such as \"2025-05-01T22:01:18Z\"";

pub(super) fn tables_of<'a>(table: &Table<'a>) -> Vec<Table<'a>> {
    tables(table, "example", &KEYS)
}

pub(super) fn read(table: &Table<'_>) -> Example {
    let text = |key: &str| table.entry(key).and_then(|node| node.text(TEXT));
    let headers = table.entry("headers");
    let expect = table.entry("expect");
    let expect = expect.and_then(|node| node.table(&EXPECT_KEYS, TABLE));
    if let Some(node) = table.entry("now")
        && text("now").is_some_and(|now| wall(now).is_none())
    {
        node.fail("that is no instant", INSTANT);
    }
    Example {
        now: text("now").unwrap_or("2025-05-01T22:01:18Z").into(),
        status: table
            .entry("status")
            .and_then(|node| node.whole(100..=999))
            .unwrap_or(200),
        headers: headers
            .iter()
            .flat_map(|node| node.elements(PAIRS))
            .filter_map(|node| pair(&node))
            .collect(),
        body: text("body").map(Into::into),
        expect: expect
            .iter()
            .flat_map(Table::entries)
            .map(|(key, node)| (key.into(), node.as_json().into()))
            .collect(),
    }
}

fn pair(node: &Node<'_>) -> Option<(Box<str>, Box<str>)> {
    let pair = node.elements(PAIRS);
    let [name, value] = pair.as_slice() else {
        node.fail("it is not a name and a value", PAIRS);
        return None;
    };
    let (name, value) = (name.text(TEXT)?, value.text(TEXT)?);
    if field(name, value).is_none() {
        node.fail("that is no header", PAIRS);
        return None;
    }
    Some((name.into(), value.into()))
}

fn field(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    Some((name, HeaderValue::from_str(value).ok()?))
}

/// Notes where the example is read as something else than it says.
pub(super) fn check(table: &Table<'_>, own: &Example, dialect: &Dialect) {
    // What is wrong with the rules would be told twice.
    if table.is_in_wrong_file() {
        return;
    }
    let headers = own.headers.iter();
    let headers: HeaderMap = headers
        .filter_map(|(name, value)| field(name, value))
        .collect();
    let status = StatusCode::from_u16(own.status).unwrap_or_default();
    let body = own.body.as_deref().map(str::as_bytes);
    let now = wall(&own.now).unwrap_or(WallTime(Duration::ZERO));
    let seen = dialect.read(status, &headers, body, now);
    let expect = table.entry("expect");
    let expect = expect.and_then(|node| node.any_table(TABLE));
    for (key, read) in EXPECT_KEYS.iter().zip(reading(&seen)) {
        let node = expect.as_ref().and_then(|table| table.entry(key));
        match node {
            Some(node) if !agree(&read, &node.as_json()) => node.fail(
                format!("it is read as {read}"),
                format!("{read}, or a dialect that reads this"),
            ),
            None if read != "null" && !OPTIONAL.contains(key) => table.fail(
                format!("{key} is read as {read}, and `expect` does not name it"),
                format!("expect = {{ {key} = {read} }}, or a dialect that does not read it"),
            ),
            _ => {}
        }
    }
}

fn agree(read: &str, expected: &str) -> bool {
    let both = read.parse::<f64>().ok().zip(expected.parse::<f64>().ok());
    both.map_or(read == expected, |(read, expected)| {
        (read - expected).abs() <= 0.001
    })
}

/// In the order of the keys, as JSON writes them.
fn reading(seen: &Observation) -> [String; 8] {
    let binding = seen.binding();
    let seconds = |span: Option<Duration>| number(span.map(|span| span.as_secs_f64()));
    let left = |own: &paceline_engine::Window| {
        Some(own.remaining? as f64 + f64::from(own.remaining_milli) / 1000.0)
    };
    [
        quote(seen.verdict.code()),
        seconds(seen.retry_after),
        number(binding.and_then(|own| Some(own.limit_milli? as f64 / 1000.0))),
        number(binding.and_then(left)),
        seconds(binding.and_then(|own| own.reset)),
        seconds(seen.wait),
        quote(seen.scope.code()),
        seen.bucket.as_deref().map_or_else(|| "null".into(), quote),
    ]
}

fn number(number: Option<f64>) -> String {
    number.map_or_else(|| "null".into(), |number| number.to_string())
}

/// As a reset of that instant is read.
fn wall(now: &str) -> Option<WallTime> {
    let mut headers = HeaderMap::new();
    headers.insert("x-ratelimit-reset", HeaderValue::from_str(now).ok()?);
    let seen = response::read(StatusCode::OK, &headers, WallTime(Duration::ZERO));
    let reset = seen.windows.first()?.reset?;
    (now.contains('T') && !seen.flags.contains("saturated")).then_some(WallTime(reset))
}
