//! How providers speak of limits: what their responses mean, and what limits they have published.
//!
//! A dialect is a file, one for each provider, embedded or in the user's configuration (`[dialect.NAME]`), in the same
//! form. `read` reads it, `known` holds the embedded ones.

use core::fmt;

use paceline_engine::Limit;
use paceline_engine::response::dialect::Dialect;

use crate::upstream::{HostPattern, Route};

#[cfg(feature = "config")]
mod example;
#[cfg(feature = "config")]
mod gate_rules;
mod gates;
#[cfg(feature = "config")]
mod known;
#[cfg(all(test, feature = "config"))]
mod page;
mod path;
#[cfg(feature = "config")]
pub(crate) mod read;
#[cfg(feature = "config")]
mod rules;
#[cfg(feature = "config")]
mod values;
#[cfg(feature = "config")]
mod whole;

pub use gates::{GateShape, Gates, KnownRoute};
#[cfg(feature = "config")]
pub use known::{all, by_host, named, template};
#[cfg(feature = "config")]
pub(crate) use known::{find, missing, spoken_at};

/// A provider: its dialect, and what is published about its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provider {
    /// What configurations call it: `github`, `shopify-rest`.
    pub slug: Box<str>,
    /// Its name, for people.
    pub name: Box<str>,
    /// Hosts that speak so; used where no dialect is named.
    pub hosts: Vec<HostPattern>,
    /// Where this was read, and when it was written down.
    pub source: Box<str>,
    /// The date of that, `YYYY-MM-DD`.
    pub date: Box<str>,
    /// How far it can be relied on.
    pub confidence: Confidence,
    /// The statuses that refuse, for people: `dialect` decides, and a file with one that nothing makes a refusal is wrong.
    pub statuses: Vec<u16>,
    /// The fields that speak of limits, each with its unit and meaning.
    pub fields: Vec<(Box<str>, Box<str>)>,
    /// What kind of limits it has, and how long their windows are.
    pub period: Box<str>,
    /// Who shares a quota.
    pub shared_by: Vec<Box<str>>,
    /// What is peculiar about it, each in a sentence.
    pub notes: Vec<Box<str>>,
    /// What its responses mean.
    pub dialect: Dialect,
    /// What its quotas go by, where it has many.
    pub gates: Option<Gates>,
    /// Published limits: safe starting points for whoever names the dialect and no limits.
    pub limits: Vec<Limit>,
    /// The same for some of its requests.
    pub routes: Vec<Route>,
    /// How many requests may be under way before the first answer has told a limit.
    pub cold_start: Option<u64>,
    /// Worked examples of its responses.
    pub examples: Vec<Example>,
}

/// How far a dialect can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(
    clippy::exhaustive_enums,
    reason = "it was read, or remembered, or some of each"
)]
pub enum Confidence {
    /// Read in the provider's documentation, source or an issue's thread.
    Read,
    /// Some of it is remembered.
    Mixed,
    /// Remembered: verify it before building on it.
    #[default]
    Prior,
}

impl Confidence {
    /// The word used in files.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Mixed => "mixed",
            Self::Prior => "prior",
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read in its documentation",
            Self::Mixed => "partly unverified",
            Self::Prior => "unverified",
        })
    }
}

/// A response of a provider, and how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// The local time at receipt, RFC 3339; the response's own `Date` may say another.
    pub now: Box<str>,
    /// Its status.
    pub status: u16,
    /// Its fields.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// Its body.
    pub body: Option<Box<str>>,
    /// What is to be read in it, by key, as JSON would write the value; what is not named is `null`.
    pub expect: Vec<(Box<str>, Box<str>)>,
}
