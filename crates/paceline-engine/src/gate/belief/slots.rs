//! The hypothesis "so many at once": a request is accepted if fewer than a number are under way.
//!
//! The number lies between the most that were accepted and the fewest that were refused. How well that predicts each
//! answer is weighed against how well the buckets did; where it leads, the next start is somebody else's end.

/// The bounds of a cap on requests under way, and how it fares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// Accepted with so many under way, itself included.
    accepted: u64,
    /// Refused with so many.
    refused: u64,
    /// Logarithm of the odds against the buckets.
    odds: f64,
}

/// What it says where it is sure, and how far the odds go: an old lead must not outlive its grounds.
const SURE: f64 = 0.95;
const FURTHEST: f64 = 6.0;
/// What a contradiction costs, besides the lead: it must be earned anew.
const CONTRADICTED: f64 = 1.0;
/// Odds of seven to one, to lead.
const LEADS: f64 = 2.0;

impl Default for Slots {
    fn default() -> Self {
        Self {
            accepted: 0,
            refused: u64::MAX,
            odds: -1.0,
        }
    }
}

impl Slots {
    /// An answer to a send with `under_way` requests under way, itself included; the buckets gave it `likely`.
    pub(super) fn learn(&mut self, under_way: u64, accepted: bool, likely: f64) {
        // Refused alone: no cap explains that.
        let open = if under_way <= self.accepted.max(1) {
            SURE
        } else if under_way >= self.refused {
            1.0 - SURE
        } else {
            0.5
        };
        let own: f64 = if accepted { open } else { 1.0 - open };
        self.odds += own.ln() - likely.max(1e-3).ln();
        self.odds = self.odds.clamp(-FURTHEST, FURTHEST);
        if own < 0.5 {
            self.odds = self.odds.min(0.0) - CONTRADICTED;
        }
        if accepted {
            self.accepted = self.accepted.max(under_way);
            self.refused = self.refused.max(under_way + 1);
        } else {
            self.refused = self.refused.min(under_way.max(2));
            self.accepted = self.accepted.min(under_way - 1);
        }
    }

    /// It explains more than it leaves open.
    pub(super) fn is_likely(&self) -> bool {
        self.odds > 0.0
    }

    /// How many may be under way, if that is what limits.
    pub(super) fn cap(&self) -> Option<u64> {
        let room = self.refused.saturating_sub(1).max(1);
        (self.odds > LEADS && self.refused < u64::MAX).then(|| room.midpoint(self.accepted.max(1)))
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
    fn one_contradiction_costs_the_lead() {
        let mut slots = Slots::default();
        for under_way in [5, 6, 5, 6, 5, 6, 5, 6] {
            slots.learn(under_way, under_way <= 5, 0.5);
        }
        assert!(slots.cap().is_some());
        slots.learn(3, false, 0.5);
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
