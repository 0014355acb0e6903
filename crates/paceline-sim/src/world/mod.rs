//! Virtual time: plays a scenario with a client against a server model.
//!
//! ```text
//!          start                 send                 half the latency
//! workload ─────► client ─────────────────► network ───────────────────► server model
//!     ▲   settle    │ ▲                                                     │
//!     └─────────────┘ └─────────────────────────────────────────────────────┘
//!                       answered, another half later
//! ```
//!
//! Events at the same instant happen in the order in which they were scheduled; what takes no time is
//! no event. One seed decides the network's jitter and the server's dice, so a run replays.

mod figures;
mod queue;
mod workload;

use core::time::Duration;

use paceline_engine::Timestamp;

use crate::client::{Answer, Client, Order, Orders};
use crate::server::{Decision, Model};
use crate::{Scenario, SpecError};
use figures::Counter;
pub use figures::{Figures, Moment, Trace};
use queue::Queue;
use workload::Workload;

/// Plays a scenario once.
///
/// # Errors
///
/// The server's specification makes no sense.
pub fn run(scenario: &Scenario, client: &mut dyn Client, seed: u64) -> Result<Figures, SpecError> {
    let server = scenario.server.model(seed)?;
    Ok(run_on(server, scenario, client, seed))
}

/// Plays a scenario once against this server instead of its own.
pub(crate) fn run_on(
    server: Model,
    scenario: &Scenario,
    client: &mut dyn Client,
    seed: u64,
) -> Figures {
    World::new(server, scenario, seed, None).play(client).0
}

/// Plays a scenario once and writes down every send, answer and change of mind.
///
/// # Errors
///
/// The server's specification makes no sense.
pub fn record(
    scenario: &Scenario,
    client: &mut dyn Client,
    seed: u64,
) -> Result<(Figures, Trace), SpecError> {
    let server = scenario.server.model(seed)?;
    let (figures, trace) = World::new(server, scenario, seed, Some(Trace::default())).play(client);
    Ok((figures, trace.unwrap_or_default()))
}

/// A server that holds slots refuses within this.
const QUICK_REFUSAL: Duration = Duration::from_millis(10);

#[derive(Debug)]
enum Event {
    Wake {
        token: u64,
    },
    Arrive {
        request: u64,
    },
    Answer {
        request: u64,
        answer: Answer,
        slot: bool,
    },
}

/// Something that happens at this instant.
enum Step {
    /// A worker that is free takes what there is.
    Take,
    Event(Event),
    Order(Order),
}

struct World<'a> {
    scenario: &'a Scenario,
    server: Model,
    workload: Workload,
    queue: Queue<Event>,
    network: fastrand::Rng,
    counter: Counter,
    trace: Option<Trace>,
}

impl<'a> World<'a> {
    fn new(server: Model, scenario: &'a Scenario, seed: u64, trace: Option<Trace>) -> Self {
        Self {
            scenario,
            server,
            workload: Workload::new(scenario),
            queue: Queue::default(),
            // Another stream than the server's.
            network: fastrand::Rng::with_seed(!seed),
            counter: Counter::default(),
            trace,
        }
    }

    fn play(mut self, client: &mut dyn Client) -> (Figures, Option<Trace>) {
        self.happen(Timestamp::ZERO, Step::Take, client);
        while !self.workload.is_over() {
            let Some((now, event)) = self.queue.pop() else {
                break;
            };
            self.happen(now, Step::Event(event), client);
            if let Some(trace) = &mut self.trace {
                trace.believes(now, client.believed(now));
            }
        }
        (self.counter.figures(&self.workload), self.trace)
    }

    /// Does one thing and all that follows from it in no time, each consequence before the next
    /// thing in line.
    fn happen(&mut self, now: Timestamp, step: Step, client: &mut dyn Client) {
        let mut orders = Orders::default();
        let mut steps = vec![step];
        while let Some(step) = steps.pop() {
            match step {
                Step::Take => {
                    if let Some(request) = self.workload.take(now) {
                        steps.push(Step::Take);
                        client.start(now, request, &mut orders);
                    }
                }
                Step::Event(Event::Wake { token }) => client.woken(now, token, &mut orders),
                Step::Event(Event::Arrive { request }) => steps.extend(self.arrive(now, request)),
                Step::Event(Event::Answer {
                    request,
                    answer,
                    slot,
                }) => {
                    self.answered(now, request, &answer, slot);
                    client.answered(now, request, &answer, &mut orders);
                }
                Step::Order(Order::Send(request)) => {
                    let there = self.half_trip();
                    steps.extend(self.send(now, request, there));
                }
                Step::Order(Order::SendSteadily(request)) => {
                    steps.extend(self.send(now, request, self.scenario.latency / 2));
                }
                Step::Order(Order::Wake { at, token }) => {
                    self.queue.push(at.max(now), Event::Wake { token });
                }
                Step::Order(Order::Settle { request, ok }) => {
                    self.workload.settle(now, request, ok);
                    if self.workload.is_over() {
                        return;
                    }
                    steps.push(Step::Take);
                }
            }
            steps.extend(orders.0.drain(..).rev().map(Step::Order));
        }
    }

    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, slot: bool) {
        if slot {
            self.server.finish(now);
        }
        self.counter.answered(answer.served);
        if let Some(trace) = &mut self.trace {
            trace.answered(now, request, answer.served);
        }
    }

    fn send(&mut self, now: Timestamp, request: u64, there: Duration) -> Option<Step> {
        if let Some(trace) = &mut self.trace {
            trace.sent(now, request);
        }
        if !self.server.holds_slots() {
            return self.after(now, there, Event::Arrive { request });
        }
        let whole = there + self.half_trip();
        let answer = self.ask(now, request);
        let slot = answer.served;
        let after = if slot {
            whole
        } else {
            whole.min(QUICK_REFUSAL)
        };
        self.after(
            now,
            after,
            Event::Answer {
                request,
                answer,
                slot,
            },
        )
    }

    fn arrive(&mut self, now: Timestamp, request: u64) -> Option<Step> {
        let answer = self.ask(now, request);
        let back = self.half_trip();
        self.after(
            now,
            back,
            Event::Answer {
                request,
                answer,
                slot: false,
            },
        )
    }

    /// What takes no time does not queue up behind what else happens at this instant.
    fn after(&mut self, now: Timestamp, delay: Duration, event: Event) -> Option<Step> {
        if delay.is_zero() {
            return Some(Step::Event(event));
        }
        self.queue.push(now + delay, event);
        None
    }

    fn ask(&mut self, now: Timestamp, request: u64) -> Answer {
        self.counter.arrived(now);
        match self.server.arrive(now, request) {
            Decision::Admit => Answer {
                status: 200,
                served: true,
                retry_after: None,
            },
            Decision::Refuse {
                status,
                retry_after,
                ..
            } => Answer {
                status,
                served: false,
                retry_after,
            },
        }
    }

    fn half_trip(&mut self) -> Duration {
        let half = self.scenario.latency.as_nanos() as i128 / 2;
        let spread = self.scenario.jitter.as_nanos() as i128 / 2;
        let off = if spread == 0 {
            0
        } else {
            self.network.i128(-spread..=spread)
        };
        Duration::from_nanos(u64::try_from(half + off).unwrap_or(0))
    }
}
