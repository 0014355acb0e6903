//! The hypothesis "so many at once": a request is accepted if fewer than a number are under way.
//!
//! Each number has a weight: how well it would have told accepted from refused. The best one is weighed against the buckets,
//! and where it leads, the next start is somebody else's end. A slot is not free at the server and here at the very same
//! instant, so each number may be wrong now and then.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, numbers};

/// Numbers up to this are known apart.
const MOST: usize = 64;

/// How every cap on requests under way fares.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub(super) struct Slots {
    /// Logarithms of how much better a cap of one, two, … explains what happened than the buckets do.
    #[n(0)]
    #[cbor(with = "crate::record::floats")]
    caps: [f64; MOST],
    /// And no limit that is refused by chance.
    #[n(1)]
    none: f64,
}

/// A number is right this often.
const SURE: f64 = 0.95;
/// What happened long ago counts for less: of each new piece of evidence so much remains at the next one.
const MEMORY: f64 = 0.999;
/// An old lead must not outlive its grounds, nor an old loss.
const FURTHEST: f64 = 12.0;
/// Most limits are rates, and there are many numbers to choose from.
const UNLIKELY: f64 = 2.0;
/// Odds of seven to one, to lead.
const LEADS: f64 = 2.0;
/// As good as the best one, nearly.
const ALIKE: f64 = 0.5;

impl Default for Slots {
    fn default() -> Self {
        Self {
            caps: [0.0; MOST],
            none: 0.0,
        }
    }
}

impl Slots {
    /// An answer to a send with `under_way` accepted requests under way, itself included; the buckets gave it `likely`.
    pub(super) fn learn(&mut self, under_way: u64, accepted: bool, likely: f64) {
        // Nobody is surer than a number can be: in peace nothing speaks for either.
        let buckets = likely.clamp(1.0 - SURE, SURE).ln();
        let (if_right, if_wrong) = (SURE.ln() - buckets, (1.0 - SURE).ln() - buckets);
        let weigh = |weight: &mut f64, right: bool| {
            let more = if right { if_right } else { if_wrong };
            *weight = (*weight * MEMORY + more).clamp(-FURTHEST, FURTHEST);
        };
        for (cap, weight) in (1..).zip(&mut self.caps) {
            weigh(weight, (under_way <= cap) == accepted);
        }
        weigh(&mut self.none, accepted);
    }

    /// It explains more than it leaves open.
    pub(super) fn is_likely(&self) -> bool {
        self.best().1 > 0.0
    }

    /// How many may be under way, if that is what limits.
    pub(super) fn cap(&self) -> Option<u64> {
        let (cap, odds) = self.best();
        (odds > LEADS).then_some(cap)
    }

    /// The middle of the numbers that explain it best, and the logarithm of its odds against what else explains it.
    fn best(&self) -> (u64, f64) {
        let most = self.caps.iter().copied().fold(f64::MIN, f64::max);
        let alike = |weight: &f64| *weight > most - ALIKE;
        let first = self.caps.iter().position(alike).unwrap_or(0);
        let last = self.caps.iter().rposition(alike).unwrap_or(0);
        let middle = first.midpoint(last);
        let odds = self.caps[middle] - self.none.max(0.0) - UNLIKELY;
        (middle as u64 + 1, odds)
    }
}

impl Sound for Slots {
    fn check(&self) -> Result<(), Flaw> {
        numbers([self.none])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_at_once_are_found_and_lead() {
        let mut slots = Slots::default();
        for under_way in [3, 4, 5, 6, 5, 7, 4, 6, 5, 6] {
            slots.learn(under_way, under_way <= 5, 0.5);
        }
        assert_eq!(slots.cap(), Some(5));
    }

    #[test]
    fn a_request_that_was_refused_alone_met_no_cap() {
        let mut slots = Slots::default();
        for _ in 0..20 {
            slots.learn(1, false, 0.6);
        }
        assert_eq!((slots.cap(), slots.is_likely()), (None, false));
    }

    #[test]
    fn a_number_that_was_never_exceeded_is_no_cap() {
        let mut slots = Slots::default();
        for _ in 0..50 {
            slots.learn(10, true, 0.4);
        }
        assert_eq!((slots.cap(), slots.is_likely()), (None, false));
    }

    #[test]
    fn one_contradiction_is_an_accident_and_some_cost_the_lead() {
        let mut slots = Slots::default();
        for under_way in [5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6] {
            slots.learn(under_way, under_way <= 5, 0.5);
        }
        slots.learn(5, false, 0.5);
        assert_eq!(slots.cap(), Some(5));
        for _ in 0..4 {
            slots.learn(1, false, 0.5);
        }
        assert_eq!(slots.cap(), None);
    }

    #[test]
    fn it_does_not_lead_where_a_rate_explains_as_much() {
        let mut slots = Slots::default();
        for under_way in [5, 6, 5, 6, 5, 6, 5, 6, 5, 6] {
            slots.learn(under_way, under_way <= 5, 0.97);
        }
        assert_eq!(slots.cap(), None);
    }
}
