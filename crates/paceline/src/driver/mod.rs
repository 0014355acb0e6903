//! The tokio driver: one lock, one timer, and the wakers of those who wait.
//!
//! There is no background task. One of the waiting futures, the *keeper*, sleeps until the engine's deadline and tells it
//! that time has passed; when the keeper is served or dropped, another takes over. So nothing outlives its users, and a
//! runtime that shuts down takes only its own waiters with it.

mod acquire;
mod permit;
mod waiters;

use core::task::Waker;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paceline_engine::{
    Attempts, Cost, Deadline, Decision, Effects, Engine, GateSet, Joined, Limit, Observation,
    Place, Reason, Refusal, Repeatable, RetryPolicy, Sent, Snapshot, TicketId, Timestamp, Want,
};

use crate::clock::Clock;
use crate::telemetry::Telemetry;
use waiters::{Turn, Waiters};

pub use acquire::Acquire;
pub(crate) use acquire::{Attempt, Granted};
pub use permit::Permit;

/// What all handles of one pace share.
pub(crate) struct Shared {
    pub(crate) name: Box<str>,
    pub(crate) clock: Arc<dyn Clock>,
    telemetry: Telemetry,
    state: Mutex<State>,
}

pub(crate) struct State {
    engine: Engine,
    waiters: Waiters,
}

impl Shared {
    pub(crate) fn new(
        name: &str,
        clock: Arc<dyn Clock>,
        gates: Vec<(Box<str>, Vec<Limit>)>,
        max_waiting: usize,
        seed: u64,
    ) -> Arc<Self> {
        let now = clock.now();
        let mut engine = Engine::new(max_waiting, seed);
        let telemetry = Telemetry::new(gates.iter().map(|(name, _)| &**name));
        for (name, limits) in gates {
            engine.add_gate(now, &name, limits);
        }
        let state = Mutex::new(State {
            engine,
            waiters: Waiters::default(),
        });
        Arc::new(Self {
            name: name.into(),
            clock,
            telemetry,
            state,
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Asks for admission: an answer, or the ticket of one that waits.
    fn join(&self, attempt: &Attempt<'_>) -> Result<Answer, TicketId> {
        let now = self.now();
        let mut state = self.lock();
        let State { engine, waiters } = &mut *state;
        let Attempt {
            want,
            place,
            attempts,
            not_before,
        } = *attempt;
        match engine.join(now, want, place, attempts, not_before) {
            Joined::Admitted(sent) => {
                self.telemetry.levels(engine);
                Ok(Answer::Admitted(sent, Duration::ZERO, Reason::Turn))
            }
            Joined::Refused(refusal) => Ok(Answer::Refused(refusal)),
            Joined::Waiting(ticket, effects) => {
                waiters.add(ticket);
                let due = waiters.apply(effects, &self.telemetry);
                self.release(state, due);
                Err(ticket)
            }
        }
    }

    /// What a waiter does next; if it keeps the time and the time has come, the engine hears of it first.
    fn turn(&self, ticket: TicketId, waker: &Waker) -> Turn {
        let mut state = self.lock();
        while state.waiters.keeps(ticket) {
            let now = self.now();
            if !state.waiters.is_due(now) {
                break;
            }
            let State { engine, waiters } = &mut *state;
            let due = waiters.apply(engine.handle_timeout(now), &self.telemetry);
            self.release(state, due);
            state = self.lock();
        }
        state.waiters.turn(ticket, waker)
    }

    /// A waiter goes away. What it was told in the meantime, if it was.
    fn leave(&self, ticket: TicketId) -> Option<Answer> {
        let now = self.now();
        let mut state = self.lock();
        let State { engine, waiters } = &mut *state;
        let answer = waiters.remove(ticket);
        let due = waiters.apply(engine.leave(now, ticket), &self.telemetry);
        self.release(state, due);
        answer
    }

    pub(crate) fn settle(&self, sent: &mut Sent, seen: &Observation) {
        let now = self.now();
        self.telemetry.answered(sent, seen);
        self.input(|engine| engine.settle(now, sent, seen));
    }

    pub(crate) fn finish(&self, sent: Sent) {
        let now = self.now();
        self.input(|engine| engine.finish(now, sent));
    }

    pub(crate) fn refund(&self, sent: Sent) {
        let now = self.now();
        self.input(|engine| engine.refund(now, sent));
    }

    pub(crate) fn spend(&self, gates: GateSet, cost: Cost) {
        let now = self.now();
        self.input(|engine| engine.spend(now, gates, cost));
    }

    pub(crate) fn change_limits(&self, gate: u16, limits: Vec<Limit>) {
        let now = self.now();
        self.input(|engine| engine.change_limits(now, gate, limits));
    }

    pub(crate) fn shut_down(&self) {
        self.input(Engine::shut_down);
    }

    pub(crate) fn place(&self, want: &Want) -> Place {
        let now = self.now();
        self.lock().engine.place(now, want)
    }

    pub(crate) fn decide(
        &self,
        want: &Want,
        policy: &RetryPolicy,
        attempts: &mut Attempts,
        repeatable: Repeatable,
        seen: &Observation,
    ) -> Decision {
        let now = self.now();
        self.lock()
            .engine
            .decide(now, want, policy, attempts, repeatable, seen)
    }

    pub(crate) fn next_start(&self, want: &Want) -> Option<Deadline> {
        let now = self.now();
        self.lock().engine.next_start(now, want)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let now = self.now();
        self.lock().engine.snapshot(now)
    }

    pub(crate) const fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock is a bug of ours; stopping everybody else's requests would not mend it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One input, its effects drained, and the keeper told if it has to look earlier.
    fn input(&self, input: impl FnOnce(&mut Engine) -> Effects<'_>) {
        let mut state = self.lock();
        let State { engine, waiters } = &mut *state;
        let due = waiters.apply(input(engine), &self.telemetry);
        self.release(state, due);
    }

    /// Unlocks, then wakes: whoever wakes wants the lock.
    fn release(&self, mut state: MutexGuard<'_, State>, due: Option<Deadline>) {
        let woken = state.waiters.arm(due);
        self.telemetry.levels(&state.engine);
        drop(state);
        woken.wake();
    }
}

impl core::fmt::Debug for Shared {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pace")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What a waiter is told.
#[derive(Debug)]
pub(crate) enum Answer {
    Admitted(Sent, Duration, Reason),
    Refused(Refusal),
}
