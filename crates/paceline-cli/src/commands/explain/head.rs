//! The head of a response as text: what curl prints, and single fields.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Status, fields and body of a response as curl -si prints it. Of several heads, as redirects and proxies leave them in
/// what curl -iL prints, the last counts.
pub(super) fn last_of(response: &[u8]) -> Result<(u64, HeaderMap, &[u8]), String> {
    let expected = "expected a response such as curl -si URL prints: HTTP/1.1 429 Too Many Requests, then headers";
    let mut rest = response.trim_ascii_start();
    if rest.is_empty() {
        return Err(format!("it is empty; {expected}"));
    }
    loop {
        let (first, fields) = line(rest);
        let status = status_of(&first);
        let status = status.ok_or_else(|| format!("it begins with no status line; {expected}"))?;
        let (headers, body) = block(fields).map_err(|(left, error)| {
            // Lines are counted from the beginning of what was given.
            let before = &response[..response.len() - left];
            let number = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("line {number}: {error}")
        })?;
        if status_of(&line(body).0).is_none() {
            return Ok((status, headers, body));
        }
        rest = body;
    }
}

/// Fields up to a blank line; or what is wrong, and how much was left where that field began.
fn block(mut rest: &[u8]) -> Result<(HeaderMap, &[u8]), (usize, String)> {
    let mut headers = HeaderMap::new();
    let mut field = String::new();
    let mut began = rest.len();
    loop {
        let (next, further) = line(rest);
        let is_last = next.is_empty();
        // RFC 9112 section 5.2: a value used to go on in the next line.
        if next.starts_with([' ', '\t']) && !field.is_empty() {
            field = format!("{field} {}", next.trim());
        } else {
            if !field.is_empty() {
                add_line(&mut headers, &field).map_err(|error| (began, error))?;
            }
            field = next;
            began = rest.len();
        }
        rest = further;
        if is_last {
            return Ok((headers, rest));
        }
    }
}

/// The first line, without its end, and what is after it.
fn line(text: &[u8]) -> (String, &[u8]) {
    let end = text.iter().position(|&byte| byte == b'\n');
    let (line, rest) = text.split_at(end.unwrap_or(text.len()));
    let line = String::from_utf8_lossy(line);
    (
        line.trim_end_matches('\r').to_owned(),
        rest.get(1..).unwrap_or_default(),
    )
}

fn status_of(line: &str) -> Option<u64> {
    let status = line.strip_prefix("HTTP/")?.split(' ').nth(1)?;
    status.parse().ok()
}

/// A field as it is typed.
pub(super) fn add_typed(headers: &mut HeaderMap, line: &str) -> Result<(), String> {
    has_no_end_of_line(line.as_bytes())?;
    add_line(headers, line)
}

/// A field as an object has it.
pub(super) fn add_given(headers: &mut HeaderMap, name: &str, value: &[u8]) -> Result<(), String> {
    has_no_end_of_line(value)?;
    add(headers, name, value)
}

/// Where one field was meant and two are written, the second would be lost.
fn has_no_end_of_line(text: &[u8]) -> Result<(), String> {
    match text.contains(&b'\n') || text.contains(&b'\r') {
        true => Err("an end of line is in it; expected each header for itself".into()),
        false => Ok(()),
    }
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

pub(super) fn encoded(value: &str, latin_1: bool) -> Result<Vec<u8>, String> {
    if !latin_1 {
        return Ok(value.as_bytes().to_vec());
    }
    let byte = |c: char| u8::try_from(u32::from(c)).map_err(|_| format!("{c:?} is not Latin-1"));
    value.chars().map(byte).collect()
}
