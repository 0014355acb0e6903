//! One who knows the server and is never refused: what there is to reach.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use paceline_engine::Timestamp;

use crate::client::{Answer, Client, Orders};
use crate::server::{Decision, Model};
use crate::world::run_on;
use crate::{Scenario, ServerSpec, SpecError};

/// Sends each request as early as the server admits it, in the order of their arrival in line.
///
/// It plans with a twin of the server, which has the same dice: with a rival it takes every token that
/// it can. Only what refuses whatever a client does (at random, the n-th arrival, a poisoned
/// request) refuses the oracle too, and then it asks again at once.
#[derive(Debug)]
pub struct Oracle {
    twin: Model,
    half: Duration,
    /// Nobody overtakes.
    last_arrival: Timestamp,
    /// How often what no waiting helps against has refused a request.
    refusals: BTreeMap<u64, u32>,
    /// Waits for a slot; nobody else has to, because other answers can be planned.
    line: VecDeque<u64>,
    alarm: Option<Timestamp>,
}

/// Seconds that an oracle needs; `None` if it loses a request, as where nothing is ever served.
///
/// What refuses whatever a client does is left out of the server, and jitter out of the network.
///
/// # Errors
///
/// The server's specification makes no sense.
pub fn ideal(scenario: &Scenario) -> Result<Option<f64>, SpecError> {
    let steady = Scenario {
        jitter: Duration::ZERO,
        ..scenario.clone()
    };
    let server = steady.server.model(SEED)?.quiet();
    let mut oracle = Oracle::with_twin(server.clone(), &steady);
    let figures = run_on(server, &steady, &mut oracle, SEED);
    Ok((figures.failed == 0).then_some(figures.elapsed.as_secs_f64()))
}

/// Of a random rival; the first of every scenario's.
const SEED: u64 = 1;

impl Oracle {
    /// For one run of a scenario.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        // A server that makes no sense is never played against.
        let twin = scenario.server.model(seed);
        let twin = twin.or_else(|_| ServerSpec::open().model(seed));
        Self::with_twin(twin.expect("an open server makes sense"), scenario)
    }

    fn with_twin(twin: Model, scenario: &Scenario) -> Self {
        Self {
            twin,
            half: scenario.latency / 2,
            last_arrival: Timestamp::ZERO,
            refusals: BTreeMap::new(),
            line: VecDeque::new(),
            alarm: None,
        }
    }

    fn plan(&mut self, now: Timestamp, request: u64, orders: &mut Orders) {
        if self.twin.holds_slots() {
            self.line.push_back(request);
            self.serve(now, orders);
            return;
        }
        let from = self.last_arrival.max(now + self.half);
        match self.earliest(from, request) {
            Some(arrival) => {
                self.last_arrival = arrival;
                // What refuses at random is foreseen as well, and is charged to nobody.
                let _ = self.twin.arrive(arrival, request);
                orders.wake(before(arrival, self.half), request);
            }
            None => self.give_up(request, orders),
        }
    }

    /// The first instant from `from` on at which the twin admits one more.
    fn earliest(&self, from: Timestamp, request: u64) -> Option<Timestamp> {
        let mut at = from;
        let quiet = self.twin.quiet();
        while at < from + PATIENCE {
            match quiet.clone().arrive(at, request) {
                Decision::Admit => return Some(at),
                // A rival may be first when that time has come.
                Decision::Refuse { exact_wait, .. } => at = at + exact_wait.max(TICK),
            }
        }
        None
    }

    /// Sends as many as there are slots; whoever holds one says when the next is free.
    fn serve(&mut self, now: Timestamp, orders: &mut Orders) {
        while let Some(&request) = self.line.front() {
            let wait = match self.twin.quiet().arrive(now, request) {
                Decision::Admit => Duration::ZERO,
                Decision::Refuse { exact_wait, .. } => exact_wait.max(TICK),
            };
            if now + wait > self.last_arrival + PATIENCE {
                self.line.pop_front();
                self.give_up(request, orders);
            } else if wait.is_zero() {
                self.line.pop_front();
                self.last_arrival = now;
                let _ = self.twin.arrive(now, request);
                orders.send_steadily(request);
            } else {
                if self.alarm != Some(now + wait) {
                    self.alarm = Some(now + wait);
                    orders.wake(now + wait, ALARM);
                }
                return;
            }
        }
    }

    fn give_up(&mut self, request: u64, orders: &mut Orders) {
        self.refusals.remove(&request);
        orders.settle(request, false);
    }
}

impl Client for Oracle {
    fn start(&mut self, now: Timestamp, request: u64, orders: &mut Orders) {
        self.plan(now, request, orders);
    }

    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, orders: &mut Orders) {
        if answer.served {
            self.twin.finish(now);
            self.refusals.remove(&request);
            orders.settle(request, true);
        } else {
            let refusals = self.refusals.entry(request).or_default();
            *refusals += 1;
            if *refusals < MOST_REFUSALS {
                self.plan(now, request, orders);
            } else {
                self.give_up(request, orders);
            }
        }
        self.serve(now, orders);
    }

    fn woken(&mut self, now: Timestamp, token: u64, orders: &mut Orders) {
        if token == ALARM {
            self.alarm = None;
            self.serve(now, orders);
        } else {
            orders.send_steadily(token);
        }
    }
}

