//! Scenarios of the arena's kinds with other numbers: whoever is fitted to the given ones meets strangers
//! here.

use core::time::Duration;

use fastrand::Rng;

use super::aim;
use crate::policy;
use crate::{RetryAfter, Scenario, ServerSpec, Shape, Wrap};

/// `count` scenarios from `seed`, each with the ideal that an oracle needs and a target by the rule that
/// the given ones follow. A prefix does not depend on `count`.
pub fn drawn(seed: u64, count: usize) -> Vec<Scenario> {
    let mut dice = Rng::with_seed(seed);
    let mut scenarios = Vec::with_capacity(count);
    while scenarios.len() < count {
        let place = scenarios.len();
        scenarios.extend(draw(place, &mut dice));
    }
    scenarios
}

/// One, or `None` if no oracle manages it in the time that an experiment may take.
fn draw(place: usize, dice: &mut Rng) -> Option<Scenario> {
    let kind = KINDS[place % KINDS.len()];
    let limit = Limit::draw(dice);
    let per_second = limit.per_second(kind);
    // Nobody is to wait in line for longer than a request's patience.
    let most_workers = (per_second * LONGEST_LINE).clamp(1.0, 100.0) as u64;
    let fewest_workers = if kind == "wide" { 20.0 } else { 1.0 };
    let latency = match kind {
        "concurrency" | "jitter" => even(dice, 0.02, 1.0),
        _ => pick(&[0.0, even(dice, 0.005, 1.0)], dice),
    };
    let jitter = match kind {
        "jitter" => latency * (0.2 + 0.6 * dice.f64()),
        _ => 0.0,
    };
    let requests = match kind {
        "noise" => whole(dice, 200.0, 1500.0),
        "concurrency" => whole(dice, 100.0, 1500.0),
        _ => ((per_second * even(dice, 5.0, 250.0)) as u64).clamp(40, 1500),
    };
    let shape = pick(&[Shape::Flat, Shape::Tree { fanout: 10 }], dice);
    let workers = whole(dice, fewest_workers, 100.0).min(most_workers);
    let server = limit.server(kind, dice).retry_after(pick(&WORDS, dice));
    let scenario = Scenario {
        group: Some(kind.to_owned()),
        jitter: seconds(jitter),
        seeds: match kind {
            "noise" | "limit-and-noise" | "jitter" => 5,
            _ => 1,
        },
        ..Scenario::new(
            &format!("drawn {place} {kind}"),
            shape,
            requests,
            workers,
            seconds(latency),
            server,
        )
    };
    let ideal = policy::ideal(&scenario).expect("drawn servers make sense");
    let ideal = ideal.filter(|ideal| *ideal <= LONGEST)?;
    Some(Scenario {
        ideal: Some(ideal),
        target: Some(aim::target(&scenario, ideal)),
        ..scenario
    })
}

/// Numbers of which a kind uses some.
struct Limit {
    rate: f64,
    burst: u64,
    window: Duration,
    /// A window.
    count: u64,
}

impl Limit {
    fn draw(dice: &mut Rng) -> Self {
        let rate = even(dice, 0.1, 200.0);
        Self {
            rate,
            burst: pick(&[1, 1, whole(dice, 2.0, 20.0), (rate as u64).max(1)], dice),
            window: seconds(even(dice, 2.0, 120.0)),
            count: whole(dice, 5.0, 200.0),
        }
    }

    fn per_second(&self, kind: &str) -> f64 {
        match kind {
            "fixed-window" | "sliding-log" | "two-tier" => {
                self.count as f64 / self.window.as_secs_f64()
            }
            "concurrency" | "noise" => f64::INFINITY,
            _ => self.rate,
        }
    }

