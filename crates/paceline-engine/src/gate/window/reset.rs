//! When a window starts anew: an instant that answers tell in whole seconds, each a little late.
//!
//! An answer was written between its request's departure and its receipt, so a reset of 5 s lies at most 5 s after the
//! receipt where the server rounds up, as nearly all do. The first answer of a window, whose requests begin it, is exact
//! but for the way back; the earliest of all that were told is therefore the one to keep. Where it turns out too early,
//! the server rounds down.

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::Timestamp;

/// The bounds of one reset, and when to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct Reset {
    #[n(0)]
    earliest: Timestamp,
    #[n(1)]
    latest: Timestamp,
    /// What is added for everybody's sake: the server's rounding, and so that those who share a quota come back apart.
    #[n(2)]
    #[cbor(with = "crate::record::duration")]
    late: Duration,
}

/// What an answer says of the known reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Before,
    Same,
    After,
}

/// Epoch seconds are rounded, and so is the Date that they are counted from.
const ROUNDED: Duration = Duration::from_secs(2);
/// A reset may be told so much later than it is, and still be this one's rounding rather than another length.
const SECOND: Duration = Duration::from_secs(1);
/// Whoever shares a quota comes back within this part of the wait: a hundredth is not missed, and a thousand processes
/// that waited an hour do not come in one second.
const SPREAD: u32 = 128;
const LONGEST_SPREAD: Duration = Duration::from_secs(1);

impl Reset {
    /// As told by the answer to a request that left at `sent`, for a window of `length` if that is known.
    pub(super) fn told(
        sent: Timestamp,
        now: Timestamp,
        reset: Duration,
        length: Option<Duration>,
    ) -> Self {
        let slack = if reset.subsec_nanos() == 0 {
            ROUNDED
        } else {
            Duration::ZERO
        };
        // Nothing is left for longer than the window is long, whatever rounding says.
        let at_most = match length {
            Some(length) if !length.is_zero() && reset <= length.saturating_add(SECOND) => {
                reset.min(length)
            }
            _ => reset,
        };
        Self {
            earliest: sent + reset.saturating_sub(slack),
            latest: now + at_most,
            late: Duration::ZERO,
        }
    }

    /// From when on the server is expected to have started anew.
    pub(super) fn at(&self) -> Timestamp {
        self.latest + self.late
    }

    /// The earliest time that fits what was told.
    pub(super) const fn told_for(&self) -> Timestamp {
        self.latest
    }

    /// Whether `seen`, told by a request that left at `sent`, is this one.
    pub(super) fn relation(&self, seen: &Self, sent: Timestamp) -> Relation {
        if sent >= self.at() || seen.earliest > self.at() {
            Relation::After
        } else if seen.latest < self.earliest {
            Relation::Before
        } else {
            Relation::Same
        }
    }

    /// The same reset, told again. Windows that move only ever end later.
    pub(super) fn narrow(&mut self, seen: &Self, moves: bool) {
        self.earliest = self.earliest.max(seen.earliest);
        self.latest = if moves {
            self.latest.max(seen.latest)
        } else {
            self.latest.min(seen.latest)
        };
    }

    /// Comes back a little later: by what the server was found to round off, and by its share of the spread (`chance`, from
    /// 0 to 1).
    pub(super) fn spread(&mut self, now: Timestamp, rounding: Duration, chance: f64) {
        let spread = (self.latest.since(now) / SPREAD).min(LONGEST_SPREAD);
        self.late = rounding + spread.mul_f64(chance.clamp(0.0, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    fn told(sent: u64, now: u64, reset: u64) -> Reset {
        Reset::told(at(sent), at(now), ms(reset), None)
    }

    #[test]
    fn the_earliest_of_all_that_is_told_is_kept() {
        let mut reset = told(0, 20, 5000);
        for (sent, now, seconds) in [(900, 920, 5), (1100, 1120, 4), (3500, 3520, 2)] {
            let seen = told(sent, now, seconds * 1000);
            assert_eq!(reset.relation(&seen, at(sent)), Relation::Same);
            reset.narrow(&seen, false);
        }
        assert_eq!(reset.at(), at(5020));
    }

    #[test]
    fn a_window_is_never_left_for_longer_than_it_is_long() {
        // An epoch of whole seconds less a Date of whole seconds makes six of five.
        let length = Some(ms(5000));
        assert_eq!(Reset::told(at(0), at(10), ms(6000), length).at(), at(5010));
        // A ban lasts longer than the window, and means it.
        assert_eq!(
            Reset::told(at(0), at(10), ms(60_000), length).at(),
            at(60_010)
        );
    }

    #[test]
    fn a_reset_that_cannot_be_the_known_one_is_before_or_after_it() {
        let reset = told(0, 20, 10_000);
        assert_eq!(reset.relation(&told(1, 30, 7000), at(1)), Relation::Before);
        assert_eq!(
            reset.relation(&told(500, 520, 60_000), at(500)),
            Relation::After
        );
        // It left when the known one was over; even one second later is another.
        let next = told(10_020, 10_040, 1000);
        assert_eq!(reset.relation(&next, at(10_020)), Relation::After);
    }

    #[test]
    fn those_who_share_a_quota_come_back_apart_but_within_a_hundredth() {
        let mut reset = told(0, 0, 6400);
        reset.spread(at(0), Duration::ZERO, 1.0);
        assert_eq!(reset.at(), at(6450));
        let mut reset = told(0, 0, 3_600_000);
        reset.spread(at(0), SECOND, 0.5);
        assert_eq!(reset.at(), at(3_601_500));
        assert_eq!(reset.told_for(), at(3_600_000));
    }
}
