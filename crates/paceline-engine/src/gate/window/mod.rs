//! Quota periods as the server reports them, spent to their end and no further.
//!
//! `bucket` is a quota that comes back steadily; `reported` is one window and decides; it is made of `left` (how much is left, from answers that overtake each other),
//! `reset` (when it starts anew, from whole seconds) and `others` (who else spends of it). `under_way` sums what is sent
//! and not answered yet.

mod bucket;
mod left;
mod others;
mod price;
mod record;
mod reported;
mod reset;
#[cfg(test)]
mod tests;
mod under_way;

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::snapshot::WindowSnapshot;
use crate::{Answer, Failure, Observation, Timestamp, Unit, Window};
use bucket::Bucket;
use price::Prices;
use reported::Reported;
pub(crate) use reported::Told;
use under_way::UnderWay;

/// The reported windows of one gate, few and by name.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(crate) struct Windows {
    #[n(0)]
    known: Vec<Reported>,
    #[n(1)]
    buckets: Vec<Bucket>,
    #[n(2)]
    spending: Spending,
}

/// What is under way, and what requests are taken to cost.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Spending {
    #[n(0)]
    under_way: UnderWay,
    #[n(1)]
    prices: Prices,
}

/// A server that names more windows than this keeps those that are not over; the bound is against a hostile one.
const MOST_WINDOWS: usize = 8;
/// So many answers in a row that do not tell of a window that is over or used up, and it is forgotten.
const SILENT: u64 = 8;
const UNAUTHORIZED: u16 = 401;

impl Windows {
    pub(crate) const fn is_empty(&self) -> bool {
        self.known.is_empty() && self.buckets.is_empty()
    }

    /// The server says itself how many requests it takes.
    pub(crate) fn govern(&self) -> bool {
        let mut units = self.known.iter().map(|own| &own.unit);
        let mut buckets = self.buckets.iter().map(|own| &own.unit);
        units.any(|unit| *unit == Unit::Requests) || buckets.any(|unit| *unit == Unit::Requests)
    }

    pub(crate) fn sent(&mut self, now: Timestamp, cost: &Cost) {
        self.spending.under_way.add(cost);
        for own in &mut self.known {
            own.sent(now, self.spending.spends(&own.unit, cost));
        }
    }

    /// It was not sent after all.
    pub(crate) fn unsent(&mut self, cost: &Cost) {
        for own in &mut self.known {
            own.unsent(self.spending.spends(&own.unit, cost));
        }
        self.over(cost);
    }

    /// Nobody will tell whether it was counted.
    pub(crate) fn lost(&mut self, now: Timestamp, cost: &Cost) {
        for own in &mut self.known {
            own.lost(self.spending.spends(&own.unit, cost));
        }
        for own in &mut self.buckets {
            own.lost(now, self.spending.spends(&own.unit, cost));
        }
        self.over(cost);
    }

    /// Learns from the answer to a request of `cost`. Says whether a refusal is explained: by a window that is used up.
    pub(crate) fn answered(
        &mut self,
        told: Told,
        cost: &Cost,
        seen: &Observation,
        chance: impl FnMut() -> f64,
    ) -> bool {
        let status = match seen.answer {
            Answer::Status(status) => status,
            Answer::Failure(Failure::Connect) => {
                self.unsent(cost);
                return false;
            }
            Answer::Failure(_) => {
                self.lost(told.now, cost);
                return false;
            }
        };
        self.spending.under_way.remove(cost);
        self.spending.learn(seen);
        // Who was not recognised may be told an anonymous neighbour's numbers.
        if status != UNAUTHORIZED {
            self.learn(told, &seen.windows, chance);
            self.heed_silence(told, cost, seen);
        }
        let explained = told.refused && self.explains(told, cost, seen);
        self.nobody_tells();
        explained
    }

    /// Learns from the answer to a request that was not charged here.
    pub(crate) fn overheard(
        &mut self,
        told: Told,
        cost: &Cost,
        seen: &Observation,
        chance: impl FnMut() -> f64,
    ) {
        self.spending.learn(seen);
        for own in &mut self.known {
            own.counted(self.spending.spends(&own.unit, cost));
        }
        if seen.answer != Answer::Status(UNAUTHORIZED) {
            self.learn(told, &seen.windows, chance);
        }
    }

