//! What all paces of a machine are at, for people and scripts, and taking back what one of them believes.

use std::num::NonZeroU64;

use paceline_engine::{Effect, Engine, Owner, Sections, Snapshot, Timestamp};
use paceline_machine::store::Look;

use super::clock::Kept;
use super::store::{CLOCK, NAME, Open};
use super::{Machine, MachineError};

/// One quota that processes share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shared {
    /// The upstream's name, or its origin.
    pub name: String,
    /// How many paces of living or unburied processes take part.
    pub owners: usize,
    /// What it is at.
    pub snapshot: Snapshot,
}

impl Machine {
    /// Every quota that is shared here, used or idle, by name.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. A record that cannot be read is left out.
    pub fn shared(&self) -> Result<Vec<Shared>, MachineError> {
        let mut all = Vec::new();
        let each = |_: [u8; 16], look: &Look<'_>| all.extend(self.look(&Seen(look)));
        self.inner.store.rooms(each).map_err(MachineError::Store)?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Lets gates of this name, or all gates of a quota of this name, forget what they learned and were told: pauses, windows,
    /// beliefs, an open circuit. What was spent of configured limits stays spent. How many did.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or written.
    pub fn reset(&self, name: &str) -> Result<usize, MachineError> {
        let mut keys = Vec::new();
        let each = |key: [u8; 16], _: &Look<'_>| keys.push(key);
        self.inner.store.rooms(each).map_err(MachineError::Store)?;
        let mut reset = 0;
        for key in keys {
            let mut called = Vec::new();
            let room = self.inner.store.room(key);
            let done = room.step(|sections| {
                let mut open = Open(sections);
                let Some((mut engine, now, quota)) = self.replica(&open) else {
                    return 0;
                };
                let gates = engine.snapshot(now).gates.into_iter();
                let named = gates.filter(|gate| quota == name || *gate.name == *name);
                let places: Vec<_> = named.map(|gate| gate.place).collect();
                for place in &places {
                    let mut effects = engine.reset(now, *place);
                    called.extend(effects.by_ref().filter_map(called_by));
                    effects.finish();
                }
                engine.save(now, now.as_nanos(), &mut open);
                places.len()
            });
            reset += done.map_err(MachineError::Store)?;
            for owner in called {
                self.ring(owner.number() >> 16);
            }
        }
        Ok(reset)
    }

    fn look(&self, sections: &Seen<'_, '_>) -> Option<Shared> {
        let (engine, now, name) = self.replica(sections)?;
        Some(Shared {
            name,
            owners: engine.owners().len(),
            snapshot: engine.snapshot(now),
        })
    }

    /// An engine that knows a record and takes no part in it, the record's time, and what people call it.
    fn replica(&self, sections: &impl Sections) -> Option<(Engine, Timestamp, String)> {
        let mut engine = Engine::new(0, 0);
        engine.share(Owner::new(NonZeroU64::new(self.number())?));
        engine.load(sections).ok().filter(|found| *found)?;
        let kept = sections.get(CLOCK).and_then(Kept::read)?;
        let now = kept.now(&self.inner.boot).max(engine.latest());
        let name = String::from_utf8_lossy(sections.get(NAME)?).into_owned();
        Some((engine, now, name))
    }
}

fn called_by(effect: Effect) -> Option<Owner> {
    match effect {
        Effect::Call { owner } => Some(owner),
        _ => None,
    }
}

/// Sections that are only looked at.
struct Seen<'a, 's>(&'a Look<'s>);

impl Sections for Seen<'_, '_> {
    fn get(&self, section: u32) -> Option<&[u8]> {
        self.0.get(section)
    }

    fn put(&mut self, _: u32, _: &[u8]) {}
}
