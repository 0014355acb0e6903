//! How much was let through at once before the first refusal: the capacity of a bucket.
//!
//! A bucket of rate `r` that let `k` requests through within `T` seconds held at least `k - r T` tokens before. The densest
//! stretch gives the best bound, so the last sends are kept one by one, and of all of them the number and the time they
//! took. A bucket that starts full and is asked for all it has holds no more than that.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, counts, ensure, numbers};

/// The sends before the first refusal.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct Burst {
    /// Order and seconds; the oldest is overwritten first.
    #[n(0)]
    #[cbor(with = "super::record::recent")]
    recent: [(u64, f64); KEPT],
    /// How many of them are there still.
    #[n(1)]
    kept: usize,
    #[n(2)]
    count: u64,
    /// The very first send: its order and seconds.
    #[n(3)]
    first: (u64, f64),
    /// The first refused one.
    #[n(4)]
    #[cbor(default)]
    over_from: u64,
    /// Which of those that are kept are known to have been served, by place.
    #[n(5)]
    #[cbor(default)]
    served: u32,
    /// Whoever left later cannot have been at the server before the first refused one.
    #[n(6)]
    #[cbor(default)]
    over_at: f64,
}

const KEPT: usize = 32;
/// No trip is taken to be steadier than this part of the quickest.
const STEADY: f64 = 0.95;

impl Burst {
    pub(super) fn sent(&mut self, order: u64, at: f64) {
        if self.count == 0 {
            self.first = (order, at);
        }
        self.push(order, at, false);
    }

    fn push(&mut self, order: u64, at: f64, served: bool) {
        let place = self.count as usize % KEPT;
        self.recent[place] = (order, at);
        self.mark(place, served);
        self.count += 1;
        self.kept = (self.kept + 1).min(KEPT);
    }

    const fn mark(&mut self, place: usize, served: bool) {
        self.served = self.served & !(1 << place) | (served as u32) << place;
    }

    const fn is_served(&self, place: usize) -> bool {
        self.served >> place & 1 == 1
    }

    /// The send `order` was let through.
    pub(super) fn served(&mut self, order: u64) {
        let back = (1..=self.kept).take_while(|back| self.back(*back).0 >= order);
        if let Some(back) = back.last()
            && self.back(back).0 == order
        {
            self.mark(self.place(back), true);
        }
    }

    /// The send `order` took no token: it did not leave after all, or was answered but not served. One that is not kept any
    /// more stays counted, on the side of a larger bucket. Says whether it was.
    pub(super) fn forget(&mut self, order: u64) -> bool {
        let back = (1..=self.kept).find(|back| self.back(*back).0 == order);
        if let Some(back) = back {
            self.remove(back);
        }
        back.is_some()
    }

    fn remove(&mut self, back: usize) {
        for later in (1..back).rev() {
            let (from, to) = (self.place(later), self.place(later + 1));
            self.recent[to] = self.recent[from];
            self.mark(to, self.is_served(from));
        }
        self.kept -= 1;
        self.count -= 1;
    }

    /// The send `order` was refused, and is the first that was: those behind it do not count unless they were served, for
    /// requests overtake each other. Where more are behind it than are kept, orders tell how many came before; those of
    /// other gates among them err on the side of a larger bucket. Its answer came at `now`, and the quickest trip so far
    /// took so many seconds.
    pub(super) fn ends_before(&mut self, order: u64, now: f64, quickest: f64) {
        self.over_from = order;
        self.over_at = now - STEADY * quickest;
        let mut back = 1;
        while back <= self.kept && self.back(back).0 >= order {
            if self.is_served(self.place(back)) {
                back += 1;
            } else {
                self.remove(back);
            }
        }
        if self.kept == 0 {
            self.count = self.count.min(order.saturating_sub(self.first.0));
        }
    }

    /// Whether the send `order`, which left at `at`, left after the first that was refused, and may have been served before
    /// that all the same: so soon that the answer to the refused one, as quick as any, can have left the server later.
    pub(super) const fn may_be_overtaken_by(&self, order: u64, at: f64) -> bool {
        order >= self.over_from && at <= self.over_at
    }

    /// One that left after the first that was refused was served all the same.
    pub(super) fn overtook(&mut self, order: u64, at: f64) {
        if self.count == 0 {
            self.first = (order, at);
        }
        let latest = if self.kept > 0 { self.back(1).1 } else { at };
        self.push(order, at.max(latest), true);
    }

