//! What a scenario's runs should reach, by the rule that the given targets follow.

use core::time::Duration;

use crate::server::{Kind, RetryAfter, WrapKind};
use crate::{Scenario, Target};

/// The target of a scenario in which all is served and an oracle needs `ideal` seconds.
///
/// Found by looking at the given ones, whose time it hits within 2% in nine of ten, and whose
/// refusals within two in as many. A sum:
///
/// | because of | seconds | refusals |
/// |---|---|---|
/// | any limit that is unknown | 3% of the ideal (8% if it moves, or with noise or jitter; 5% of a concurrency cap) and three sends' time, at least 0.5 | 25 + n/50, and one for each worker above 10 |
/// | whole seconds in Retry-After | 2.5 (`floor`: 1) | |
/// | a window | 2; without a hint a quarter of it instead, and half of it more if refused requests count | 3 a window − 7; without a hint 17 more |
/// | something that moves: a rate, an outage, noise, jitter | 2 (noise 3), and a quarter of an outage | 15 a rate change, 10 an outage, 24 for jitter |
/// | noise of p | without a limit half as much again as the time it costs (1.2 s each, shared by the workers), and 1 | 1.4·np/(1−p); without a limit 1.35 and 12 |
/// | a rival | as much again, 10% and 5 | 120 |
pub(super) fn target(scenario: &Scenario, ideal: f64) -> Target {
    let sum = sum(scenario, ideal);
    Target {
        elapsed: ((ideal + sum.seconds) * 100.0).round() / 100.0,
        refused: sum.refused as u64,
        failed: 0,
    }
}

#[derive(Clone, Copy, Default)]
struct Sum {
    seconds: f64,
    refused: f64,
}

fn sum(scenario: &Scenario, ideal: f64) -> Sum {
    let requests = scenario.requests as f64;
    let wraps = || scenario.server.wraps.iter().map(|wrap| &wrap.kind);
    let noise: f64 = wraps()
        .map(|wrap| match wrap {
            WrapKind::Random { p } => requests * p / (1.0 - p),
            _ => 0.0,
        })
        .sum();
    let Some(limit) = Limit::of(&scenario.server.kind) else {
        return open(scenario, ideal, noise);
    };
    let words = scenario.server.wording.retry_after;
    let mut sum = Sum {
        seconds: limit.settling(words, ideal),
        refused: 25.0 + requests / 50.0 + scenario.workers.saturating_sub(10) as f64,
    };
    sum.refused += limit.window_refusals(words, ideal);
    let jittery = !scenario.jitter.is_zero();
    if noise > 0.0 || jittery || limit.changes > 0 {
        sum.seconds += 0.05 * ideal + if noise > 0.0 { 3.0 } else { 2.0 };
        sum.refused += 1.4 * noise + 15.0 * limit.changes as f64 / 2.0;
        sum.refused += if jittery { 24.0 } else { 0.0 };
    }
    for wrap in wraps() {
        match wrap {
            WrapKind::Outage { windows } => {
                sum.seconds += 2.0 + 0.25 * length(windows);
                sum.refused += 10.0;
            }
            WrapKind::Rival { .. } => {
                sum.seconds = 1.1 * ideal + 5.0;
                sum.refused += 120.0;
            }
            _ => {}
        }
    }
    sum
}

/// Nothing limits: what there is to lose is noise, an outage, and a breath.
fn open(scenario: &Scenario, ideal: f64, noise: f64) -> Sum {
    let mut sum = Sum {
        seconds: 0.005 * ideal + 0.01,
        refused: 0.0,
    };
    if noise > 0.0 {
        let lost = 1.2 * noise / scenario.workers as f64;
        sum.seconds = 0.5 * ideal + 1.5 * lost + 1.0;
        sum.refused = 1.35 * noise + 12.0;
    }
    for wrap in &scenario.server.wraps {
        if let WrapKind::Outage { windows } = &wrap.kind {
            sum.seconds += 2.5 + 0.25 * length(windows);
            sum.refused += 12.0 + scenario.workers as f64;
        }
    }
    sum
}

