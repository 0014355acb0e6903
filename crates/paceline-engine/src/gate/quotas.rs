//! The limits that are configured: what requests turn out to cost, and limits that change while they are kept.

use core::time::Duration;

use super::Gate;
use crate::cost::Cost;
use crate::limits::Account;
use crate::ticket::{Charge, TooCostly};
use crate::time::nanos;
use crate::{Limit, Timestamp};

/// Networks and timers are no more exact than this.
const EXACT: Duration = Duration::from_millis(1);
/// Of so many, one will have had a connection that was there.
const ENOUGH_TRIPS: u32 = 8;

impl Gate {
    /// It turned out to cost `actual`.
    pub(crate) fn settle_cost(&mut self, now: Timestamp, charge: &Charge, actual: &Cost) {
        for account in &mut self.limits {
            account.settle(now, charge, actual);
        }
    }

    /// What it was charged will not change any more.
    pub(crate) fn cost_stands(&mut self, charge: &Charge) {
        for account in &mut self.limits {
            account.stands(charge);
        }
    }

    /// Which limit a request of `cost` exceeds by itself.
    pub(crate) fn too_costly(&self, now: Timestamp, cost: &Cost) -> Option<TooCostly> {
        let mut limits = self.limits.iter();
        limits.find_map(|account| account.too_costly(now, cost))
    }

    /// Whether a limit counts what only requests themselves can tell.
    pub(crate) fn counts_others(&self) -> bool {
        let mut units = self.limits.iter().map(|account| &account.limit().unit);
        units.any(|unit| matches!(unit, crate::Unit::Other(_)))
    }

    /// A request that left at `sent` was answered.
    pub(crate) fn arrived(&mut self, now: Timestamp, sent: Timestamp) {
        let trip = nanos(now.since(sent));
        let quickest = self.quickest.map_or(trip, |own| own.min(trip));
        self.quickest = Some(quickest);
        self.trips = self.trips.saturating_add(1);
        // A moving average of how much longer than the quickest they are.
        self.unsteady = self.unsteady - self.unsteady / 8 + (trip - quickest) / 8;
        self.ended(now, sent);
    }

    /// The request that left at `sent` is over.
    pub(crate) fn ended(&mut self, now: Timestamp, sent: Timestamp) {
        let quickest = self.quickest.map(Duration::from_nanos);
        let unsteady = EXACT.min(Duration::from_nanos(self.unsteady));
        let late = quickest.map(|quickest| now.since(sent).saturating_sub(quickest) + unsteady);
        let surely = match quickest {
            // One of a few trips is not quick for being the quickest of them.
            Some(_) if self.holds && self.trips < ENOUGH_TRIPS => Duration::ZERO,
            Some(quickest) if self.holds => quickest.saturating_sub(EXACT),
            _ => quickest.unwrap_or(Duration::MAX),
        };
        for own in &mut self.limits {
            own.answered(now, sent, late.unwrap_or_default(), surely);
        }
    }

    /// From now on refills are not counted on before a request is known to have arrived.
    pub(crate) fn hold_refills(&mut self) {
        self.holds = true;
        self.limits.iter_mut().for_each(Account::hold);
    }

    /// The configured limits.
    pub(crate) fn limits(&self) -> impl ExactSizeIterator<Item = &Limit> {
        self.limits.iter().map(Account::limit)
    }

    /// Nobody knows what was spent: all that was there.
    pub(crate) fn use_up(&mut self, now: Timestamp) {
        self.limits.iter_mut().for_each(|own| own.use_up(now));
    }

    /// The gate under other limits, from the send of order `first` on. Those that stay keep what was spent of them; the
    /// others go on, in their order, with the books of those that went and counted the same.
    pub(crate) fn change_limits(&mut self, now: Timestamp, first: u64, limits: Vec<Limit>) {
        let mut old = core::mem::take(&mut self.limits);
        let kept: Vec<_> = limits
            .into_iter()
            .map(|limit| {
                let same = old.iter().position(|account| *account.limit() == limit);
                (limit, same.map(|same| old.remove(same)))
            })
            .collect();
        self.limits = kept
            .into_iter()
            .map(|(limit, kept)| {
                kept.unwrap_or_else(|| {
                    let like = old.iter().position(|account| account.can_become(&limit));
                    match like.map(|like| old.remove(like)) {
                        Some(mut account) => {
                            account.change(now, limit);
                            account
                        }
                        None => Account::open(now, first, limit),
                    }
                })
            })
            .collect();
        if self.holds {
            self.hold_refills();
        }
    }
}
