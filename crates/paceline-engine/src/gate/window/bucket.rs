//! A quota that comes back steadily, unit by unit, as the server tells it: what is left, and the time for one more.
//!
//! Unlike a window it has no end at which all comes back. What was left when an answer told is the least there was when its
//! request was counted; from its receipt on, a unit is added in every refill. What is under way is not counted yet, as far as
//! anybody knows.

use core::time::Duration;

use minicbor::{Decode, Encode};

use super::Spending;
use super::reported::Told;
use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::snapshot::WindowSnapshot;
use crate::{Reason, Timestamp, Unit, Window};

/// What is known of one bucket.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(super) struct Bucket {
    #[n(0)]
    pub(super) name: Option<Box<str>>,
    #[n(1)]
    pub(super) unit: Unit,
    #[n(2)]
    capacity: Option<u64>,
    #[n(3)]
    #[cbor(with = "crate::record::duration")]
    refill: Duration,
    #[n(4)]
    left: u64,
    /// The first unit after nothing comes no sooner.
    #[n(5)]
    dry_until: Timestamp,
    /// When `left` was told, by the answer to which send.
    #[n(6)]
    told: Timestamp,
    #[n(7)]
    told_by: u64,
}

/// Two tellings of one time differ by less than this part of it.
const ROUNDED: u32 = 8;

impl Bucket {
    /// A unit comes back in each `refill`. `None` if the window does not say what is left.
    pub(super) fn new(told: Told, window: &Window, refill: Duration) -> Option<Self> {
        let left = window.remaining?;
        let mut own = Self {
            name: window.name.clone(),
            unit: window.unit.clone(),
            capacity: window.limit(),
            refill,
            left,
            dry_until: told.now,
            told: told.now,
            told_by: told.order,
        };
        // What is told of an empty one is its next unit, or the time until it is full.
        if let Some(reset) = window.reset.filter(|_| left == 0)
            && own
                .capacity
                .is_none_or(|whole| told.now + reset + reset / ROUNDED < own.holds(whole))
        {
            own.dry_until = told.now + reset;
        }
        Some(own)
    }

    pub(super) const fn refill(&self) -> Duration {
        self.refill
    }

    /// It is told of again. An answer that was overtaken knows less.
    pub(super) fn learn(&mut self, seen: Self) {
        if seen.told_by >= self.told_by {
            *self = seen;
        }
    }

    /// It may have been counted, and no answer will tell.
    pub(super) fn lost(&mut self, now: Timestamp, units: u64) {
        let come = self.come(now);
        let back = self.refill.as_nanos().saturating_mul(u128::from(come));
        let back = Duration::from_nanos(u64::try_from(back).unwrap_or(u64::MAX));
        self.told = if self.is_full(now) {
            now
        } else {
            self.told + back
        };
        let most = self.capacity.unwrap_or(u64::MAX);
        self.left = self
            .left
            .saturating_add(come)
            .min(most)
            .saturating_sub(units);
    }

    /// How much has come back since it was told of.
    fn come(&self, now: Timestamp) -> u64 {
        if now < self.dry_until {
            return 0;
        }
        let come = now.since(self.told).as_nanos() / self.refill.as_nanos().max(1);
        u64::try_from(come).unwrap_or(u64::MAX)
    }

    /// Full again: nothing that was told matters any more.
    pub(super) fn is_full(&self, now: Timestamp) -> bool {
        self.capacity
            .is_some_and(|capacity| self.holds(capacity) <= now)
    }

    /// Whether it was short of `cost` when it was told of.
    pub(super) fn is_short_of(&self, cost: &Cost, spending: &Spending) -> bool {
        self.left < spending.charge(&self.unit, cost)
    }

    /// When a request of `cost` may be charged to it after those `ahead`.
    pub(super) fn opens(
        &self,
        now: Timestamp,
        spending: &Spending,
        ahead: Ahead<'_>,
        cost: &Cost,
    ) -> Opening {
        let charge = self.most(spending.charge(&self.unit, cost));
        let asked = spending.ahead(&self.unit, ahead).saturating_add(charge);
        let theirs = spending.under_way(&self.unit);
        let with_theirs = theirs.saturating_add(asked);
        let fits = self.most(with_theirs) == with_theirs;
        if fits && self.holds(with_theirs) <= now {
            return Opening::NOW;
        }
        let earliest = self.holds(asked);
        if earliest > now || theirs == 0 {
            return Opening::at(earliest, Reason::Window);
        }
        // Those under way may be counted already: their answers will tell. It never holds more than when it is full.
        let all = if fits {
            self.holds(with_theirs)
        } else {
            Timestamp::MAX
        };
        Opening::completion(Reason::Window, all)
    }

