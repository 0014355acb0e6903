//! Facts for people: a row for each scenario and policy, and which targets are met.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use paceline_sim::policy::Kind;
use paceline_sim::{Figures, Target};

use super::play::{Played, ratio};

/// A table that is printed while it grows.
#[derive(Default)]
pub(super) struct Table {
    /// How wide names are, since the first row.
    width: Option<usize>,
    several_seeds: bool,
    targets: BTreeMap<Kind, Targets>,
}

#[derive(Default)]
struct Targets {
    met: u64,
    all: u64,
}

const SEVERAL_SEEDS: &str =
    "Of several seeds these are medians (of two the upper), and the most that a run lost.";

const NARROWEST: usize = 8;
/// A longer name pushes its row to the right.
const WIDEST: usize = 32;

impl Table {
    /// The next lines.
    pub(super) fn add(&mut self, played: &Played<'_>) -> Vec<String> {
        let Played {
            scenario,
            policy,
            ideal,
            runs,
        } = played;
        let mut lines = Vec::new();
        let width = *self.width.get_or_insert_with(|| {
            let width = scenario.name.chars().count().clamp(NARROWEST, WIDEST);
            lines.push(format!(
                "{:width$}  {:14} {:>11} {:>11} {:>6} {:>7} {:>7} {:>7} {:>10} {:>6}  target",
                "scenario",
                "policy",
                "time",
                "ideal",
                "ratio",
                "lost",
                "refused",
                "sent",
                "slowest",
                "peak/s"
            ));
            width
        });
        let Some(figures) = Figures::of(runs) else {
            return lines;
        };
        self.several_seeds |= runs.len() > 1;
        let mut line = format!(
            "{:width$}  {:14} {:>9.3} s {:>11} {:>6} {:>7} {:>7} {:>7} {:>8.1} s {:>6}",
            plain(&scenario.name),
            policy.name(),
            figures.elapsed.as_secs_f64(),
            ideal.map_or_else(|| "-".to_owned(), |ideal| format!("{ideal:.3} s")),
            ratio(&figures, *ideal).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
            figures.failed,
            figures.refused,
            figures.sent,
            figures.slowest.as_secs_f64(),
            figures.peak_1s,
        );
        if let Some(target) = &scenario.target {
            let targets = self.targets.entry(*policy).or_default();
            let met = target.is_met(runs);
            targets.all += 1;
            targets.met += u64::from(met);
            line += "  ";
            line += &if met {
                "met".to_owned()
            } else {
                missed(target, &figures)
            };
        }
        lines.push(line);
        lines
    }

    /// The last lines.
    pub(super) fn end(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.several_seeds {
            lines.push(SEVERAL_SEEDS.to_owned());
        }
        if self.targets.values().any(|targets| targets.all > 1) {
            let targets = self.targets.iter();
            lines.extend(targets.map(|(policy, Targets { met, all })| {
                format!("{} meets {met} of {all} targets.", policy.name())
            }));
        }
        if !lines.is_empty() {
            lines.insert(0, String::new());
        }
        lines
    }
}

fn missed(target: &Target, figures: &Figures) -> String {
    let mut words = "missed:".to_owned();
    let elapsed = figures.elapsed.as_secs_f64();
    if elapsed > target.elapsed {
        let _ = write!(words, " {elapsed:.3} s of {} s,", target.elapsed);
    }
    for (what, figure, most) in [
        ("refused", figures.refused, target.refused),
        ("lost", figures.failed, target.failed),
    ] {
        if figure > most {
            let _ = write!(words, " {figure} {what} of {most},");
        }
    }
    words.trim_end_matches(',').to_owned()
}

/// A name must not move the cursor about.
fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