    fn server(&self, kind: &str, dice: &mut Rng) -> ServerSpec {
        let bucket = ServerSpec::token_bucket(self.rate, self.burst);
        let from = even(dice, 2.0, 15.0);
        let to = from + even(dice, 2.0, 40.0);
        match kind {
            "gcra" => ServerSpec::gcra(self.rate),
            "fixed-window" => {
                let phase = pick(&[0.0, dice.f64()], dice);
                ServerSpec::fixed_window(self.count, self.window, self.window.mul_f64(phase))
            }
            "sliding-log" => match dice.u8(..3) {
                0 => ServerSpec::sliding_log_counting_refused(self.count, self.window),
                _ => ServerSpec::sliding_log(self.count, self.window),
            },
            "concurrency" => ServerSpec::concurrency(whole(dice, 1.0, 40.0)),
            "two-tier" => {
                // The window is what counts in the long run.
                let faster = self.per_second(kind) * even(dice, 1.5, 6.0);
                let first = ServerSpec::token_bucket(faster, (faster as u64).max(1));
                let second = ServerSpec::fixed_window(self.count, self.window, Duration::ZERO);
                ServerSpec::all_of([first, second])
            }
            "503" => bucket.status(503),
            "noise" => ServerSpec::open().wrap(noise(dice)),
            "limit-and-noise" => bucket.wrap(noise(dice)),
            "outage" => {
                let outage = Wrap::outage([seconds(from)..seconds(to)]);
                bucket.wrap(outage.status(pick(&[429, 429, 503], dice)))
            }
            "limit-change" => {
                let other = self.rate * pick(&[0.2, 0.35, 0.5, 2.0, 4.0], dice);
                let times = [0.0, from, to].map(seconds);
                let rates = times.into_iter().zip([self.rate, other, self.rate]);
                ServerSpec::token_bucket_with_rates(rates, self.burst)
            }
            "rival" => {
                let its = self.rate * pick(&[0.25, 0.5, 0.75], dice);
                bucket.wrap(pick(&[Wrap::rival(its), Wrap::poisson_rival(its)], dice))
            }
            _ => bucket,
        }
    }
}

fn noise(dice: &mut Rng) -> Wrap {
    Wrap::random(even(dice, 0.01, 0.15)).status(pick(&[429, 429, 503], dice))
}

/// Log-uniform, to three digits: that is how people choose limits.
fn even(dice: &mut Rng, from: f64, to: f64) -> f64 {
    let value = from * (to / from).powf(dice.f64());
    let unit = 10_f64.powf(value.log10().floor() - 2.0);
    ((value / unit).round() * unit).clamp(from, to)
}

fn whole(dice: &mut Rng, from: f64, to: f64) -> u64 {
    even(dice, from, to).round() as u64
}

fn pick<T: Clone>(choices: &[T], dice: &mut Rng) -> T {
    choices[dice.usize(..choices.len())].clone()
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// In turn, so that each has its share.
const KINDS: [&str; 14] = [
    "token-bucket",
    "gcra",
    "fixed-window",
    "sliding-log",
    "concurrency",
    "two-tier",
    "503",
    "noise",
    "limit-and-noise",
    "outage",
    "limit-change",
    "rival",
    "jitter",
    "wide",
];

const WORDS: [RetryAfter; 8] = [
    RetryAfter::None,
    RetryAfter::None,
    RetryAfter::None,
    RetryAfter::Zero,
    RetryAfter::Ceil,
    RetryAfter::Ceil,
    RetryAfter::Floor1,
    RetryAfter::Float,
];

/// Seconds that an oracle may need.
const LONGEST: f64 = 700.0;

/// Seconds that the last of all workers waits for its first turn.
const LONGEST_LINE: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again_and_a_longer_list_begins_with_the_shorter() {
        let some = drawn(7, 30);
        assert_eq!(some, drawn(7, 60)[..30]);
        assert_ne!(some, drawn(8, 30));
    }

    #[test]
    fn what_is_drawn_is_bounded_and_can_be_reached() {
        for scenario in drawn(1, 140) {
            let name = &scenario.name;
            let ideal = scenario.ideal.expect("it is computed");
            let target = scenario.target.expect("it is computed");
            assert!(ideal <= LONGEST && target.elapsed > ideal, "{name}");
            assert!((40..=1500).contains(&scenario.requests), "{name}");
            assert!((1..=100).contains(&scenario.workers), "{name}");
        }
    }
}
