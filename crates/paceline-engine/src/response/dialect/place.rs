//! Where a value stands: a field, a part of a field, or a part of the body.
//!
//! ```text
//! x-ratelimit-bucket                    a field
//! zendesk-ratelimit-*                   all fields whose names begin so
//! x-ratelimit-limit: [0]                the first member of a field's list
//! sforce-limit-info: api-usage          a parameter of a field, or a key of its JSON
//! body: errors[].extensions.code        JSON: every element's, whatever their number
//! body: <Code>                          XML: the text of the first such element
//! .remaining                            below the value that is being looked at
//! ```
//!
//! A step is a key, `*` (all members), `[]` (all elements), `[0]` (one of them), `[#]` (the one at the place of the value
//! that is looked at) or `<Name>`.

use core::cell::OnceCell;
use core::fmt;
use core::str::FromStr;
use std::borrow::Cow;

use http::HeaderMap;
use serde_json::Value;

use super::super::number::{self, Decimal};
use super::content;

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    source: Source,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Field(Box<str>),
    /// Fields whose names begin so.
    Fields(Box<str>),
    Body,
    /// The value that is being looked at.
    Here,
}

/// One step down into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(Box<str>),
    Members,
    Elements,
    At(usize),
    /// The element at the same place as the value that is looked at.
    Same,
    Tag(Box<str>),
}

/// A response's fields and body, of which the body is read at most once.
pub(in super::super) struct Sources<'a> {
    headers: &'a HeaderMap,
    body: Option<&'a [u8]>,
    tree: OnceCell<Value>,
}

/// A value, what it is called where it was found, and which of several it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found<'a> {
    /// The field that it stands in, or `body`.
    pub(super) from: &'a str,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) index: usize,
    pub(super) value: Cow<'a, Value>,
}

/// An upstream may send any number of elements; no honest one means more than this.
pub(super) const MOST_FOUND: usize = 64;

impl<'a> Sources<'a> {
    pub(in super::super) const fn new(headers: &'a HeaderMap, body: Option<&'a [u8]>) -> Self {
        Self {
            headers,
            body,
            tree: OnceCell::new(),
        }
    }

    fn body(&self) -> Option<&Value> {
        let body = self.body?;
        Some(self.tree.get_or_init(|| content::of_body(body)))
    }
}

impl Place {
    /// Whether it is a part of what is looked at: of what [`WindowRule::each`](super::WindowRule) finds.
    pub fn is_part(&self) -> bool {
        self.source == Source::Here
    }

    /// Whether it stands in the body.
    pub(super) fn is_body(&self) -> bool {
        self.source == Source::Body
    }

    /// Whether it stands in the field of this name.
    pub(super) fn is_in(&self, field: &str) -> bool {
        match &self.source {
            Source::Field(name) => **name == *field,
            Source::Fields(start) => field.starts_with(&**start),
            Source::Body | Source::Here => false,
        }
    }

    /// All values at this place; `here` is the value that is looked at.
    pub(super) fn find<'a>(
        &self,
        sources: &'a Sources<'_>,
        here: Option<&Found<'a>>,
    ) -> Vec<Found<'a>> {
        let mut found = match &self.source {
            Source::Field(name) => fields(sources, |own| own == &**name, 0),
            Source::Fields(start) => fields(sources, |own| own.starts_with(&**start), start.len()),
            Source::Body => self.body(sources).into_iter().collect(),
            Source::Here => here.cloned().into_iter().collect(),
        };
        let same = here.map_or(0, |here| here.index);
        for step in &self.steps {
            let values = found
                .iter()
                .flat_map(|from| content::descend(from, step, same));
            found = values.take(MOST_FOUND).collect();
        }
        found
    }

    /// A body that is no JSON has no parts but elements of XML.
    fn body<'a>(&self, sources: &'a Sources<'_>) -> Option<Found<'a>> {
        let is_xml = matches!(self.steps.first(), Some(Step::Tag(_)));
        let body = sources.body().filter(|body| is_xml == body.is_string())?;
        Some(Found {
            from: "body",
            name: None,
            index: 0,
            value: Cow::Borrowed(body),
        })
    }

    /// The first text at this place.
    pub(super) fn text<'a>(
        &self,
        sources: &'a Sources<'_>,
        here: Option<&Found<'a>>,
    ) -> Option<String> {
        let found = self.find(sources, here);
        found.iter().find_map(|found| content::text(&found.value))
    }

    /// The first number at this place.
    pub(super) fn number(&self, sources: &Sources<'_>) -> Option<Decimal> {
        let text = self.text(sources, None)?;
        number::decimal(number::trim(text.as_bytes()))
    }
}

fn fields<'a>(
    sources: &'a Sources<'_>,
    is_one: impl Fn(&str) -> bool,
    start: usize,
) -> Vec<Found<'a>> {
    let fields = sources.headers.iter();
    let fields = fields.filter(|(name, _)| is_one(name.as_str()));
    fields
        .take(MOST_FOUND)
        .enumerate()
        .map(|(index, (name, value))| Found {
            from: name.as_str(),
            name: Some(name.as_str()[start..].into()),
            index,
            value: Cow::Owned(String::from_utf8_lossy(value.as_bytes()).into()),
        })
        .collect()
}

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
            "body" => Source::Body,
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

fn steps(mut path: &str) -> Result<Vec<Step>, PlaceError> {
    let mut steps = Vec::new();
    while !path.is_empty() {
        path = path.strip_prefix('.').unwrap_or(path);
        let (step, rest) = if let Some(rest) = path.strip_prefix('[') {
            let (inside, rest) = rest
                .split_once(']')
                .ok_or(PlaceError("a [ has no ] after it"))?;
            (element(inside)?, rest)
        } else if let Some(rest) = path.strip_prefix('<') {
            let (name, rest) = rest
                .split_once('>')
                .ok_or(PlaceError("a < has no > after it"))?;
            (Step::Tag(name.into()), rest)
        } else {
            let end = path.find(['.', '[', '<']).unwrap_or(path.len());
            let (key, rest) = path.split_at(end);
            let step = match key {
                "" => return Err(PlaceError("a key is missing")),
                "*" => Step::Members,
                key => Step::Key(key.into()),
            };
            (step, rest)
        };
        steps.push(step);
        path = rest;
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
