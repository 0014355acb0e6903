//! A pace whose record others change as well: each input is one step of its store.
//!
//! ```text
//! lock ─► step: load what others changed ─► input ─► save what it changed ─► commit ─► unlock ─► wake ours, call others
//! ```
//!
//! Calls can be lost, and whoever made them can die before it does. So whoever has requests in line looks now and then by
//! itself, and one of all those looks whether the others are alive.

use core::time::Duration;
use std::sync::Arc;

use paceline_engine::{Engine, Owner, Timestamp};

use super::store::{Called, Sections, Store, StoreFault};
use super::waiters::Waiters;
use super::{Shared, State};
use crate::telemetry::Telemetry;

/// Whoever waits looks at least this often, and a little more seldom by chance, so that not all look at once.
const LOOK_AFTER: Duration = Duration::from_millis(350);
const LOOK_SPREAD: Duration = Duration::from_millis(200);
/// All together look after the others this often.
const LOOK_AROUND: Duration = Duration::from_millis(300);
/// When somebody looked after the others last, in nanoseconds: a section of the record that the engine knows nothing of.
const LOOKED: u32 = 8;

/// What only a pace that is shared has.
#[derive(Debug)]
pub(super) struct Sharing {
    store: Arc<dyn Store>,
    /// Draws when to look.
    rng: fastrand::Rng,
    /// Its clock is the record's.
    resumed: bool,
    /// Why it is shared no longer.
    fault: Option<StoreFault>,
}

impl Sharing {
    pub(super) fn new(store: Arc<dyn Store>, seed: u64) -> Self {
        Self {
            store,
            rng: fastrand::Rng::with_seed(seed),
            resumed: false,
            fault: None,
        }
    }

    /// When a pace with requests in line looks again although nobody calls it.
    pub(super) fn look_after(&mut self) -> Option<Duration> {
        let more = LOOK_SPREAD.mul_f64(self.rng.f64());
        self.fault.is_none().then_some(LOOK_AFTER + more)
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }
}

impl Shared {
    /// Begins to share. Those who died before it came are forgotten first.
    pub(super) fn enroll(self: &Arc<Self>) {
        let mut state = self.lock();
        let Some(sharing) = &state.sharing else {
            return;
        };
        let own: Arc<dyn Called> = Arc::<Self>::clone(self);
        sharing.store.listen(Arc::downgrade(&own));
        let dead = self.step(&mut state, |engine, _, _, _| engine.owners());
        let dead = self.dead_among(&state, dead.into_iter());
        let telemetry = &self.telemetry;
        let due = self.step(&mut state, |engine, waiters, now, _| {
            for owner in dead {
                waiters.apply(engine.gone(now, owner), telemetry);
            }
            waiters.apply(engine.enroll(now), telemetry)
        });
        self.release(state, due);
    }

    /// One input as one step of the store; alone, if that is what it became.
    pub(super) fn step<T>(
        &self,
        state: &mut State,
        input: impl FnOnce(&mut Engine, &mut Waiters, Timestamp, &mut dyn Sections) -> T,
    ) -> T {
        let State {
            engine,
            waiters,
            last,
            sharing,
        } = state;
        let mut input = Some(input);
        let mut said = None;
        let mut newer = None;
        if let Some(sharing) = sharing.as_deref_mut().filter(|own| own.fault.is_none()) {
            let done = sharing.store.step(&mut |sections| {
                let loaded = engine.load(sections);
                if !sharing.resumed || loaded == Ok(false) {
                    sharing.store.resume(engine.latest(), sections);
                    sharing.resumed = true;
                }
                let now = self.clock.now().max(engine.latest());
                *last = now;
                if let Err(unreadable) = loaded {
                    if unreadable.is_newer() {
                        newer = Some(StoreFault(unreadable.to_string().into()));
                        return;
                    }
                    tracing::warn!(pace = &*self.name, %unreadable, "begun anew");
                    engine.distrust(now);
                }
                let Some(input) = input.take() else {
                    return;
                };
                said = Some(input(engine, waiters, now, sections));
                engine.save(now, generation(now, &mut sharing.rng), sections);
            });
            if let Some(fault) = done.err().or(newer) {
                tracing::warn!(pace = &*self.name, %fault, "not shared any more: it keeps a pace of its own");
                sharing.fault = Some(fault);
                let now = self.clock.now().max(engine.latest());
                if input.is_some() && engine.latest() == Timestamp::ZERO {
                    engine.distrust(now);
                }
                let me = sharing.store.owner();
                for owner in engine.owners().into_iter().filter(|owner| *owner != me) {
                    waiters.apply(engine.gone(now, owner), &self.telemetry);
                }
            }
        }
        match (said, input) {
            (Some(said), _) => said,
            (None, Some(input)) => {
                *last = self.clock.now().max(engine.latest());
                input(engine, waiters, *last, &mut Nowhere)
            }
            (None, None) => unreachable!("an input that was taken says something"),
        }
    }

