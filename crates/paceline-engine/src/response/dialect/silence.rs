//! Responses that say nothing about limits, which almost all do: their status is all that there is to read.

use http::header::AGE;
use http::{HeaderMap, StatusCode};

use super::super::{field, verdict};
use super::{Dialect, Place, Scope, Test};

impl Dialect {
    /// Whether it adds nothing, as [`Dialect::PLAIN`].
    pub(super) fn is_plain(&self) -> bool {
        // Names all of them, so that another one is not forgotten here.
        let Self {
            windows,
            when,
            waits,
            costs,
            bucket,
            units,
            scope,
            pause,
        } = self;
        windows.is_empty()
            && when.is_empty()
            && waits.is_empty()
            && costs.is_empty()
            && bucket.is_none()
            && units.is_empty()
            && *scope == Scope::Gate
            && pause.is_none()
    }

    /// Whether no rule can find anything in a response that has no body. It may be wrong about one that has little to say,
    /// never about one that has something.
    pub(super) fn finds_nothing(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let mut names = headers.keys().map(http::HeaderName::as_str);
        let is_served = !verdict::classify(status, verdict::Evidence::default()).is_refusal();
        is_served
            && !names.any(|name| field::is_candidate(name) || name == AGE.as_str())
            && !self.when.iter().any(|rule| {
                let needs_nothing = rule.at.is_none() || rule.test == Test::Missing;
                needs_nothing && rule.fits_status(status)
            })
            && !self.looks_at(|place| place.is_among(headers))
    }

    /// Whether one of its places is such, apart from parts of what it has found at another.
    fn looks_at(&self, is_such: impl Fn(&Place) -> bool) -> bool {
        let is_any = |place: &Option<Place>| place.as_ref().is_some_and(&is_such);
        is_any(&self.bucket)
            || self.when.iter().any(|rule| is_any(&rule.at))
            || self.waits.iter().any(|rule| is_such(&rule.at))
            || self.windows.iter().any(|rule| rule.places().any(&is_such))
            || self
                .costs
                .iter()
                .any(|rule| is_any(&rule.requested) || rule.actual.iter().any(&is_such))
    }
}
