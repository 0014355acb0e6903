//! The real engine, driven in virtual time as the tokio driver drives it in real time.

use core::time::Duration;
use std::collections::{BTreeMap, HashMap};

use http::{HeaderMap, HeaderValue, StatusCode, header};
use paceline_engine::{
    Attempts, Decision, Effect, Effects, Engine, GateSet, Joined, Observation, Place, Repeatable,
    RetryPolicy, Sent, TicketId, Timestamp, Verdict, WallTime, Want, response,
};

use crate::Scenario;
use crate::client::{Answer, Client, Orders};

/// Paceline, told nothing.
#[derive(Debug)]
pub struct Paceline {
    engine: Engine,
    gates: GateSet,
    policy: RetryPolicy,
    give_up_after: Duration,
    calls: BTreeMap<u64, Call>,
    waiting: HashMap<TicketId, u64>,
    armed: Option<Timestamp>,
}

/// One request and all its attempts.
#[derive(Debug)]
struct Call {
    want: Want,
    place: Place,
    attempts: Attempts,
    sent: Option<Sent>,
}

/// More than any scenario has workers.
const MAX_WAITING: usize = 10_000_000;

/// Some day; only upstreams that send dates would care.
const WALL: Duration = Duration::from_secs(1_790_000_000);

impl Paceline {
    /// For one run of a scenario.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut engine = Engine::new(MAX_WAITING, seed);
        let gate = engine
            .add_gate(Timestamp::ZERO, "api", Vec::new())
            .expect("it is the first");
        Self {
            engine,
            gates: GateSet::one(gate),
            policy: RetryPolicy::default(),
            give_up_after: scenario.give_up_after,
            calls: BTreeMap::new(),
            waiting: HashMap::new(),
            armed: None,
        }
    }

    /// The engine, to look at.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    fn ask(&mut self, now: Timestamp, request: u64, not_before: Timestamp, orders: &mut Orders) {
        let Some(call) = self.calls.get(&request) else {
            return;
        };
        let place = Some(call.place);
        match self
            .engine
            .join(now, &call.want, place, &call.attempts, not_before)
        {
            Joined::Admitted(sent) => self.send(request, sent, orders),
            Joined::Waiting(ticket, effects) => {
                self.waiting.insert(ticket, request);
                let done = drain(effects);
                self.obey(now, done, orders);
            }
            Joined::Refused(_) => self.end(request, false, orders),
        }
    }

    fn send(&mut self, request: u64, sent: Sent, orders: &mut Orders) {
        if let Some(call) = self.calls.get_mut(&request) {
            call.attempts.sent();
            call.sent = Some(sent);
            orders.send(request);
        }
    }

    fn end(&mut self, request: u64, ok: bool, orders: &mut Orders) {
        self.calls.remove(&request);
        orders.settle(request, ok);
    }

    fn obey(&mut self, now: Timestamp, done: Done, orders: &mut Orders) {
        let (effects, deadline) = done;
        for effect in effects {
            match effect {
                Effect::Admitted { ticket, sent, .. } => {
                    if let Some(request) = self.waiting.remove(&ticket) {
                        self.send(request, sent, orders);
                    }
                }
                Effect::Refused { ticket, .. } => {
                    if let Some(request) = self.waiting.remove(&ticket) {
                        self.end(request, false, orders);
                    }
                }
                _ => {}
            }
        }
        match deadline {
            Some(at) if self.armed != Some(at.max(now)) => {
                self.armed = Some(at.max(now));
                orders.wake(at, 0);
            }
            Some(_) => {}
            None => self.armed = None,
        }
    }
}

impl Client for Paceline {
    fn start(&mut self, now: Timestamp, request: u64, orders: &mut Orders) {
        let want = Want::new(self.gates).deadline(now + self.give_up_after);
        let place = self.engine.place(now, &want);
        let call = Call {
            want,
            place,
            attempts: Attempts::new(),
            sent: None,
        };
        self.calls.insert(request, call);
        self.ask(now, request, now, orders);
    }

    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, orders: &mut Orders) {
        let seen = observe(now, answer);
        let Some(call) = self.calls.get_mut(&request) else {
            return;
        };
        let Some(mut sent) = call.sent.take() else {
            return;
        };
        let done = drain(self.engine.settle(now, &mut sent, &seen));
        let decision = self.engine.decide(
            now,
            &call.want,
            &self.policy,
            &mut call.attempts,
            Repeatable::YES,
            &seen,
        );
        self.obey(now, done, orders);
        let done = drain(self.engine.finish(now, sent));
        self.obey(now, done, orders);
        match decision {
            Decision::Again { not_before } => self.ask(now, request, not_before, orders),
            _ => self.end(request, answer.served, orders),
        }
    }

    fn woken(&mut self, now: Timestamp, _: u64, orders: &mut Orders) {
        if self.armed == Some(now) {
            self.armed = None;
            let done = drain(self.engine.handle_timeout(now));
            self.obey(now, done, orders);
        }
    }

    fn believed(&self, _: Timestamp) -> Option<f64> {
        let interval = self.engine.gauges(0)?.interval;
        (!interval.is_zero()).then(|| 1.0 / interval.as_secs_f64())
    }
}

type Done = (Vec<Effect>, Option<Timestamp>);

fn drain(mut effects: Effects<'_>) -> Done {
    let done = effects.by_ref().collect();
    (done, effects.finish().map(|deadline| deadline.at))
}

/// An answer as the engine reads it off the wire.
fn observe(now: Timestamp, answer: &Answer) -> Observation {
    let status = StatusCode::from_u16(answer.status).expect("a specification's status is valid");
    let mut headers = HeaderMap::new();
    let retry_after = answer.retry_after.as_deref();
    if let Some(value) = retry_after.and_then(|value| HeaderValue::from_str(value).ok()) {
        headers.insert(header::RETRY_AFTER, value);
    }
    let wall = WallTime(WALL + now.since(Timestamp::ZERO));
    let mut seen = response::read(status, &headers, wall);
    if !answer.served && seen.is_served() {
        // Hidden in a body, where only a dialect sees it.
        seen.verdict = Verdict::RateLimited;
    }
    seen
}
