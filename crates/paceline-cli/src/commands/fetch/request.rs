//! From a line of input, and what was typed for all of them, to a request.

use std::fs;

use bytes::Bytes;
use http::Method;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use url::Url;

use crate::args::FetchArgs;
use crate::output::Stop;

/// A request, before it is sent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    /// May hold userinfo; print [`shown`] instead.
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

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
        let mut headers = HeaderMap::new();
        for option in &args.header {
            match option.strip_prefix('@') {
                Some(file) => header_file(&mut headers, file)?,
                None => {
                    let (name, value) = header(option)
                        .map_err(|error| Stop::usage(format!("--header: {error}")))?;
                    headers.append(name, value);
                }
            }
        }
        let body = match args
            .data
            .as_deref()
            .map(|data| (data, data.strip_prefix('@')))
        {
            Some((_, Some(file))) => Some(read(file, "--data")?.into()),
            Some((data, None)) => Some(Bytes::copy_from_slice(data.as_bytes())),
            None => None,
        };
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
                let (name, value) = header_parts(&name, &value)?;
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

impl Request {
    /// The request for the page that this one's answer names.
    ///
    /// To another origin it carries none of the headers that were typed but those that only say what form is wanted:
    /// any of them may be a credential.
    pub(super) fn page(&self, next: Url) -> Self {
        let method = match self.method {
            Method::HEAD => Method::HEAD,
            _ => Method::GET,
        };
        let mut url = next;
        let mut headers = self.headers.clone();
        if url.origin() == self.url.origin() {
            // A page keeps the credentials of the line; both setters fail only for URLs without a host.
            let _ = url.set_username(self.url.username());
            let _ = url.set_password(self.url.password());
        } else {
            headers = HeaderMap::new();
            for name in HARMLESS {
                headers.extend(
                    self.headers
                        .get_all(&name)
                        .iter()
                        .map(|value| (name.clone(), value.clone())),
                );
            }
        }
        headers.remove(header::CONTENT_TYPE);
        Self {
            method,
            url,
            headers,
            body: None,
        }
    }
}

/// What another origin may know.
const HARMLESS: [HeaderName; 3] = [header::ACCEPT, header::ACCEPT_LANGUAGE, header::USER_AGENT];

/// The URL as it may be printed: without credentials, and without the fragment, which is never sent.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Both fail only for URLs without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    url: String,
    method: Option<String>,
    headers: Option<std::collections::BTreeMap<String, Values>>,
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

/// What the JSON reader found wrong, without the texts that it found: one may be a credential.
fn without_text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match error.classify() {
        serde_json::error::Category::Data
            if text.contains("invalid type") || text.contains("invalid value") =>
        {
            format!("a value of the wrong type at column {}", error.column())
        }
        _ => text,
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

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("there is no colon in it; expected 'Name: value' or @FILE")?;
    header_parts(name.trim(), value.trim())
}

fn header_parts(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name: HeaderName = name
        .parse()
        .map_err(|_| "its name is not one; expected 'Name: value'".to_owned())?;
    if [
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::CONNECTION,
    ]
    .contains(&name)
    {
        return Err(format!("{name} follows from the request and cannot be set"));
    }
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("the value of {name} holds a character that no header may hold"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn header_file(headers: &mut HeaderMap, file: &str) -> Result<(), Stop> {
    let bytes = read(file, "--header")?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Stop::usage(format!("--header: {file} is not UTF-8")))?;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = header(line)
            .map_err(|error| Stop::usage(format!("--header: {file}:{number}: {error}")))?;
        headers.append(name, value);
    }
    Ok(())
}

fn read(file: &str, option: &str) -> Result<Vec<u8>, Stop> {
    fs::read(file).map_err(|error| Stop::usage(format!("{option}: {file} cannot be read: {error}")))
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

    #[test]
    fn a_page_elsewhere_gets_no_credentials() {
        let line =
            r#"{"url":"http://me:pw@a.example/","headers":{"X-Key":"k","Accept":"text/plain"}}"#;
        let request = Template::default().request(line).unwrap();
        let same = request.page("http://a.example/2".parse().unwrap());
        assert_eq!(
            (same.url.as_str(), &same.headers["x-key"]),
            ("http://me:pw@a.example/2", &"k".parse().unwrap())
        );
        for elsewhere in [
            "https://a.example/2",
            "http://a.example:81/2",
            "http://b.example/2",
        ] {
            let page = request.page(elsewhere.parse().unwrap());
            assert_eq!(page.url.as_str(), elsewhere);
            assert_eq!(page.headers.keys().collect::<Vec<_>>(), ["accept"]);
        }
    }
}
