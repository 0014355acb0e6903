//! What one request spends.

use core::fmt;
use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::Unit;

/// What one request spends on a gate: requests, and whatever else the upstream counts.
///
/// Before it is sent this is an estimate, which is charged; what the response says comes later, and
/// [`Engine::settle_cost`](crate::Engine::settle_cost) makes up for the difference.
///
/// ```
/// use paceline_engine::{Cost, Unit};
///
/// let completion = Cost::tokens(1200); // and one request, like any other
/// assert_eq!(completion.of(&Unit::Requests), 1);
/// let search = Cost::requests(5).and("points", 10);
/// assert_eq!(search.to_string(), "5 requests, 10 points");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Cost {
    /// One, if it does not say.
    #[n(0)]
    requests: Option<u64>,
    /// By word, each once. Shared, because a cost is copied into the line and out of it.
    #[n(1)]
    #[cbor(with = "crate::record::amounts")]
    others: Option<Arc<[Amount]>>,
}

/// A unit's word, and how much of it.
type Amount = (Box<str>, u64);

impl Cost {
    /// `requests` units of a limit that counts requests (most requests cost 1; some upstreams charge 5 or 10 for one).
    pub const fn requests(requests: u64) -> Self {
        Self {
            requests: Some(requests),
            others: None,
        }
    }

    /// `amount` of a limit that counts `unit`, by the word that the limit has for it: `90000 tokens/m` counts `tokens`.
    pub fn unit(unit: &str, amount: u64) -> Self {
        Self::default().and(unit, amount)
    }

    /// So many tokens.
    pub fn tokens(amount: u64) -> Self {
        Self::unit("tokens", amount)
    }

    /// So many points.
    pub fn points(amount: u64) -> Self {
        Self::unit("points", amount)
    }

    /// Also spends `amount` of a limit that counts `unit`. A unit that is named twice costs both. Words are read as limits
    /// are: without regard to case, and `requests` are requests.
    #[must_use]
    pub fn and(mut self, unit: &str, amount: u64) -> Self {
        let Unit::Other(word) = Unit::named(unit) else {
            self.requests = Some(self.requests.unwrap_or(0).saturating_add(amount));
            return self;
        };
        let mut others: Vec<_> = self.others.as_deref().unwrap_or_default().to_vec();
        match others.binary_search_by(|(own, _)| own.cmp(&word)) {
            Ok(own) => others[own].1 = others[own].1.saturating_add(amount),
            Err(place) => others.insert(place, (word, amount)),
        }
        self.others = Some(others.into());
        self
    }

    /// The units that it names; of the others, what `rest` says.
    #[must_use]
    pub fn or(&self, rest: &Self) -> Self {
        let requests = self.requests.or(rest.requests);
        if self.others.is_none() {
            // Nothing to weigh against each other, and nothing to allocate.
            let others = rest.others.clone();
            return Self { requests, others };
        }
        let missing = rest
            .others()
            .filter(|(word, _)| self.other(word).is_none())
            .fold(self.clone(), |cost, (word, amount)| cost.and(word, amount));
        Self {
            requests,
            ..missing
        }
    }

    /// The dearer of both, in each unit.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        let requests = self.of(&Unit::Requests).max(other.of(&Unit::Requests));
        let words = self.others().chain(other.others());
        words.fold(Self::requests(requests), |dearest, (word, amount)| {
            let more = amount.saturating_sub(dearest.other(word).unwrap_or(0));
            dearest.and(word, more)
        })
    }

    /// What a limit that counts `unit` is charged. A unit that the request does not name costs nothing, except that it is
    /// one request.
    pub fn of(&self, unit: &Unit) -> u64 {
        match unit {
            Unit::Requests => self.requests.unwrap_or(1),
            Unit::Concurrent => 1,
            Unit::Other(word) => self.other(word).unwrap_or(0),
        }
    }

    /// What it says about `unit`; `None` if it does not name it.
    pub fn named(&self, unit: &Unit) -> Option<u64> {
        match unit {
            Unit::Requests => self.requests,
            Unit::Concurrent => None,
            Unit::Other(word) => self.other(word),
        }
    }

    /// The same units beside requests, for nothing.
    pub(crate) fn others_free(&self) -> Self {
        let words = self.others().map(|(word, _)| word);
        words.fold(Self::default(), |cost, word| cost.and(word, 0))
    }

    /// What it names beside requests, by word.
    pub fn others(&self) -> impl Iterator<Item = (&str, u64)> {
        let others = self.others.as_deref().unwrap_or_default().iter();
        others.map(|(word, amount)| (&**word, *amount))
    }

    /// Whether it may turn out differently: it names more than the one request that it is.
    pub(crate) fn is_estimate(&self) -> bool {
        self.others.is_some() || self.requests.is_some_and(|requests| requests != 1)
    }

    fn other(&self, word: &str) -> Option<u64> {
        self.others()
            .find_map(|(own, amount)| (own == word).then_some(amount))
    }
}

