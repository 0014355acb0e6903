//! Where a machine's paces are kept: sections of bytes by room and number, in one LMDB file that processes share.
//!
//! A step is one write transaction: what it reads cannot change under it, what it writes is there as a whole or not at all,
//! also when its process is killed in the middle; the lock is LMDB's robust mutex, which a dead process leaves behind for the
//! next one to take.
//!
//! - There are no read transactions. LMDB knows readers by process id and forgets those whose process it cannot find. In a
//!   folder that containers share, the process may be alive under another number, and the pages that it reads would be
//!   overwritten.
//! - `NO_SYNC`: after a power loss the file may be damaged, and is set aside like any other damage. What survives a killed
//!   process is the page cache, for which nothing needs to be written out; a step would take milliseconds otherwise.
//! - `WRITE_MAP`: the pages are changed in the map. Without it each commit copies them and calls the system three times: 3.5 µs
//!   a step where this takes 0.36. Its price: a hole in a full file system is a signal instead of an error, so that blocks
//!   are reserved ahead (`sections.rs`); and whoever cuts the file off while it is open kills its users.
//! - A process that forks must not use a store which its parent opened.

mod check;
mod error;
mod files;
mod open;
mod page;
mod reserve;
mod sections;
mod tree;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

pub use check::Sound;
pub use error::{Filled, StoreError};
pub use files::SetAside;
pub use open::Opened;
pub use sections::{Look, Sections};

/// The version of what is kept under which key. What a section holds has versions of its own.
pub(crate) const LAYOUT: u32 = 1;
/// Shorter than the keys of rooms, so that it is none.
const LAYOUT_KEY: &[u8] = b"layout";
/// Rooms of 300 bytes take 0.6 KiB, so that this is room for 100,000. It is address space; the file has blocks only for
/// what is used, and the next MiB.
pub(crate) const MAP_SIZE: usize = 64 << 20;

/// A machine's paces, open. Clones are the same store.
#[derive(Clone, Debug)]
pub struct Store {
    open: Arc<open::Shared>,
}

/// The sections of one pace.
#[derive(Clone, Debug)]
pub struct Room {
    store: Store,
    key: [u8; 16],
}

thread_local! {
    static IN_STEP: Cell<bool> = const { Cell::new(false) };
}

impl Store {
    /// Opens the store in `folder`, which must exist and be the user's own. Where it is missing it is begun; where it is
    /// damaged and nobody else has it open, it is set aside and begun anew, and the answer says so.
    pub fn open(folder: &Path) -> Result<Opened, StoreError> {
        open::open(folder)
    }

    /// Reads all of a store's file, which nobody may write meanwhile, and says what is in it. `None` where it is empty.
    pub fn check(file: &Path) -> Result<Option<Sound>, StoreError> {
        files::check(file)
    }

    /// The room of `key`. It need not hold anything.
    pub fn room(&self, key: [u8; 16]) -> Room {
        Room {
            store: self.clone(),
            key,
        }
    }

    /// Looks at every room, in the order of their keys. Everybody else's steps wait meanwhile: 10,000 rooms take some
    /// milliseconds.
    pub fn rooms(&self, mut each: impl FnMut([u8; 16], &Look<'_>)) -> Result<(), StoreError> {
        let _alone = Alone::begin(&self.open)?;
        sections::rooms(&self.open, &mut each)
    }

    /// How many bytes of its file are in use, or were.
    pub fn size(&self) -> u64 {
        self.open.size()
    }
}

impl Room {
    /// One step: `change` sees the sections and changes them. All of its changes are kept, or none if an error is returned.
    ///
    /// It keeps every other process's steps waiting, so it should take microseconds. It cannot begin another step. If it
    /// panics nothing is kept.
    #[inline]
    pub fn step<T>(&self, change: impl FnOnce(&mut Sections<'_>) -> T) -> Result<T, StoreError> {
        let _alone = Alone::begin(&self.store.open)?;
        let mut sections = Sections::begin(&self.store.open, self.key)?;
        let said = change(&mut sections);
        sections.end()?;
        Ok(said)
    }

    /// Removes all of its sections; says whether there were any.
    pub fn remove(&self) -> Result<bool, StoreError> {
        self.step(|sections| sections.clear())
    }
}

/// This thread is in a step. A second one would wait for the lock that the first one holds, for ever.
struct Alone;

impl Alone {
    #[inline]
    fn begin(open: &open::Shared) -> Result<Self, StoreError> {
        if IN_STEP.replace(true) {
            Err(StoreError::Nested {
                path: open.path().into(),
            })
        } else {
            Ok(Self)
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        IN_STEP.set(false);
    }
}

#[cfg(test)]
mod tests;
