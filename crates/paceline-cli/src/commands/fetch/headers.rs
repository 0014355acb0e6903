//! Headers as they are typed. Errors never repeat a value: it may be a credential.

use std::fs;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::output::Stop;

/// The headers of `-H 'Name: value'` and `-H @FILE`.
pub(super) fn typed(options: &[String]) -> Result<HeaderMap, Stop> {
    let mut headers = HeaderMap::new();
    for option in options {
        match option.strip_prefix('@') {
            Some(name) => file(&mut headers, name)?,
            None => {
                let header = one(option);
                let (name, value) =
                    header.map_err(|error| Stop::usage(format!("--header: {error}")))?;
                headers.append(name, value);
            }
        }
    }
    Ok(headers)
}

/// A name and a value that may be sent.
pub(super) fn checked(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
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

fn one(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("there is no colon in it; expected 'Name: value' or @FILE")?;
    checked(name.trim(), value.trim())
}

fn file(headers: &mut HeaderMap, file: &str) -> Result<(), Stop> {
    let text = fs::read_to_string(file)
        .map_err(|error| Stop::usage(format!("--header: {file} cannot be read: {error}")))?;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = one(line)
            .map_err(|error| Stop::usage(format!("--header: {file}:{number}: {error}")))?;
        headers.append(name, value);
    }
    Ok(())
}
