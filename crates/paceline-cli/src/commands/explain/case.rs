//! One response, as it was typed, piped or written in a line.

use core::time::Duration;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use paceline::WallTime;
use paceline::config::Config;
use paceline::dialect::Provider;
use serde_json::Value;

use super::ExplainArgs;
use super::head::{self, add_given, add_typed, encoded};
use super::slip::slip;
use crate::output::Stop;

/// A response, and who is to read it.
pub(super) struct Case {
    pub(super) id: Value,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    /// There was more of the body than is read.
    pub(super) cut: bool,
    pub(super) dialect: Option<Arc<Provider>>,
    pub(super) now: Timestamp,
}

/// Nothing that a response says about limits stands further down.
const LONGEST_BODY: u64 = 1 << 20;

/// Heads before the last one, and a body.
const LONGEST: u64 = LONGEST_BODY + (1 << 20);

impl Case {
    /// From the command line, or from a response on standard input as `curl -i` prints it.
    pub(super) fn typed(args: &ExplainArgs, dialect: Option<Arc<Provider>>) -> Result<Self, Stop> {
        let now = match &args.now {
            Some(text) => instant(text).map_err(|error| Stop::usage(format!("--now: {error}")))?,
            None => Timestamp::try_from(SystemTime::now()).map_err(Stop::usage)?,
        };
        let mut headers = HeaderMap::new();
        for line in &args.header {
            add_typed(&mut headers, line)
                .map_err(|error| Stop::usage(format!("--header: {error}")))?;
        }
        let mut case = Self {
            id: Value::Null,
            status: StatusCode::OK,
            headers,
            body: None,
            cut: false,
            dialect,
            now,
        };
        match (args.status, &args.body) {
            (Some(status), body) => {
                case.status = status_of(u64::from(status)).map_err(Stop::usage)?;
                if let Some(file) = body {
                    let bytes = read_body(file)?;
                    case.take(bytes);
                }
            }
            (None, None) if args.header.is_empty() && super::is_piped() => {
                let response = read_body(Path::new("-"))?;
                let wrong = |error| Stop::usage(format!("standard input: {error}"));
                let (status, headers, body) = head::last_of(&response).map_err(wrong)?;
                case.status = status_of(status).map_err(wrong)?;
                case.headers = headers;
                case.take(body.to_vec());
            }
            _ => {
                return Err(Stop::usage(
                    "there is no status; expected --status 429, or a whole response piped in, such as \
                     curl -si URL | paceline explain",
                ));
            }
        }
        Ok(case)
    }

    /// From one object of a line.
    pub(super) fn from_json(text: &str, config: &Config) -> Result<Self, String> {
        let case: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let Value::Object(case) = case else {
            return Err("it is not an object; expected {\"status\": 429, \"headers\": [[\"Retry-After\", \"5\"]]}".into());
        };
        if let Some((wrong, right)) = case.keys().find_map(|key| Some((key, slip(key, &KEYS)?))) {
            return Err(format!("{wrong:?} is not a key; expected {right}?"));
        }
        let known = |key: &str| case.get(key).filter(|value| !value.is_null());
        let status = known("status").ok_or("there is no status; expected one such as 429")?;
        let status = status
            .as_f64()
            .ok_or("status is no number; expected one such as 429")?;
        let latin_1 = known("header_encoding").and_then(Value::as_str) == Some("latin-1");
        let mut headers = HeaderMap::new();
        match known("headers") {
            None => {}
            Some(Value::Array(pairs)) => {
                for (i, pair) in pairs.iter().enumerate() {
                    let pair = (
                        pair.get(0).and_then(Value::as_str),
                        pair.get(1).and_then(Value::as_str),
                    );
                    let (Some(name), Some(value)) = pair else {
                        return Err(format!(
                            "headers[{i}] is not a name and a value; expected [\"Retry-After\", \"5\"]"
                        ));
                    };
                    add_given(&mut headers, name, &encoded(value, latin_1)?)
                        .map_err(|error| format!("headers[{i}]: {error}"))?;
                }
            }
            Some(Value::Object(pairs)) => {
                for (name, value) in pairs {
                    let value = value
                        .as_str()
                        .ok_or_else(|| format!("headers.{name} is no text; expected one"))?;
                    add_given(&mut headers, name, &encoded(value, latin_1)?)
                        .map_err(|error| format!("headers.{name}: {error}"))?;
                }
            }
            Some(_) => return Err("headers is no list; expected [[\"Retry-After\", \"5\"]]".into()),
        }
        let now = match known("now") {
            Some(Value::String(text)) => instant(text).map_err(|error| format!("now: {error}"))?,
            Some(_) => return Err(format!("now: {INSTANT}")),
            None => Timestamp::try_from(SystemTime::now()).map_err(|error| error.to_string())?,
        };
        let dialect = match known("dialect") {
            Some(Value::String(name)) => Some(
                config
                    .dialect(name)
                    .map_err(|error| format!("dialect: {error}"))?,
            ),
            Some(_) => return Err("dialect is no text; expected a name such as \"github\"".into()),
            None => None,
        };
        Ok(Self {
            id: case.get("id").cloned().unwrap_or(Value::Null),
            // JSON has one kind of numbers: 429.0 is 429.
            status: status_of(status as u64)
                .ok()
                .filter(|_| status.fract() == 0.0 && status > 0.0)
                .ok_or(STATUS)?,
            headers,
            body: known("body").map(|body| match body {
                Value::String(text) => text.clone().into_bytes(),
                parts => parts.to_string().into_bytes(),
            }),
            cut: false,
            dialect,
            now,
        })
    }

    /// What may be read of a body, if there is one.
    fn take(&mut self, mut body: Vec<u8>) {
        self.cut = body.len() as u64 > LONGEST_BODY;
        body.truncate(usize::try_from(LONGEST_BODY).unwrap_or(usize::MAX));
        self.body = (!body.is_empty()).then_some(body);
    }

    /// The local wall clock at receipt.
    pub(super) fn wall(&self) -> WallTime {
        let nanos = u128::try_from(self.now.as_nanosecond()).unwrap_or(0);
        WallTime(Duration::new(
            u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX),
            u32::try_from(nanos % 1_000_000_000).unwrap_or(0),
        ))
    }
}

const INSTANT: &str =
    "expected an instant such as 2025-05-01T22:01:18Z (RFC 3339), before 9999-12-30T22:00:00Z";

const STATUS: &str = "that is no status; expected a whole number from 100 to 999";

/// What a line may say.
const KEYS: [&str; 7] = [
    "id",
    "now",
    "status",
    "headers",
    "header_encoding",
    "body",
    "dialect",
];

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no instant; {INSTANT}"))
}

fn status_of(status: u64) -> Result<StatusCode, String> {
    let status = u16::try_from(status)
        .ok()
        .and_then(|own| StatusCode::from_u16(own).ok());
    status.ok_or_else(|| STATUS.into())
}

fn read_body(file: &Path) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => io::stdin().lock().take(LONGEST).read_to_end(&mut bytes),
        false => File::open(file).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)),
    };
    read.map_err(|error| {
        Stop::usage(format!(
            "--body: {} cannot be read: {error}",
            file.display()
        ))
    })?;
    Ok(bytes)
}
