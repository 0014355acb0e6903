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
//! Events at the same instant happen in the order in which they were scheduled. One seed decides the network's jitter and
//! the server's dice, so a run replays.

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
    Ok(World::new(scenario, seed, None)?.play(client).0)
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
    let (figures, trace) = World::new(scenario, seed, Some(Trace::default()))?.play(client);
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
    fn new(scenario: &'a Scenario, seed: u64, trace: Option<Trace>) -> Result<Self, SpecError> {
        Ok(Self {
            scenario,
            server: scenario.server.model(seed)?,
            workload: Workload::new(scenario),
            queue: Queue::default(),
            // Another stream than the server's.
            network: fastrand::Rng::with_seed(!seed),
            counter: Counter::default(),
            trace,
        })
    }

    fn play(mut self, client: &mut dyn Client) -> (Figures, Option<Trace>) {
        let mut orders = Orders::default();
        self.take(Timestamp::ZERO, client, &mut orders);
        while !self.workload.is_over() {
            let Some((now, event)) = self.queue.pop() else {
                break;
            };
            match event {
                Event::Wake { token } => client.woken(now, token, &mut orders),
                Event::Arrive { request } => self.arrive(now, request),
                Event::Answer {
                    request,
                    answer,
                    slot,
                } => {
                    if slot {
                        self.server.finish(now);
                    }
                    self.counter.answered(answer.served);
                    if let Some(trace) = &mut self.trace {
                        trace.answered(now, request, answer.served);
                    }
                    client.answered(now, request, &answer, &mut orders);
                }
            }
            self.obey(now, client, &mut orders);
            if let Some(trace) = &mut self.trace {
                trace.believes(now, client.believed(now));
            }
        }
        (self.counter.figures(&self.workload), self.trace)
    }

    /// Lets free workers take what there is.
    fn take(&mut self, now: Timestamp, client: &mut dyn Client, orders: &mut Orders) {
        while let Some(request) = self.workload.take(now) {
            client.start(now, request, orders);
            self.obey(now, client, orders);
        }
    }

    fn obey(&mut self, now: Timestamp, client: &mut dyn Client, orders: &mut Orders) {
        while !orders.0.is_empty() {
            for order in core::mem::take(&mut orders.0) {
                match order {
                    Order::Send(request) => self.send(now, request),
                    Order::Wake { at, token } => {
                        self.queue.push(at.max(now), Event::Wake { token })
                    }
                    Order::Settle { request, ok } => {
                        self.workload.settle(now, request, ok);
                        if !self.workload.is_over() {
                            self.take(now, client, orders);
                        }
                    }
                }
            }
        }
    }

    fn send(&mut self, now: Timestamp, request: u64) {
        if let Some(trace) = &mut self.trace {
            trace.sent(now, request);
        }
        let there = self.half_trip();
        if !self.server.holds_slots() {
            self.queue.push(now + there, Event::Arrive { request });
            return;
        }
        let whole = there + self.half_trip();
        let answer = self.ask(now, request);
        let slot = answer.served;
        let after = if slot {
            whole
        } else {
            whole.min(QUICK_REFUSAL)
        };
        self.queue.push(
            now + after,
            Event::Answer {
                request,
                answer,
                slot,
            },
        );
    }

    fn arrive(&mut self, now: Timestamp, request: u64) {
        let answer = self.ask(now, request);
        let back = self.half_trip();
        self.queue.push(
            now + back,
            Event::Answer {
                request,
                answer,
                slot: false,
            },
        );
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
