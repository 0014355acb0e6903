//! What a scenario's runs must reach, and what other clients were measured to need.

use crate::Figures;

/// What the runs of a scenario must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain data that anyone may write down"
)]
pub struct Target {
    /// Seconds at most.
    pub elapsed: f64,
    /// Answers that are not a success, at most.
    pub refused: u64,
    /// Requests given up, at most.
    pub failed: u64,
}

/// What another client was measured to need, elsewhere: the median of its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain data that anyone may write down"
)]
pub struct Baseline {
    /// Seconds.
    pub elapsed: f64,
    /// Runs in which a request failed.
    pub failed_runs: u64,
    /// Runs.
    pub runs: u64,
    /// Requests given up.
    pub failed_requests: u64,
    /// Answers that are not a success.
    pub refused: u64,
    /// Sends.
    pub sent: u64,
}

impl Target {
    /// Whether these runs, one a seed, reach it with what they come to ([`Figures::of`]). No runs reach
    /// nothing.
    pub fn is_met(&self, runs: &[Figures]) -> bool {
        Figures::of(runs).is_some_and(|figures| {
            figures.elapsed.as_secs_f64() <= self.elapsed
                && figures.refused <= self.refused
                && figures.failed <= self.failed
        })
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn run(elapsed: u64, refused: u64, failed: u64) -> Figures {
        Figures {
            elapsed: Duration::from_secs(elapsed),
            ok: 100 - failed,
            failed,
            sent: 100 + refused,
            refused,
            slowest: Duration::ZERO,
            peak_1s: 1,
        }
    }

    #[test]
    fn the_median_decides_and_of_two_the_upper() {
        let target = Target {
            elapsed: 10.0,
            refused: 5,
            failed: 0,
        };
        for (runs, met) in [
            (&[run(10, 5, 0)][..], true),
            (&[run(11, 5, 0)], false),
            (&[run(10, 6, 0)], false),
            (&[run(9, 5, 0), run(11, 5, 0)], false),
            (&[run(9, 5, 0), run(10, 90, 0), run(99, 0, 0)], true),
            (&[run(9, 5, 0), run(9, 5, 1), run(9, 5, 0)], false),
            (&[], false),
        ] {
            assert_eq!(target.is_met(runs), met, "{runs:?}");
        }
    }
}
