//! What goes into the line and what comes out of it.

use core::time::Duration;

use crate::cost::Cost;
use crate::gates::GateSet;
use crate::retry::Neighbours;
use crate::{Priority, Reason, Timestamp};

/// What a request asks of a pace line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Want {
    /// The gates that must all admit it.
    pub gates: GateSet,
    /// What it spends on each.
    pub cost: Cost,
    /// How much it matters.
    pub priority: Priority,
    /// The instant after which its start is worthless; `None` for whenever.
    pub deadline: Option<Timestamp>,
    /// Go now or not at all.
    pub best_effort: bool,
}

impl Want {
    /// One request of the usual cost and priority through `gates`, with all the time in the world.
    pub fn new(gates: GateSet) -> Self {
        Self {
            gates,
            cost: Cost::default(),
            priority: Priority::default(),
            deadline: None,
            best_effort: false,
        }
    }

    /// At another cost.
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    /// With another priority.
    #[must_use]
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Not after `deadline`.
    #[must_use]
    pub const fn deadline(mut self, deadline: Timestamp) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Go now or not at all.
    #[must_use]
    pub const fn best_effort(mut self) -> Self {
        self.best_effort = true;
        self
    }
}

/// One HTTP request that was admitted: what was charged for it, and its place in the order of sends.
///
/// Not `Clone`: it is settled once, then finished or refunded once.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    pub(crate) order: u64,
    pub(crate) at: Timestamp,
    pub(crate) gates: GateSet,
    pub(crate) cost: Cost,
    pub(crate) answered: bool,
    /// How its neighbours had been answered when it was refused last.
    pub(crate) refused: Option<Neighbours>,
}

impl Sent {
    /// When it was admitted.
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// Its place in the order of all sends of its pace line.
    pub const fn order(&self) -> u64 {
        self.order
    }

    /// The gates it was charged to.
    pub const fn gates(&self) -> GateSet {
        self.gates
    }

    /// Whether it was settled: a second answer changes nothing.
    pub const fn is_answered(&self) -> bool {
        self.answered
    }
}

/// Why a request was not admitted. Nothing was charged for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// What ended it.
    pub reason: Reason,
    /// What it would have had to wait for, if `reason` is a deadline or best effort.
    pub waiting_for: Option<Reason>,
    /// When it would have been possible, as far as is known.
    pub possible_at: Option<Timestamp>,
    /// How long the upstream asked us to stop, if a pause is in force.
    pub asked: Option<Duration>,
}

impl Refusal {
    pub(crate) const fn because(reason: Reason) -> Self {
        Self {
            reason,
            waiting_for: None,
            possible_at: None,
            asked: None,
        }
    }
}
