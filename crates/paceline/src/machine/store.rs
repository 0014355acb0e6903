//! One record in the machine's store.

use core::fmt;
use core::num::NonZeroU64;
use std::sync::{Arc, Weak};

use paceline_engine::{Owner, Timestamp};
use paceline_machine::store::{Room as Kept, Sections as Bytes};

use super::Machine;
use super::clock::{self, SharedClock};
use crate::driver::{Called, Sections, Store, StoreFault};
use crate::partition::Partition;

/// What a record keeps of its clock: a section that the engine knows nothing of.
pub(super) const CLOCK: u32 = 9;
/// What people call it.
pub(super) const NAME: u32 = 10;

/// The record of one quota.
pub(crate) struct Room {
    machine: Machine,
    sections: Kept,
    name: Box<str>,
    number: u64,
    clock: Arc<SharedClock>,
}

impl Room {
    pub(super) fn new(machine: Machine, name: &str, partition: Option<Partition>) -> Self {
        let partition = partition.map(Partition::to_bytes);
        let quota = [
            Some(name.as_bytes()),
            partition.as_ref().map(<[u8; 16]>::as_slice),
        ];
        let key = machine.keyer().partition(quota).to_bytes();
        Self {
            sections: machine.inner.store.room(key),
            number: machine.number(),
            name: name.into(),
            clock: Arc::new(SharedClock::new(machine.inner.boot.clone())),
            machine,
        }
    }

    pub(crate) fn clock(&self) -> Arc<SharedClock> {
        Arc::clone(&self.clock)
    }
}

impl Store for Room {
    fn owner(&self) -> Owner {
        Owner::new(NonZeroU64::new(self.number).unwrap_or(NonZeroU64::MIN))
    }

    fn step(&self, step: &mut dyn FnMut(&mut dyn Sections)) -> Result<(), StoreFault> {
        let done = self.sections.step(|sections| step(&mut Open(sections)));
        done.map_err(|error| StoreFault(error.to_string().into()))
    }

    fn resume(&self, latest: Timestamp, sections: &mut dyn Sections) {
        let kept = sections.get(CLOCK).and_then(clock::Kept::read);
        let kept = self.clock.resume(kept, latest);
        sections.put(CLOCK, &kept.write());
        if sections.get(NAME) != Some(self.name.as_bytes()) {
            sections.put(NAME, self.name.as_bytes());
        }
    }

    fn call(&self, owner: Owner) {
        let bell = owner.number() >> 16;
        if bell == self.machine.inner.bell.number() {
            self.machine.inner.listeners.call(owner.number());
        } else {
            self.machine.ring(bell);
        }
    }

    fn is_alive(&self, owner: Owner) -> bool {
        let bell = owner.number() >> 16;
        match bell == self.machine.inner.bell.number() {
            true => self.machine.inner.listeners.has(owner.number()),
            false => self.machine.is_alive(bell),
        }
    }

    fn listen(&self, own: Weak<dyn Called>) {
        let mut all = self.machine.inner.listeners.lock();
        all.insert(self.number, own);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.machine.inner.listeners.lock().remove(&self.number);
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A step's sections, as the engine knows them.
pub(super) struct Open<'a, 's>(pub(super) &'a mut Bytes<'s>);

impl Sections for Open<'_, '_> {
    fn get(&self, section: u32) -> Option<&[u8]> {
        self.0.get(section)
    }

    fn put(&mut self, section: u32, bytes: &[u8]) {
        self.0.put(section, bytes);
    }
}
