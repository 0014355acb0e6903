//! What came of a run.

use core::time::Duration;
use std::collections::VecDeque;

use paceline_engine::Timestamp;

use super::workload::Workload;

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// To the last settled request; of a tree, or to its first failed page.
    pub elapsed: Duration,
    /// Requests served.
    pub ok: u64,
    /// Requests given up, or forgotten.
    pub failed: u64,
    /// Sends.
    pub sent: u64,
    /// Answers that are not a success.
    pub refused: u64,
    /// The longest time from a worker's taking a request to its result.
    pub slowest: Duration,
    /// The most arrivals in any stretch [t, t + 1 s).
    pub peak_1s: u64,
}

impl Figures {
    /// What several runs of a scenario, one a seed, come to: the median of each figure, of two the upper,
    /// but the most that a run failed. `None` of no runs.
    pub fn of(runs: &[Self]) -> Option<Self> {
        Some(Self {
            elapsed: median(runs, |run| run.elapsed)?,
            ok: median(runs, |run| run.ok)?,
            failed: runs.iter().map(|run| run.failed).max()?,
            sent: median(runs, |run| run.sent)?,
            refused: median(runs, |run| run.refused)?,
            slowest: median(runs, |run| run.slowest)?,
            peak_1s: median(runs, |run| run.peak_1s)?,
        })
    }
}

fn median<T: Ord + Copy>(runs: &[Figures], figure: impl Fn(&Figures) -> T) -> Option<T> {
    let mut sorted: Vec<T> = runs.iter().map(figure).collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// Counts while a run goes on.
#[derive(Debug, Default)]
pub(super) struct Counter {
    arrived: u64,
    refused: u64,
    last_second: VecDeque<Timestamp>,
    peak: usize,
}

impl Counter {
    pub(super) fn arrived(&mut self, now: Timestamp) {
        self.arrived += 1;
        self.last_second.push_back(now);
        while self
            .last_second
            .front()
            .is_some_and(|first| now.since(*first) >= Duration::from_secs(1))
        {
            self.last_second.pop_front();
        }
        self.peak = self.peak.max(self.last_second.len());
    }

    pub(super) const fn answered(&mut self, served: bool) {
        self.refused += !served as u64;
    }

    pub(super) fn figures(&self, workload: &Workload) -> Figures {
        Figures {
            elapsed: workload.ended.since(Timestamp::ZERO),
            ok: workload.ok,
            failed: workload.failed + workload.forgotten(),
            sent: self.arrived,
            refused: self.refused,
            slowest: workload.slowest,
            peak_1s: self.peak as u64,
        }
    }
}

/// Everything that happened in a run, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// What, and when.
    pub moments: Vec<(Timestamp, Moment)>,
    believed: Option<f64>,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Moment {
    /// A request left.
    Sent {
        /// Which.
        request: u64,
    },
    /// Its answer came.
    Answered {
        /// Whose.
        request: u64,
        /// Served or refused.
        served: bool,
    },
    /// The client believes in another rate, requests per second; `None` for no limit.
    Believes {
        /// Which.
        rate: Option<f64>,
    },
}

impl Trace {
    pub(super) fn sent(&mut self, now: Timestamp, request: u64) {
        self.moments.push((now, Moment::Sent { request }));
    }

    pub(super) fn answered(&mut self, now: Timestamp, request: u64, served: bool) {
        self.moments
            .push((now, Moment::Answered { request, served }));
    }

    pub(super) fn believes(&mut self, now: Timestamp, rate: Option<f64>) {
        if self.believed != rate {
            self.believed = rate;
            self.moments.push((now, Moment::Believes { rate }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(figure: u64, failed: u64) -> Figures {
        Figures {
            elapsed: Duration::from_secs(figure),
            ok: figure,
            failed,
            sent: figure,
            refused: figure,
            slowest: Duration::from_secs(figure),
            peak_1s: figure,
        }
    }

    #[test]
    fn the_median_counts_of_two_the_upper_and_every_failure() {
        assert_eq!(Figures::of(&[]), None);
        assert_eq!(Figures::of(&[run(7, 0)]), Some(run(7, 0)));
        assert_eq!(Figures::of(&[run(9, 0), run(7, 2)]), Some(run(9, 2)));
        let three = [run(9, 0), run(7, 3), run(8, 1)];
        assert_eq!(Figures::of(&three), Some(run(8, 3)));
    }
}
