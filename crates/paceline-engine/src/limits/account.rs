//! A limit with what has been spent of it.

use core::time::Duration;

use minicbor::{Decode, Encode};

use super::bucket::Bucket;
use super::server_time::ServerTime;
use super::strict::Strict;
use super::{Limit, LimitKind};
use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, ensure};
use crate::ticket::{Charge, Ended, TooCostly};
use crate::time::MILLISECOND;
use crate::{Reason, Timestamp, Unit};

/// A limit and its books. Charging is unconditional: whoever charges has asked first, or charges what already happened.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct Account {
    #[n(0)]
    limit: Limit,
    #[n(1)]
    books: Books,
    /// The first send that was charged to it.
    #[n(2)]
    first: u64,
    /// What was charged by estimates that may still be corrected, in a unit that requests name.
    #[n(3)]
    estimated: u64,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
enum Books {
    #[n(0)]
    Bucket(#[n(0)] Bucket),
    #[n(1)]
    Strict(#[n(0)] Strict),
    /// What is in flight is the gate's own count.
    #[n(2)]
    InFlight,
    #[n(3)]
    ServerTime(#[n(0)] ServerTime),
}

impl Account {
    /// Charges begin with the send of order `first`.
    pub(crate) fn open(now: Timestamp, first: u64, limit: Limit) -> Self {
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
            LimitKind::ServerTime { amount, period } => {
                Books::ServerTime(ServerTime::new(amount, period))
            }
        };
        Self {
            limit,
            books,
            first,
            estimated: 0,
        }
    }

    pub(crate) const fn limit(&self) -> &Limit {
        &self.limit
    }

    /// When a request of `cost` may start after `ahead`, with `in_flight` under way.
    pub(crate) fn opens(
        &self,
        now: Timestamp,
        in_flight: u64,
        ahead: Ahead<'_>,
        cost: &Cost,
    ) -> Opening {
        self.opens_beyond(now, in_flight, ahead, cost, 0)
    }

    /// The same if all that may come back does: not earlier, whatever those under way turn out to cost.
    pub(crate) fn bounds(
        &self,
        now: Timestamp,
        in_flight: u64,
        ahead: Ahead<'_>,
        cost: &Cost,
    ) -> Opening {
        if let Books::ServerTime(books) = &self.books {
            return books.bounds(now);
        }
        self.opens_beyond(now, in_flight, ahead, cost, self.estimated)
    }

    /// `hoped` pays for the first part of it.
    fn opens_beyond(
        &self,
        now: Timestamp,
        in_flight: u64,
        ahead: Ahead<'_>,
        cost: &Cost,
        hoped: u64,
    ) -> Opening {
        let spent = cost.of(&self.limit.unit);
        // What is free still takes its time: only another unit is free of a limit on what is in flight.
        let counts = match self.books {
            Books::InFlight => spent > 0 || self.limit.unit == Unit::Requests,
            Books::ServerTime(_) => true,
            _ => spent > hoped,
        };
        if !counts {
            return Opening::NOW;
        }
        let (ahead_of_it, own) = (ahead.of(&self.limit.unit), spent.saturating_sub(hoped));
        match (&self.books, self.limit.kind) {
            (Books::Bucket(bucket), _) => bucket.opens(now, ahead_of_it, own),
            (Books::Strict(strict), _) => strict.opens(now, ahead_of_it, own),
            (Books::InFlight, LimitKind::InFlight { max }) => {
                if in_flight + ahead.requests < max.get() {
                    Opening::NOW
                } else {
                    Opening::completion(Reason::InFlight, Timestamp::MAX)
                }
            }
            (Books::InFlight, _) => Opening::NOW,
            (Books::ServerTime(books), _) => books.opens(now, ahead.requests),
        }
    }

    /// Charges all that is available.
    pub(crate) fn use_up(&mut self, now: Timestamp) {
        match &mut self.books {
            Books::Bucket(bucket) => bucket.charge(now, bucket.available(now)),
            Books::Strict(strict) => strict.charge(now, strict.available(now)),
            Books::InFlight => {}
            Books::ServerTime(books) => books.use_up(now),
        }
    }

    /// The request of this order leaves.
    pub(crate) fn charge(&mut self, now: Timestamp, order: u64, cost: &Cost) {
        if let Books::ServerTime(books) = &mut self.books {
            return books.begin(now, order);
        }
        let cost = cost.of(&self.limit.unit);
        if self.is_estimated() {
            self.estimated = self.estimated.saturating_add(cost);
        }
        self.add(now, cost);
    }

    /// It is over: what it took is known.
    pub(crate) fn end(&mut self, now: Timestamp, charge: &Charge, ended: Ended) {
        if let Books::ServerTime(books) = &mut self.books {
            books.end(now, charge.order, ended);
        }
    }

    /// Why no request of `cost` can start, if it is by itself too much.
    pub(crate) fn too_costly(&self, now: Timestamp, cost: &Cost) -> Option<TooCostly> {
        let Books::ServerTime(books) = &self.books else {
            return self.limit.too_costly(cost);
        };
        Some(TooCostly {
            cost: books.too_costly(now)? / MILLISECOND,
            limit: self.limit.clone(),
        })
    }

    /// What a request is expected to take of the server's time, if that is what is limited, and known.
    pub(crate) fn expected(&self) -> Option<Duration> {
        match &self.books {
            Books::ServerTime(books) => books.expected(),
            _ => None,
        }
    }

    /// From now on the refill of a full bucket is not counted on before a request is known to have arrived.
    pub(crate) fn hold(&mut self) {
        if let (Books::Bucket(bucket), Unit::Requests) = (&mut self.books, &self.limit.unit) {
            bucket.hold();
        }
    }

    /// A request that left at `sent` was answered. It may have arrived so much later than others, and no trip is shorter than
    /// `surely`.
    pub(crate) fn answered(
        &mut self,
        now: Timestamp,
        sent: Timestamp,
        late: Duration,
        surely: Duration,
    ) {
        match (&mut self.books, &self.limit.unit) {
            (Books::Bucket(bucket), Unit::Requests) => bucket.answered(now, sent, surely),
            (Books::Strict(strict), Unit::Requests) if !late.is_zero() => {
                strict.arrived(sent, late);
            }
            _ => {}
        }
    }

    /// It was not sent: as if nothing had been charged.
    pub(crate) fn refund(&mut self, now: Timestamp, charge: &Charge) {
        if let Books::ServerTime(books) = &mut self.books {
            books.unsent(charge.order);
        } else if self.is_open(charge) {
            self.stands(charge);
            self.take_back(now, charge.at, charge.cost.of(&self.limit.unit));
        }
    }

    /// It was sent and turned out to cost `actual`. What it cost less is given back as if it had never been charged; what
    /// it cost more is charged now, since nobody knew of it before. A unit that `actual` does not name stays open.
    pub(crate) fn settle(&mut self, now: Timestamp, charge: &Charge, actual: &Cost) {
        let named = actual.named(&self.limit.unit);
        let Some(actual) = named.filter(|_| self.is_open(charge)) else {
            return;
        };
        self.stands(charge);
        let estimate = charge.cost.of(&self.limit.unit);
        if actual < estimate {
            self.take_back(now, charge.at, estimate - actual);
        } else {
            self.add(now, actual - estimate);
        }
    }

    /// What it was charged will not change any more.
    pub(crate) fn stands(&mut self, charge: &Charge) {
        if self.is_estimated() && self.is_open(charge) {
            let cost = charge.cost.of(&self.limit.unit);
            self.estimated = self.estimated.saturating_sub(cost);
        }
    }

    /// It was charged here, and nobody has told yet what it did cost.
    fn is_open(&self, charge: &Charge) -> bool {
        charge.order >= self.first && charge.told.named(&self.limit.unit).is_none()
    }

    const fn is_estimated(&self) -> bool {
        matches!(self.limit.unit, Unit::Other(_))
    }

    fn add(&mut self, now: Timestamp, cost: u64) {
        match &mut self.books {
            Books::Bucket(bucket) if cost > 0 => bucket.charge(now, cost),
            Books::Strict(strict) if cost > 0 => strict.charge(now, cost),
            _ => {}
        }
    }

    fn take_back(&mut self, now: Timestamp, charged: Timestamp, cost: u64) {
        match &mut self.books {
            Books::Bucket(bucket) => bucket.refund(now, charged, cost),
            Books::Strict(strict) => strict.refund(now, charged, cost),
            Books::InFlight | Books::ServerTime(_) => {}
        }
    }

    /// Whether its books make sense under `limit`.
    pub(crate) fn can_become(&self, limit: &Limit) -> bool {
        let counts = |limit: &Limit| match limit.kind {
            LimitKind::Bucket { .. } | LimitKind::Strict { .. } => Counts::Starts,
            LimitKind::InFlight { .. } => Counts::Places,
            LimitKind::ServerTime { .. } => Counts::Time,
        };
        self.limit.unit == limit.unit && counts(&self.limit) == counts(limit)
    }

    /// The same account under a new limit: what was spent stays spent, so that a change never grants a burst, and debt
    /// stays debt.
    pub(crate) fn change(&mut self, now: Timestamp, limit: Limit) {
        let (spent, available, debt) = match &self.books {
            Books::Bucket(books) => (books.missing(now), books.available(now), books.debt(now)),
            Books::Strict(books) => (books.used(now), books.available(now), books.debt(now)),
            Books::InFlight | Books::ServerTime(_) => (0, u64::MAX, 0),
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
                // More room is not more tokens: they flow in at the new rate.
                let absent = burst.get().saturating_sub(available);
                let spent = spent.min(burst.get()).max(absent).saturating_add(debt);
                let full = Bucket::full(now, amount.get(), period, burst.get());
                *books = Books::Bucket(full.spent(spent));
            }
            (books, LimitKind::Strict { amount, period }) => {
                let mut strict = Strict::new(amount.get(), period);
                strict.charge(now, spent.min(amount.get()).saturating_add(debt));
                *books = Books::Strict(strict);
            }
            (books, LimitKind::InFlight { .. }) => *books = Books::InFlight,
            (Books::ServerTime(own), LimitKind::ServerTime { amount, period }) => {
                own.resize(amount, period);
            }
            (books, LimitKind::ServerTime { amount, period }) => {
                *books = Books::ServerTime(ServerTime::new(amount, period));
            }
        }
        self.limit = limit;
    }

    /// How much could be spent at once; of server time, in milliseconds.
    pub(crate) fn available(&self, now: Timestamp, in_flight: u64) -> u64 {
        match (&self.books, self.limit.kind) {
            (Books::Bucket(bucket), _) => bucket.available(now),
            (Books::Strict(strict), _) => strict.available(now),
            (Books::InFlight, LimitKind::InFlight { max }) => max.get().saturating_sub(in_flight),
            (Books::InFlight, _) => u64::MAX,
            (Books::ServerTime(books), _) => books.available(now),
        }
    }
}

impl Sound for Account {
    fn check(&self) -> Result<(), Flaw> {
        let theirs = match (&self.books, self.limit.kind) {
            (
                Books::Bucket(bucket),
                LimitKind::Bucket {
                    amount,
                    period,
                    burst,
                },
            ) => bucket.is_of(amount.get(), period, burst.get()),
            (Books::Strict(strict), LimitKind::Strict { amount, period }) => {
                strict.is_of(amount.get(), period)
            }
            (Books::InFlight, LimitKind::InFlight { .. }) => true,
            (Books::ServerTime(books), LimitKind::ServerTime { amount, period }) => {
                books.is_of(amount, period)
            }
            _ => false,
        };
        ensure(theirs, "the books of another limit")?;
        match &self.books {
            Books::Bucket(bucket) => bucket.check(),
            Books::Strict(strict) => strict.check(),
            Books::InFlight => Ok(()),
            Books::ServerTime(books) => books.check(),
        }
    }
}

/// What books are about: those of one kind make no sense under a limit of another.
#[derive(PartialEq, Eq)]
enum Counts {
    Starts,
    Places,
    Time,
}