    /// Whatever was told.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.buckets.clear();
    }

    /// When `cost` may be spent after `ahead`.
    pub(crate) fn opens(&self, now: Timestamp, ahead: Ahead<'_>, cost: &Cost) -> Opening {
        let windows = self.known.iter();
        let windows = windows.map(|own| own.opens(now, &self.spending, ahead, cost));
        let buckets = self.buckets.iter();
        let buckets = buckets.map(|own| own.opens(now, &self.spending, ahead, cost));
        windows.chain(buckets).fold(Opening::NOW, Opening::and)
    }

    /// When what is known to be left is enough for `cost` after `ahead`.
    pub(crate) fn room(&self, now: Timestamp, ahead: Ahead<'_>, cost: &Cost) -> Opening {
        let windows = self.known.iter().filter(|own| !own.is_over(now));
        let windows = windows.map(|own| own.opens(now, &self.spending, ahead, cost));
        let buckets = self.buckets.iter();
        let buckets = buckets.map(|own| own.opens(now, &self.spending, ahead, cost));
        windows.chain(buckets).fold(Opening::NOW, Opening::and)
    }

    /// The windows whose reset is still ahead. Past it, nothing is known for sure.
    pub(crate) fn snapshot(&self, now: Timestamp) -> Vec<WindowSnapshot> {
        let windows = self.known.iter().filter(|own| !own.is_over(now));
        let buckets = self.buckets.iter().filter(|own| !own.is_full(now));
        windows
            .map(Reported::snapshot)
            .chain(buckets.map(|own| own.snapshot(now)))
            .collect()
    }

    fn over(&mut self, cost: &Cost) {
        self.spending.under_way.remove(cost);
        self.nobody_tells();
    }

    fn nobody_tells(&mut self) {
        if self.spending.is_nothing() {
            self.known.iter_mut().for_each(Reported::nobody_tells);
        }
    }

    fn learn(&mut self, told: Told, windows: &[Window], mut chance: impl FnMut() -> f64) {
        for window in windows {
            let same = |own: &Bucket| own.name == window.name && own.unit == window.unit;
            let known = self.buckets.iter().find(|own| same(own));
            let refill = window.refill.or_else(|| known.map(Bucket::refill));
            if let Some(bucket) = refill.and_then(|refill| Bucket::new(told, window, refill)) {
                self.fill(bucket, told.now);
                continue;
            }
            let Some((remaining, reset)) = countable(window) else {
                continue;
            };
            let seen = (window, remaining, reset);
            if let Some(own) = self.known.iter_mut().find(|own| own.is_told_by(window)) {
                own.learn(told, seen, &self.spending, chance());
                continue;
            }
            let mut new = || Reported::new(told, seen, &self.spending, chance());
            if self.known.len() < MOST_WINDOWS {
                self.known.push(new());
            } else if let Some(place) = self.known.iter().position(|own| own.is_over(told.now)) {
                self.known[place] = new();
            }
        }
    }

    fn fill(&mut self, bucket: Bucket, now: Timestamp) {
        let known = |own: &Bucket| own.name == bucket.name && own.unit == bucket.unit;
        self.known
            .retain(|own| own.name != bucket.name || own.unit != bucket.unit);
        if let Some(place) = self.buckets.iter().position(known) {
            self.buckets[place].learn(bucket);
        } else if self.buckets.len() < MOST_WINDOWS {
            self.buckets.push(bucket);
        } else if let Some(place) = self.buckets.iter().position(|own| own.is_full(now)) {
            self.buckets[place] = bucket;
        }
    }

    /// A window that is over, or used up by those that were served without a word of it, was another resource's or is there
    /// no longer.
    fn heed_silence(&mut self, told: Told, cost: &Cost, seen: &Observation) {
        if told.refused || seen.flags.contains("cached") {
            return;
        }
        self.known.retain_mut(|own| {
            if !seen.windows.iter().any(|window| own.is_told_by(window)) {
                own.served_silently(told, self.spending.spends(&own.unit, cost));
            }
            own.silent < SILENT
        });
    }

    /// Whether a window that is used up is reason enough for a refusal: it says so itself, or those under way were enough.
    fn explains(&mut self, told: Told, cost: &Cost, seen: &Observation) -> bool {
        let said = seen.windows.iter().any(|window| {
            // One for which there is no room holds nobody back.
            let mut known = self.known.iter().map(|own| (&own.name, &own.unit));
            let mut buckets = self.buckets.iter().map(|own| (&own.name, &own.unit));
            let own = (&window.name, &window.unit);
            if !known.any(|known| known == own) && !buckets.any(|known| known == own) {
                return false;
            }
            let refill = window.refill;
            let bucket = refill.and_then(|refill| Bucket::new(told, window, refill));
            let window = countable(window);
            bucket.is_some_and(|own| own.is_short_of(cost, &self.spending))
                || window.is_some_and(|(left, reset)| left == 0 && !reset.is_zero())
        });
        let under_way = self.spending.under_way(&Unit::Requests);
        let mut by_count = false;
        for own in &mut self.known {
            let silent = own.told_by != told.order && own.unit == Unit::Requests;
            if silent && !own.is_over(told.sent) && own.remaining() <= under_way {
                own.exhaust();
                by_count = true;
            }
        }
        said || by_count
    }
}

impl Spending {
    /// What is never served prices nobody else.
    fn learn(&mut self, seen: &Observation) {
        if !seen.is_too_dear(&Cost::default()) {
            self.prices.learn(seen);
        }
    }

    /// What it is taken to spend, as `under_way` sums it.
    fn spends(&self, unit: &Unit, cost: &Cost) -> u64 {
        match unit {
            Unit::Other(_) => cost.named(unit).unwrap_or_else(|| self.prices.of(unit)),
            _ => cost.of(unit),
        }
    }

    const fn is_nothing(&self) -> bool {
        self.under_way.is_nothing()
    }

    /// What may not be counted yet.
    fn under_way(&self, unit: &Unit) -> u64 {
        self.under_way.of(unit, &self.prices)
    }

    /// What a request of `cost` needs.
    fn charge(&self, unit: &Unit, cost: &Cost) -> u64 {
        self.prices.charge(unit, cost)
    }

    /// What is ahead of it.
    fn ahead(&self, unit: &Unit, ahead: Ahead<'_>) -> u64 {
        match ahead.unnamed(unit) {
            true => self.prices.of(unit),
            false => ahead.of(unit),
        }
    }
}

/// What is left and until when, of a window that time relieves. Requests in flight are relieved by their ends.
fn countable(window: &Window) -> Option<(u64, Duration)> {
    if window.unit == Unit::Concurrent {
        return None;
    }
    Some((window.remaining?, window.reset?))
}
