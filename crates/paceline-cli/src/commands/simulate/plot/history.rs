//! One run as a picture needs it.

use std::collections::HashMap;

use paceline_sim::policy::Kind;
use paceline_sim::{Figures, Moment, Scenario, SpecError};

/// What happened in a run; times are seconds since its begin.
pub(super) struct History {
    pub(super) policy: &'static str,
    pub(super) figures: Figures,
    /// A failed page has ended it.
    pub(super) cut_short: bool,
    /// When those left that were served.
    pub(super) served: Vec<f64>,
    /// When those left that were refused.
    pub(super) refused: Vec<f64>,
    /// From when on it believes in which rate.
    pub(super) believed: Vec<(f64, Option<f64>)>,
}

/// Starts a second in a stretch of time.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) served: f64,
}

impl History {
    /// Plays the scenario with seed 1.
    pub(super) fn of(scenario: &Scenario, policy: Kind) -> Result<Self, SpecError> {
        let mut client = policy.client(scenario, 1);
        let (figures, trace) = paceline_sim::record(scenario, &mut *client, 1)?;
        let mut history = Self {
            policy: policy.name(),
            figures,
            cut_short: figures.ok + figures.failed < scenario.total(),
            served: Vec::new(),
            refused: Vec::new(),
            believed: Vec::new(),
        };
        let mut under_way = HashMap::new();
        for (at, moment) in &trace.moments {
            let at = at.as_nanos() as f64 / 1e9;
            match *moment {
                Moment::Sent { request } => {
                    under_way.insert(request, at);
                }
                Moment::Answered { request, served } => {
                    let left = under_way.remove(&request).unwrap_or(at);
                    let marks = if served {
                        &mut history.served
                    } else {
                        &mut history.refused
                    };
                    marks.push(left);
                }
                Moment::Believes { rate } => history.believed.push((at, rate)),
                _ => {}
            }
        }
        Ok(history)
    }

    /// When it was over.
    pub(super) fn end(&self) -> f64 {
        self.figures.elapsed.as_secs_f64()
    }

    /// The served starts a second, in stretches that are long enough to hold several.
    pub(super) fn bars(&self) -> impl Iterator<Item = Bar> {
        let count = (self.served.len() / STARTS_A_BAR).clamp(1, MOST_BARS);
        let width = self.end() / count as f64;
        let mut counts = vec![0_u64; if width > 0.0 { count } else { 0 }];
        for at in &self.served {
            // Whatever left at the very end belongs to the last one.
            let index = ((at / width) as usize).min(count - 1);
            if let Some(count) = counts.get_mut(index) {
                *count += 1;
            }
        }
        counts
            .into_iter()
            .enumerate()
            .map(move |(index, count)| Bar {
                from: index as f64 * width,
                to: (index + 1) as f64 * width,
                served: count as f64 / width,
            })
    }
}

/// Fewer, and neighbours differ by chance alone.
const STARTS_A_BAR: usize = 6;

/// More are not told apart.
const MOST_BARS: usize = 140;
