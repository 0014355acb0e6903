//! The tokio driver: one lock, one timer, and the wakers of those who wait.
//!
//! There is no background task. One of the waiting futures, the *keeper*, sleeps until the engine's deadline and tells it
//! that time has passed; when the keeper is served or dropped, another takes over. So nothing outlives its users, and a
//! runtime that shuts down takes only its own waiters with it. A keeper that is neither polled nor dropped is noticed by
//! those who rest: now and then one of them looks whether the time has come.

mod acquire;
mod permit;
mod settle_cost;
#[cfg_attr(
    not(all(feature = "machine", unix)),
    allow(dead_code, reason = "only what shares uses it")
)]
mod sharing;
#[cfg_attr(
    not(all(feature = "machine", unix)),
    allow(dead_code, reason = "only what shares uses it")
)]
mod store;
mod waiters;

use core::task::Waker;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paceline_engine::{
    Attempts, Cost, Deadline, Decision, Effects, Engine, FindGates, GateSet, Joined, Limit,
    Observation, Place, Reason, Receipt, Refusal, Repeatable, RetryPolicy, Sent, Snapshot,
    TicketId, Timestamp, Want,
};

use crate::clock::Clock;
use crate::telemetry::Telemetry;
use sharing::Sharing;
use waiters::{Turn, Waiters};

pub use acquire::Acquire;
pub(crate) use acquire::{Attempt, Granted};
pub use permit::Permit;
pub use settle_cost::SettleCost;
pub(crate) use store::Store;
#[cfg(all(feature = "machine", unix))]
pub(crate) use store::{Called, Sections, StoreFault};

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
    /// The time of the last input, good enough where time plays no part: a look at the clock costs as much as the lock.
    last: Timestamp,
    sharing: Option<Box<Sharing>>,
}

impl Shared {
    pub(crate) fn new(
        name: &str,
        clock: Arc<dyn Clock>,
        gates: Vec<(Box<str>, Vec<Limit>)>,
        max_waiting: usize,
        seed: u64,
    ) -> Self {
        let now = clock.now();
        let mut engine = Engine::new(max_waiting, seed);
        let telemetry = Telemetry::new(gates.iter().map(|(name, _)| &**name));
        for (name, limits) in gates {
            engine.add_gate(now, &name, limits);
        }
        engine.hold_refills();
        let state = Mutex::new(State {
            engine,
            waiters: Waiters::default(),
            last: now,
            sharing: None,
        });
        Self {
            name: name.into(),
            clock,
            telemetry,
            state,
        }
    }