    /// How many were let through, and when the first of them left.
    pub(super) const fn passed(&self) -> (u64, f64) {
        (self.count, self.first.1)
    }

    /// The tokens that a bucket of `rate` must be able to hold. `at` is when the refused send left.
    pub(super) fn capacity(&self, rate: f64, at: f64) -> f64 {
        let last = if self.kept > 0 { self.back(1).1 } else { at };
        let whole = self.count as f64 - rate * (last - self.first.1);
        (1..=self.kept)
            .map(|back| back as f64 - rate * (last - self.back(back).1))
            .fold(whole, f64::max)
            .max(1.0)
    }

    /// The latest send, the one before it, and so on.
    const fn back(&self, back: usize) -> (u64, f64) {
        self.recent[self.place(back)]
    }

    const fn place(&self, back: usize) -> usize {
        (self.count as usize - back) % KEPT
    }
}

impl Sound for Burst {
    fn check(&self) -> Result<(), Flaw> {
        let sound = self.kept <= KEPT && self.kept as u64 <= self.count;
        ensure(sound, "more sends than were counted or are kept")?;
        counts([self.count])?;
        numbers([self.first.1, self.over_at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends(sends: impl IntoIterator<Item = (u64, f64)>) -> Burst {
        let mut burst = Burst::default();
        for (order, at) in sends {
            burst.sent(order, at);
        }
        burst
    }

    /// The send `order` is refused, a tenth of a second after everything left.
    fn ends_before(burst: &mut Burst, order: u64) {
        burst.ends_before(order, 0.1, 0.1);
    }

    #[test]
    fn three_at_once_before_the_refused_one_are_a_bucket_of_three() {
        let mut burst = sends((1..=10).map(|order| (order, 0.0)));
        ends_before(&mut burst, 4);
        assert_eq!(burst.capacity(3.0, 0.0), 3.0);
    }

    #[test]
    fn what_took_no_token_does_not_count() {
        let mut burst = sends((1..=10).map(|order| (order, order as f64)));
        for order in [2, 3, 9] {
            burst.forget(order);
        }
        ends_before(&mut burst, 6);
        assert_eq!(burst.capacity(0.0, 6.0), 3.0);
        assert_eq!(burst.capacity(1.0, 6.0), 1.0);
    }

    #[test]
    fn the_densest_stretch_counts_and_what_flowed_in_meanwhile_does_not() {
        let slow = (1..=20).map(|order| (order, order as f64));
        let mut burst = sends(slow.chain((21..=30).map(|order| (order, 30.0))));
        ends_before(&mut burst, 27);
        assert_eq!(burst.capacity(2.0, 30.0), 6.0);
        // Too slow a bucket to have filled up in between must have held them all from the start.
        assert_eq!(burst.capacity(0.0, 30.0), 26.0);
    }

    #[test]
    fn with_more_under_way_than_are_kept_orders_tell_how_many_came_before() {
        let mut burst = sends((1..=100).map(|order| (order, 0.0)));
        ends_before(&mut burst, 26);
        assert_eq!(burst.capacity(25.0, 0.0), 25.0);
    }

    #[test]
    fn one_that_was_served_before_the_first_refusal_was_known_counts_wherever_it_stood() {
        let mut burst = sends((1..=10).map(|order| (order, 0.0)));
        for order in [9, 5, 7] {
            burst.served(order);
        }
        ends_before(&mut burst, 2);
        assert_eq!(burst.passed(), (4, 0.0), "1, 5, 7 and 9");
        burst.forget(1);
        assert_eq!(burst.capacity(3.0, 0.0), 3.0, "1 was refused, too");
    }

    #[test]
    fn whoever_left_too_late_to_have_overtaken_the_refused_one_did_not() {
        let mut burst = sends([(1, 0.0), (2, 1.0), (3, 1.0), (4, 1.02), (5, 1.1)]);
        burst.served(1);
        // Answers come after 0.05 s at the soonest, so the refused one was still on its way at 1.02, and not at 1.1.
        burst.ends_before(2, 1.08, 0.05);
        let may = |order, at| burst.may_be_overtaken_by(order, at);
        assert!(may(3, 1.0) && may(4, 1.02) && !may(5, 1.1) && !may(1, 0.0));
        burst.overtook(4, 1.02);
        assert_eq!(burst.passed(), (2, 0.0), "1 and 4");
    }
}