impl Unit {
    /// The unit that a limit means by `word`, whatever it is.
    fn named(word: &str) -> Self {
        match word.to_ascii_lowercase() {
            word if word == "request" || word == "requests" => Self::Requests,
            word => Self::Other(word.into()),
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of(&Unit::Requests) {
            1 => f.write_str("1 request")?,
            requests => write!(f, "{requests} requests")?,
        }
        self.others()
            .try_for_each(|(word, amount)| write!(f, ", {amount} {word}"))
    }
}

/// What is already ahead of a request: charged before it, in the same breath or by those that wait before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead<'a> {
    /// How many requests.
    pub(crate) requests: u64,
    /// What they cost together, in requests.
    pub(crate) cost: u64,
    /// What else, if it is a single one.
    one: Option<&'a Cost>,
}

impl<'a> Ahead<'a> {
    pub(crate) const NOTHING: Self = Self::line(0, 0);

    pub(crate) fn one(cost: &'a Cost) -> Self {
        Self {
            requests: 1,
            cost: cost.of(&Unit::Requests),
            one: Some(cost),
        }
    }

    /// All those in a line. Of units beside requests they have told estimates, and may give all of it back: nothing that
    /// whoever comes after them is sure to wait for.
    pub(crate) const fn line(requests: u64, cost: u64) -> Self {
        Self {
            requests,
            cost,
            one: None,
        }
    }

    /// And so many more, of which only that they are requests is known.
    pub(crate) const fn and(self, more: u64) -> Self {
        Self {
            requests: self.requests.saturating_add(more),
            cost: self.cost.saturating_add(more),
            ..self
        }
    }

    /// Whether it is a single one that does not say what it costs in `unit`.
    pub(crate) fn unnamed(self, unit: &Unit) -> bool {
        matches!(unit, Unit::Other(_)) && self.one.is_some_and(|cost| cost.named(unit).is_none())
    }

    /// Of a limit that counts `unit`.
    pub(crate) fn of(self, unit: &Unit) -> u64 {
        match unit {
            Unit::Requests => self.cost,
            Unit::Concurrent => self.requests,
            Unit::Other(_) => self.one.map_or(0, |cost| cost.of(unit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Unit {
        Unit::Other("tokens".into())
    }

    #[test]
    fn a_cost_is_one_request_unless_it_says_otherwise() {
        assert_eq!(Cost::tokens(5).of(&Unit::Requests), 1);
        assert_eq!(Cost::tokens(5).named(&Unit::Requests), None);
        assert_eq!(Cost::requests(0).and("tokens", 5).of(&Unit::Requests), 0);
        assert_eq!(Cost::default().of(&tokens()), 0);
    }

    #[test]
    fn units_are_read_as_limits_read_them_and_add_up() {
        let cost = Cost::unit("Tokens", 5)
            .and("points", 1)
            .and("tokens", 2)
            .and("requests", 3)
            .and("Request", 1);
        assert_eq!(cost.to_string(), "4 requests, 1 points, 7 tokens");
        assert_eq!(
            Cost::tokens(u64::MAX).and("tokens", 1),
            Cost::tokens(u64::MAX)
        );
    }

    #[test]
    fn the_dearest_is_found_in_each_unit() {
        let (a, b) = (Cost::requests(0).and("tokens", 9), Cost::tokens(5));
        let dearest = a.max(&b.and("points", 1));
        assert_eq!(dearest.to_string(), "1 request, 1 points, 9 tokens");
        assert_eq!(dearest.named(&Unit::Requests), Some(1));
    }

    #[test]
    fn what_is_named_counts_and_the_rest_is_the_others() {
        let route = Cost::requests(2).and("tokens", 1000).and("points", 3);
        let own = Cost::tokens(700).or(&route);
        assert_eq!(own.to_string(), "2 requests, 3 points, 700 tokens");
        assert_eq!(
            Cost::requests(1).or(&Cost::default()).named(&tokens()),
            None
        );
    }
}
