//! One response, as it was typed, piped or written in a line.

use core::time::Duration;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use paceline::WallTime;
use paceline::config::Config;
use paceline::dialect::Provider;
use serde_json::Value;

use super::ExplainArgs;
use crate::output::Stop;
use crate::settings;

/// A response, and who is to read it.
pub(super) struct Case {
    pub(super) id: Value,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    pub(super) dialect: Option<Arc<Provider>>,
    pub(super) now: Timestamp,
}

/// Nothing that a response says about limits stands further down.
const LONGEST_BODY: u64 = 1 << 20;

impl Case {
    /// From the command line, or from a response on standard input as `curl -i` prints it.
    pub(super) fn typed(args: &ExplainArgs, dialect: Option<Arc<Provider>>) -> Result<Self, Stop> {
        let now = match &args.now {
            Some(text) => instant(text).map_err(|error| Stop::usage(format!("--now: {error}")))?,
            None => Timestamp::try_from(SystemTime::now()).map_err(Stop::usage)?,
        };
        let mut headers = HeaderMap::new();
        for line in &args.header {
            add_line(&mut headers, line)
                .map_err(|error| Stop::usage(format!("--header: {error}")))?;
        }
        let mut case = Self {
            id: Value::Null,
            status: StatusCode::OK,
            headers,
            body: None,
            dialect,
            now,
        };
        match (args.status, &args.body) {
            (Some(status), body) => {
                case.status = status_of(u64::from(status)).map_err(Stop::usage)?;
                case.body = body.as_deref().map(read_body).transpose()?;
            }
            (None, None) if args.header.is_empty() && super::is_piped() => {
                let response = read_body(Path::new("-"))?;
                case.whole(&response)
                    .map_err(|error| Stop::usage(format!("standard input: {error}")))?;
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
        let known = |key: &str| case.get(key).filter(|value| !value.is_null());
        let status = known("status").and_then(Value::as_u64);
        let status = status.ok_or("status is no number; expected one such as 429")?;
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
                    add(&mut headers, name, &encoded(value, latin_1)?)
                        .map_err(|error| format!("headers[{i}]: {error}"))?;
                }
            }
            Some(Value::Object(pairs)) => {
                for (name, value) in pairs {
                    let value = value
                        .as_str()
                        .ok_or_else(|| format!("headers.{name} is no text; expected one"))?;
                    add(&mut headers, name, &encoded(value, latin_1)?)
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
                settings::find_dialect(name, config)
                    .map_err(|error| format!("dialect: {error}"))?,
            ),
            Some(_) => return Err("dialect is no text; expected a name such as \"github\"".into()),
            None => None,
        };
        Ok(Self {
            id: case.get("id").cloned().unwrap_or(Value::Null),
            status: status_of(status)?,
            headers,
            body: known("body").map(|body| match body {
                Value::String(text) => text.clone().into_bytes(),
                parts => parts.to_string().into_bytes(),
            }),
            dialect,
            now,
        })
    }

    /// The local wall clock at receipt.
    pub(super) fn wall(&self) -> WallTime {
        let nanos = u128::try_from(self.now.as_nanosecond()).unwrap_or(0);
        WallTime(Duration::new(
            u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX),
            u32::try_from(nanos % 1_000_000_000).unwrap_or(0),
        ))
    }

    /// Status line, fields, a blank line, the body.
    fn whole(&mut self, response: &[u8]) -> Result<(), String> {
        let expected = "expected a response such as curl -si URL prints: HTTP/1.1 429 Too Many Requests, then headers";
        let mut rest = response;
        let mut lines = core::iter::from_fn(|| {
            if rest.is_empty() {
                return None;
            }
            let end = rest
                .iter()
                .position(|&byte| byte == b'\n')
                .unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            Some(
                String::from_utf8_lossy(line)
                    .trim_end_matches('\r')
                    .to_owned(),
            )
        });
        let first = lines
            .next()
            .ok_or_else(|| format!("it is empty; {expected}"))?;
        let status = first
            .strip_prefix("HTTP/")
            .and_then(|line| line.split(' ').nth(1));
        let status = status.and_then(|status| status.parse().ok());
        self.status =
            status_of(status.ok_or_else(|| format!("it begins with no status line; {expected}"))?)?;
        for line in lines.by_ref().take_while(|line| !line.is_empty()) {
            add_line(&mut self.headers, &line)?;
        }
        self.body = (!rest.is_empty()).then(|| rest.to_vec());
        Ok(())
    }
}

const INSTANT: &str = "expected an instant such as 2025-05-01T22:01:18Z (RFC 3339)";

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no instant; {INSTANT}"))
}

fn status_of(status: u64) -> Result<StatusCode, String> {
    let status = u16::try_from(status)
        .ok()
        .and_then(|own| StatusCode::from_u16(own).ok());
    status.ok_or_else(|| "that is no status; expected a number from 100 to 999".into())
}

fn add_line(headers: &mut HeaderMap, line: &str) -> Result<(), String> {
    let (name, value) = line
        .split_once(':')
        .ok_or("there is no colon in it; expected 'Name: value'")?;
    add(headers, name.trim(), value.as_bytes().trim_ascii())
}

/// What no field may hold cannot have come over the wire. It is put in as bytes that mean nothing, so that a value is not
/// taken for what remains of it.
fn add(headers: &mut HeaderMap, name: &str, value: &[u8]) -> Result<(), String> {
    let name: HeaderName = name
        .parse()
        .map_err(|_| format!("{name:?} is no header's name; expected 'Name: value'"))?;
    let forbidden = |byte: u8| (byte < 0x20 && byte != b'\t') || byte == 0x7F;
    let value: Vec<u8> = value
        .iter()
        .map(|&byte| if forbidden(byte) { 0x80 } else { byte })
        .collect();
    let value = HeaderValue::from_bytes(&value)
        .map_err(|_| "its value holds a character that no header may hold".to_owned())?;
    headers.append(name, value);
    Ok(())
}

fn encoded(value: &str, latin_1: bool) -> Result<Vec<u8>, String> {
    if !latin_1 {
        return Ok(value.as_bytes().to_vec());
    }
    let byte = |c: char| u8::try_from(u32::from(c)).map_err(|_| format!("{c:?} is not Latin-1"));
    value.chars().map(byte).collect()
}

fn read_body(file: &Path) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => io::stdin()
            .lock()
            .take(LONGEST_BODY)
            .read_to_end(&mut bytes),
        false => File::open(file).and_then(|file| file.take(LONGEST_BODY).read_to_end(&mut bytes)),
    };
    read.map_err(|error| {
        Stop::usage(format!(
            "--body: {} cannot be read: {error}",
            file.display()
        ))
    })?;
    Ok(bytes)
}
