//! Once in a while a start that is too early on purpose: so a limit that was raised is found.
//!
//! A test costs what a refusal costs; a raised limit that is not found costs a part of every request. If a limit changes
//! once in `n` requests and a refusal costs `c` of them, the sum of both is least with a test every `sqrt(2 c n)` requests.
//! How often it changes is estimated from what has been seen: the changes, and a small part of one more.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, ensure, numbers};

/// When the next test is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct EarlyStarts {
    #[n(0)]
    accepted: f64,
    #[n(1)]
    since: f64,
    #[n(2)]
    changes: f64,
}

/// Changes that are taken to have been seen before the first one was.
const EXPECTED: f64 = 0.05;
/// No test before so many requests were accepted.
const PEACE: f64 = 8.0;

impl EarlyStarts {
    pub(super) fn accepted(&mut self) {
        self.accepted += 1.0;
        self.since += 1.0;
    }

    /// The limit has become another one.
    pub(super) fn changed(&mut self) {
        self.changes += 1.0;
        self.since = 0.0;
    }

    /// One is due if a refusal costs `dear` sends.
    pub(super) fn is_due(&self, dear: f64) -> bool {
        let once_in = self.accepted / (self.changes + EXPECTED);
        self.since > (2.0 * dear * once_in).sqrt().max(PEACE)
    }

    /// A test left.
    pub(super) fn done(&mut self) {
        self.since = 0.0;
    }

    /// What was too early was accepted: the next one at once.
    pub(super) const fn hurry(&mut self) {
        self.since = f64::INFINITY;
    }
}

impl Sound for EarlyStarts {
    fn check(&self) -> Result<(), Flaw> {
        numbers([self.accepted, self.changes])?;
        // Infinite where one is to come at once.
        ensure(self.since >= 0.0, "a test that was less than never ago")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_in(requests: u32, dear: f64, mut tests: EarlyStarts) -> u32 {
        let mut done = 0;
        for _ in 0..requests {
            tests.accepted();
            if tests.is_due(dear) {
                tests.done();
                done += 1;
            }
        }
        done
    }

    #[test]
    fn a_thousand_requests_are_tested_about_ten_times() {
        let done = tests_in(1000, 1.0, EarlyStarts::default());
        assert!((5..12).contains(&done), "{done}");
    }

    #[test]
    fn less_often_where_refusals_are_dear_more_often_where_the_limit_changes() {
        let dear = tests_in(1000, 50.0, EarlyStarts::default());
        assert!(dear <= 2, "{dear}");
        let mut changing = EarlyStarts::default();
        changing.changed();
        let done = tests_in(1000, 1.0, changing);
        assert!((30..60).contains(&done), "{done}");
    }
}
