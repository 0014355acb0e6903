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
use std::borrow::Cow;

use http::HeaderMap;
use serde_json::Value;

use super::super::field;
use super::super::number::{self, Decimal};
use super::content;

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(super) source: Source,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
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

    /// Whether it stands in a field that is there, of a head without candidates.
    pub(super) fn is_among(&self, headers: &HeaderMap) -> bool {
        match &self.source {
            // Looking a name up costs as much as a look at ten of them, and most are candidates.
            Source::Field(name) => !field::is_candidate(name) && headers.contains_key(&**name),
            Source::Fields(start) => {
                let mut names = headers.keys().map(|name| name.as_str());
                names.any(|name| name.starts_with(&**start))
            }
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
