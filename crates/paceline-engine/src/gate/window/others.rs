//! Whether others spend of the same window: it shrinks by more than we sent.
//!
//! Nobody can know what they will send next. So as long as they are there, only half of what is left may be under way,
//! which takes a few round trips more to the end of a window, and a count is trusted less the older it is.

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::Timestamp;

/// What others spent of a window, at the least.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub(super) struct Others {
    /// What was left when the window was first seen, and what we spent of it since, counted or not.
    #[n(0)]
    first: u64,
    #[n(1)]
    ours: u64,
    #[n(2)]
    since: Timestamp,
    #[n(3)]
    gone: u64,
    #[n(4)]
    latest: Timestamp,
    /// How much went in how long, in the window before.
    #[n(5)]
    #[cbor(with = "crate::record::pace")]
    before: Option<(u64, Duration)>,
}

/// No rate is taken from less time than this.
const SHORTEST: Duration = Duration::from_millis(1);

impl Others {
    /// A window is first seen, with `first` left, while `ours` are under way.
    pub(super) const fn begin(now: Timestamp, first: u64, ours: u64) -> Self {
        Self {
            first,
            ours,
            since: now,
            gone: 0,
            latest: now,
            before: None,
        }
    }

    /// The next window. Whoever spent of this one is expected there.
    pub(super) fn next(&self, now: Timestamp, first: u64, ours: u64) -> Self {
        Self {
            before: self.rate(),
            ..Self::begin(now, first, ours)
        }
    }

    pub(super) const fn sent(&mut self, units: u64) {
        self.ours = self.ours.saturating_add(units);
    }

    pub(super) const fn unsent(&mut self, units: u64) {
        self.ours = self.ours.saturating_sub(units);
    }

    /// So much is left now.
    pub(super) fn told(&mut self, now: Timestamp, left: u64) {
        let gone = self.first.saturating_sub(left).saturating_sub(self.ours);
        self.gone = self.gone.max(gone);
        self.latest = now;
    }

    /// Of what was left when somebody last told: how much may be under way now.
    pub(super) fn leave_us(&self, now: Timestamp, left: u64) -> u64 {
        match self.rate().or(self.before) {
            None => left,
            Some((gone, time)) => {
                let age = now.since(self.latest).as_nanos();
                let went = u128::from(gone).saturating_mul(age) / time.max(SHORTEST).as_nanos();
                left.saturating_sub(u64::try_from(went).unwrap_or(u64::MAX)) / 2
            }
        }
    }

    pub(super) const fn are_there(&self) -> bool {
        self.gone > 0 || self.before.is_some()
    }

    fn rate(&self) -> Option<(u64, Duration)> {
        (self.gone > 0).then(|| (self.gone, self.latest.since(self.since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn alone_all_that_is_left_is_ours() {
        let mut others = Others::begin(at(0), 9, 3);
        others.sent(2);
        others.told(at(10), 4);
        assert!(!others.are_there());
        assert_eq!(others.leave_us(at(9000), 4), 4);
    }

    #[test]
    fn with_others_half_of_it_may_be_under_way_and_less_the_older_the_count_is() {
        let mut others = Others::begin(at(0), 100, 0);
        others.sent(10);
        others.told(at(1000), 80);
        assert!(others.are_there());
        assert_eq!(others.leave_us(at(1000), 80), 40);
        assert_eq!(others.leave_us(at(3000), 80), 30);
        assert_eq!(others.leave_us(at(60_000), 80), 0);
    }

    #[test]
    fn they_are_expected_in_the_next_window_and_forgotten_in_the_one_after_it() {
        let mut others = Others::begin(at(0), 100, 0);
        others.told(at(1000), 90);
        let next = others.next(at(5000), 100, 0);
        assert_eq!(next.leave_us(at(5000), 100), 50);
        let after = next.next(at(10_000), 100, 0);
        assert_eq!(after.leave_us(at(10_000), 100), 100);
    }

    #[test]
    fn what_was_not_sent_was_not_ours() {
        let mut others = Others::begin(at(0), 10, 0);
        others.sent(1);
        others.unsent(1);
        others.told(at(5), 9);
        assert!(others.are_there());
    }
}
