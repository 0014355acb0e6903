//! Sliding logs: never more than so many in any window of that length.

use std::collections::VecDeque;
use std::time::Duration;

use super::TOLERANCE;

#[derive(Clone, Debug)]
pub(super) struct SlidingLog {
    limit: u64,
    window: u64,
    count_refused: bool,
    /// The newest entries, at most `limit` of them: an older one cannot change any answer.
    log: VecDeque<u64>,
}

impl SlidingLog {
    /// `limit` and `window` are not zero.
    pub(super) fn new(limit: u64, window: u64, count_refused: bool) -> Self {
        Self {
            limit,
            window,
            count_refused,
            log: VecDeque::new(),
        }
    }

    pub(super) fn ask(&mut self, now: u64) -> Result<(), Duration> {
        while let Some(free) = self.first_free()
            && free <= now.saturating_add(TOLERANCE)
        {
            self.log.pop_front();
        }
        if (self.log.len() as u64) < self.limit {
            return Ok(());
        }
        if self.count_refused {
            self.log.pop_front();
            self.log.push_back(now);
        }
        let free = self
            .first_free()
            .expect("the log is full, and the limit is not zero");
        Err(Duration::from_nanos(free.saturating_sub(now)))
    }

    pub(super) fn charge(&mut self, now: u64) {
        self.log.push_back(now);
    }

    /// "A sliding-log entry at x is free at x + window."
    fn first_free(&self) -> Option<u64> {
        self.log
            .front()
            .map(|entry| entry.saturating_add(self.window))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::lab::{Lab, secs};
    use crate::{RetryAfter, ServerSpec};

    #[test]
    fn an_entry_is_free_exactly_one_window_later() {
        let mut lab = Lab::new(ServerSpec::sliding_log(2, secs(60)).retry_after(RetryAfter::Ceil));
        lab.at(secs(0)).admits(1);
        lab.at(secs(10))
            .admits(1)
            .refuses_for(secs(50))
            .saying("50");
        lab.at_nanos(59_999_999_899)
            .refuses_for(Duration::from_nanos(101));
        lab.at_nanos(59_999_999_900)
            .admits(1)
            .refuses_for(Duration::from_nanos(10_000_000_100));
        lab.at(secs(70)).admits(1).refuses(1);
    }

    #[test]
    fn counted_refusals_push_the_next_admission_away() {
        let mut lab = Lab::new(ServerSpec::sliding_log_counting_refused(2, secs(60)));
        lab.at(secs(0)).admits(1);
        lab.at(secs(10)).admits(1);
        // The log of the newest two is now 10 and 20, so the next is free at 70 …
        lab.at(secs(20)).refuses_for(secs(50));
        // … and by asking too early it becomes 20 and 30, free at 80.
        lab.at(secs(30)).refuses_for(secs(50));
        lab.at(secs(70)).refuses_for(secs(20));
        lab.at(secs(90)).admits(1).refuses(1);
    }

    #[test]
    fn one_who_asks_every_second_is_never_served_again() {
        let mut lab = Lab::new(ServerSpec::sliding_log_counting_refused(1, secs(2)));
        lab.at(secs(0)).admits(1);
        for second in 1..100 {
            lab.at(secs(second)).refuses_for(secs(2));
        }
        lab.at(secs(101)).admits(1);
    }
}
