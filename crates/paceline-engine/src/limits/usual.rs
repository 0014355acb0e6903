//! How long requests take: what is reserved for the next one, and what those under way may still come to.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, counts};

/// A smoothed duration and how far others lie above it, in nanoseconds, as RFC 6298 has them for round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Usual {
    #[n(0)]
    mean: u64,
    #[n(1)]
    deviation: u64,
    /// How many were seen.
    #[n(2)]
    seen: u64,
}

/// No sum of such overflows; 146 years in nanoseconds.
const LONGEST: u64 = u64::MAX / 4;

impl Usual {
    /// One took that long, and did what it was asked for.
    ///
    /// RFC 6298, section 2: "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|", "SRTT <- (1 - alpha) * SRTT + alpha * R'",
    /// with 1/8 and 1/4, and half of the first one for its deviation. Unlike there, whatever takes less than usual is no
    /// reason to expect more.
    pub(super) fn learn(&mut self, took: u64) {
        let took = took.min(LONGEST);
        self.seen = self.seen.saturating_add(1).min(LONGEST);
        if self.seen == 1 {
            (self.mean, self.deviation) = (took, took / 2);
            return;
        }
        let more = took.saturating_sub(self.mean);
        self.deviation = self.deviation - self.deviation.div_ceil(4) + more / 4;
        self.mean = match took > self.mean {
            true => self.mean + more / 8,
            false => self.mean - (self.mean - took) / 8,
        };
    }

    /// It was broken off or refused. That says nothing of others, unless it took longer than they do.
    pub(super) fn broken_off(&mut self, took: u64) {
        if self.seen > 0 && took > self.mean {
            self.learn(took);
        }
    }

    /// What one takes, if anything is known.
    pub(super) fn mean(&self) -> Option<u64> {
        (self.seen > 0).then_some(self.mean)
    }

    /// What one comes to that has taken `elapsed` so far: as long as others and a little more; if it took longer already,
    /// that little more from now on.
    pub(super) fn total(&self, elapsed: u64) -> Option<u64> {
        Some(self.mean()?.max(elapsed).saturating_add(self.deviation))
    }

    /// What one takes at least, as far as those before tell.
    pub(super) fn least(&self) -> Option<u64> {
        Some(self.mean()?.saturating_sub(self.deviation))
    }

    /// How many were seen.
    pub(super) const fn seen(&self) -> u64 {
        self.seen
    }
}

impl Sound for Usual {
    fn check(&self) -> Result<(), Flaw> {
        counts([self.mean, self.deviation, self.seen])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_believed_by_half() {
        let mut usual = Usual::default();
        assert_eq!((usual.mean(), usual.total(7)), (None, None));
        usual.learn(800);
        assert_eq!((usual.mean(), usual.total(0)), (Some(800), Some(1200)));
    }

    #[test]
    fn what_is_always_the_same_is_known_exactly_in_the_end() {
        let mut usual = Usual::default();
        (0..100).for_each(|_| usual.learn(500_000_000));
        let total = usual.total(0).expect("known");
        assert_eq!(total, 500_000_000);
    }

    #[test]
    fn what_takes_less_is_no_reason_to_expect_more() {
        let mut usual = Usual::default();
        (0..100).for_each(|_| usual.learn(1_000));
        usual.learn(200);
        assert_eq!(usual.total(0), Some(900));
    }

    #[test]
    fn what_changes_is_followed() {
        let mut usual = Usual::default();
        (0..100).for_each(|_| usual.learn(1_000));
        (0..40).for_each(|_| usual.learn(9_000));
        let mean = usual.mean().expect("known");
        assert!((8_900..=9_000).contains(&mean), "{mean}");
    }

    #[test]
    fn one_that_is_late_is_expected_to_need_as_much_more_as_others_differ() {
        let mut usual = Usual::default();
        usual.learn(800);
        assert_eq!(usual.total(800), Some(1200));
        assert_eq!(usual.total(5000), Some(5400));
        assert_eq!(usual.total(u64::MAX), Some(u64::MAX));
    }

    #[test]
    fn a_quick_refusal_makes_nobody_hope() {
        let mut usual = Usual::default();
        usual.broken_off(1);
        assert_eq!(usual.mean(), None, "nothing is known by that");
        usual.learn(800);
        usual.broken_off(1);
        assert_eq!(usual.mean(), Some(800));
        usual.broken_off(1600);
        assert_eq!(usual.mean(), Some(900));
    }
}
