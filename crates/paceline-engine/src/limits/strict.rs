//! A strict window: never more than N in any W.

use core::time::Duration;
use std::collections::VecDeque;

use minicbor::{Decode, Encode};

use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, ensure};
use crate::{Reason, Timestamp};

/// A log of what was spent, each entry free again one period later.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct Strict {
    #[n(0)]
    amount: u64,
    #[n(1)]
    #[cbor(with = "crate::record::duration")]
    period: Duration,
    #[n(2)]
    log: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
struct Entry {
    /// The first and the last instant that it stands for; it counts from the last.
    #[n(0)]
    from: Timestamp,
    #[n(1)]
    at: Timestamp,
    #[n(2)]
    cost: u64,
}

/// Beyond this, entries of the same thousandth of the period become one, counted at the latest instant of them: still
/// never more than N in any W, and 10 million a day are kept in 16 KiB.
const EXACT_ENTRIES: usize = 1024;
/// More than there ever are, even where the period changes again and again.
const MOST_ENTRIES: usize = 16 * EXACT_ENTRIES;

impl Strict {
    pub(crate) const fn new(amount: u64, period: Duration) -> Self {
        Self {
            amount,
            period,
            log: VecDeque::new(),
        }
    }

    /// Whether it is one of this limit.
    pub(super) fn is_of(&self, amount: u64, period: Duration) -> bool {
        (self.amount, self.period) == (amount, period)
    }

    /// When a request of `cost` may start if `ahead` is spent first, as early as the window allows.
    pub(crate) fn opens(&self, now: Timestamp, ahead: u64, cost: u64) -> Opening {
        if cost > self.amount {
            return Opening::never(Reason::TooCostly, Timestamp::MAX);
        }
        let last = ahead.saturating_add(cost);
        // Whatever is spent comes back one period later, so the k-th start is one period after the (k - N)-th.
        let rounds = (last - 1) / self.amount;
        let opens = self.start_of(now, last - rounds * self.amount);
        if rounds == 0 && opens <= now {
            return Opening::NOW;
        }
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        Opening::at(
            opens.max(now) + self.period.saturating_mul(rounds),
            Reason::Limit,
        )
    }

    pub(crate) fn charge(&mut self, now: Timestamp, cost: u64) {
        self.forget(now);
        let crowded = self.log.len() >= EXACT_ENTRIES;
        match self.log.back_mut() {
            Some(last) if crowded && now.since(last.from) < self.period / 1000 => {
                last.at = last.at.max(now);
                last.cost = last.cost.saturating_add(cost);
            }
            Some(last) if last.at >= now => last.cost = last.cost.saturating_add(cost),
            _ => self.log.push_back(Entry {
                from: now,
                at: now,
                cost,
            }),
        }
    }

    /// Gives back what was charged at `charged`, unless the window has forgotten it by itself.
    pub(crate) fn refund(&mut self, now: Timestamp, charged: Timestamp, cost: u64) {
        if charged + self.period <= now {
            return;
        }
        // Merging only moves a charge to a later instant, so the first entry from then on holds it.
        let holder = self.log.partition_point(|entry| entry.at < charged);
        if let Some(entry) = self.log.get_mut(holder) {
            entry.cost = entry.cost.saturating_sub(cost);
        }
    }

    /// What was charged at `sent` may have been counted that much later. Of that no more is believed than a hundredth of the
    /// period: what takes longer is mostly the server's work.
    pub(crate) fn arrived(&mut self, sent: Timestamp, late: Duration) {
        let at = sent + late.min(self.period / 100);
        let holder = self.log.partition_point(|entry| entry.at < sent);
        let held = self.log.get(holder).copied();
        let Some(entry) = held.filter(|entry| entry.from <= sent && entry.at < at) else {
            return;
        };
        self.log.remove(holder);
        let place = self.log.partition_point(|entry| entry.at < at);
        self.log.insert(place, Entry { at, ..entry });
    }

    /// What counts against the window now.
    pub(crate) fn used(&self, now: Timestamp) -> u64 {
        self.live(now)
            .fold(0, |sum, entry| sum.saturating_add(entry.cost))
    }

    /// How much could be spent at once.
    pub(crate) fn available(&self, now: Timestamp) -> u64 {
        self.amount.saturating_sub(self.used(now))
    }

    /// What was charged beyond the amount: it turned out dearer than it had been admitted for.
    pub(crate) fn debt(&self, now: Timestamp) -> u64 {
        self.used(now).saturating_sub(self.amount)
    }

    /// The same log under another amount and period.
    pub(crate) fn resize(&mut self, amount: u64, period: Duration) {
        self.amount = amount;
        self.period = period;
    }

