//! How much was let through at once before the first refusal: the capacity of a bucket.
//!
//! A bucket of rate `r` that let `k` requests through within `T` seconds held at least `k - r T` tokens before. The densest
//! stretch gives the best bound, so the last sends are kept one by one, and of all of them the number and the time they
//! took. A bucket that starts full and is asked for all it has holds no more than that.

use minicbor::{Decode, Encode};

/// The sends before the first refusal.
#[derive(Clone, Debug, Default, Encode, Decode)]
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
}

const KEPT: usize = 32;

impl Burst {
    pub(super) fn sent(&mut self, order: u64, at: f64) {
        if self.count == 0 {
            self.first = (order, at);
        }
        self.recent[self.count as usize % KEPT] = (order, at);
        self.count += 1;
        self.kept = (self.kept + 1).min(KEPT);
    }

    /// The send `order` took no token: it did not leave after all, or was answered but not served. One that is not kept any
    /// more stays counted, on the side of a larger bucket.
    pub(super) fn forget(&mut self, order: u64) {
        let Some(place) = (1..=self.kept).find(|back| self.back(*back).0 == order) else {
            return;
        };
        for back in (1..place).rev() {
            self.recent[(self.count as usize - back - 1) % KEPT] = self.back(back);
        }
        self.kept -= 1;
        self.count -= 1;
    }

    /// The send `order` was refused: it and those behind it do not count. Where more are behind it than are kept, orders
    /// tell how many came before; those of other gates among them err on the side of a larger bucket.
    pub(super) fn ends_before(&mut self, order: u64) {
        while self.kept > 0 && self.back(1).0 >= order {
            self.kept -= 1;
            self.count -= 1;
        }
        if self.kept == 0 {
            self.count = self.count.min(order.saturating_sub(self.first.0));
        }
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
        self.recent[(self.count as usize - back) % KEPT]
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

    #[test]
    fn three_at_once_before_the_refused_one_are_a_bucket_of_three() {
        let mut burst = sends((1..=10).map(|order| (order, 0.0)));
        burst.ends_before(4);
        assert_eq!(burst.capacity(3.0, 0.0), 3.0);
    }

    #[test]
    fn what_took_no_token_does_not_count() {
        let mut burst = sends((1..=10).map(|order| (order, order as f64)));
        for order in [2, 3, 9] {
            burst.forget(order);
        }
        burst.ends_before(6);
        assert_eq!(burst.capacity(0.0, 6.0), 3.0);
        assert_eq!(burst.capacity(1.0, 6.0), 1.0);
    }

    #[test]
    fn the_densest_stretch_counts_and_what_flowed_in_meanwhile_does_not() {
        let slow = (1..=20).map(|order| (order, order as f64));
        let mut burst = sends(slow.chain((21..=30).map(|order| (order, 30.0))));
        burst.ends_before(27);
        assert_eq!(burst.capacity(2.0, 30.0), 6.0);
        // Too slow a bucket to have filled up in between must have held them all from the start.
        assert_eq!(burst.capacity(0.0, 30.0), 26.0);
    }

    #[test]
    fn with_more_under_way_than_are_kept_orders_tell_how_many_came_before() {
        let mut burst = sends((1..=100).map(|order| (order, 0.0)));
        burst.ends_before(26);
        assert_eq!(burst.capacity(25.0, 0.0), 25.0);
    }
}
