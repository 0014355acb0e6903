//! All runs of a scenario with one policy.

use paceline_sim::policy::{self, Kind};
use paceline_sim::{Figures, Scenario};

use super::row::Row;
use crate::output::Stop;

/// A scenario played with one policy, once for each seed.
pub(super) struct Played<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) policy: Kind,
    /// Seconds that nobody can better.
    pub(super) ideal: Option<f64>,
    /// From seed 1 on.
    pub(super) runs: Vec<Figures>,
}

impl<'a> Played<'a> {
    /// Plays, and shows each run as soon as it is over.
    ///
    /// # Errors
    ///
    /// What `show` returns.
    pub(super) fn new(
        scenario: &'a Scenario,
        policy: Kind,
        mut show: impl FnMut(&Row<'_>) -> Result<(), Stop>,
    ) -> Result<Self, Stop> {
        let ideal = ideal(scenario);
        let mut runs = Vec::new();
        for seed in 1..=scenario.seeds {
            let mut client = policy.client(scenario, seed);
            let figures = paceline_sim::run(scenario, &mut *client, seed).map_err(Stop::usage)?;
            show(&Row::new(scenario, policy, seed, ideal, &figures))?;
            runs.push(figures);
        }
        Ok(Self {
            scenario,
            policy,
            ideal,
            runs,
        })
    }
}

/// What was written down, else what an oracle needs.
pub(super) fn ideal(scenario: &Scenario) -> Option<f64> {
    let foretold = || policy::ideal(scenario).ok().flatten();
    scenario.ideal.or_else(foretold)
}

/// How many times the ideal a time is; `None` without one, or where there is nothing to wait for.
pub(super) fn ratio(figures: &Figures, ideal: Option<f64>) -> Option<f64> {
    let ideal = ideal.filter(|ideal| *ideal > 0.0)?;
    Some(figures.elapsed.as_secs_f64() / ideal)
}