    /// Its record is in `store`, for others too. Call it once, when everything else is set.
    #[cfg_attr(
        not(all(feature = "machine", unix)),
        allow(dead_code, reason = "only what shares uses it")
    )]
    pub(crate) fn share(self: &Arc<Self>, store: Arc<dyn Store>, seed: u64) {
        let mut state = self.lock();
        state.engine.share(store.owner());
        state.sharing = Some(Box::new(Sharing::new(store, seed)));
        drop(state);
        self.enroll();
    }

    /// Of the upstream's own gate.
    pub(crate) fn cold_start(&self, most: u64) {
        self.lock().engine.cold_start(0, most);
    }

    pub(crate) fn find_gates(&self, rule: FindGates) {
        self.lock().engine.find_gates(rule);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Asks for admission: an answer, or the ticket of one that waits.
    /// The place is that of its first attempt, whether it had to wait then or not.
    fn join(&self, attempt: &Attempt<'_>) -> (Place, Result<Answer, TicketId>) {
        let mut state = self.lock();
        let telemetry = &self.telemetry;
        let (place, joined, due) = self.step(&mut state, |engine, waiters, now, _| {
            let Attempt {
                want,
                place,
                attempts,
                not_before,
            } = *attempt;
            let place = place.unwrap_or_else(|| engine.place(now, want));
            match engine.join(now, want, Some(place), attempts, not_before) {
                Joined::Admitted(sent) => {
                    telemetry.levels(engine);
                    let answer = Answer::Admitted(sent, Duration::ZERO, Reason::Turn);
                    (place, Ok(answer), None)
                }
                Joined::Refused(refusal) => (place, Ok(Answer::Refused(refusal)), None),
                Joined::Waiting(ticket, effects) => {
                    waiters.add(ticket);
                    let due = waiters.apply(effects, telemetry);
                    (place, Err(ticket), Some(due))
                }
            }
        });
        if let Some(due) = due {
            self.release(state, due);
        }
        (place, joined)
    }

    /// What a waiter does next; if the time has come, whoever keeps it, the engine hears of it first.
    fn turn(&self, ticket: TicketId, waker: &Waker) -> Turn {
        let mut state = self.lock();
        loop {
            let now = self.now();
            if !state.waiters.is_due(now) {
                break;
            }
            state.waiters.take_over(ticket);
            let due = self.look(&mut state);
            self.release(state, due);
            state = self.lock();
        }
        let (turn, before) = state.waiters.turn(ticket, waker);
        drop(state);
        drop(before);
        turn
    }

    /// A waiter goes away. What it was told in the meantime, if it was.
    fn leave(&self, ticket: TicketId) -> Option<Answer> {
        let mut state = self.lock();
        let telemetry = &self.telemetry;
        let (answer, waker, due) = self.step(&mut state, |engine, waiters, now, _| {
            let (answer, waker) = waiters.remove(ticket);
            let due = waiters.apply(engine.leave(now, ticket), telemetry);
            (answer, waker, due)
        });
        self.release(state, due);
        drop(waker);
        answer
    }

    /// Tells the gates what came back.
    pub(crate) fn settle(&self, sent: &mut Sent, seen: &Observation) {
        self.telemetry.answered(sent, seen);
        self.input(untimed(sent, seen), |engine, now| {
            engine.settle(now, sent, seen)
        });
    }

    /// The same, and what becomes of the request; with the next start, if that is not at once.
    pub(crate) fn settle_call(
        &self,
        sent: &mut Sent,
        seen: &Observation,
        call: Asking<'_>,
    ) -> (Decision, Option<Deadline>, Timestamp) {
        if !sent.is_answered() {
            self.telemetry.answered(sent, seen);
        }
        // A permit that was taken before its request was known.
        sent.takes(call.want.route);
        let mut verdict = (Decision::Return(Reason::Final), None, Timestamp::ZERO);
        self.input_then(
            untimed(sent, seen),
            |engine, now| engine.settle(now, sent, seen),
            |engine, now| {
                let Asking {
                    want,
                    policy,
                    attempts,
                    repeatable,
                } = call;
                let decision = engine.decide(now, want, policy, attempts, repeatable, seen);
                verdict = (decision, engine.next_start(now, want), now);
            },
        );
        verdict
    }

    /// Tells the gates what it did cost.
    pub(crate) fn settle_cost(&self, sent: &mut Sent, actual: &Cost) {
        self.input(None, |engine, now| engine.settle_cost(now, sent, actual));
    }

    fn settle_receipt(&self, receipt: Receipt, actual: &Cost) {
        self.input(None, |engine, now| {
            engine.settle_receipt(now, receipt, actual)
        });
    }

    fn drop_receipt(&self, receipt: Receipt) {
        self.input(None, |engine, now| engine.drop_receipt(now, receipt));
    }

    pub(crate) fn finish(&self, sent: Sent) {
        self.input(Some(sent.gates()), |engine, now| engine.finish(now, sent));
    }

    pub(crate) fn refund(&self, sent: Sent) {
        self.input(None, |engine, now| engine.refund(now, sent));
    }

    pub(crate) fn spend(&self, want: &Want) {
        self.input(None, |engine, now| {
            let gates = engine.gates_for(now, want);
            engine.spend(now, gates, want.cost.clone())
        });
    }

    pub(crate) fn change_limits(&self, gate: u16, limits: Vec<Limit>) {
        self.input(None, |engine, now| engine.change_limits(now, gate, limits));
    }

    pub(crate) fn shut_down(&self) {
        self.input(None, |engine, _| engine.shut_down());
    }

    pub(crate) fn next_start(&self, want: &Want) -> Option<Deadline> {
        self.step(&mut self.lock(), |engine, _, now, _| {
            engine.next_start(now, want)
        })
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.step(&mut self.lock(), |engine, _, now, _| engine.snapshot(now))
    }

    pub(crate) const fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock is a bug of ours; stopping everybody else's requests would not mend it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One input, its effects drained, and the keeper told if it has to look earlier. `gates` are those whose calm makes the
    /// time of this input irrelevant.
    fn input(
        &self,
        gates: Option<GateSet>,
        input: impl FnOnce(&mut Engine, Timestamp) -> Effects<'_>,
    ) {
        self.input_then(gates, input, |_, _| {});
    }

    /// The same, and then something that has no effects.
    fn input_then(
        &self,
        gates: Option<GateSet>,
        input: impl FnOnce(&mut Engine, Timestamp) -> Effects<'_>,
        then: impl FnOnce(&mut Engine, Timestamp),
    ) {
        let mut state = self.lock();
        let telemetry = &self.telemetry;
        let run = |engine: &mut Engine, waiters: &mut Waiters, now| {
            let due = waiters.apply(input(engine, now), telemetry);
            then(engine, now);
            due
        };
        let is_calm = gates.is_some_and(|gates| state.engine.is_calm(gates));
        let due = if is_calm && state.sharing.is_none() {
            let State {
                engine,
                waiters,
                last,
                ..
            } = &mut *state;
            run(engine, waiters, *last)
        } else {
            self.step(&mut state, |engine, waiters, now, _| {
                run(engine, waiters, now)
            })
        };
        self.release(state, due);
    }

    /// Unlocks, then wakes: whoever wakes wants the lock.
    fn release(&self, mut state: MutexGuard<'_, State>, due: Option<Deadline>) {
        let State {
            waiters,
            sharing,
            last,
            ..
        } = &mut *state;
        let look_after = sharing.as_mut().and_then(|sharing| sharing.look_after());
        let woken = waiters.arm(due, look_after.map(|after| *last + after));
        let called = waiters.called();
        self.telemetry.levels(&state.engine);
        let sharing = state.sharing.as_ref().filter(|_| !called.is_empty());
        let store = sharing.map(|sharing| sharing.store());
        drop(state);
        woken.wake();
        if let Some(store) = store {
            called.into_iter().for_each(|owner| store.call(owner));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.retire();
    }
}

impl core::fmt::Debug for Shared {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pace")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The gates of an answer that says nothing about time: served, without a window or a wait.
fn untimed(sent: &Sent, seen: &Observation) -> Option<GateSet> {
    let says_nothing = seen.windows.is_empty() && seen.wait.is_none();
    (seen.is_served() && says_nothing).then(|| sent.gates())
}

/// Whose answer it is.
pub(crate) struct Asking<'a> {
    pub(crate) want: &'a Want,
    pub(crate) policy: &'a RetryPolicy,
    pub(crate) attempts: &'a mut Attempts,
    pub(crate) repeatable: Repeatable,
}

/// What a waiter is told.
#[derive(Debug)]
pub(crate) enum Answer {
    Admitted(Sent, Duration, Reason),
    Refused(Refusal),
}
