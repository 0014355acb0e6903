//! From a document to a scenario that needs no further check.

mod field;
mod form;
mod server;
mod wrap;

use core::time::Duration;

use super::{Baseline, Scenario, ScenarioError, Shape, Target, USUAL_PATIENCE, USUAL_SEEDS};
pub(super) use field::Field;
use field::Table;
use form::{MOST_SECONDS, Number, Seconds, Text, Whole, Word};

type Result<T> = core::result::Result<T, ScenarioError>;

/// A run of that many takes seconds.
const MOST_REQUESTS: u64 = 1_000_000;

/// Each seed is a run.
const MOST_SEEDS: u64 = 10_000;

const USUAL_FANOUT: u64 = 10;

/// The scenario that this is.
pub(super) fn scenario(root: &Field<'_>) -> Result<Scenario> {
    let table =
        root.table("a scenario: an object with name, shape, requests, workers, latency, server")?;
    let latency = table.need("latency", &Seconds::FROM_ZERO)?;
    let scenario = Scenario {
        name: table.need("name", &Text)?,
        group: table.maybe("group", &Text)?,
        shape: shape(&table)?,
        requests: table.need("requests", &Whole(1..=MOST_REQUESTS))?,
        workers: table.need("workers", &Whole(1..=MOST_REQUESTS))?,
        latency,
        jitter: jitter(&table, latency)?,
        seeds: table.or("seeds", &Whole(1..=MOST_SEEDS), USUAL_SEEDS)?,
        give_up_after: table.or("give_up_after", &Seconds::ABOVE_ZERO, USUAL_PATIENCE)?,
        server: server::server(&table.find_or("server", server::FORM)?)?,
        ideal: table.maybe("ideal", &Number::from_zero(MOST_SECONDS))?,
        target: table
            .find("target")
            .map(|field| target(&field))
            .transpose()?,
        independent: baseline(&table, "independent"),
        shared_spacing: baseline(&table, "shared_spacing"),
    };
    table.has_no_other()?;
    Ok(scenario)
}

fn shape(table: &Table<'_>) -> Result<Shape> {
    let fanout = table.or("fanout", &Whole(1..=MOST_REQUESTS), USUAL_FANOUT)?;
    let shapes = [
        ("flat", Shape::Flat),
        ("tree", Shape::Tree { fanout }),
        ("burst", Shape::Burst),
    ];
    table.need("shape", &Word(&shapes))
}

fn jitter(table: &Table<'_>, latency: Duration) -> Result<Duration> {
    let Some(field) = table.find("jitter") else {
        return Ok(Duration::ZERO);
    };
    let jitter = field.read(&Seconds::FROM_ZERO)?;
    match jitter <= latency {
        true => Ok(jitter),
        false => Err(field.must_be(&format!(
            "at most the latency ({} s), since no half-trip is shorter than nothing",
            latency.as_secs_f64()
        ))),
    }
}

fn target(field: &Field<'_>) -> Result<Target> {
    let table = field.table("an object with elapsed, refused, failed")?;
    let count = Whole(0..=u64::MAX);
    let target = Target {
        elapsed: table.need("elapsed", &Number::from_zero(MOST_SECONDS))?,
        refused: table.need("refused", &count)?,
        failed: table.need("failed", &count)?,
    };
    // In words what `failed` says in numbers.
    table.maybe("outcome", &Text)?;
    table.has_no_other()?;
    Ok(target)
}

/// What was measured elsewhere changes no run, so what cannot be read does not matter, either.
fn baseline(table: &Table<'_>, key: &str) -> Option<Baseline> {
    let table = table.find(key)?.table("an object").ok()?;
    let count = |key| table.need(key, &Whole(0..=u64::MAX)).ok();
    Some(Baseline {
        elapsed: table
            .need("elapsed", &Number::from_zero(MOST_SECONDS))
            .ok()?,
        failed_runs: count("failed_runs")?,
        runs: count("runs")?,
        failed_requests: count("failed_requests")?,
        refused: count("refused")?,
        sent: count("sent")?,
    })
}
