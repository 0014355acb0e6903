//! The arena: every policy plays every scenario, and what comes of it is one page.
//!
//! ```text
//! scenarios × policies ─► play (all cores) ─► matches ─► scores ─► section of a page
//!                                             in their order         no dates, no timings
//! ```
//!
//! The page is a reviewed file: a change of behaviour shows as a diff.

mod aim;
mod drawn;
mod score;
mod table;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::policy::Kind;
use crate::{Figures, Scenario, SpecError, Target, run};

pub use drawn::drawn;
pub use score::Score;
pub use table::section;

/// What one policy made of one scenario, a run for each seed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// The scenario's name.
    pub name: String,
    /// Its group; empty without one.
    pub group: String,
    /// Seconds that an oracle needs.
    pub ideal: Option<f64>,
    /// What was to be reached.
    pub target: Option<Target>,
    /// Who played.
    pub policy: Kind,
    /// Of the seeds from 1 on.
    pub runs: Vec<Figures>,
}

/// Lets each policy play each scenario with all its seeds, on all cores. The result does not depend on
/// how many those are: it is in the order of scenarios, then of policies.
///
/// # Errors
///
/// A server's specification makes no sense.
pub fn play(scenarios: &[Scenario], policies: &[Kind]) -> Result<Vec<Match>, SpecError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(scenario) = scenarios.get(index) else {
                        return;
                    };
                    let played = policies.iter().map(|policy| one(scenario, *policy));
                    let played: Result<Vec<_>, _> = played.collect();
                    let mut done = done.lock().expect("no other thread panics");
                    done.push((index, played));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panicked");
    done.sort_unstable_by_key(|(index, _)| *index);
    let matches = done.into_iter().map(|(_, played)| played);
    Ok(matches.collect::<Result<Vec<_>, _>>()?.concat())
}

fn one(scenario: &Scenario, policy: Kind) -> Result<Match, SpecError> {
    let runs = (1..=scenario.seeds)
        .map(|seed| run(scenario, &mut *policy.client(scenario, seed), seed))
        .collect::<Result<_, _>>()?;
    Ok(Match {
        name: scenario.name.clone(),
        group: scenario.group.clone().unwrap_or_default(),
        ideal: scenario.ideal,
        target: scenario.target,
        policy,
        runs,
    })
}
