//! One experiment: a server that hides its limit, a client with a workload, and what is known about
//! how it should go.

mod document;
mod error;
mod read;
mod target;
#[cfg(test)]
mod tests;

use core::time::Duration;

use crate::ServerSpec;
pub use error::ScenarioError;
use read::Field;
pub use target::{Baseline, Target};

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
    /// Each page that arrives discovers the next `fanout` ones; breadth first. The first page that
    /// fails ends the run.
    Tree {
        /// Children of a page.
        fanout: u64,
    },
    /// All at once.
    Burst,
}

/// The seeds and the patience of a scenario that names none.
const USUAL_SEEDS: u64 = 1;
const USUAL_PATIENCE: Duration = Duration::from_secs(300);

impl Scenario {
    /// One that names only what it must: no jitter, one seed, 300 s of patience, and nothing known about how it should go.
    pub fn new(
        name: &str,
        shape: Shape,
        requests: u64,
        workers: u64,
        latency: Duration,
        server: ServerSpec,
    ) -> Self {
        Self {
            name: name.to_owned(),
            group: None,
            shape,
            requests,
            workers,
            latency,
            jitter: Duration::ZERO,
            seeds: USUAL_SEEDS,
            give_up_after: USUAL_PATIENCE,
            server,
            ideal: None,
            target: None,
            independent: None,
            shared_spacing: None,
        }
    }

    /// Reads one JSON object.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its line and field.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        Self::from_json_line(1, text.trim_start_matches('\u{feff}'))
    }

    /// Reads the line number `line` of a text that has a JSON object a line.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its line and field.
    pub fn from_json_line(line: u64, text: &str) -> Result<Self, ScenarioError> {
        read::scenario(&Field::root(&document::json(text, line)?))
    }

    /// Reads JSON Lines: each line that is not blank, by its number from 1. A bad one does not
    /// spoil the others.
    pub fn from_json_lines(text: &str) -> impl Iterator<Item = (u64, Result<Self, ScenarioError>)> {
        let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
        lines
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(line, text)| (line, Self::from_json_line(line, text)))
    }

    /// Reads a TOML document that is one scenario, with the same keys as in JSON.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its line and field.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        read::scenario(&Field::root(&document::toml(text)?))
    }

    /// All requests there can be, a tree's root included.
    pub const fn total(&self) -> u64 {
        match self.shape {
            Shape::Tree { .. } => self.requests + 1,
            Shape::Flat | Shape::Burst => self.requests,
        }
    }
}
