//! What nobody can do better.

use crate::policy::Kind;
use crate::{Scenario, run};

/// Seconds that a run needs at least: those that were written down, else those of the oracle with the same dice. `None`
/// where nothing is ever served, and as long as there is no oracle.
pub fn ideal(scenario: &Scenario, seed: u64) -> Option<f64> {
    scenario.ideal.or_else(|| foretold(scenario, seed))
}

fn foretold(scenario: &Scenario, seed: u64) -> Option<f64> {
    let oracle = Kind::parse("oracle")?;
    let mut client = oracle.client(scenario, seed);
    let figures = run(scenario, &mut *client, seed).ok()?;
    (figures.ok > 0).then_some(figures.elapsed.as_secs_f64())
}
