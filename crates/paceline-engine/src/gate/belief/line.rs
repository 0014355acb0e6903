//! Tokens as a function of the rate: a cell stands for a stretch of rates, and faster ones have gained more.
//!
//! Within a stretch around the rate `r` a rate is written `r (1 + x)`. Between two answers tokens grow by `r (1 + x) dt`,
//! which is a line in `x`, and takes of a token shift it; so a line stays a line until something caps it.

use super::part::Part;

/// `at + slope * x`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) at: f64,
    pub(super) slope: f64,
}

impl Line {
    pub(super) const fn level(at: f64) -> Self {
        Self { at, slope: 0.0 }
    }

    pub(super) const fn on(self, x: f64) -> f64 {
        self.at + self.slope * x
    }

    /// What flows in is in proportion to the rate.
    pub(super) const fn gain(&mut self, inflow: f64) {
        self.at += inflow;
        self.slope += inflow;
    }

    /// At most so much, judged in the middle of the part: it errs on the upper side.
    pub(super) fn at_most(&mut self, most: f64, part: Part) {
        if self.on(part.middle()) > most {
            *self = Self::level(most);
        }
    }

    /// At least so much, judged in the middle: it errs on the lower side.
    pub(super) fn at_least(&mut self, least: f64, part: Part) {
        if self.on(part.middle()) < least {
            *self = Self::level(least);
        }
    }

    pub(super) const fn less(self, other: Self) -> Self {
        Self {
            at: self.at - other.at,
            slope: self.slope - other.slope,
        }
    }

    /// The same tokens, for a stretch around `ratio` times the rate.
    pub(super) const fn around(self, ratio: f64) -> Self {
        Self {
            at: self.on(ratio - 1.0),
            slope: self.slope * ratio,
        }
    }
}
