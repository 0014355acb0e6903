//! How much was let through at once: the capacity of a bucket.
//!
//! A bucket of rate `r` that let `k` requests through within `T` seconds held at least `k - r T` tokens before. The densest
//! stretch gives the best bound, so the last sends are kept one by one, and of those before the first refusal also the
//! number and the time they took. A bucket that starts full and is asked for all it has holds no more than that.

/// The latest accepted sends; as long as nothing is believed, all sends.
#[derive(Clone, Debug, Default)]
pub(super) struct Burst {
    /// Order and seconds, oldest overwritten first.
    recent: [(u64, f64); KEPT],
    count: u64,
    first: f64,
}

const KEPT: usize = 32;

impl Burst {
    pub(super) const fn sent(&mut self, order: u64, at: f64) {
        if self.count == 0 {
            self.first = at;
        }
        self.recent[self.count as usize % KEPT] = (order, at);
        self.count += 1;
    }

    pub(super) const fn unsent(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// The send `order` was refused: it and those behind it do not count.
    pub(super) const fn ends_before(&mut self, order: u64) {
        while self.count > 0 && self.recent[(self.count as usize - 1) % KEPT].0 >= order {
            self.count -= 1;
        }
    }

    /// The tokens that a bucket of `rate` must be able to hold.
    pub(super) fn capacity(&self, rate: f64) -> f64 {
        if self.count == 0 {
            return 1.0;
        }
        let kept = (self.count as usize).min(KEPT);
        let last = self.recent[(self.count as usize - 1) % KEPT].1;
        let mut most = self.count as f64 - rate * (last - self.first);
        for back in 1..=kept {
            let at = self.recent[(self.count as usize - back) % KEPT].1;
            most = most.max(back as f64 - rate * (last - at));
        }
        most.max(1.0)
    }
}
