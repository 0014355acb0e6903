//! Which requests there are, and who may take one.

use core::time::Duration;
use std::collections::VecDeque;

use paceline_engine::Timestamp;

use crate::{Scenario, Shape};

/// Requests to be taken, taken, and settled.
#[derive(Debug)]
pub(super) struct Workload {
    shape: Shape,
    total: u64,
    workers: u64,
    /// The lowest number that nobody has discovered.
    undiscovered: u64,
    ready: VecDeque<u64>,
    taken_at: Vec<Timestamp>,
    busy: u64,
    pub(super) ok: u64,
    pub(super) failed: u64,
    pub(super) slowest: Duration,
    pub(super) ended: Timestamp,
    cut_short: bool,
}

impl Workload {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let total = scenario.total();
        let known = match scenario.shape {
            Shape::Tree { .. } => 1,
            Shape::Flat | Shape::Burst => total,
        };
        Self {
            shape: scenario.shape,
            total,
            workers: match scenario.shape {
                Shape::Burst => u64::MAX,
                Shape::Flat | Shape::Tree { .. } => scenario.workers,
            },
            undiscovered: known,
            ready: (0..known).collect(),
            taken_at: Vec::new(),
            busy: 0,
            ok: 0,
            failed: 0,
            slowest: Duration::ZERO,
            ended: Timestamp::ZERO,
            cut_short: false,
        }
    }

    /// Nothing more will come of it.
    pub(super) const fn is_over(&self) -> bool {
        self.cut_short || self.ok + self.failed == self.total
    }

    /// The next request, if there is one and a worker is free.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<u64> {
        if self.busy >= self.workers {
            return None;
        }
        let request = self.ready.pop_front()?;
        self.busy += 1;
        let index = usize::try_from(request).expect("there are at most 10^6 requests");
        if self.taken_at.len() <= index {
            self.taken_at.resize(index + 1, Timestamp::ZERO);
        }
        self.taken_at[index] = now;
        Some(request)
    }

    pub(super) fn settle(&mut self, now: Timestamp, request: u64, ok: bool) {
        if self.is_over() {
            return;
        }
        self.busy -= 1;
        self.ended = now;
        let taken = usize::try_from(request)
            .ok()
            .and_then(|index| self.taken_at.get(index));
        if let Some(taken) = taken {
            self.slowest = self.slowest.max(now.since(*taken));
        }
        if ok {
            self.ok += 1;
        } else {
            self.failed += 1;
        }
        if let Shape::Tree { fanout } = self.shape {
            self.cut_short = !ok;
            let until = (self.undiscovered + fanout).min(self.total);
            self.ready.extend(self.undiscovered..until);
            self.undiscovered = until;
        }
    }

    /// Those that never got an answer: a client that forgets its requests has lost them.
    pub(super) const fn forgotten(&self) -> u64 {
        if self.cut_short {
            0
        } else {
            self.total - self.ok - self.failed
        }
    }
}
