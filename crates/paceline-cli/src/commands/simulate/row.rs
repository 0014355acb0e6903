//! Facts for programs, one line each.

use core::time::Duration;

use paceline_sim::policy::Kind;
use paceline_sim::{Figures, Scenario, ScenarioError};
use serde::Serialize;

use super::play::ratio;

/// What came of one run.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    name: &'a str,
    policy: &'static str,
    seed: u64,
    elapsed: f64,
    ideal: Option<f64>,
    ratio: Option<f64>,
    ok: u64,
    failed: u64,
    sent: u64,
    refused: u64,
    slowest: f64,
    peak_1s: u64,
}

impl<'a> Row<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        policy: Kind,
        seed: u64,
        ideal: Option<f64>,
        figures: &Figures,
    ) -> Self {
        Self {
            name: &scenario.name,
            policy: policy.name(),
            seed,
            elapsed: seconds(figures.elapsed),
            ideal: ideal.map(six_decimals),
            ratio: ratio(figures, ideal).map(six_decimals),
            ok: figures.ok,
            failed: figures.failed,
            sent: figures.sent,
            refused: figures.refused,
            slowest: seconds(figures.slowest),
            peak_1s: figures.peak_1s,
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("a row has only text keys")
    }
}

/// What is wrong with a scenario.
#[derive(Serialize)]
pub(super) struct Bad<'a> {
    file: &'a str,
    line: u64,
    field: Option<&'a str>,
    error: &'a str,
}

impl<'a> Bad<'a> {
    pub(super) fn new(file: &'a str, error: &'a ScenarioError) -> Self {
        Self {
            file,
            line: error.line,
            field: Some(error.field.as_str()).filter(|field| !field.is_empty()),
            error: &error.problem,
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("it has only text keys")
    }
}

fn seconds(duration: Duration) -> f64 {
    six_decimals(duration.as_secs_f64())
}

fn six_decimals(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
