//! From a line of input, and what was typed for all of them, to a request.

use std::collections::BTreeMap;
use std::fs;

use bytes::Bytes;
use http::Method;
use http::header::{self, HeaderMap, HeaderValue};
use serde::Deserialize;
use url::Url;

use super::headers;
use super::request::Request;
use crate::args::FetchArgs;
use crate::output::Stop;

/// What all requests have unless they say otherwise.
#[derive(Debug, Default)]
pub(super) struct Template {
    method: Option<Method>,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Template {
    /// From the options. Errors never repeat a header's value.
    pub(super) fn new(args: &FetchArgs) -> Result<Self, Stop> {
        let method = args.method.as_deref().map(method).transpose();
        let headers = headers::typed(&args.header)?;
        let body = args.data.as_deref().map(data).transpose()?;
        Ok(Self {
            method: method.map_err(|error| Stop::usage(format!("--method: {error}")))?,
            headers,
            body,
        })
    }

    /// The request of a line, or what is wrong with the line.
    pub(super) fn request(&self, line: &str) -> Result<Request, String> {
        let own = match line.starts_with('{') {
            true => serde_json::from_str(line).map_err(|error| {
                let known = "expected a JSON object with url, method, headers, body";
                format!("{}; {known}", without_text(&error))
            })?,
            false => Object::of_url(line),
        };
        let url = http_url(&own.url)?;
        let mut headers = self.headers.clone();
        let mut replaced = HeaderMap::new();
        for (name, values) in own.headers.into_iter().flatten() {
            let values = match values {
                Values::One(value) => vec![value],
                Values::Several(values) => values,
            };
            for value in values {
                let (name, value) = headers::checked(&name, &value)?;
                headers.remove(&name);
                replaced.append(name, value);
            }
        }
        headers.extend(replaced);
        let body = match own.body {
            None | Some(serde_json::Value::Null) => self.body.clone(),
            Some(serde_json::Value::String(text)) => Some(text.into()),
            Some(value) => {
                headers
                    .entry(header::CONTENT_TYPE)
                    .or_insert(HeaderValue::from_static("application/json"));
                Some(value.to_string().into())
            }
        };
        let method = match own.method.as_deref() {
            Some(word) => method(word)?,
            None => self.method.clone().unwrap_or(match body {
                Some(_) => Method::POST,
                None => Method::GET,
            }),
        };
        Ok(Request {
            method,
            url,
            headers,
            body,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    url: String,
    method: Option<String>,
    headers: Option<BTreeMap<String, Values>>,
    body: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum Values {
    One(String),
    Several(Vec<String>),
}

impl Object {
    fn of_url(url: &str) -> Self {
        Self {
            url: url.into(),
            method: None,
            headers: None,
            body: None,
        }
    }
}

/// A key may be as long as a line.
const LONGEST_ERROR: usize = 300;

/// What the JSON reader found wrong, without the texts that it found: one may be a credential.
fn without_text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match error.classify() {
        serde_json::error::Category::Data
            if text.contains("invalid type") || text.contains("invalid value") =>
        {
            format!("a value of the wrong type at column {}", error.column())
        }
        _ => text
            .chars()
            .take(LONGEST_ERROR)
            .collect::<String>()
            .replace(" at line 1 ", " at "),
    }
}

fn http_url(text: &str) -> Result<Url, String> {
    let expected = "expected a URL such as https://api.example.com/items";
    let url = Url::parse(text.trim()).map_err(|error| match quoted(text) {
        Some(quoted) => format!("{quoted} is not a URL: {error}; {expected}"),
        None => format!("not a URL: {error}; {expected}"),
    })?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("{other} is not fetched; {expected}")),
    }
}

/// The text in quotation marks, if it is short and holds nothing that may be a credential.
fn quoted(text: &str) -> Option<String> {
    (text.chars().count() <= 80 && !text.contains('@') && !text.contains('?'))
        .then(|| format!("{text:?}"))
}

fn method(word: &str) -> Result<Method, String> {
    let wrong = || format!("{word:?} is not a method; expected one such as GET or POST");
    match word.parse::<Method>().map_err(|_| wrong())? {
        Method::CONNECT => Err(
            "CONNECT opens a tunnel, it fetches nothing; expected one such as GET or POST".into(),
        ),
        // Methods are case-sensitive (RFC 9110 section 9.1), and nobody means `get`.
        own if own.as_str().bytes().any(|b| b.is_ascii_lowercase()) => {
            word.to_ascii_uppercase().parse().map_err(|_| wrong())
        }
        own => Ok(own),
    }
}

/// The text itself, or the file that it names.
fn data(text: &str) -> Result<Bytes, Stop> {
    match text.strip_prefix('@') {
        Some(file) => match fs::read(file) {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(Stop::usage(format!(
                "--data: {file} cannot be read: {error}"
            ))),
        },
        None => Ok(Bytes::copy_from_slice(text.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_url_or_an_object() {
        let template = Template::default();
        let plain = template.request("http://a.example/x").unwrap();
        assert_eq!(
            (plain.method, plain.url.as_str(), plain.body),
            (Method::GET, "http://a.example/x", None)
        );
        let object =
            r#"{"url":"http://a.example/","headers":{"X-A":"b","X-C":["d","e"]},"body":{"n":1}}"#;
        let object = template.request(object).unwrap();
        assert_eq!(object.method, Method::POST);
        assert_eq!(object.body.unwrap(), r#"{"n":1}"#);
        assert_eq!(object.headers.get_all("x-c").iter().count(), 2);
        assert_eq!(object.headers["content-type"], "application/json");
    }

    #[test]
    fn a_wrong_line_says_what_would_be_right_and_repeats_no_credential() {
        for (line, says) in [
            (
                "example.com",
                "\"example.com\" is not a URL: relative URL without a base",
            ),
            ("ftp://example.com/", "ftp is not fetched"),
            ("http://", "empty host"),
            ("http://me:secret@", "not a URL"),
            ("{", "expected a JSON object"),
            ("{}", "missing field `url`"),
            (
                r#"{"url":"http://a.example/","header":{}}"#,
                "unknown field `header`",
            ),
            (
                r#"{"url":"http://a.example/","headers":"secret"}"#,
                "wrong type",
            ),
            (
                r#"{"url":"http://a.example/","headers":{"a b":"secret"}}"#,
                "its name is not one",
            ),
            (
                r#"{"url":"http://a.example/","headers":{"a":"secret\n"}}"#,
                "the value of a holds",
            ),
            (
                r#"{"url":"http://a.example/","method":"G T"}"#,
                "is not a method",
            ),
        ] {
            let error = Template::default().request(line).expect_err(line);
            assert!(error.contains(says), "{line}: {error}");
            assert!(!error.contains("secret"), "{line}: {error}");
        }
    }
}
