//! How much of a window is left, from answers that overtake each other.
//!
//! Whatever the server counted after an answer is still under way, or is in an answer that shows less. So the least that
//! was shown, without what is under way, is never too much. But an answer to a request that left once a count was known
//! is newer than that count, and may show more: windows that move give back bit by bit.
//!
//! Answers that show no count may have been counted all the same, or not at all: what they spent is kept apart until a
//! count is shown again.

use minicbor::{Decode, Encode};

/// The counts of two generations. Whoever left when the first count of a generation was known begins the next one, and
/// everything from the generation before that is superseded by it.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub(super) struct Left {
    #[n(0)]
    older: u64,
    #[n(1)]
    newer: u64,
    #[n(2)]
    next_generation: u64,
    #[n(3)]
    unsaid: u64,
}

impl Left {
    /// The first count; `next_order` is the order of the next send.
    pub(super) const fn new(count: u64, next_order: u64) -> Self {
        Self {
            older: count,
            newer: count,
            next_generation: next_order,
            unsaid: 0,
        }
    }

    /// Whether the request that left as `order` knew of the counts that are known.
    pub(super) const fn is_news(&self, order: u64) -> bool {
        order >= self.next_generation
    }

    /// What the answer to the request that left as `order` shows.
    pub(super) fn show(&mut self, count: u64, order: u64, next_order: u64) {
        if self.is_news(order) {
            *self = Self {
                older: self.newer,
                newer: count,
                next_generation: next_order,
                unsaid: 0,
            };
        } else {
            self.newer = self.newer.min(count);
        }
    }

    /// It may have been spent, and no answer will tell.
    pub(super) const fn spend(&mut self, units: u64) {
        self.older = self.older.saturating_sub(units);
        self.newer = self.newer.saturating_sub(units);
    }

    /// The answer to the request that left as `order` shows no count.
    pub(super) const fn show_nothing(&mut self, units: u64, order: u64) {
        if self.is_news(order) {
            self.unsaid = self.unsaid.saturating_add(units);
        }
    }

    /// What is left for sure.
    pub(super) fn count(&self) -> u64 {
        self.shown().saturating_sub(self.unsaid)
    }

    /// What is left if answers that show no count were not counted.
    pub(super) fn shown(&self) -> u64 {
        self.older.min(self.newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_were_overtaken_never_show_more() {
        let mut left = Left::new(7, 5);
        // 1 to 4 were under way together; 4 was counted last and answered first.
        left.show(9, 1, 5);
        left.show(8, 2, 5);
        assert_eq!(left.count(), 7);
        left.show(6, 3, 5);
        assert_eq!(left.count(), 6);
    }

    #[test]
    fn what_a_moving_window_gives_back_is_seen_once_newer_requests_tell() {
        let mut left = Left::new(0, 2);
        left.show(3, 2, 3);
        assert_eq!(left.count(), 0, "the zero may have been counted later");
        left.show(2, 3, 4);
        assert_eq!(left.count(), 2);
    }

    #[test]
    fn what_nobody_tells_of_is_spent_until_newer_counts_come() {
        let mut left = Left::new(5, 1);
        left.spend(2);
        assert_eq!(left.count(), 3);
        left.show(4, 1, 2);
        left.show(4, 2, 3);
        assert_eq!(left.count(), 4);
    }
    #[test]
    fn what_answers_without_a_count_spent_is_forgotten_once_one_is_shown() {
        let mut left = Left::new(5, 3);
        left.show_nothing(1, 2);
        assert_eq!(left.count(), 5, "it may be in the five");
        left.show_nothing(2, 3);
        assert_eq!((left.count(), left.shown()), (3, 5));
        left.show(4, 4, 5);
        assert_eq!(left.count(), 4);
    }
}
