//! One bucket: a stretch of rates, a level of noise, the tokens that it would hold now, and how well that explains what
//! happened.
//!
//! ```text
//! P(accepted) = (1 - noise) * P(tokens >= 1)        tokens uniform between two lines over the stretch
//! P(refused)  = P(tokens < 1) + noise * P(tokens >= 1)
//! ```
//!
//! An accepted request had a token and took it; a refused one, unless noise explains it better, found less than one. So
//! each answer narrows the tokens and the part of the stretch that can be, and time widens the tokens a little.

use super::line::Line;
use super::part::Part;

/// Tokens and weight of one hypothesis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) low: Line,
    pub(super) high: Line,
    /// The rates that are still possible.
    pub(super) part: Part,
    pub(super) weight: f64,
}

/// Acceptance where a hypothesis saw no token: clocks, networks and other clients are not exact.
const MIRACLE: f64 = 0.004;
/// The tokens' interval widens by this part of what flows in, both ways.
pub(super) const BLUR: f64 = 0.005;
/// How far a hint that contradicts a hypothesis counts against it: hints may be constants.
const TRUST: f64 = 0.9;
/// A hint with a fraction of a second is taken as exact up to this, in seconds, for networks are not, and the blur of the
/// tokens.
const EXACT: f64 = 0.02;

/// What a bucket holds for sure of what it is taken to hold.
const HELD: f64 = 0.5;

/// A named wait: the next token comes between these two, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    from: f64,
    to: f64,
}

impl Hint {
    /// Whole seconds may have been rounded up or down.
    pub(super) fn of(asked: f64) -> Option<Self> {
        let whole = (asked - asked.round()).abs() < 1e-9;
        let slack = if whole { 1.0 } else { EXACT + asked * BLUR };
        (asked > 0.0).then_some(Self {
            from: (asked - slack).max(0.0),
            to: asked + slack,
        })
    }
}

impl Cell {
    /// The server says how long until the next token: that tells how many there are, if it tells the truth.
    pub(super) fn hear(&mut self, hint: &Hint, rate: f64) {
        let said = |wait: f64| Line {
            at: 1.0 - rate * wait,
            slope: -rate * wait,
        };
        let (least, most) = (said(hint.to), said(hint.from));
        let blur = BLUR + 1e-6;
        // The lines said must meet those believed in.
        let (fits, above) = self.part.above(self.high.less(least), -blur);
        let (fits, below) = fits.below(self.low.less(most), blur);
        let fitting = above * below;
        if fitting <= 0.0 {
            self.weight *= 1.0 - TRUST;
            return;
        }
        let middle = fits.middle();
        let before = self.high.on(middle) - self.low.on(middle);
        if least.on(middle) > self.low.on(middle) {
            self.low = least;
        }
        if most.on(middle) < self.high.on(middle) {
            self.high = most;
        }
        let after = (self.high.on(middle) - self.low.on(middle)).max(0.0);
        let share = fitting * ((after + blur) / (before + blur)).min(1.0);
        self.weight *= 1.0 - TRUST * (1.0 - share);
        self.part = fits;
    }

    pub(super) const fn refill(&mut self, refill: f64) {
        self.low.gain(refill * (1.0 - BLUR));
        self.high.gain(refill * (1.0 + BLUR));
    }

    /// What a full bucket has lost. How much a bucket holds is known from above only, but one at least.
    pub(super) fn overflow(&mut self, capacity: f64) {
        self.high.at_most(capacity.max(1.0), self.part);
        self.low
            .at_most(1.0 + HELD * (capacity - 1.0).max(0.0), self.part);
    }

    fn open_at(&self, x: f64) -> f64 {
        let (low, high) = (self.low.on(x), self.high.on(x));
        if low >= 1.0 - 1e-9 {
            1.0
        } else if high <= 1.0 {
            0.0
        } else {
            (high - 1.0) / (high - low)
        }
    }

