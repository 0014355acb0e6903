//! How one upstream speaks of limits, where that is more than what all say.
//!
//! A dialect is data: where numbers stand and what words mean. It adds to what [`read`](super::read) understands by itself
//! and never takes the place of it, but for fields that it claims for windows of its own. Files are turned into these
//! values elsewhere; here is what they mean for a response.
//!
//! `place` finds values in fields and bodies, `path` reads and writes places as text, `content` turns text into a tree to
//! find values in, `reading` makes numbers of them and `window` windows of those, `when` says what words mean, `wait` how
//! long that justifies to wait, `silence` which responses need none of that.

mod content;
mod path;
mod place;
mod reading;
mod silence;
mod wait;
mod when;
mod window;

use core::time::Duration;

use http::{HeaderMap, StatusCode};

pub use path::PlaceError;
pub use place::Place;
pub use reading::TimeUnit;
pub use wait::{Applies, WaitRule};
pub use when::{Decided, Effect, Test, When};
pub use window::{Amount, Label, Span, WindowRule};

use super::number::Decimal;
use super::{field, read_head, read_status};
use crate::{Observation, Scope, Spent, Unit, WallTime};
pub(super) use place::Sources;
pub(super) use wait::refilled;

/// How one upstream speaks of limits. The default adds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain settings, made by whoever reads a dialect's file"
)]
pub struct Dialect {
    /// Windows that stand in fields or bodies of its own.
    pub windows: Vec<WindowRule>,
    /// What its words mean. All rules that fit apply; what the first of them says counts.
    pub when: Vec<When>,
    /// Waits that stand in bodies or in fields of its own.
    pub waits: Vec<WaitRule>,
    /// What requests cost, as responses tell.
    pub costs: Vec<CostRule>,
    /// Where the name of the quota stands that a request was charged to.
    pub bucket: Option<Place>,
    /// What windows count, by the name of the bucket.
    pub units: Vec<(Box<str>, Unit)>,
    /// What its refusals speak for, unless they say otherwise.
    pub scope: Scope,
    /// The least pause after a refusal that names none.
    pub pause: Option<Duration>,
}

/// Where a response says what its request cost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a unit and two places")]
pub struct CostRule {
    /// What is counted.
    pub unit: Unit,
    /// Where the estimate stands that was held.
    pub requested: Option<Place>,
    /// Where it stands what it came to; several add up.
    pub actual: Vec<Place>,
}

/// Longer names of buckets are cut: they become keys, and an upstream may send any length.
const LONGEST_NAME: usize = 128;

impl Dialect {
    /// Reads a response's head, and its body where there is one to read; see [`read`](super::read).
    ///
    /// A body is text in JSON or XML; give at most what may be held in memory.
    pub fn read(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&[u8]>,
        wall: WallTime,
    ) -> Observation {
        if self.is_plain() {
            return super::read(status, headers, wall);
        }
        if body.is_none() && self.finds_nothing(status, headers) {
            return read_status(status);
        }
        let sources = Sources::new(headers, body);
        read_head(status, headers, wall, Some((self, &sources)))
    }

    /// The rule of this dialect by which a response is what [`read`](Self::read) takes it for; none where its status, or a
    /// field that all understand, tells.
    pub fn decided_by(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&[u8]>,
    ) -> Option<Decided<'_>> {
        When::deciding(&self.when, status, &Sources::new(headers, body))
    }

    /// Adds nothing to what all upstreams say.
    pub const PLAIN: Self = Self {
        windows: Vec::new(),
        when: Vec::new(),
        waits: Vec::new(),
        costs: Vec::new(),
        bucket: None,
        units: Vec::new(),
        scope: Scope::Gate,
        pause: None,
    };

    /// Whether the body of a response with this status may say something that its head does not.
    pub fn wants_body(&self, status: StatusCode) -> bool {
        // Refusals hide behind 200, so that waits and windows may stand in any body.
        self.windows.iter().any(WindowRule::reads_body)
            || self.waits.iter().any(|rule| rule.at.is_body())
            || self.costs.iter().any(CostRule::reads_body) && status.is_success()
            || self
                .when
                .iter()
                .any(|rule| rule.reads_body() && rule.fits_status(status))
    }

    /// Whether a field's numbers are read by this dialect's own rules alone.
    pub(super) fn claims(&self, name: &str) -> bool {
        // A wait stays a wait, also where a window resets with it.
        self.windows.iter().any(|rule| rule.names(name))
            && !matches!(field::classify(name), Some(field::Field::RetryAfter(_)))
    }

    pub(super) fn bucket(&self, sources: &Sources<'_>) -> Option<Box<str>> {
        let name = self.bucket.as_ref()?.text(sources, None)?;
        let name = name.trim();
        let end = name
            .char_indices()
            .nth(LONGEST_NAME)
            .map_or(name.len(), |(end, _)| end);
        (!name.is_empty()).then(|| name[..end].into())
    }

    pub(super) fn unit_of(&self, bucket: &str) -> Option<&Unit> {
        let units = self.units.iter();
        units
            .filter(|(name, _)| **name == *bucket)
            .map(|(_, unit)| unit)
            .next()
    }

    pub(super) fn spent(&self, sources: &Sources<'_>) -> Vec<Spent> {
        let costs = self.costs.iter();
        costs.filter_map(|rule| rule.read(sources)).collect()
    }
}

impl CostRule {
    fn read(&self, sources: &Sources<'_>) -> Option<Spent> {
        let whole = |place: &Place| place.number(sources).map(Decimal::rounded_up);
        let requested = self.requested.as_ref().and_then(whole);
        let actual = self.actual.iter().filter_map(whole);
        let actual = actual.reduce(u64::saturating_add);
        (requested.is_some() || actual.is_some()).then(|| Spent {
            unit: self.unit.clone(),
            requested,
            actual,
        })
    }

    fn reads_body(&self) -> bool {
        let places = self.requested.iter().chain(&self.actual);
        places.into_iter().any(Place::is_body)
    }
}

#[cfg(test)]
mod tests;