    /// Looks by itself: at the line, and after the others if nobody did of late.
    pub(super) fn look(&self, state: &mut State) -> Option<paceline_engine::Deadline> {
        let telemetry = &self.telemetry;
        if state.sharing.is_none() {
            return self.step(state, |engine, waiters, now, _| {
                waiters.apply(engine.handle_timeout(now), telemetry)
            });
        }
        let (due, others) = self.step(state, |engine, waiters, now, sections| {
            let due = waiters.apply(engine.handle_timeout(now), telemetry);
            let others = is_time_to_look(now, sections).then(|| engine.owners());
            (due, others)
        });
        let dead = self.dead_among(state, others.into_iter().flatten());
        if dead.is_empty() {
            return due;
        }
        self.step(state, |engine, waiters, now, _| {
            let mut due = due;
            for owner in dead {
                due = waiters.apply(engine.gone(now, owner), telemetry);
            }
            due
        })
    }

    /// Asked outside of a step: it takes long.
    fn dead_among(&self, state: &State, owners: impl Iterator<Item = Owner>) -> Vec<Owner> {
        let Some(sharing) = state.sharing.as_deref() else {
            return Vec::new();
        };
        let me = sharing.store.owner();
        owners
            .filter(|owner| *owner != me && !sharing.store.is_alive(*owner))
            .collect()
    }

    /// Takes its leave of the others.
    pub(super) fn retire(&self) {
        let mut state = self.lock();
        let Some(me) = state.sharing.as_ref().map(|sharing| sharing.store.owner()) else {
            return;
        };
        let telemetry: &Telemetry = &self.telemetry;
        let due = self.step(&mut state, |engine, waiters, now, _| {
            waiters.apply(engine.gone(now, me), telemetry)
        });
        self.release(state, due);
    }
}

impl Called for Shared {
    fn called(&self) {
        let mut state = self.lock();
        let telemetry = &self.telemetry;
        let due = self.step(&mut state, |engine, waiters, now, _| {
            waiters.apply(engine.handle_timeout(now), telemetry)
        });
        self.release(state, due);
    }
}

/// Whether it is, and notes that somebody does.
fn is_time_to_look(now: Timestamp, sections: &mut dyn Sections) -> bool {
    let looked = sections.get(LOOKED).and_then(|bytes| bytes.try_into().ok());
    let looked = Timestamp::from_nanos(looked.map_or(0, u64::from_le_bytes));
    let is_time = now.since(looked) >= LOOK_AROUND || looked > now;
    if is_time {
        sections.put(LOOKED, &now.as_nanos().to_le_bytes());
    }
    is_time
}

/// The time in steps of about four milliseconds, and something random: later records have larger numbers.
fn generation(now: Timestamp, rng: &mut fastrand::Rng) -> u64 {
    const RANDOM: u64 = (1 << 22) - 1;
    (now.as_nanos() & !RANDOM) | (rng.u64(..) & RANDOM)
}

/// The record of a pace that is alone.
struct Nowhere;

impl Sections for Nowhere {
    fn get(&self, _: u32) -> Option<&[u8]> {
        None
    }

    fn put(&mut self, _: u32, _: &[u8]) {}
}
