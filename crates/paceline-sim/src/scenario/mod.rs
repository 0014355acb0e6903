//! One experiment: a server that hides its limit, a client with a workload, and what is known about how it should go.

use core::time::Duration;

use crate::ServerSpec;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain data that anyone may write down"
)]
pub struct Scenario {
    /// What it is called; unique in a file.
    pub name: String,
    /// The kind it belongs to, for tables.
    pub group: Option<String>,
    /// How its requests come about.
    pub shape: Shape,
    /// How many; of a tree, without its root.
    pub requests: u64,
    /// At most this many taken and not yet settled. A burst takes all at once.
    pub workers: u64,
    /// There and back.
    pub latency: Duration,
    /// Each half-trip varies uniformly by half of this, both ways.
    pub jitter: Duration,
    /// Run with the seeds 1 to this.
    pub seeds: u64,
    /// The total time of a request from when a worker takes it, waiting included.
    pub give_up_after: Duration,
    /// Who answers.
    pub server: ServerSpec,
    /// Seconds that an oracle needs; `None` if unknown, or where nothing is ever served.
    pub ideal: Option<f64>,
    /// What is to be reached.
    pub target: Option<Target>,
    /// What a client needs whose requests retry each alone.
    pub independent: Option<Baseline>,
    /// What a client needs whose requests share one spacing.
    pub shared_spacing: Option<Baseline>,
}

/// How requests come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "each one means something to a world"
)]
pub enum Shape {
    /// Workers take them from a list.
    Flat,
    /// Each page that arrives discovers the next `fanout` ones; breadth first. The first page that fails ends the run.
    Tree {
        /// Children of a page.
        fanout: u64,
    },
    /// All at once.
    Burst,
}

/// What a run must reach.
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

impl Scenario {
    /// All requests there can be, a tree's root included.
    pub const fn total(&self) -> u64 {
        match self.shape {
            Shape::Tree { .. } => self.requests + 1,
            Shape::Flat | Shape::Burst => self.requests,
        }
    }
}
