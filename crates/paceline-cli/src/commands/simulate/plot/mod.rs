//! A picture of a scenario's runs: one panel for each policy, all on one time axis.
//!
//! ```text
//! name                                   what limits, what is sent
//! ┌ policy: time, refused, lost ─────────────────────────────────┐
//! │ requests/s   bars: served    line: believed   dashes: limit  │
//! │ ││││ │ │ │ │ │   each served start                           │
//! │ ✕✕ ✕   ✕         each refused start                          │
//! └──────────────────────────────────────────────────────────────┘
//! 0          10          20         seconds since the first start
//! ```

mod history;
mod legend;
mod panel;
mod style;

use core::time::Duration;
use std::path::Path;

use paceline_sim::policy::Kind;
use paceline_sim::{Scenario, Shape};

use super::play::ideal;
use crate::output::Stop;
use crate::picture::{Anchor, Scale, Svg};
use history::History;
use panel::Panel;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 24.0;

/// Draws what happens with seed 1 into a file.
///
/// # Errors
///
/// The file cannot be written.
pub(super) fn draw(scenario: &Scenario, policies: &[Kind], file: &Path) -> Result<(), Stop> {
    let histories = policies.iter().map(|policy| History::of(scenario, *policy));
    let histories: Vec<History> = histories.collect::<Result<_, _>>().map_err(Stop::usage)?;
    std::fs::write(file, picture(scenario, &histories))
        .map_err(|error| Stop::open(format_args!("{}: {error}", file.display())))
}

fn picture(scenario: &Scenario, histories: &[History]) -> String {
    let ideal = ideal(scenario);
    let limits: Vec<(f64, Option<f64>)> = scenario
        .server
        .rate_over_time()
        .into_iter()
        .map(|(from, rate)| (from.as_secs_f64(), rate))
        .collect();
    let outages = scenario.server.outages();
    let outages: Vec<_> = outages
        .iter()
        .map(|outage| outage.start.as_secs_f64()..outage.end.as_secs_f64())
        .collect();
    let longest = histories
        .iter()
        .map(History::end)
        .chain(ideal)
        .fold(0.0, f64::max);
    // Some room, so that the end can be seen.
    let time = Scale::new(longest * 1.02, LEFT, RIGHT);
    let rate = highest_rate(&limits, histories, longest);

    let mut svg = Svg::new(WIDTH);
    svg.rectangle((0.0, 0.0), (WIDTH, 100_000.0), "paper");
    svg.text(
        (LEFT, 34.0),
        "title",
        Anchor::Start,
        &shortened(&scenario.name, 80),
    );
    svg.text(
        (LEFT, 54.0),
        "note",
        Anchor::Start,
        &shortened(&subtitle(scenario), 150),
    );
    let mut top = legend::draw(&mut svg, 78.0, rate, &limits, &outages, histories) + 20.0;
    for history in histories {
        let panel = Panel {
            time,
            rate,
            limits: &limits,
            outages: &outages,
            ideal,
        };
        top = panel.draw(&mut svg, top, history);
    }
    for (seconds, text) in time.ticks(8) {
        svg.text((time.at(seconds), top + 4.0), "tick", Anchor::Middle, &text);
    }
    let words = "seconds since the first start";
    svg.text((RIGHT, top + 22.0), "tick", Anchor::End, words);
    let title = format!("{}: {}", scenario.name, subtitle(scenario));
    svg.finish(top + 36.0, &shortened(&title, 300), style::SHEET)
}

/// What the rate axis goes up to: the limit is in the middle, whatever bursts do.
fn highest_rate(limits: &[(f64, Option<f64>)], histories: &[History], longest: f64) -> f64 {
    let reached = limits.iter().filter(|(from, _)| *from <= longest);
    let limit = reached.filter_map(|(_, rate)| *rate).fold(0.0, f64::max);
    let served = |history: &History| {
        let mut rates: Vec<f64> = history.bars().map(|bar| bar.served).collect();
        rates.sort_unstable_by(f64::total_cmp);
        rates.get(rates.len() * 9 / 10).copied().unwrap_or_default()
    };
    let usual = histories.iter().map(served).fold(0.0, f64::max);
    match limit > 0.0 {
        true => usual.clamp(1.6 * limit, 3.0 * limit),
        false => 1.2 * usual,
    }
}

fn subtitle(scenario: &Scenario) -> String {
    let (total, workers) = (scenario.total(), scenario.workers);
    let sent = match scenario.shape {
        Shape::Flat => format!("{total} requests, {workers} workers"),
        Shape::Tree { .. } => format!("a tree of {total} pages, {workers} workers"),
        Shape::Burst => format!("{total} requests at once"),
    };
    let seconds = |duration: Duration| duration.as_secs_f64();
    let latency = match (scenario.latency, scenario.jitter) {
        (Duration::ZERO, _) => "no latency".to_owned(),
        (latency, Duration::ZERO) => format!("latency {} s", seconds(latency)),
        (latency, jitter) => format!("latency {} s ± {} s", seconds(latency), seconds(jitter)),
    };
    format!("{} · {sent} · {latency}", scenario.server)
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests;
