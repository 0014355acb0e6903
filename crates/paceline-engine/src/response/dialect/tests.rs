//! What a dialect's data mean for a response, one kind of it a file.

use core::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::{Dialect, Place};
use crate::{Observation, WallTime};

mod contents;
mod places;
mod rules;
mod silence;
mod waits;
mod windows;

/// 2025-05-01T22:01:18Z.
const NOW: WallTime = WallTime(Duration::from_secs(1_746_136_878));

fn place(text: &str) -> Place {
    text.parse().expect("a place")
}

fn headers(fields: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let name: HeaderName = name.parse().expect("a name");
        headers.append(name, HeaderValue::from_str(value).expect("a value"));
    }
    headers
}

fn read(dialect: &Dialect, status: u16, fields: &[(&str, &str)], body: &str) -> Observation {
    let status = StatusCode::from_u16(status).expect("a status");
    dialect.read(status, &headers(fields), Some(body.as_bytes()), NOW)
}

fn flags(seen: &Observation) -> Vec<&str> {
    seen.flags.iter().collect()
}

fn seconds(span: Option<Duration>) -> Option<f64> {
    span.map(|span| span.as_secs_f64())
}