fn before(at: Timestamp, duration: Duration) -> Timestamp {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Timestamp::from_nanos(at.as_nanos().saturating_sub(nanos))
}

/// Of one request by what no waiting helps against. At random and one in three, that happens to one
/// request in 43 million.
const MOST_REFUSALS: u32 = 16;

/// An oracle has the time that a request has not; but a server that serves nobody for this long
/// never will.
const PATIENCE: Duration = Duration::from_secs(7200);

/// The least step in time, where a server says "now" and means "not before a rival".
const TICK: Duration = Duration::from_nanos(1);

/// The token of a wake-up for the line; no request has this number.
const ALARM: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::super::lab::{burst, flat, seconds, tree};
    use super::*;
    use crate::{Figures, Wrap, run};

    fn played(scenario: &Scenario) -> Figures {
        run(scenario, &mut Oracle::new(scenario, 1), 1).expect("a valid server")
    }

    #[track_caller]
    fn needs(scenario: &Scenario, expected: f64) {
        let figures = played(scenario);
        assert_eq!(seconds(figures.elapsed), expected);
        assert_eq!((figures.refused, figures.failed), (0, 0));
        let ideal = ideal(scenario).expect("a valid server");
        assert_eq!(ideal, Some(figures.elapsed.as_secs_f64()));
    }

    #[test]
    fn it_needs_what_the_limit_needs_and_is_never_refused() {
        let second = Duration::from_secs(1);
        needs(
            &tree(1000, 10, 0, ServerSpec::token_bucket(3.0, 3)),
            332.667,
        );
        needs(
            &flat(500, 10, 470, ServerSpec::token_bucket(10.0, 50)),
            45.47,
        );
        let fixed = ServerSpec::fixed_window(60, 60 * second, 30 * second);
        needs(&flat(200, 10, 0, fixed), 150.0);
        needs(
            &tree(300, 10, 0, ServerSpec::sliding_log(100, 60 * second)),
            180.0,
        );
        needs(&tree(500, 10, 100, ServerSpec::concurrency(5)), 10.1);
        let tiers = [
            ServerSpec::token_bucket(10.0, 10),
            ServerSpec::concurrency(2),
        ];
        // Two at once, each for half a second: the other limit is 10/s.
        needs(&flat(40, 10, 500, ServerSpec::all_of(tiers)), 10.0);
    }

    #[test]
    fn it_waits_out_an_outage_longer_than_a_requests_patience() {
        let hour = Duration::from_secs(3600);
        let down = ServerSpec::open().wrap(Wrap::outage([Duration::ZERO..hour]));
        needs(&flat(200, 10, 0, down), 3600.0);
    }

    #[test]
    fn it_leaves_a_rival_only_what_the_rival_takes_first() {
        let shared = ServerSpec::token_bucket(10.0, 10).wrap(Wrap::rival(5.0));
        needs(&flat(500, 10, 0, shared), 98.1);
    }

    #[test]
    fn jitter_on_the_way_there_is_foreseen() {
        let scenario = Scenario {
            jitter: Duration::from_millis(400),
            ..flat(300, 10, 470, ServerSpec::token_bucket(3.0, 3))
        };
        let figures = played(&scenario);
        assert_eq!(figures.refused, 0);
        assert!((99.2..99.8).contains(&figures.elapsed.as_secs_f64()));
        let ideal = ideal(&scenario).expect("a valid server");
        assert_eq!(ideal.map(|seconds| (seconds * 1e3).round()), Some(99_470.0));
    }

    #[test]
    fn what_refuses_at_random_costs_it_no_token() {
        let noisy = ServerSpec::token_bucket(10.0, 1).wrap(Wrap::random(0.2));
        let figures = played(&flat(500, 10, 0, noisy));
        assert_eq!(figures.failed, 0);
        assert!(figures.refused > 50, "{}", figures.refused);
        assert_eq!(seconds(figures.elapsed), 49.9);
    }

    #[test]
    fn a_slot_on_a_server_that_never_serves_is_not_waited_for_for_ever() {
        let parts = [ServerSpec::always(), ServerSpec::concurrency(1)];
        assert_eq!(played(&burst(3, ServerSpec::all_of(parts))).failed, 3);
    }

    #[test]
    fn what_is_never_served_is_given_up_and_has_no_ideal() {
        let never = burst(10, ServerSpec::always());
        assert_eq!((played(&never).sent, played(&never).failed), (0, 10));
        assert_eq!(ideal(&never), Ok(None));
        let poisoned = flat(100, 10, 0, ServerSpec::open().wrap(Wrap::poison(7)));
        assert_eq!(played(&poisoned).failed, 1);
        assert_eq!(ideal(&poisoned), Ok(Some(0.0)));
    }
}
