//! A budget of server time: never more than T seconds of work in any W seconds.
//!
//! What a request costs is known when it is over. Until then what it is expected to take is reserved, and when it takes
//! longer, that counts as it goes on.
//!
//! Servers count such work when a request begins, while it goes on, or when it ends. So what is over counts in full for W
//! from its end on: however it is counted, whoever starts finds no more than T behind it.
//!
//! A request that takes more than T by itself would break the budget: once such are known, they are refused, all but one
//! at a time that goes alone, since the next one may be quicker.

use core::time::Duration;
use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use super::strict::Strict;
use super::usual::Usual;
use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, ensure};
use crate::ticket::Ended;
use crate::time::{MILLISECOND, nanos};
use crate::{Reason, Timestamp};

/// What was spent, what is under way, and what to expect.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct ServerTime {
    /// T in nanoseconds, and W.
    #[n(0)]
    amount: u64,
    #[n(1)]
    #[cbor(with = "crate::record::duration")]
    period: Duration,
    /// The work of those that are over, since when they are.
    #[n(2)]
    spent: Strict,
    /// When those under way left, by their order.
    #[n(3)]
    under_way: BTreeMap<u64, Timestamp>,
    #[n(4)]
    usual: Usual,
}

impl ServerTime {
    pub(crate) fn new(amount: Duration, period: Duration) -> Self {
        let amount = nanos(amount).max(1);
        Self {
            amount,
            period,
            spent: Strict::new(amount, period),
            under_way: BTreeMap::new(),
            usual: Usual::default(),
        }
    }

    /// Whether it is of this limit.
    pub(super) fn is_of(&self, amount: Duration, period: Duration) -> bool {
        (self.amount, self.period) == (nanos(amount).max(1), period)
    }

    /// When another request may start, after so many.
    pub(crate) fn opens(&self, now: Timestamp, ahead: u64) -> Opening {
        if self.too_costly(now).is_some() {
            let again = match self.under_way.is_empty() {
                true => self.spent.start_of(now, self.amount),
                false => Timestamp::MAX,
            };
            return Opening::never(Reason::TooCostly, again);
        }
        let others = (self.under_way.len() as u64).saturating_add(ahead);
        if others >= self.most() {
            return Opening::completion(Reason::Limit, Timestamp::MAX);
        }
        let own = self.reserve().saturating_mul(ahead.saturating_add(1));
        let mut at = now;
        // Time brings back what is over, while those under way may come to more: there is a next instant to look at only
        // where something comes back.
        loop {
            let needed = own.saturating_add(self.reserved(at));
            if needed > self.amount {
                return Opening::completion(Reason::Limit, Timestamp::MAX);
            }
            let next = self.spent.start_of(now, needed);
            if next <= at {
                break;
            }
            at = next;
        }
        match at > now {
            true => Opening::at(at, Reason::Limit),
            false => Opening::NOW,
        }
    }

    /// Not earlier, whatever those under way turn out to take and make us expect: where none are, that is what is known.
    pub(crate) fn bounds(&self, now: Timestamp) -> Opening {
        if self.under_way.is_empty() && self.too_costly(now).is_none() {
            return self.opens(now, 0);
        }
        match self.spent.start_of(now, 1) {
            at if at > now => Opening::at(at, Reason::Limit),
            _ => Opening::NOW,
        }
    }

    /// What a request takes, in nanoseconds, if any is known to take more than there ever is. Others may not: so one goes
    /// where nothing else is in sight, to find out.
    pub(crate) fn too_costly(&self, now: Timestamp) -> Option<u64> {
        let least = self.usual.least()?.min(nanos(self.period));
        let alone = self.under_way.is_empty() && self.spent.used(now) == 0;
        self.usual.mean().filter(|_| least > self.amount && !alone)
    }

    /// A request leaves.
    pub(crate) fn begin(&mut self, now: Timestamp, order: u64) {
        self.under_way.insert(order, now);
    }

    /// It was not sent.
    pub(crate) fn unsent(&mut self, order: u64) {
        self.under_way.remove(&order);
    }

    /// It is over. Nobody knows how long a server goes on with what was given up: at least what was reserved for it counts.
    pub(crate) fn end(&mut self, now: Timestamp, order: u64, ended: Ended) {
        let Some(sent) = self.under_way.remove(&order) else {
            return;
        };
        let took = nanos(now.since(sent));
        let work = match ended {
            Ended::Lost => took.max(self.reserve()),
            Ended::Served | Ended::Answered => took,
        };
        match ended {
            Ended::Served => self.usual.learn(took),
            _ => self.usual.broken_off(took),
        }
        // In no stretch of that length a request works longer.
        self.spent.charge(now, work.min(nanos(self.period)));
    }

    /// All that was there is taken for spent.
    pub(crate) fn use_up(&mut self, now: Timestamp) {
        let left = self.left(now);
        self.spent.charge(now, left);
    }

    /// The same under another budget.
    pub(crate) fn resize(&mut self, amount: Duration, period: Duration) {
        self.amount = nanos(amount).max(1);
        self.period = period;
        self.spent.resize(self.amount, period);
    }

    /// How much is neither spent nor reserved, in milliseconds.
    pub(crate) fn available(&self, now: Timestamp) -> u64 {
        self.left(now) / MILLISECOND
    }

    /// What a request is expected to take, if any was seen.
    pub(crate) fn expected(&self) -> Option<Duration> {
        self.usual.mean().map(Duration::from_nanos)
    }

    fn left(&self, now: Timestamp) -> u64 {
        self.spent.available(now).saturating_sub(self.reserved(now))
    }

    /// The most under way, by how many have shown what they take: one of a kind may be the quickest. So many are never too
    /// many, however long they take: T per W is that many under way (Little's law).
    fn most(&self) -> u64 {
        let always = (self.amount / nanos(self.period).max(1)).max(1);
        always.saturating_add(self.usual.seen())
    }

    /// What the next one is expected to take; if nothing is known, as much as there can be. If that is more than T, it goes
    /// alone.
    fn reserve(&self) -> u64 {
        let most = self.amount.min(nanos(self.period));
        self.usual.total(0).map_or(most, |total| total.min(most))
    }

    /// The same for those under way.
    fn reserved(&self, at: Timestamp) -> u64 {
        let least = self.reserve();
        let each = self.under_way.values().map(|sent| {
            let elapsed = nanos(at.since(*sent));
            let total = self.usual.total(elapsed).unwrap_or(elapsed);
            total.max(least).min(nanos(self.period))
        });
        each.fold(0, u64::saturating_add)
    }
}

/// More than any gate ever has under way.
const MOST_UNDER_WAY: usize = 1 << 20;

impl Sound for ServerTime {
    fn check(&self) -> Result<(), Flaw> {
        ensure(
            self.under_way.len() <= MOST_UNDER_WAY && !self.period.is_zero(),
            "more under way than there can be",
        )?;
        let own = self.spent.is_of(self.amount, self.period);
        ensure(own, "the books of another budget")?;
        self.usual.check()?;
        self.spent.check()
    }
}
