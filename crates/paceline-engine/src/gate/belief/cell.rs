//! One bucket: a rate, a level of noise, the tokens that it would hold now, and how well that explains what happened.
//!
//! ```text
//! P(accepted) = (1 - noise) * P(tokens >= 1)        tokens uniform in [low, high]
//! P(refused)  = P(tokens < 1) + noise * P(tokens >= 1)
//! ```
//!
//! An accepted request had a token and took it; a refused one, unless noise explains it better, found less than one. So
//! each answer narrows the interval, and time widens it a little.

/// Tokens and weight of one hypothesis.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) low: f64,
    pub(super) high: f64,
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
        let low = (1.0 - rate * hint.to).max(self.low);
        let high = (1.0 - rate * hint.from).min(self.high);
        let blur = BLUR + 1e-6;
        if low > high + blur {
            self.weight *= 1.0 - TRUST;
            return;
        }
        let (low, high) = (low.min(high), high.max(low));
        let part = ((high - low + blur) / (self.high - self.low + blur)).min(1.0);
        self.weight *= 1.0 - TRUST * (1.0 - part);
        self.low = low;
        self.high = high;
    }

    pub(super) const fn refill(&mut self, refill: f64) {
        self.low += refill * (1.0 - BLUR);
        self.high += refill * (1.0 + BLUR);
    }

    /// What a full bucket has lost. How much a bucket holds is known from above only, but one at least.
    pub(super) fn overflow(&mut self, capacity: f64) {
        self.high = self.high.min(capacity.max(1.0));
        self.low = self.low.min(1.0).min(self.high);
    }

    /// The probability that there is a token.
    pub(super) fn open(&self) -> f64 {
        if self.low >= 1.0 - 1e-9 {
            1.0
        } else if self.high <= 1.0 {
            0.0
        } else {
            (self.high - 1.0) / (self.high - self.low)
        }
    }

    pub(super) fn judge(&mut self, noise: f64, accepted: bool, capacity: f64) {
        let open = self.open();
        self.overflow(capacity);
        if accepted {
            self.weight *= open * (1.0 - noise) + (1.0 - open) * MIRACLE;
            self.low = self.low.max(1.0) - 1.0;
            self.high = self.high.max(1.0) - 1.0;
        } else {
            self.weight *= (1.0 - open) * (1.0 - MIRACLE) + open * noise;
            if 1.0 - open > open * noise {
                self.high = self.high.min(1.0);
                self.low = self.low.min(self.high);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(low: f64, high: f64) -> Cell {
        Cell {
            low,
            high,
            weight: 1.0,
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn an_accepted_request_had_a_token_and_took_it() {
        let mut cell = holding(0.5, 1.5);
        cell.judge(0.0, true, 3.0);
        assert!(near(cell.low, 0.0) && near(cell.high, 0.5), "{cell:?}");
        assert!(near(cell.weight, 0.5 + 0.5 * MIRACLE), "{cell:?}");
    }

    #[test]
    fn a_refused_one_found_less_than_one() {
        let mut cell = holding(0.5, 1.5);
        cell.judge(0.04, false, 3.0);
        assert!(near(cell.low, 0.5) && near(cell.high, 1.0), "{cell:?}");
    }

    #[test]
    fn what_only_noise_can_explain_leaves_the_tokens_alone() {
        let mut cell = holding(1.2, 1.4);
        cell.judge(0.04, false, 3.0);
        assert!(near(cell.high, 1.4) && near(cell.weight, 0.04), "{cell:?}");
    }

    #[test]
    fn a_bucket_of_one_loses_what_a_slow_pace_leaves() {
        let mut cell = holding(0.0, 0.0);
        cell.refill(5.0);
        cell.judge(0.0, true, 1.0);
        assert!(near(cell.high, 0.0), "{cell:?}");
    }

    #[test]
    fn a_named_wait_tells_the_tokens_and_one_that_cannot_be_counts_against_the_rate() {
        let hint = Hint::of(2.5).expect("a wait");
        let mut slow = holding(0.0, 1.0);
        slow.hear(&hint, 0.2);
        assert!(
            (slow.low - 0.5).abs() < 0.01 && (slow.high - 0.5).abs() < 0.01,
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
