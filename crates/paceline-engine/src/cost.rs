//! What one request spends.

use crate::Unit;

/// What one request spends on a gate: requests, and whatever else the upstream counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    requests: u64,
    others: Vec<(Box<str>, u64)>,
}

impl Cost {
    /// `requests` units of a limit that counts requests (most requests cost 1; some upstreams charge 5 or 10 for one).
    pub const fn requests(requests: u64) -> Self {
        Self {
            requests,
            others: Vec::new(),
        }
    }

    /// Also spends `amount` of a limit that counts `unit` (`tokens`, `points`).
    #[must_use]
    pub fn and(mut self, unit: impl Into<Box<str>>, amount: u64) -> Self {
        self.others.push((unit.into(), amount));
        self
    }

    /// What it spends besides requests, as the caller named it.
    pub(crate) fn others(&self) -> &[(Box<str>, u64)] {
        &self.others
    }

    /// What a limit that counts `unit` is charged. A unit that the request does not name costs nothing.
    pub fn of(&self, unit: &Unit) -> u64 {
        match unit {
            Unit::Requests => self.requests,
            Unit::Concurrent => 1,
            Unit::Other(word) => self
                .others
                .iter()
                .filter(|(own, _)| own == word)
                .fold(0, |sum, (_, amount)| sum.saturating_add(*amount)),
        }
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self::requests(1)
    }
}

/// What is already ahead of a request: charged before it, in the same breath or by those that wait before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// How many requests.
    pub(crate) requests: u64,
    /// What they cost together, in requests.
    pub(crate) cost: u64,
}

impl Ahead {
    pub(crate) const NOTHING: Self = Self {
        requests: 0,
        cost: 0,
    };

    pub(crate) fn one(cost: &Cost) -> Self {
        Self {
            requests: 1,
            cost: cost.requests,
        }
    }

    /// Of a limit that counts `unit`. Units that a request names are not summed over the line: a lower bound is enough.
    pub(crate) fn of(self, unit: &Unit) -> u64 {
        match unit {
            Unit::Requests => self.cost,
            Unit::Concurrent => self.requests,
            Unit::Other(_) => 0,
        }
    }
}
