//! A stop that a person asked for.
//!
//! It is none of the upstream's pauses: no answer lifts it or makes it longer, and the circuit knows nothing of it. It ends by
//! itself, or when a person says so.

use core::time::Duration;

use minicbor::{Decode, Encode};

use super::Gate;
use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, ensure};
use crate::{Reason, Timestamp};

/// The stop that was asked for last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ByHand {
    #[n(0)]
    stop: Option<Stop>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
struct Stop {
    #[n(0)]
    until: Timestamp,
    #[n(1)]
    since: Timestamp,
}

impl Gate {
    /// Nobody starts for so long. The last word counts, also where it is a shorter one; no time at all ends it.
    pub(crate) fn pause_by_hand(&mut self, now: Timestamp, length: Duration) {
        self.by_hand.set(now, length);
    }
}

impl ByHand {
    fn set(&mut self, now: Timestamp, length: Duration) {
        let until = now + length;
        let since = self.since(now).map_or(now, |since| since.min(now));
        self.stop = (!length.is_zero()).then_some(Stop { until, since });
    }

    #[inline]
    pub(super) fn opens(&self, now: Timestamp) -> Opening {
        match self.stop {
            Some(stop) if stop.until > now => Opening::at(stop.until, Reason::ByHand),
            _ => Opening::NOW,
        }
    }

    /// Since when it is in force.
    pub(super) fn since(&self, now: Timestamp) -> Option<Timestamp> {
        let stop = self.stop.filter(|stop| stop.until > now);
        stop.map(|stop| stop.since)
    }

    /// Nobody asked for one, as far as is remembered.
    #[inline]
    pub(super) const fn is_none(&self) -> bool {
        self.stop.is_none()
    }

    /// Somebody started, so that it is over.
    #[inline]
    pub(super) fn over(&mut self, now: Timestamp) {
        if self.stop.is_some_and(|stop| stop.until <= now) {
            self.stop = None;
        }
    }
}

impl Sound for ByHand {
    fn check(&self) -> Result<(), Flaw> {
        let is_sound = self.stop.is_none_or(|stop| stop.since <= stop.until);
        ensure(is_sound, "a stop that was over before it began")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(secs)
    }

    #[test]
    fn the_last_word_counts_and_it_is_one_stop_since_the_first() {
        let mut by_hand = ByHand::default();
        by_hand.set(at(0), Duration::from_secs(60));
        by_hand.set(at(10), Duration::from_secs(20));
        assert_eq!(by_hand.opens(at(29)), Opening::at(at(30), Reason::ByHand));
        assert_eq!(by_hand.since(at(29)), Some(at(0)));
        assert!(by_hand.opens(at(30)).is_open(at(30)));
        by_hand.set(at(40), Duration::from_secs(20));
        assert_eq!(by_hand.since(at(41)), Some(at(40)));
        by_hand.set(at(42), Duration::ZERO);
        assert!(by_hand.is_none());
    }

    #[test]
    fn whoever_starts_after_it_clears_it_away() {
        let mut by_hand = ByHand::default();
        by_hand.set(at(0), Duration::from_secs(60));
        by_hand.over(at(59));
        assert!(!by_hand.is_none());
        by_hand.over(at(60));
        assert!(by_hand.is_none());
    }
}
