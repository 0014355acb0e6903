//! Once in a while a start that is too early on purpose: so a limit that was raised is found.
//!
//! The longer the peace, the rarer: each test comes after half as many acceptances again as the one before it, so that
//! their number grows with the logarithm of the requests. Where refusals are dear, they are rarer still.

/// When the next test is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyStarts {
    accepted: f64,
    after: f64,
}

/// Accepted before the first test, and how the distance grows.
const FIRST: f64 = 25.0;
const GROWTH: f64 = 1.5;

impl Default for EarlyStarts {
    fn default() -> Self {
        Self {
            accepted: 0.0,
            after: FIRST,
        }
    }
}

impl EarlyStarts {
    pub(super) fn accepted(&mut self) {
        self.accepted += 1.0;
    }

    /// One is due if a refusal costs `dear` sends.
    pub(super) fn is_due(&self, dear: f64) -> bool {
        self.accepted > self.after * dear.sqrt()
    }

    /// A test left.
    pub(super) fn done(&mut self) {
        self.accepted = 0.0;
        self.after *= GROWTH;
    }

    /// What was too early was accepted: the next one at once.
    pub(super) const fn hurry(&mut self) {
        self.accepted = f64::INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_requests_are_tested_less_than_a_dozen_times() {
        let mut tests = EarlyStarts::default();
        let mut done = 0;
        for _ in 0..1000 {
            tests.accepted();
            if tests.is_due(1.0) {
                tests.done();
                done += 1;
            }
        }
        assert!((5..12).contains(&done), "{done}");
    }
}
