//! A limit with what has been spent of it.

use super::bucket::Bucket;
use super::strict::Strict;
use super::{Limit, LimitKind};
use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::{Reason, Timestamp, Unit};

/// A limit and its books. Charging is unconditional: whoever charges has asked first, or charges what already happened.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    limit: Limit,
    books: Books,
}

#[derive(Clone, Debug)]
enum Books {
    Bucket(Bucket),
    Strict(Strict),
    /// What is in flight is the gate's own count.
    InFlight,
}

impl Account {
    pub(crate) fn open(now: Timestamp, limit: Limit) -> Self {
        let books = match limit.kind {
            LimitKind::Bucket {
                amount,
                period,
                burst,
            } => Books::Bucket(Bucket::full(now, amount.get(), period, burst.get())),
            LimitKind::Strict { amount, period } => {
                Books::Strict(Strict::new(amount.get(), period))
            }
            LimitKind::InFlight { .. } => Books::InFlight,
        };
        Self { limit, books }
    }

    pub(crate) const fn limit(&self) -> &Limit {
        &self.limit
    }

    /// When a request of `cost` may start after `ahead`, with `in_flight` under way.
    pub(crate) fn opens(
        &self,
        now: Timestamp,
        in_flight: u64,
        ahead: Ahead,
        cost: &Cost,
    ) -> Opening {
        let spent = cost.of(&self.limit.unit);
        // What is free still takes its time: only another unit is free of a limit on what is in flight.
        let counts = match self.books {
            Books::InFlight => spent > 0 || self.limit.unit == Unit::Requests,
            _ => spent > 0,
        };
        if !counts {
            return Opening::NOW;
        }
        match (&self.books, self.limit.kind) {
            (Books::Bucket(bucket), _) => bucket.opens(now, ahead.of(&self.limit.unit), spent),
            (Books::Strict(strict), _) => strict.opens(now, ahead.of(&self.limit.unit), spent),
            (Books::InFlight, LimitKind::InFlight { max }) => {
                if in_flight + ahead.requests < max.get() {
                    Opening::NOW
                } else {
                    Opening::completion(Reason::InFlight, Timestamp::MAX)
                }
            }
            (Books::InFlight, _) => Opening::NOW,
        }
    }

    pub(crate) fn charge(&mut self, now: Timestamp, cost: &Cost) {
        let cost = cost.of(&self.limit.unit);
        match &mut self.books {
            Books::Bucket(bucket) => bucket.charge(now, cost),
            Books::Strict(strict) => strict.charge(now, cost),
            Books::InFlight => {}
        }
    }

    pub(crate) fn refund(&mut self, now: Timestamp, charged: Timestamp, cost: &Cost) {
        let cost = cost.of(&self.limit.unit);
        match &mut self.books {
            Books::Bucket(bucket) => bucket.refund(now, cost),
            Books::Strict(strict) => strict.refund(now, charged, cost),
            Books::InFlight => {}
        }
    }

    /// The same account under a new limit: what was spent stays spent, so that a change never grants a burst.
    pub(crate) fn change(&mut self, now: Timestamp, limit: Limit) {
        let spent = match &self.books {
            Books::Bucket(bucket) => bucket.missing(now),
            Books::Strict(strict) => strict.used(now),
            Books::InFlight => 0,
        };
        let available = match &self.books {
            Books::Bucket(bucket) => Some(bucket.available(now)),
            Books::Strict(strict) => Some(strict.available(now)),
            Books::InFlight => None,
        };
        match (&mut self.books, limit.kind) {
            (Books::Strict(strict), LimitKind::Strict { amount, period }) => {
                strict.resize(amount.get(), period);
            }
            (
                books,
                LimitKind::Bucket {
                    amount,
                    period,
                    burst,
                },
            ) => {
                let mut bucket = Bucket::full(now, amount.get(), period, burst.get());
                // More room is not more tokens: they flow in at the new rate.
                let absent = available.map_or(0, |tokens| burst.get().saturating_sub(tokens));
                bucket.charge(now, spent.min(burst.get()).max(absent));
                *books = Books::Bucket(bucket);
            }
            (books, LimitKind::Strict { amount, period }) => {
                let mut strict = Strict::new(amount.get(), period);
                strict.charge(now, spent.min(amount.get()));
                *books = Books::Strict(strict);
            }
            (books, LimitKind::InFlight { .. }) => *books = Books::InFlight,
        }
        self.limit = limit;
    }

    /// How much could be spent at once.
    pub(crate) fn available(&self, now: Timestamp, in_flight: u64) -> u64 {
        match (&self.books, self.limit.kind) {
            (Books::Bucket(bucket), _) => bucket.available(now),
            (Books::Strict(strict), _) => strict.available(now),
            (Books::InFlight, LimitKind::InFlight { max }) => max.get().saturating_sub(in_flight),
            (Books::InFlight, _) => u64::MAX,
        }
    }
}
