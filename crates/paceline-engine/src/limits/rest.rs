//! When a full bucket began to refill at the server: not before the first request arrived there.
//!
//! Requests are charged when they leave. While tokens are missing it plays no part how long they travel, for the same number
//! is missing sooner or later; but a bucket that is full there does not refill, and one that is taken to have done so for as
//! long as a new connection took grants a token that is not there. How long a request travelled is not known; how much
//! longer than the quickest one is.

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::Timestamp;

/// The latest time that it was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct Rest {
    /// When the request left that found it full.
    #[n(0)]
    since: Timestamp,
    /// When the first of its requests was answered, counted from then.
    #[n(1)]
    #[cbor(with = "crate::record::duration")]
    answered: Duration,
    /// How much later the refill is taken to have begun.
    #[n(2)]
    #[cbor(with = "crate::record::duration")]
    late: Duration,
}

/// Whoever travels longer than that is slow for other reasons.
const MOST: Duration = Duration::from_secs(1);

impl Rest {
    /// Shorter ones are the pauses between requests.
    pub(super) const LEAST: Duration = Duration::from_secs(1);

    pub(super) const fn since(&self) -> Timestamp {
        self.since
    }

    /// Until then nobody knows whether a request has arrived.
    pub(super) fn held_until(&self) -> Option<Timestamp> {
        (self.answered == Duration::MAX).then(|| self.since + MOST)
    }

    pub(super) const fn ends(now: Timestamp) -> Self {
        Self {
            since: now,
            answered: Duration::MAX,
            late: Duration::ZERO,
        }
    }

    /// A request that left at `sent` was answered; `quickest` is the shortest trip so far. How much of the refill did not
    /// happen, and how much did that was taken not to have.
    pub(super) fn answered(
        &mut self,
        now: Timestamp,
        sent: Timestamp,
        quickest: Duration,
    ) -> (Duration, Duration) {
        if sent >= self.since {
            self.answered = self.answered.min(now.since(self.since));
        }
        if self.answered == Duration::MAX {
            return (Duration::ZERO, Duration::ZERO);
        }
        let late = self.answered.saturating_sub(quickest).min(MOST);
        let before = core::mem::replace(&mut self.late, late);
        (late.saturating_sub(before), before.saturating_sub(late))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::Bucket;
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + ms(millis)
    }

    /// Ten a second, five at once; spent at once.
    fn spent() -> Bucket {
        let mut bucket = Bucket::full(at(0), 10, ms(1_000), 5);
        bucket.charge(at(0), 5);
        bucket
    }

    fn opens(bucket: &Bucket) -> Timestamp {
        bucket.opens(at(0), 0, 1).earliest()
    }

    #[test]
    fn a_full_bucket_refills_from_when_the_first_request_can_have_arrived() {
        let mut bucket = spent();
        assert_eq!(opens(&bucket), at(100));
        bucket.answered(at(80), at(0), ms(80));
        assert_eq!(opens(&bucket), at(100), "no trip was quicker");
        bucket.answered(at(130), at(100), ms(30));
        assert_eq!(opens(&bucket), at(150), "the first connection took fifty");
        bucket.answered(at(60), at(0), ms(30));
        assert_eq!(opens(&bucket), at(130), "another one arrived before it");
    }

    #[test]
    fn a_bucket_that_is_not_full_is_missing_what_it_is_missing() {
        let mut bucket = spent();
        bucket.answered(at(20), at(0), ms(20));
        bucket.charge(at(100), 1);
        bucket.answered(at(5_000), at(100), ms(20));
        assert_eq!(bucket.opens(at(100), 0, 1).earliest(), at(200));
    }

    #[test]
    fn what_flows_in_is_held_until_somebody_has_arrived_for_a_second_at_most() {
        let mut bucket = Bucket::full(at(0), 10, ms(1_000), 5);
        bucket.hold();
        bucket.charge(at(0), 1);
        assert_eq!(
            bucket.opens(at(0), 3, 1).earliest(),
            Timestamp::ZERO,
            "it was there"
        );
        bucket.charge(at(50), 4);
        assert_eq!(opens(&bucket), at(1_000));
        bucket.answered(at(470), at(0), ms(470));
        assert_eq!(bucket.opens(at(470), 3, 1), crate::opening::Opening::NOW);
        assert_eq!(bucket.opens(at(470), 4, 1).earliest(), at(500));
    }

    #[test]
    fn requests_that_follow_each_other_hold_nothing() {
        let mut bucket = Bucket::full(at(0), 10, ms(1_000), 1);
        bucket.hold();
        bucket.charge(at(0), 1);
        bucket.answered(at(50), at(0), ms(50));
        for n in 1..10 {
            assert_eq!(bucket.opens(at(105 * n), 0, 1).earliest(), Timestamp::ZERO);
            bucket.charge(at(105 * n), 1);
        }
        bucket.charge(at(5_000), 1);
        assert_eq!(
            bucket.opens(at(5_000), 0, 1).earliest(),
            at(6_000),
            "a new rest"
        );
    }

    #[test]
    fn whoever_takes_minutes_costs_a_second_at_most() {
        let mut bucket = spent();
        bucket.answered(at(60_000), at(0), ms(10));
        assert_eq!(opens(&bucket), at(1_100));
    }
}