fn length(windows: &[core::ops::Range<Duration>]) -> f64 {
    let windows = windows.iter().map(|window| window.end - window.start);
    windows.sum::<Duration>().as_secs_f64()
}

/// What matters about a limit.
#[derive(Clone, Copy, Default)]
struct Limit {
    /// Of a bucket: its slowest.
    rate: Option<f64>,
    changes: usize,
    window: Option<f64>,
    counts_refused: bool,
    is_cap: bool,
}

impl Limit {
    fn of(kind: &Kind) -> Option<Self> {
        let mut limit = Self::default();
        match kind {
            Kind::TokenBucket { rates, .. } => {
                limit.rate = rates.iter().map(|(_, rate)| *rate).reduce(f64::min);
                limit.changes = rates.len() - 1;
            }
            Kind::FixedWindow { window, .. } => limit.window = Some(window.as_secs_f64()),
            Kind::SlidingLog {
                window,
                count_refused,
                ..
            } => {
                limit.window = Some(window.as_secs_f64());
                limit.counts_refused = *count_refused;
            }
            Kind::Concurrency { .. } => limit.is_cap = true,
            Kind::AllOf { parts } => {
                let parts: Vec<_> = parts
                    .iter()
                    .filter_map(|part| Self::of(&part.kind))
                    .collect();
                return parts.iter().find(|part| part.window.is_some()).copied();
            }
            Kind::Open | Kind::Always => return None,
        }
        Some(limit)
    }

    /// Seconds until it is known, and what is lost afterwards.
    fn settling(self, words: RetryAfter, ideal: f64) -> f64 {
        let rounding = match words {
            RetryAfter::Ceil | RetryAfter::Floor1 | RetryAfter::Seconds(_) => 2.5,
            RetryAfter::Floor => 1.0,
            RetryAfter::None | RetryAfter::Zero | RetryAfter::Float => 0.0,
        };
        if self.is_cap {
            return 0.05 * ideal + 1.0 + 0.8 * rounding;
        }
        let first = match self.window {
            Some(window) if is_hint(words) => (window / 4.0).min(2.0),
            Some(window) if self.counts_refused => 0.75 * window,
            Some(window) => window / 4.0,
            None => (3.0 / self.rate.unwrap_or(1.0)).max(0.5) + rounding,
        };
        0.03 * ideal + first
    }

    fn window_refusals(self, words: RetryAfter, ideal: f64) -> f64 {
        let Some(window) = self.window else {
            return 0.0;
        };
        let unhinted = if is_hint(words) { 0.0 } else { 17.0 };
        3.0 * (ideal / window).ceil() - 7.0 + unhinted
    }
}

const fn is_hint(words: RetryAfter) -> bool {
    !matches!(words, RetryAfter::None | RetryAfter::Zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the given targets the rule hits. Those for a request or a server that is beyond help
    /// say something else.
    #[test]
    fn the_rule_is_that_of_the_given_targets() {
        let text = include_str!("../../../../arena/scenarios.jsonl");
        let (mut of, mut time, mut refusals) = (0, 0, 0);
        for (_, scenario) in Scenario::from_json_lines(text) {
            let scenario = scenario.expect("a valid line");
            let (Some(ideal), Some(given)) = (scenario.ideal, scenario.target) else {
                continue;
            };
            let beyond_help =
                scenario.server.wraps.iter().any(|wrap| {
                    matches!(wrap.kind, WrapKind::Nth { .. } | WrapKind::Poison { .. })
                });
            if given.failed > 0 || beyond_help {
                continue;
            }
            let ours = target(&scenario, ideal);
            of += 1;
            let hit = (ours.elapsed - given.elapsed).abs() <= 0.02 * given.elapsed;
            time += u32::from(hit);
            refusals += u32::from(ours.refused.abs_diff(given.refused) <= 2);
        }
        assert!(
            of > 400 && time * 10 > of * 9 && refusals * 10 > of * 9,
            "{of} {time} {refusals}"
        );
    }
}
