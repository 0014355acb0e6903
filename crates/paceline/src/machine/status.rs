//! What all paces of a machine are at, for people and scripts.

use core::fmt;
use std::num::NonZeroU64;

use paceline_engine::{Engine, GateSnapshot, Owner, Sections, Snapshot, Timestamp, Unreadable};
use paceline_machine::store::Look;

use super::clock::Kept;
use super::store::{CLOCK, NAME};
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
    room: [u8; 16],
}

/// One gate of all that are shared here, whatever others are called: what [`Machine::pause`] is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GateKey {
    /// The record.
    pub room: [u8; 16],
    /// Its place, as its snapshot tells.
    pub place: usize,
    /// What the gate is called: its place may be used again for another one.
    pub name: Box<str>,
}

/// Everything that there is to see at one time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// Every quota that is shared, used or idle, by name.
    pub shared: Vec<Shared>,
    /// What is there as well and cannot be read.
    pub left_out: Vec<LeftOut>,
}

/// A quota whose record cannot be read. As a line: which, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeftOut {
    /// The upstream's name, or its origin.
    pub name: String,
    /// Why.
    pub why: Unreadable,
}

impl Machine {
    /// Every quota that is shared here, used or idle, by name.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. A record that cannot be read is left out; a [`survey`](Self::survey) says which.
    pub fn shared(&self) -> Result<Vec<Shared>, MachineError> {
        Ok(self.survey()?.shared)
    }

    /// The same, with what had to be left out.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn survey(&self) -> Result<Survey, MachineError> {
        let mut all = Survey::default();
        let each = |room: [u8; 16], look: &Look<'_>| match self.replica(&Seen(look)) {
            Ok(Some((engine, now, name))) => all.shared.push(Shared {
                name,
                owners: engine.owners().len(),
                snapshot: engine.snapshot(now),
                room,
            }),
            Ok(None) => {}
            Err(why) => all.left_out.push(LeftOut {
                name: name(&Seen(look)).unwrap_or_else(|| "a quota".into()),
                why,
            }),
        };
        self.inner.store.rooms(each).map_err(MachineError::Store)?;
        all.shared.sort_by(|a, b| a.name.cmp(&b.name));
        all.left_out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// An engine that knows a record and takes no part in it, the record's time, and what people call it.
    pub(super) fn replica(
        &self,
        sections: &impl Sections,
    ) -> Result<Option<(Engine, Timestamp, String)>, Unreadable> {
        let mut engine = Engine::new(0, 0);
        let onlooker = NonZeroU64::new(self.onlooker());
        engine.share(Owner::new(onlooker.unwrap_or(NonZeroU64::MIN)));
        let found = engine.load(sections)?;
        let kept = sections.get(CLOCK).and_then(Kept::read);
        let (Some(kept), Some(name), true) = (kept, name(sections), found) else {
            return Ok(None);
        };
        let now = kept.now(&self.inner.boot).max(engine.latest());
        Ok(Some((engine, now, name)))
    }
}

impl Shared {
    /// What to say to mean a gate of its snapshot.
    pub fn key(&self, gate: &GateSnapshot) -> GateKey {
        GateKey {
            room: self.room,
            place: gate.place,
            name: gate.name.clone(),
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, why } = self;
        let update = if why.is_newer() {
            "; update this program"
        } else {
            ""
        };
        write!(f, "{name} is left out: {why}{update}")
    }
}

fn name(sections: &impl Sections) -> Option<String> {
    Some(String::from_utf8_lossy(sections.get(NAME)?).into_owned())
}

/// Sections that are only looked at.
struct Seen<'a, 's>(&'a Look<'s>);

impl Sections for Seen<'_, '_> {
    fn get(&self, section: u32) -> Option<&[u8]> {
        self.0.get(section)
    }

    fn put(&mut self, _: u32, _: &[u8]) {}
}
