//! A token bucket, exact to the nanosecond.

use core::time::Duration;

use minicbor::{Decode, Encode};

use super::marks::Marks;
use super::rest::Rest;
use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound};
use crate::time::nanos;
use crate::{Reason, Timestamp};

/// Tokens flow in steadily, at most `burst` are kept, it starts full.
///
/// One token is `period` units and every nanosecond brings `amount` units, so nothing is ever rounded and a rate of
/// `7 per 3 s` does not drift.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct Bucket {
    #[n(0)]
    amount: u64,
    #[n(1)]
    period: u64,
    #[n(2)]
    burst: u64,
    /// Below zero when more was charged than there was (a request that turned out dearer).
    #[n(3)]
    #[cbor(with = "crate::record::wide")]
    level: i128,
    #[n(4)]
    at: Timestamp,
    #[n(5)]
    marks: Marks,
    /// Since it was full.
    #[n(6)]
    rest: Option<Rest>,
    /// Its refill is not counted on before a request is known to have arrived.
    #[n(7)]
    #[cbor(default)]
    holds: bool,
}

impl Bucket {
    pub(crate) fn full(now: Timestamp, amount: u64, period: Duration, burst: u64) -> Self {
        let period = nanos(period).max(1);
        Self {
            amount,
            period,
            burst,
            level: i128::from(burst) * i128::from(period),
            at: now,
            marks: Marks::new(),
            rest: Some(Rest::ends(now)),
            holds: false,
        }
    }

    /// Whether it is one of this limit.
    pub(super) fn is_of(&self, amount: u64, period: Duration, burst: u64) -> bool {
        let own = (self.amount, self.period, self.burst);
        own == (amount, nanos(period), burst)
    }

    /// The same, as far as it is spent already: nobody knows how full it was before.
    pub(crate) fn spent(mut self, tokens: u64) -> Self {
        let spent = i128::from(tokens) * i128::from(self.period);
        self.level = self.level.saturating_sub(spent);
        self
    }

    /// When a request of `cost` may start if `ahead` tokens are taken first.
    pub(crate) fn opens(&self, now: Timestamp, ahead: u64, cost: u64) -> Opening {
        if cost > self.burst {
            return Opening::never(Reason::TooCostly, Timestamp::MAX);
        }
        let needed = i128::from(ahead) + i128::from(cost);
        let needed = needed.saturating_mul(i128::from(self.period));
        let missing = needed.saturating_sub(self.level_at(now));
        let held = self.held_until(now, needed);
        if missing <= 0 && held.is_none() {
            return Opening::NOW;
        }
        let missing = missing.max(0);
        let amount = i128::from(self.amount);
        // Due times round up: a timer that fires a nanosecond early must find nothing to do.
        let wait = u64::try_from((missing.saturating_add(amount - 1)) / amount).unwrap_or(u64::MAX);
        let opens = now + Duration::from_nanos(wait);
        Opening::at(held.map_or(opens, |held| held.max(opens)), Reason::Limit)
    }

    pub(crate) fn charge(&mut self, now: Timestamp, cost: u64) {
        let spent = i128::from(cost) * i128::from(self.period);
        let level = self.level_at(now);
        if level >= self.capacity() && self.has_rested(now) {
            self.rest = Some(Rest::ends(now));
        }
        self.marks.note(now, self.capacity().saturating_sub(level));
        self.level = level.saturating_sub(spent);
        self.at = self.at.max(now);
    }

    /// As if `cost` had not been a part of what was charged at `charged`.
    pub(crate) fn refund(&mut self, now: Timestamp, charged: Timestamp, cost: u64) {
        let amount = i128::from(cost) * i128::from(self.period);
        let back = self.marks.take_back(charged, amount);
        self.level = (self.level_at(now).saturating_add(back)).min(self.capacity());
        self.at = self.at.max(now);
    }

    /// A request that left at `sent` was answered; `quickest` is the shortest trip so far.
    pub(crate) fn answered(&mut self, now: Timestamp, sent: Timestamp, quickest: Duration) {
        let Some(rest) = &mut self.rest else {
            return;
        };
        let (less, more) = rest.answered(now, sent, quickest);
        let tokens = |time| i128::from(nanos(time)).saturating_mul(i128::from(self.amount));
        let level = self.level.saturating_sub(tokens(less));
        self.level = level.saturating_add(tokens(more)).min(self.capacity());
    }

    /// Whole tokens that are missing from a full bucket, rounded up.
    pub(crate) fn missing(&self, now: Timestamp) -> u64 {
        let period = i128::from(self.period);
        let missing = self.capacity().saturating_sub(self.level_at(now));
        u64::try_from(missing.saturating_add(period - 1) / period).unwrap_or(u64::MAX)
    }

