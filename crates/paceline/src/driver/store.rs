//! Where a pace that several share keeps its record: the seam that memory, machine and fleet fill.

use core::fmt;
use std::sync::Weak;

pub(crate) use paceline_engine::Sections;
use paceline_engine::{Owner, Timestamp};

/// A record that others change as well.
pub(crate) trait Store: Send + Sync + fmt::Debug {
    /// Whom this pace is among those who share it.
    fn owner(&self) -> Owner;

    /// Lets `step` see and change the record while nobody else does. All of its changes are kept, or none if an error is
    /// returned; it may not have been called then.
    fn step(&self, step: &mut dyn FnMut(&mut dyn Sections)) -> Result<(), StoreFault>;

    /// The record goes on, or begins: `latest` is the time of its latest input. Comes first, and again when it was lost.
    fn resume(&self, latest: Timestamp, sections: &mut dyn Sections);

    /// Another owner has to look. It may not hear it.
    fn call(&self, owner: Owner);

    /// Whether an owner's process lives. In doubt it does.
    fn is_alive(&self, owner: Owner) -> bool;

    /// From now on `own` is told when somebody calls this owner.
    fn listen(&self, own: Weak<dyn Called>);
}

/// Who looks when it is called.
pub(crate) trait Called: Send + Sync {
    /// Somebody thinks that there is something to do.
    fn called(&self);
}

/// Why a record can be shared no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreFault(pub(crate) Box<str>);

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
