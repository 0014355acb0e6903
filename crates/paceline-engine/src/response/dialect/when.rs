//! What the words of an upstream mean.

use core::time::Duration;

use http::StatusCode;

use super::place::{Place, Sources};
use crate::{Kind, Scope, Verdict};

/// A condition and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain settings, made by whoever reads a dialect's file"
)]
pub struct When {
    /// Only for these statuses; any if there are none.
    pub statuses: Vec<u16>,
    /// Where to look; without a place the status alone decides.
    pub at: Option<Place>,
    /// What must stand there.
    pub test: Test,
    /// What that means.
    pub then: Effect,
}

/// What must stand at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Test {
    /// Anything.
    #[default]
    Present,
    /// Nothing, or JSON's null.
    Missing,
    /// One of these words, whatever the letter case.
    Is(Vec<Box<str>>),
    /// A text with one of these in it, whatever the letter case.
    Contains(Vec<Box<str>>),
    /// One of these error codes, perhaps with a namespace before a `#` and an address after a `:`
    /// (`aws.x#Throttling:http://…`).
    Code(Vec<Box<str>>),
}

/// What it means. Where it says nothing, the next rule that fits does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain settings, made by whoever reads a dialect's file"
)]
pub struct Effect {
    /// What the response is.
    pub class: Option<Verdict>,
    /// What kind of limit refused.
    pub kind: Option<Kind>,
    /// What it speaks for.
    pub scope: Option<Scope>,
    /// The least pause, if no other is named.
    pub pause: Option<Duration>,
    /// Whether it is worth sending again.
    pub retry: Option<bool>,
}

/// The rule by which a response is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided<'a> {
    /// The rule.
    pub rule: &'a When,
    /// What the response is.
    pub class: Verdict,
    /// What stands at its place, if that is a text or a number; of several the one that fits.
    pub found: Option<String>,
}

impl When {
    /// The first rule that fits and says what the response is.
    pub(super) fn deciding<'a>(
        rules: &'a [Self],
        status: StatusCode,
        sources: &Sources<'_>,
    ) -> Option<Decided<'a>> {
        let mut rules = rules.iter();
        rules.find_map(|rule| {
            let class = rule.then.class.filter(|_| rule.fits(status, sources))?;
            let found = rule.at.as_ref().and_then(|place| {
                let texts = place.find(sources, None).into_iter();
                let mut texts = texts.filter_map(|found| super::content::text(&found.value));
                texts.find(|text| rule.test.accepts(text))
            });
            Some(Decided { rule, class, found })
        })
    }

    /// What all rules that fit mean together.
    pub(in super::super) fn all(
        rules: &[Self],
        status: StatusCode,
        sources: &Sources<'_>,
    ) -> Effect {
        let mut all = Effect::default();
        for rule in rules.iter().filter(|rule| rule.fits(status, sources)) {
            let then = &rule.then;
            all.class = all.class.or(then.class);
            all.kind = all.kind.or(then.kind);
            all.scope = all.scope.or(then.scope);
            all.pause = all.pause.or(then.pause);
            all.retry = all.retry.or(then.retry);
        }
        all
    }

    pub(super) fn fits_status(&self, status: StatusCode) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status.as_u16())
    }

    pub(super) fn reads_body(&self) -> bool {
        self.at.as_ref().is_some_and(Place::is_body)
    }

    fn fits(&self, status: StatusCode, sources: &Sources<'_>) -> bool {
        self.fits_status(status)
            && self
                .at
                .as_ref()
                .is_none_or(|place| self.test.holds(place, sources))
    }
}

impl Test {
    fn holds(&self, place: &Place, sources: &Sources<'_>) -> bool {
        let found = place.find(sources, None);
        let mut texts = found
            .iter()
            .filter_map(|found| super::content::text(&found.value));
        match self {
            Self::Present => found.iter().any(|own| !own.value.is_null()),
            Self::Missing => found.iter().all(|own| own.value.is_null()),
            Self::Is(_) | Self::Code(_) | Self::Contains(_) => {
                texts.any(|text| self.accepts(&text))
            }
        }
    }

    /// Whether it is about this text.
    fn accepts(&self, text: &str) -> bool {
        match self {
            Self::Present => true,
            Self::Missing => false,
            Self::Is(words) => is_one(words, text),
            Self::Code(words) => is_one(words, code(text)),
            Self::Contains(words) => {
                let text = text.to_lowercase();
                words.iter().any(|word| text.contains(&word.to_lowercase()))
            }
        }
    }
}

fn is_one(words: &[Box<str>], text: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn code(text: &str) -> &str {
    let text = text.rsplit_once('#').map_or(text, |(_, code)| code);
    text.split_once(':').map_or(text, |(code, _)| code).trim()
}
