//! How many requests may be under way at once, where the upstream itself says that there were too many.
//!
//! Such a refusal is no word about the pace: fewer at once help, slower does not. So the next ones wait for an end rather
//! than for a time. One fewer than were under way is tried; when as many have been served at that level as there are
//! places, one more is.

use minicbor::{Decode, Encode};

use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, counts, ensure};
use crate::{Reason, Timestamp};

/// What an upstream's refusals of too much at once have taught.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(crate) struct Crowd {
    #[n(0)]
    most: Option<u64>,
    /// What left before this knew nothing of the present level.
    #[n(1)]
    since: u64,
    /// Served at this level, with every place taken.
    #[n(2)]
    served: u64,
}

impl Crowd {
    pub(crate) const fn is_calm(&self) -> bool {
        self.most.is_none()
    }

    /// When one more may start, with so many under way and before it.
    pub(crate) fn opens(&self, in_flight: u64, ahead: u64) -> Opening {
        match self.most {
            Some(most) if in_flight.saturating_add(ahead) >= most => {
                Opening::completion(Reason::InFlight, Timestamp::MAX)
            }
            _ => Opening::NOW,
        }
    }

    /// Refused, with so many others still under way; `next` is the order of the next send.
    pub(crate) fn refused(&mut self, order: u64, next: u64, others: u64) {
        if order < self.since {
            return;
        }
        let level = self
            .most
            .map_or(others, |most| others.min(most.saturating_sub(1)));
        // Somebody must be able to go, and to find out that there is room again.
        self.most = Some(level.max(1));
        self.since = next;
        self.served = 0;
    }

    /// Served, with so many others still under way.
    pub(crate) const fn served(&mut self, order: u64, others: u64) {
        let Some(most) = self.most else { return };
        if order < self.since || others + 1 < most {
            return;
        }
        self.served += 1;
        if self.served >= most {
            self.most = Some(most + 1);
            self.served = 0;
        }
    }
}

impl Sound for Crowd {
    fn check(&self) -> Result<(), Flaw> {
        ensure(self.most != Some(0), "a crowd of nobody")?;
        counts([self.most.unwrap_or(1), self.served])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_volley_of_refusals_lowers_the_level_once() {
        let mut crowd = Crowd::default();
        for order in 1..=10 {
            crowd.refused(order, 11, 10 - order);
        }
        assert_eq!(crowd.most, Some(9));
        crowd.refused(12, 13, 8);
        assert_eq!(crowd.most, Some(8));
    }

    #[test]
    fn whoever_comes_waits_for_an_end_and_not_for_a_time() {
        let mut crowd = Crowd::default();
        crowd.refused(3, 4, 2);
        assert_eq!(crowd.opens(1, 0), Opening::NOW);
        let full = Opening::completion(Reason::InFlight, Timestamp::MAX);
        assert_eq!(crowd.opens(2, 0), full);
        assert_eq!(crowd.opens(1, 1), full);
    }

    #[test]
    fn one_can_always_go_and_success_makes_room() {
        let mut crowd = Crowd::default();
        crowd.refused(1, 2, 0);
        assert_eq!(crowd.most, Some(1));
        crowd.served(2, 0);
        assert_eq!(crowd.most, Some(2));
        // Places that nobody took prove nothing.
        crowd.served(3, 0);
        crowd.served(4, 0);
        assert_eq!(crowd.most, Some(2));
        crowd.served(5, 1);
        crowd.served(6, 1);
        assert_eq!(crowd.most, Some(3));
    }
}
