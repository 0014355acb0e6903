//! From text to something that has parts: JSON, `key=value` parameters, lists, XML elements.
//!
//! What a text is, its own shape tells, so that a place need not say it.

use serde_json::{Map, Value};

use super::place::{Found, Step};

/// A body: JSON if it is that, else text.
pub(super) fn of_body(body: &[u8]) -> Value {
    serde_json::from_slice(body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()))
}

/// The text of a value that has no parts.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim_matches([' ', '\t']).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What is one step below a value; `same` is the place of the value that is looked at.
pub(super) fn descend(from: &Found, step: &Step, same: usize) -> Vec<Found> {
    let one = |name: Option<&str>, index, value| Found {
        name: name.map(Into::into).or_else(|| from.name.clone()),
        index,
        value,
    };
    match step {
        Step::Key(key) => {
            let value = with_members(&from.value).and_then(|members| member(&members, key));
            let value = value.map(|value| one(None, from.index, value));
            value.into_iter().collect()
        }
        Step::Members => {
            let members = with_members(&from.value).unwrap_or_default();
            let members = members.into_iter().enumerate();
            members
                .map(|(i, (name, value))| one(Some(&name), i, value))
                .collect()
        }
        Step::Elements => {
            let elements = elements(&from.value).into_iter().enumerate();
            elements.map(|(i, value)| one(None, i, value)).collect()
        }
        Step::At(at) => element(&from.value, *at)
            .map(|value| one(None, *at, value))
            .into_iter()
            .collect(),
        Step::Same => element(&from.value, same)
            .map(|value| one(None, same, value))
            .into_iter()
            .collect(),
        Step::Tag(name) => tagged(&from.value, name)
            .map(|value| one(None, from.index, value))
            .into_iter()
            .collect(),
    }
}

/// An object, or a text that is JSON or parameters.
fn with_members(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members.clone()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(members)) => Some(members),
            _ => parameters(text),
        },
        _ => None,
    }
}

/// By its name, whatever the letter case: some proxies change that of what they echo.
fn member(members: &Map<String, Value>, key: &str) -> Option<Value> {
    let exact = members.get(key);
    let found = exact.or_else(|| {
        let mut all = members.iter();
        all.find(|(name, _)| name.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    });
    found.cloned()
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
fn elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements.clone(),
        Value::Object(_) => vec![value.clone()],
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(elements)) => elements,
            _ => parts(text, ',').collect(),
        },
        _ => Vec::new(),
    }
}

/// The nth of an array, of a list, or of `100:120`.
fn element(value: &Value, at: usize) -> Option<Value> {
    match value {
        Value::String(text) if !text.contains(',') && !text.starts_with('[') => {
            parts(text, ':').nth(at)
        }
        value => elements(value).into_iter().nth(at),
    }
}

fn parts(text: &str, separator: char) -> impl Iterator<Item = Value> {
    text.split(separator).map(|part| part.trim().into())
}

/// The text of the first XML element of this name, which is enough for `<Code>SlowDown</Code>`.
fn tagged(value: &Value, name: &str) -> Option<Value> {
    let Value::String(text) = value else {
        return None;
    };
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside.trim().into())
}
