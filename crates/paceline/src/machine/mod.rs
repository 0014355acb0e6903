//! One pace for all processes of a user on a machine (feature `machine`).
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let machine = paceline::Machine::open()?;
//! let pace = paceline::Pace::builder("api").limit("10/s burst 50".parse()?).machine(&machine).build();
//! # drop(pace); Ok(()) }
//! ```
//!
//! Every program that builds a pace of this name on this machine, as this user, has the same one: limits, pauses, windows,
//! what was learned, places in flight, and the line, in which whoever came first goes first. Whoever dies gives back its
//! places within a second.

mod by_hand;
mod clock;
mod status;
mod store;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use paceline_machine::store::{Store, StoreError};
use paceline_machine::{Bell, Bells, Folder, FolderError, Rung, place, sweep};

use crate::driver::Called;
use crate::partition::{Partition, PartitionKeyer};
use clock::Boot;
pub use status::{GateKey, LeftOut, Shared, Survey};
pub(crate) use store::Room;

/// What the processes of one user on this machine share. Clones are the same.
#[derive(Clone)]
pub struct Machine {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    store: Store,
    boot: Boot,
    keyer: PartitionKeyer,
    bells: Mutex<Bells>,
    bell: Bell,
    listeners: Arc<Listeners>,
    next: AtomicU64,
    notes: Vec<String>,
}

/// Who looks when our bell rings.
#[derive(Default)]
struct Listeners(Mutex<BTreeMap<u64, Weak<dyn Called>>>);

/// Why there is nothing to share. One line: what, where, and what would be right.
#[derive(Debug)]
#[non_exhaustive]
pub enum MachineError {
    /// The folder.
    Folder(FolderError),
    /// The store in it.
    Store(StoreError),
    /// The bell in it.
    Bell(std::io::Error, PathBuf),
}

impl Machine {
    /// In `$PACELINE_STATE_DIR`, else in `paceline` in the user's folder for state. A program that opens it twice has one.
    ///
    /// # Errors
    ///
    /// If the folder is not the user's own, is on a network file system, cannot be written, or is full.
    pub fn open() -> Result<Self, MachineError> {
        let place = place(|name| std::env::var_os(name)).map_err(MachineError::Folder)?;
        Self::open_in(&place)
    }

    /// In this folder.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(folder: &Path) -> Result<Self, MachineError> {
        Self::of(Folder::open(folder).map_err(MachineError::Folder)?)
    }

    fn of(mut folder: Folder) -> Result<Self, MachineError> {
        static OPEN: Mutex<BTreeMap<PathBuf, Weak<Inner>>> = Mutex::new(BTreeMap::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let path: PathBuf = folder.path().into();
        if let Some(inner) = open.get(&path).and_then(Weak::upgrade) {
            return Ok(Self { inner });
        }
        let boot = Boot::read().map_err(MachineError::Folder)?;
        let key = folder.key().map_err(MachineError::Folder)?;
        let opened = Store::open(&path).map_err(MachineError::Store)?;
        let listeners = Arc::<Listeners>::default();
        let heard = Arc::clone(&listeners);
        let bell = Bell::hang(&path, move || heard.rung());
        let bell = bell.map_err(|error| MachineError::Bell(error, path.clone()))?;
        // What the dead left there is in nobody's way.
        let _ = sweep(&path);
        let set_aside = opened.set_aside.map(|set_aside| set_aside.to_string());
        let remarks = folder.remarks().iter().cloned();
        let inner = Arc::new(Inner {
            store: opened.store,
            boot,
            keyer: PartitionKeyer::with_key(*key.as_bytes()),
            bells: Mutex::new(Bells::new(&path)),
            bell,
            listeners,
            next: AtomicU64::new(0),
            notes: remarks.chain(set_aside).collect(),
            path: path.clone(),
        });
        open.insert(path, Arc::downgrade(&inner));
        Ok(Self { inner })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What was damaged and set aside when it was opened, a line each, for people.
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    pub(crate) fn keyer(&self) -> PartitionKeyer {
        self.inner.keyer
    }

    /// The record of one quota.
    pub(crate) fn room(&self, name: &str, partition: Option<Partition>) -> Room {
        Room::new(self.clone(), name, partition)
    }

    /// Rings another process; whether somebody heard it.
    fn ring(&self, bell: u64) {
        let mut bells = self
            .inner
            .bells
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match bells.ring(bell) {
            Ok(Rung::Heard | Rung::Dead) => {}
            Err(error) => tracing::debug!(%error, "a bell cannot be rung"),
        }
    }

    /// Whether a process lives; in doubt it does.
    fn is_alive(&self, bell: u64) -> bool {
        let mut bells = self
            .inner
            .bells
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        bells.is_alive(bell).unwrap_or(true)
    }

    /// Somebody of this process who has no part in anything: none of its paces has this number.
    fn onlooker(&self) -> u64 {
        self.inner.bell.number() << 16
    }

    /// Numbers one of our paces among all owners.
    fn number(&self) -> u64 {
        let next = self.inner.next.fetch_add(1, Ordering::Relaxed);
        self.inner.bell.number() << 16 | (next % 0xffff + 1)
    }
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<dyn Called>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, number: u64) -> bool {
        self.lock().contains_key(&number)
    }

    /// Another pace of this process calls it.
    fn call(&self, number: u64) {
        let own = self.lock().get(&number).and_then(Weak::upgrade);
        if let Some(own) = own {
            own.called();
        }
    }

    fn rung(&self) {
        let all: Vec<_> = self.lock().values().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|own| own.called());
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Machine").field(&self.inner.path).finish()
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Bell(error, path) => {
                write!(f, "cannot make a named pipe in {}: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for MachineError {}
