//! From text to something that has parts: JSON, `key=value` parameters, lists, XML elements.
//!
//! What a text is, its own shape tells, so that a place need not say it. Bodies are borrowed, never copied: an upstream may
//! send a million elements.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::place::{Found, MOST_FOUND, Step};

/// A body: JSON if it is that, else text. A byte that is no UTF-8 spoils the text that it stands in, not the rest.
pub(super) fn of_body(body: &[u8]) -> Value {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let text = String::from_utf8_lossy(body);
    serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned()))
}

/// The text of a value that has no parts.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim_matches([' ', '\t']).to_owned()),
        // What no integer holds is written without an exponent, as fields write numbers.
        Value::Number(number) if number.is_f64() => Some(number.as_f64()?.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What is one step below a value; `same` is the place of the value that is looked at.
pub(super) fn descend<'a>(from: &Found<'a>, step: &Step, same: usize) -> Vec<Found<'a>> {
    let one = |index, value| Found {
        value,
        index,
        ..from.clone()
    };
    let only = |index, value: Option<_>| value.map(|value| one(index, value)).into_iter().collect();
    match step {
        Step::Key(key) => only(from.index, member(&from.value, key)),
        Step::Members => members(&from.value)
            .into_iter()
            .enumerate()
            .map(|(i, (name, value))| Found {
                name: Some(name),
                ..one(i, value)
            })
            .collect(),
        Step::Elements => {
            let elements = elements(&from.value).into_iter().enumerate();
            elements.map(|(i, value)| one(i, value)).collect()
        }
        Step::At(at) => only(*at, element(&from.value, *at)),
        Step::Same => only(same, element(&from.value, same)),
        Step::Tag(name) => only(from.index, tagged(&from.value, name)),
    }
}

/// A part of a value that is borrowed is borrowed, too.
fn part<'a>(
    value: Cow<'a, Value>,
    of: impl for<'v> FnOnce(&'v Value) -> Option<&'v Value>,
) -> Option<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(value) => of(value).map(Cow::Borrowed),
        Cow::Owned(value) => of(&value).cloned().map(Cow::Owned),
    }
}

/// An object, or a text that is JSON or parameters.
fn with_members<'a>(value: &Cow<'a, Value>) -> Option<Cow<'a, Value>> {
    match &**value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => Some(Cow::Owned(object)),
            _ => parameters(text).map(|own| Cow::Owned(Value::Object(own))),
        },
        _ => None,
    }
}

fn members<'a>(value: &Cow<'a, Value>) -> Vec<(Cow<'a, str>, Cow<'a, Value>)> {
    match with_members(value) {
        Some(Cow::Borrowed(Value::Object(members))) => {
            let members = members.iter().take(MOST_FOUND);
            members
                .map(|(name, value)| (name.into(), Cow::Borrowed(value)))
                .collect()
        }
        Some(Cow::Owned(Value::Object(members))) => {
            let members = members.into_iter().take(MOST_FOUND);
            members
                .map(|(name, value)| (name.into(), Cow::Owned(value)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// By its name, whatever the letter case: some proxies change that of what they echo.
fn member<'a>(value: &Cow<'a, Value>, key: &str) -> Option<Cow<'a, Value>> {
    part(with_members(value)?, |value| {
        let members = value.as_object()?;
        let other_case = || {
            let mut all = members.iter();
            all.find(|(name, _)| name.eq_ignore_ascii_case(key))
        };
        let exact = members.get(key);
        exact.or_else(|| other_case().map(|(_, value)| value))
    })
}

/// `total=100; remaining=99; resets=41`, of which some are parted by commas.
fn parameters(text: &str) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    for part in text.split([';', ',']) {
        if let Some((name, value)) = part.split_once('=') {
            let value = value.trim().trim_matches('"');
            let name = name.trim().to_owned();
            members.entry(name).or_insert_with(|| value.into());
        }
    }
    (!members.is_empty()).then_some(members)
}

/// An array's; a lone object where an array was expected; a text's members.
fn elements<'a>(value: &Cow<'a, Value>) -> Vec<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(Value::Array(elements)) => {
            let elements = elements.iter().take(MOST_FOUND);
            elements.map(Cow::Borrowed).collect()
        }
        Cow::Owned(Value::Array(elements)) => owned(elements.iter().cloned()),
        _ => match &**value {
            Value::Object(_) => vec![value.clone()],
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Array(elements)) => owned(elements.into_iter()),
                _ => owned(parts(text, ',')),
            },
            _ => Vec::new(),
        },
    }
}

fn owned<'a>(values: impl Iterator<Item = Value>) -> Vec<Cow<'a, Value>> {
    values.take(MOST_FOUND).map(Cow::Owned).collect()
}

/// The nth of an array, of a list, or of `100:120`.
fn element<'a>(value: &Cow<'a, Value>, at: usize) -> Option<Cow<'a, Value>> {
    match &**value {
        Value::Array(_) => part(value.clone(), |value| value.as_array()?.get(at)),
        Value::String(text) if !text.contains(',') && !text.starts_with('[') => {
            parts(text, ':').nth(at).map(Cow::Owned)
        }
        _ => elements(value).into_iter().nth(at),
    }
}

fn parts(text: &str, separator: char) -> impl Iterator<Item = Value> {
    text.split(separator).map(|part| part.trim().into())
}

/// The text of the first XML element of this name, which is enough for `<Code>SlowDown</Code>`.
fn tagged<'a>(value: &Value, name: &str) -> Option<Cow<'a, Value>> {
    let Value::String(text) = value else {
        return None;
    };
    let opening = format!("<{name}");
    let mut rest = &**text;
    loop {
        (_, rest) = rest.split_once(&opening)?;
        // Other elements' names may begin with this one.
        if rest.starts_with(|c: char| c == '>' || c.is_ascii_whitespace()) {
            break;
        }
    }
    let (_, inside) = rest.split_once('>')?;
    let (inside, _) = inside.split_once(&format!("</{name}"))?;
    Some(Cow::Owned(inside.trim().into()))
}