    pub(super) fn judge(&mut self, noise: f64, accepted: bool, capacity: f64) {
        let (mut part, share) = if accepted {
            self.part.above(self.high, 1.0)
        } else {
            self.part.below(self.low, 1.0)
        };
        let limited = if accepted {
            let open = if share > 0.0 {
                share * part.lean(|x| self.open_at(x))
            } else {
                0.0
            };
            self.weight *= open * (1.0 - noise) + (1.0 - open) * MIRACLE;
            open > MIRACLE
        } else {
            let closed = if share > 0.0 {
                share * part.lean(|x| 1.0 - self.open_at(x))
            } else {
                0.0
            };
            self.weight *= closed * (1.0 - MIRACLE) + (1.0 - closed) * noise;
            closed > (1.0 - closed) * noise
        };
        if limited {
            self.part = part;
        }
        self.overflow(capacity);
        if accepted {
            self.low.at_least(1.0, self.part);
            self.high.at_least(1.0, self.part);
            self.low.at -= 1.0;
            self.high.at -= 1.0;
        } else if limited {
            self.high.at_most(1.0, self.part);
            if self.low.on(self.part.middle()) > self.high.on(self.part.middle()) {
                self.low = self.high;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One rate only, and tokens between the two.
    fn holding(low: f64, high: f64) -> Cell {
        Cell {
            low: Line::level(low),
            high: Line::level(high),
            part: Part::default(),
            weight: 1.0,
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    fn is_between(cell: &Cell, low: f64, high: f64) -> bool {
        near(cell.low.at, low) && near(cell.high.at, high)
    }

    #[test]
    fn an_accepted_request_had_a_token_and_took_it() {
        let mut cell = holding(0.5, 1.5);
        cell.judge(0.0, true, 3.0);
        assert!(is_between(&cell, 0.0, 0.5), "{cell:?}");
        assert!(near(cell.weight, 0.5 + 0.5 * MIRACLE), "{cell:?}");
    }

    #[test]
    fn a_refused_one_found_less_than_one() {
        let mut cell = holding(0.5, 1.5);
        cell.judge(0.04, false, 3.0);
        assert!(is_between(&cell, 0.5, 1.0), "{cell:?}");
    }

    #[test]
    fn what_only_noise_can_explain_leaves_the_tokens_alone() {
        let mut cell = holding(1.2, 1.4);
        cell.judge(0.04, false, 3.0);
        assert!(is_between(&cell, 1.2, 1.4), "{cell:?}");
        assert!(near(cell.weight, 0.04), "{cell:?}");
    }

    #[test]
    fn a_bucket_of_one_loses_what_a_slow_pace_leaves() {
        let mut cell = holding(0.0, 0.0);
        cell.refill(5.0);
        cell.judge(0.0, true, 1.0);
        assert!(near(cell.high.on(cell.part.middle()), 0.0), "{cell:?}");
    }

    /// All rates from two thirds of one a second to three halves, and no token.
    fn stretch() -> Cell {
        Cell {
            part: Part::whole((9.0_f64 / 4.0).ln()),
            ..holding(0.0, 0.0)
        }
    }

    #[test]
    fn an_answer_cuts_the_rates_that_cannot_explain_it() {
        let mut accepted = stretch();
        accepted.refill(1.0);
        accepted.judge(0.0, true, 1.0);
        let slowest = 1.0 + accepted.part.from;
        assert!((slowest - 1.0).abs() < 0.02, "{accepted:?}");

        let mut refused = stretch();
        refused.refill(1.0);
        refused.judge(0.0, false, 1.0);
        let fastest = 1.0 + refused.part.to;
        assert!((fastest - 1.0).abs() < 0.02, "{refused:?}");
        let both = accepted.weight + refused.weight;
        assert!((both - 1.0).abs() < 3.0 * BLUR, "{both}");
    }

    #[test]
    fn a_rate_is_found_within_one_stretch_by_halving_it() {
        let mut cell = stretch();
        for _ in 0..10 {
            let wait = 1.0 / (1.0 + cell.part.middle());
            cell.refill(wait);
            cell.judge(0.005, wait >= 0.9, 1.0);
            cell.low = Line::level(0.0);
            cell.high = Line::level(0.0);
        }
        let rate = 1.0 + cell.part.middle();
        assert!((rate * 0.9 - 1.0).abs() < 0.02, "{cell:?}");
    }

    #[test]
    fn a_named_wait_tells_the_tokens_and_one_that_cannot_be_counts_against_the_rate() {
        let hint = Hint::of(2.5).expect("a wait");
        let mut slow = holding(0.0, 1.0);
        slow.hear(&hint, 0.2);
        assert!(
            (slow.low.at - 0.5).abs() < 0.01 && (slow.high.at - 0.5).abs() < 0.01,
            "{slow:?}"
        );
        let mut fast = holding(0.0, 1.0);
        fast.hear(&hint, 10.0);
        assert!(near(fast.weight, 1.0 - TRUST), "{fast:?}");
    }

    #[test]
    fn whole_seconds_may_be_rounded_either_way_and_zero_says_nothing() {
        let hint = Hint::of(2.0).expect("a wait");
        assert!(near(hint.from, 1.0) && near(hint.to, 3.0), "{hint:?}");
        assert!(Hint::of(0.0).is_none());
    }
}
