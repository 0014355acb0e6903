//! A gate, and everything that can happen to it.

use core::time::Duration;

use proptest::prelude::*;

use crate::cost::{Ahead, Cost};
use crate::gate::{Answered, Gate};
use crate::gates::GateSet;
use crate::opening::Opening;
use crate::snapshot::GateSnapshot;
use crate::ticket::{Charge, Ended};
use crate::{Failure, Kind, Observation, Scope, Spent, Timestamp, Unit, Verdict, Window};

/// One thing that happens: how long after the one before, what, and two numbers that say more.
pub(super) type Step = (u16, u8, u8, u16);

pub(super) struct Lab {
    pub(super) gate: Gate,
    now: Timestamp,
    order: u64,
    under_way: Vec<Charge>,
    rng: fastrand::Rng,
}

const LIMITS: [&str; 6] = [
    "10/s burst 50",
    "30/m",
    "3 in flight",
    "1000 tokens/m burst 5000",
    "7 points/3s",
    "2s server time / 3s",
];

pub(super) fn some_limits() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(&LIMITS[..], 0..3)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl Lab {
    pub(super) fn new(limits: &[&str], seed: u64) -> Self {
        let limits = limits.iter().map(|text| text.parse().expect("a limit"));
        Self {
            gate: Gate::new("api", Timestamp::ZERO, limits.collect()),
            now: Timestamp::ZERO,
            order: 1,
            under_way: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// The same lab with another gate.
    pub(super) fn with(&self, gate: Gate) -> Self {
        Self {
            gate,
            under_way: self.under_way.clone(),
            rng: self.rng.clone(),
            ..*self
        }
    }

    /// All that is seen of a gate from outside.
    pub(super) fn seen(&self) -> (Vec<Opening>, GateSnapshot, bool) {
        let costs = [Cost::default(), Cost::requests(7).and("tokens", 300)];
        let opens = |cost: &Cost| {
            let aheads = [Ahead::NOTHING, Ahead::one(cost), Ahead::line(5, 9)];
            aheads.map(|ahead| self.gate.opens(self.now, ahead, cost))
        };
        let mut openings: Vec<_> = costs.iter().flat_map(opens).collect();
        openings.push(self.gate.bounds(self.now, Ahead::NOTHING, &costs[1]));
        openings.push(
            self.gate
                .leaves_room(self.now, Ahead::NOTHING, 3, &costs[1]),
        );
        let snapshot = self.gate.snapshot(self.now, 0, 0);
        let risky = self.gate.risk() > 0.0 && self.gate.has_served();
        (openings, snapshot, risky)
    }

    pub(super) fn serve(&mut self) {
        self.step((300, 0, 0, 0));
        self.step((50, 100, 0, 0));
    }

    pub(super) fn refuse(&mut self) {
        self.step((300, 0, 0, 0));
        self.step((50, 100, 2, 0));
    }

    pub(super) fn step(&mut self, (wait, what, how, number): Step) {
        self.now = self.now
            + ms(u64::from(if wait < 20_000 {
                wait / 20
            } else {
                wait - 20_000
            }));
        match what {
            0..100 => return self.send(how, number),
            // Requests stay under way while the gate is loaded.
            200..208 => return self.gate.hold_refills(),
            208..212 => return self.gate.cold_start(1 + u64::from(how)),
            212..216 => return self.change_limits(how),
            254 => return self.pause(number),
            _ => {}
        }
        if self.under_way.is_empty() {
            return self.send(how, number);
        }
        let charge = self
            .under_way
            .remove(usize::from(number) % self.under_way.len());
        match what {
            100..190 => self.answer(&charge, how, number),
            190..200 => self.gate.settle_cost(self.now, &charge, &cost(how)),
            216..230 => self.gate.refund(self.now, &charge),
            _ => self.gate.abandoned(self.now, &charge),
        }
        self.gate.finish(self.now, &charge, Ended::Served);
    }

    fn send(&mut self, how: u8, number: u16) {
        if self.under_way.len() > usize::from(number % 100) {
            return;
        }
        let charge = Charge {
            order: self.order,
            at: self.now,
            gates: GateSet::one(0),
            cost: cost(how),
            told: Cost::default(),
        };
        self.gate.take(self.now, self.order, &charge.cost);
        self.order += 1;
        self.under_way.push(charge);
    }

    fn change_limits(&mut self, how: u8) {
        let limits = LIMITS.iter().enumerate();
        let limits = limits.filter(|(bit, _)| how & 1 << bit != 0);
        let limits = limits.map(|(_, text)| text.parse().expect("a limit"));
        self.gate
            .change_limits(self.now, self.order, limits.collect());
    }

    /// A person asks for a stop of so many seconds.
    pub(super) fn pause(&mut self, secs: u16) {
        let length = Duration::from_secs(secs.into());
        self.gate.pause_by_hand(self.now, length);
    }

    /// A request is sent and answered so.
    pub(super) fn told(&mut self, seen: &Observation) {
        self.send(0, u16::MAX);
        if let Some(charge) = self.under_way.pop() {
            self.now = self.now + ms(50);
            self.hear(&charge, 0, 0, seen);
            self.gate.finish(self.now, &charge, Ended::Served);
        }
    }

    fn answer(&mut self, charge: &Charge, how: u8, number: u16) {
        self.hear(charge, how, number, &answer(how, number));
    }

    fn hear(&mut self, charge: &Charge, how: u8, number: u16, seen: &Observation) {
        let answered = Answered {
            sent: charge.at,
            order: charge.order,
            next_order: self.order,
            alone: how % 11 == 10,
            cost: &charge.cost,
            named: how % 13 == 12,
            seen,
        };
        let rng = &mut self.rng;
        if matches!(seen.answer, crate::Answer::Status(_)) {
            self.gate.arrived(self.now, charge.at);
        }
        match number % 16 {
            14 => self.gate.hear_windows(self.now, answered, rng),
            15 => self.gate.overhear(self.now, answered, rng, &mut |_| {}),
            _ => self.gate.observe(self.now, answered, rng, |_| {}),
        }
    }
}

fn cost(how: u8) -> Cost {
    match how % 8 {
        6 => Cost::requests(3).and("tokens", u64::from(how)),
        7 => Cost::tokens(u64::from(how) * 10).and("points", 1),
        _ => Cost::default(),
    }
}

/// Served, refused with and without a wait, overloaded, failed; with windows or not.
fn answer(how: u8, number: u16) -> Observation {
    let mut seen = match how % 8 {
        0..2 => Observation::status(Verdict::Ok, 200),
        2..4 => Observation::status(Verdict::RateLimited, 429),
        4 => Observation::status(Verdict::Overloaded, 503),
        5 => Observation::status(Verdict::Other, 500),
        6 => Observation::status(Verdict::Ok, 404),
        _ => Observation::failure([Failure::Connect, Failure::Timeout][usize::from(number % 2)]),
    };
    let number = u64::from(number);
    if how & 8 != 0 && seen.verdict.is_refusal() {
        seen.wait = Some(ms(number));
        seen.assumed = how & 16 != 0;
    }
    if how & 32 != 0 {
        seen.scope = Scope::ALL[number as usize % Scope::ALL.len()];
        seen.kind = [Kind::Rate, Kind::Concurrency, Kind::Quota][number as usize % 3];
    }
    if how & 64 != 0 {
        let words = [
            Unit::Requests,
            Unit::Other("tokens".into()),
            Unit::Concurrent,
        ];
        for unit in words.into_iter().take(1 + number as usize % 3) {
            let window = Window {
                name: (number % 5 > 1).then(|| format!("window {}", number % 12).into()),
                unit,
                limit_milli: (number % 7 > 1).then_some(1000 * u128::from(number % 300)),
                remaining: Some(number % 200),
                reset: (number % 11 > 0).then(|| ms(number % 64 * 250)),
                refill: (number % 13 > 10).then(|| ms(number % 50)),
                ..Window::unknown()
            };
            seen.windows.push(window);
        }
    }
    if how & 128 != 0 {
        let unit = Unit::Other(["tokens", "points"][number as usize % 2].into());
        let (requested, actual) = (Some(number), (number % 3 == 0).then_some(number / 2));
        seen.spent.push(Spent {
            unit,
            requested,
            actual,
        });
    }
    seen
}
