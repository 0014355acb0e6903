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