    /// Whole tokens of debt, rounded up.
    pub(crate) fn debt(&self, now: Timestamp) -> u64 {
        let period = i128::from(self.period);
        let debt = self.level_at(now).min(0).saturating_neg();
        u64::try_from(debt.saturating_add(period - 1) / period).unwrap_or(u64::MAX)
    }

    /// Whole tokens that are there.
    pub(crate) fn available(&self, now: Timestamp) -> u64 {
        u64::try_from(self.level_at(now).max(0) / i128::from(self.period)).unwrap_or(u64::MAX)
    }

    fn capacity(&self) -> i128 {
        i128::from(self.burst) * i128::from(self.period)
    }

    /// It was full for so long that connections may have to be made anew, or nobody has arrived since it was.
    fn has_rested(&self, now: Timestamp) -> bool {
        let elapsed = i128::from(nanos(now.since(self.at)));
        let inflow = elapsed.saturating_mul(i128::from(self.amount));
        let over = self
            .level
            .saturating_add(inflow)
            .saturating_sub(self.capacity());
        let enough = i128::from(nanos(Rest::LEAST)).saturating_mul(i128::from(self.amount));
        over >= enough || self.rest.is_none_or(|rest| rest.held_until().is_some())
    }

    pub(super) const fn hold(&mut self) {
        self.holds = true;
    }

    /// Whoever needs a part of the refill waits until a request is known to have arrived, or one second.
    fn held_until(&self, now: Timestamp, needed: i128) -> Option<Timestamp> {
        let rest = self.rest.filter(|_| self.holds)?;
        let until = rest.held_until().filter(|until| *until > now)?;
        (needed > self.level_without_refill()).then_some(until)
    }

    /// What was there when it was full, as far as it is not spent.
    fn level_without_refill(&self) -> i128 {
        let since = self.rest.map_or(self.at, |rest| rest.since());
        let refill =
            i128::from(nanos(self.at.since(since))).saturating_mul(i128::from(self.amount));
        self.level.saturating_sub(refill)
    }

    fn level_at(&self, now: Timestamp) -> i128 {
        let elapsed = i128::from(nanos(now.since(self.at)));
        let inflow = elapsed.saturating_mul(i128::from(self.amount));
        self.level.saturating_add(inflow).min(self.capacity())
    }
}

impl Sound for Bucket {
    fn check(&self) -> Result<(), Flaw> {
        self.marks.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn three_tokens_at_two_a_second_with_one_in_it_take_one_second() {
        let mut bucket = Bucket::full(at(0), 2, Duration::from_secs(1), 3);
        bucket.charge(at(0), 2);

        assert_eq!(bucket.opens(at(0), 0, 1), Opening::NOW);
        bucket.charge(at(0), 1);
        assert_eq!(
            bucket.opens(at(0), 0, 1),
            Opening::at(at(500), Reason::Limit)
        );
        bucket.charge(at(500), 1);
        assert_eq!(
            bucket.opens(at(500), 0, 1),
            Opening::at(at(1000), Reason::Limit)
        );
        bucket.charge(at(1000), 1);
        assert_eq!(bucket.available(at(1000)), 0);
    }

    #[test]
    fn a_ratio_that_does_not_divide_is_exact_over_a_day_and_never_early() {
        // 7 per 3 s: 201 600 tokens a day, whatever the rounding of each wait.
        let mut bucket = Bucket::full(at(0), 7, Duration::from_secs(3), 1);
        let mut now = at(0);
        for _ in 0..201_600 {
            now = bucket.opens(now, 0, 1).earliest().max(now);
            let early = Timestamp::from_nanos(now.as_nanos().saturating_sub(1));
            assert!(now == at(0) || !bucket.opens(early, 0, 1).is_open(early));
            bucket.charge(now, 1);
        }
        let day = Duration::from_secs(86_400);
        let late = now
            .since(at(0))
            .abs_diff(day - Duration::from_nanos(3_000_000_000 / 7));
        assert!(late < Duration::from_millis(1), "off by {late:?}");
    }

    #[test]
    fn debt_is_paid_before_anybody_starts() {
        let mut bucket = Bucket::full(at(0), 1, Duration::from_secs(1), 1);
        bucket.charge(at(0), 3);
        assert_eq!(
            bucket.opens(at(0), 0, 1),
            Opening::at(at(3000), Reason::Limit)
        );
    }

    #[test]
    fn a_clock_that_steps_back_grants_nothing() {
        let mut bucket = Bucket::full(at(1000), 1, Duration::from_secs(1), 1);
        bucket.charge(at(1000), 1);
        bucket.refund(at(500), at(500), 0);
        assert_eq!(
            bucket.opens(at(500), 0, 1),
            Opening::at(at(1500), Reason::Limit)
        );
        assert!(!bucket.opens(at(1999), 0, 1).is_open(at(1999)));
        assert!(bucket.opens(at(2000), 0, 1).is_open(at(2000)));
    }
}
