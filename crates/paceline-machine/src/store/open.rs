//! Opening a store: who else has it open, whether its file may be trusted, and what becomes of one that may not.
//!
//! `open.lock` is held shared by everyone who has the store open; who gets it alone may check the file and set it aside.
//! Exclusive cannot become shared without a gap, so that `turn.lock` is held while all this is done: one at a time.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use heed::{CommitOrAbort, Env, EnvFlags, EnvOpenOptions, WithoutTls};

use super::files::{self, FILE, SetAside};
use super::reserve::{FIRST_CHANGE, Reserved};
use super::sections::Data;
use super::{LAYOUT, LAYOUT_KEY, MAP_SIZE, Store, StoreError};

/// Opening takes a millisecond. Who takes this long is stopped.
const PATIENCE: Duration = Duration::from_secs(5);
/// A store, and what became of the one that was there.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// A store that was there and could not be used. What it knew is lost, pauses too.
    pub set_aside: Option<SetAside>,
}

/// What the handles of one process share. LMDB must not be opened twice, and closing any second handle of its lock file would
/// take the process's lock away, so that there is one of these for a folder.
#[derive(Debug)]
pub(super) struct Shared {
    folder: PathBuf,
    path: PathBuf,
    /// `None` only while it is dropped.
    env: Option<Env<WithoutTls>>,
    data: Data,
    page_size: usize,
    pub(super) file: File,
    pub(super) reserved: Reserved,
    _open: File,
}

static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Shared>>>> = LazyLock::new(Mutex::default);
static CLOSED: Condvar = Condvar::new();

fn registry() -> MutexGuard<'static, HashMap<PathBuf, Weak<Shared>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    #[inline]
    pub(super) fn env(&self) -> &Env<WithoutTls> {
        self.env
            .as_ref()
            .expect("it is there until this is dropped")
    }

    #[inline]
    pub(super) fn data(&self) -> &Data {
        &self.data
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[inline]
    pub(super) fn page_size(&self) -> usize {
        self.page_size
    }

    pub(super) fn size(&self) -> u64 {
        (self.env().info().last_page_number as u64 + 1) * self.page_size as u64
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut registry = registry();
        drop(self.env.take());
        registry.remove(&self.folder);
        CLOSED.notify_all();
    }
}

pub(super) fn open(folder: &Path) -> Result<Opened, StoreError> {
    let folder = fs::canonicalize(folder).map_err(|error| StoreError::io("find", folder, error))?;
    let mut registry = registry();
    while let Some(known) = registry.get(&folder) {
        if let Some(open) = known.upgrade() {
            return Ok(Opened {
                store: Store { open },
                set_aside: None,
            });
        }
        // Its last handle is being dropped by another thread.
        registry = CLOSED
            .wait(registry)
            .unwrap_or_else(PoisonError::into_inner);
    }
    let (open, set_aside) = open_new(&folder)?;
    let open = Arc::new(open);
    registry.insert(folder, Arc::downgrade(&open));
    let begun = open.begin();
    // Before `open` may be dropped, which takes this lock.
    drop(registry);
    begun.map(|()| Opened {
        store: Store { open },
        set_aside,
    })
}

fn open_new(folder: &Path) -> Result<(Shared, Option<SetAside>), StoreError> {
    let path = folder.join(FILE);
    let failed = |error| StoreError::lmdb("open", &path, error);
    let (env, users, set_aside) = map_checked(folder, &path)?;
    // Not before the next one has its turn: this waits for others' steps.
    let data = database(&env).map_err(failed)?;
    let file = env.try_clone_inner_file().map_err(failed)?;
    let page_size = env.unnamed_database_stat().page_size as usize;
    let (folder, env, reserved) = (folder.into(), Some(env), Reserved::default());
    Ok((
        Shared {
            folder,
            path,
            env,
            data,
            page_size,
            file,
            reserved,
            _open: users,
        },
        set_aside,
    ))
}

fn map_checked(
    folder: &Path,
    path: &Path,
) -> Result<(Env<WithoutTls>, File, Option<SetAside>), StoreError> {
    let (turn_path, open_path) = (folder.join("turn.lock"), folder.join("open.lock"));
    let turn = files::lock_file(&turn_path)?;
    wait_for(&turn, &turn_path)?;
    let users = files::lock_file(&open_path)?;
    let failed = |error| StoreError::io("lock", &open_path, error);
    let set_aside = match users.try_lock() {
        Ok(()) => {
            let set_aside = files::alone(folder)?;
            users.unlock().map_err(failed)?;
            set_aside
        }
        Err(TryLockError::WouldBlock) => {
            files::beside_others(folder)?;
            None
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    };
    users.lock_shared().map_err(failed)?;
    let env = map(path).map_err(|error| StoreError::lmdb("open", path, error))?;
    Ok((env, users, set_aside))
}

#[expect(
    unsafe_code,
    reason = "LMDB trusts its file: it was checked, is the user's own, and all who write it follow LMDB's locks"
)]
fn map(path: &Path) -> Result<Env<WithoutTls>, heed::Error> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    // No table of readers: with the usual one LMDB makes the lock file longer, by a hole.
    options.map_size(MAP_SIZE).max_readers(1);
    // SAFETY: nothing of this project changes the file without LMDB; `Shared` keeps a process from opening it twice; and
    // what a power loss leaves of it, with `NO_SYNC`, is checked before the next opening.
    unsafe {
        options.flags(EnvFlags::NO_SUB_DIR | EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP);
        options.open(path)
    }
}

/// Finds the database.
fn database(env: &Env<WithoutTls>) -> Result<Data, heed::Error> {
    let txn = env.write_txn()?;
    let data = env.create_databases_and_commit(txn, |open, txn| {
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(
            open.create_database(txn, None)?,
        ))
    })?;
    Ok(data.commit().expect("it does not abort"))
}

impl Shared {
    /// Looks which layout is in it. A new one gets ours.
    fn begin(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::lmdb("begin", &self.path, error);
        let mut txn = self.env().write_txn().map_err(failed)?;
        match self
            .data
            .get(&txn, LAYOUT_KEY)
            .map_err(failed)?
            .map(<[u8; 4]>::try_from)
        {
            Some(Ok(found)) => match u32::from_be_bytes(found) {
                LAYOUT => Ok(()),
                found => Err(StoreError::Newer {
                    path: self.path.clone(),
                    found,
                }),
            },
            Some(Err(_)) => Err(StoreError::Damaged {
                path: self.path.clone(),
                what: "its layout has no number".into(),
            }),
            None => {
                self.reserve(FIRST_CHANGE)?;
                self.data
                    .put(&mut txn, LAYOUT_KEY, &LAYOUT.to_be_bytes())
                    .map_err(failed)?;
                txn.commit().map_err(failed)
            }
        }
    }
}

fn wait_for(turn: &File, path: &Path) -> Result<(), StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match turn.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", path, error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                return Err(StoreError::Busy {
                    path: path.into(),
                    seconds: PATIENCE.as_secs(),
                });
            }
            // There is no way to be woken and to give up in time.
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}
