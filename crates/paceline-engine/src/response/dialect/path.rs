//! Places as text, read and written.

use core::fmt;
use core::str::FromStr;

use super::place::{Place, Source, Step};

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Field(name) => write!(f, "{name}")?,
            Source::Fields(start) => write!(f, "{start}*")?,
            Source::Body => f.write_str("body")?,
            Source::Here => f.write_str(".")?,
        }
        for (i, step) in self.steps.iter().enumerate() {
            let is_first = i == 0;
            if is_first && self.source != Source::Here {
                f.write_str(": ")?;
            }
            match step {
                Step::Key(_) | Step::Members if !is_first => f.write_str(".")?,
                _ => {}
            }
            match step {
                Step::Key(key) => f.write_str(key)?,
                Step::Members => f.write_str("*")?,
                Step::Elements => f.write_str("[]")?,
                Step::At(at) => write!(f, "[{at}]")?,
                Step::Same => f.write_str("[#]")?,
                Step::Tag(name) => write!(f, "<{name}>")?,
            }
        }
        Ok(())
    }
}

/// Why a text is not a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceError(&'static str);

impl PlaceError {
    /// What is wrong with it.
    pub const fn problem(&self) -> &'static str {
        self.0
    }

    /// What would be right.
    pub const fn expected(&self) -> &'static str {
        r#"a field ("x-shop-limit"), a part of one ("x-limits: [0]"), a part of the body ("body: errors[].code", "body: <Code>") or, beside `each`, a part of what it finds (".remaining")"#
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.0, self.expected())
    }
}

impl core::error::Error for PlaceError {}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let text = text.trim();
        if let Some(path) = text.strip_prefix('.') {
            return Ok(Self {
                source: Source::Here,
                steps: steps(path)?,
            });
        }
        let (source, path) = text.split_once(':').unwrap_or((text, ""));
        let source = match source.trim() {
            // Names of fields are the same in any case, so that it would be one of a field that nobody means.
            name if name.eq_ignore_ascii_case("body") => Source::Body,
            name => field(name)?,
        };
        let steps = steps(path.trim())?;
        if source == Source::Body && steps.is_empty() {
            return Err(PlaceError("it does not say which part of the body"));
        }
        Ok(Self { source, steps })
    }
}

fn field(name: &str) -> Result<Source, PlaceError> {
    let plain = name.trim_end_matches('*');
    let token = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if plain.is_empty() || !plain.bytes().all(token) {
        return Err(PlaceError("that is not the name of a field"));
    }
    let lower = plain.to_ascii_lowercase().into();
    Ok(match name.len() - plain.len() {
        0 => Source::Field(lower),
        1 => Source::Fields(lower),
        _ => return Err(PlaceError("a name ends with one *")),
    })
}

/// Blanks around names are no part of them: a key with some would be one that nobody means.
fn steps(mut path: &str) -> Result<Vec<Step>, PlaceError> {
    let mut steps = Vec::new();
    while !path.is_empty() {
        path = path.strip_prefix('.').unwrap_or(path).trim_start();
        let (step, rest) = if let Some(rest) = path.strip_prefix('[') {
            let (inside, rest) = rest
                .split_once(']')
                .ok_or(PlaceError("a [ has no ] after it"))?;
            (element(inside)?, rest)
        } else if let Some(rest) = path.strip_prefix('<') {
            let (name, rest) = rest
                .split_once('>')
                .ok_or(PlaceError("a < has no > after it"))?;
            (Step::Tag(name.trim().into()), rest)
        } else {
            let end = path.find(['.', '[', '<']).unwrap_or(path.len());
            let (key, rest) = path.split_at(end);
            let step = match key.trim_end() {
                "" => return Err(PlaceError("a key is missing")),
                "*" => Step::Members,
                key => Step::Key(key.into()),
            };
            (step, rest)
        };
        steps.push(step);
        path = rest.trim_start();
    }
    Ok(steps)
}

fn element(inside: &str) -> Result<Step, PlaceError> {
    match inside {
        "" => Ok(Step::Elements),
        "#" => Ok(Step::Same),
        number => number
            .parse()
            .map(Step::At)
            .map_err(|_| PlaceError("between [ and ] stands a number, a # or nothing")),
    }
}