    /// The earliest instant at which `k` more, at most `amount`, fit into one window.
    pub(super) fn start_of(&self, now: Timestamp, k: u64) -> Timestamp {
        let mut excess = self.used(now).saturating_add(k).saturating_sub(self.amount);
        if excess == 0 {
            return now;
        }
        for entry in self.live(now) {
            excess = excess.saturating_sub(entry.cost);
            if excess == 0 {
                return entry.at + self.period;
            }
        }
        now + self.period
    }

    fn live(&self, now: Timestamp) -> impl Iterator<Item = &Entry> {
        self.log
            .iter()
            .filter(move |entry| entry.at + self.period > now)
    }

    fn forget(&mut self, now: Timestamp) {
        while self
            .log
            .front()
            .is_some_and(|entry| entry.at + self.period <= now)
        {
            self.log.pop_front();
        }
    }
}

impl Sound for Strict {
    fn check(&self) -> Result<(), Flaw> {
        let in_order = self.log.iter().is_sorted_by_key(|entry| entry.at);
        ensure(
            in_order && self.log.len() <= MOST_ENTRIES,
            "a log that no limit has",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(millis)
    }

    const TEN_SECONDS: Duration = Duration::from_secs(10);

    #[test]
    fn what_may_have_arrived_late_counts_from_then() {
        let at = |millis: u64| Timestamp::ZERO + Duration::from_millis(millis);
        let mut strict = Strict::new(2, Duration::from_secs(1));
        strict.charge(at(0), 1);
        strict.charge(at(10), 1);
        let ms = Duration::from_millis;
        strict.arrived(at(0), ms(6));
        assert_eq!(strict.opens(at(10), 0, 1).earliest(), at(1_006));
        assert_eq!(strict.opens(at(10), 1, 1).earliest(), at(1_010));
        strict.arrived(at(10), ms(800));
        assert_eq!(strict.opens(at(10), 1, 1).earliest(), at(1_020));
        strict.arrived(at(500), ms(1));
        assert_eq!(strict.opens(at(10), 1, 1).earliest(), at(1_020));
    }

    #[test]
    fn never_more_than_two_in_any_ten_seconds() {
        let mut window = Strict::new(2, TEN_SECONDS);
        window.charge(at(0), 1);
        assert_eq!(window.opens(at(4000), 0, 1), Opening::NOW);
        window.charge(at(4000), 1);
        assert_eq!(
            window.opens(at(4000), 0, 1),
            Opening::at(at(10_000), Reason::Limit)
        );
        window.charge(at(10_000), 1);
        assert_eq!(
            window.opens(at(10_000), 0, 1),
            Opening::at(at(14_000), Reason::Limit)
        );
    }

    #[test]
    fn those_who_wait_push_the_start_by_whole_windows() {
        let mut window = Strict::new(2, TEN_SECONDS);
        window.charge(at(0), 1);
        window.charge(at(4000), 1);
        // Starts: 10 s, 14 s, 20 s, 24 s, 30 s.
        assert_eq!(window.opens(at(4000), 1, 1).earliest(), at(14_000));
        assert_eq!(window.opens(at(4000), 2, 1).earliest(), at(20_000));
        assert_eq!(window.opens(at(4000), 4, 1).earliest(), at(30_000));
    }

    #[test]
    fn a_refund_frees_the_place_at_once() {
        let mut window = Strict::new(1, TEN_SECONDS);
        window.charge(at(0), 1);
        window.refund(at(1), at(0), 1);
        assert_eq!(window.opens(at(1), 0, 1), Opening::NOW);
    }

    #[test]
    fn a_refund_that_comes_too_late_frees_nobody_elses_place() {
        let mut window = Strict::new(1, TEN_SECONDS);
        window.charge(at(0), 1);
        window.charge(at(10_000), 1);
        window.refund(at(10_001), at(0), 1);
        assert_eq!(
            window.opens(at(10_001), 0, 1),
            Opening::at(at(20_000), Reason::Limit)
        );
    }

    #[test]
    fn many_are_counted_coarsely_and_never_too_few() {
        let mut window = Strict::new(1_000_000, TEN_SECONDS);
        for i in 0..100_000 {
            window.charge(Timestamp::from_nanos(i * 100_000), 1);
        }
        assert!(window.log.len() <= 2100, "{} entries", window.log.len());
        assert_eq!(window.used(at(9_999)), 100_000);
        // Half of them are older than 10 s at 15 s; a thousandth of the period may be counted as younger.
        let used = window.used(at(15_000));
        assert!((49_999..=50_101).contains(&used), "{used}");
    }
}