    pub(super) fn snapshot(&self, now: Timestamp) -> WindowSnapshot {
        let come = self.come(now);
        let most = self.capacity.unwrap_or(u64::MAX);
        WindowSnapshot {
            name: self.name.clone(),
            limit: self.capacity,
            remaining: self.left.saturating_add(come).min(most),
            reset: self.holds(self.capacity.unwrap_or(self.left)),
        }
    }

    /// So much of it as it can hold.
    fn most(&self, units: u64) -> u64 {
        self.capacity.map_or(units, |most| units.min(most.max(1)))
    }

    /// When it holds so much; more than it can hold it has when it is full, and the server decides.
    fn holds(&self, units: u64) -> Timestamp {
        let missing = self.most(units).saturating_sub(self.left);
        if missing == 0 {
            return self.told;
        }
        let refill = self.refill.as_nanos().saturating_mul(u128::from(missing));
        let refill = Duration::from_nanos(u64::try_from(refill).unwrap_or(u64::MAX));
        (self.told + refill).max(self.dry_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    fn points(left: u64, reset: Option<u64>) -> Window {
        Window {
            unit: Unit::Other("points".into()),
            limit_milli: Some(1_000_000),
            remaining: Some(left),
            reset: reset.map(Duration::from_secs),
            ..Window::unknown()
        }
    }

    fn told(now: u64, order: u64) -> Told {
        Told {
            now: at(now),
            sent: at(now.saturating_sub(50)),
            order,
            next_order: order + 1,
            refused: false,
        }
    }

    fn told_of(told: Told, window: &Window) -> Bucket {
        Bucket::new(told, window, Duration::from_millis(20)).expect("it says what is left")
    }

    fn bucket(left: u64) -> Bucket {
        told_of(told(1000, 1), &points(left, None))
    }

    fn costing(points: u64) -> Cost {
        Cost::default().and("points", points)
    }

    #[test]
    fn a_request_waits_for_what_it_lacks_and_no_longer() {
        let (bucket, nothing) = (bucket(100), Spending::default());
        let opens = |cost| bucket.opens(at(1000), &nothing, Ahead::NOTHING, &costing(cost));
        assert_eq!(opens(100), Opening::NOW);
        assert_eq!(opens(150), Opening::at(at(2000), Reason::Window));
        // More than it ever holds: when it is full.
        assert_eq!(opens(5000), Opening::at(at(19_000), Reason::Window));
        assert!(bucket.is_full(at(19_000)) && !bucket.is_full(at(18_999)));
    }

    #[test]
    fn what_is_under_way_may_or_may_not_be_counted() {
        let bucket = bucket(100);
        let mut spending = Spending::default();
        spending.under_way.add(&costing(80));
        let opens = |ms, cost| bucket.opens(at(ms), &spending, Ahead::NOTHING, &costing(cost));
        assert_eq!(opens(1000, 20), Opening::NOW);
        let either = Opening::completion(Reason::Window, at(1200));
        assert_eq!(opens(1000, 30), either);
        assert_eq!(opens(1200, 30), Opening::NOW);
        assert_eq!(opens(1000, 101), Opening::at(at(1020), Reason::Window));
    }

    #[test]
    fn an_answer_that_was_overtaken_shows_nothing_new() {
        let mut bucket = bucket(100);
        bucket.learn(told_of(told(1300, 3), &points(40, None)));
        bucket.learn(told_of(told(1400, 2), &points(90, None)));
        assert_eq!(bucket.snapshot(at(1300)).remaining, 40);
        assert_eq!(bucket.snapshot(at(1400)).remaining, 45);
        bucket.lost(at(1300), 30);
        assert_eq!(bucket.snapshot(at(1300)).remaining, 10);
    }

    #[test]
    fn an_empty_one_that_names_its_next_unit_is_believed() {
        let empty = told_of(told(1000, 1), &points(0, Some(3)));
        let opens = |cost| empty.opens(at(1000), &Spending::default(), Ahead::NOTHING, &cost);
        assert_eq!(
            opens(Cost::default()),
            Opening::at(at(4000), Reason::Window)
        );
        assert_eq!(opens(costing(200)), Opening::at(at(5000), Reason::Window));
    }

    #[test]
    fn an_empty_one_that_names_when_it_is_full_is_not_waited_for_that_long() {
        let empty = told_of(told(1000, 1), &points(0, Some(20)));
        let opens = empty.opens(at(1000), &Spending::default(), Ahead::NOTHING, &costing(10));
        assert_eq!(opens, Opening::at(at(1200), Reason::Window));
    }
}
