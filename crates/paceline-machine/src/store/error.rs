//! Why a store cannot be opened, or a step not be made.

use std::fmt::{self, Display};
use std::io;
use std::path::{Path, PathBuf};

use super::{LAYOUT, MAP_SIZE};

/// What stands in the way, where, and what would be right. A step that fails has changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refuses.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Another process has been about to open the store for too long; it may be stopped.
    #[error("another process holds {} for more than {seconds} s: a process that opens the store is stopped or hangs", path.display())]
    Busy {
        /// The file that it holds.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// A file is not one that we may trust.
    #[error("{}: {what}; it must be a file of this user that nobody else can write", path.display())]
    Foreign {
        /// Which one.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// The store is damaged, and other processes have it open, so that it cannot be set aside.
    #[error("{} is damaged ({what}); it is set aside when all processes that use it have ended", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A newer version wrote the store.
    #[error("{} has layout {found}, this version knows {LAYOUT}: update this program", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its layout.
        found: u32,
    },
    /// No room: the disk, or all that the store may have.
    #[error("no room in {}: {what}", path.display())]
    Full {
        /// Which file.
        path: PathBuf,
        /// What is full.
        what: Filled,
    },
    /// A step was begun within a step of the same thread. It would wait for itself.
    #[error("a step of {} was begun within a step", path.display())]
    Nested {
        /// Which file.
        path: PathBuf,
    },
}

/// What can be full.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Filled {
    /// The disk, or the user's share of it.
    Disk,
    /// The store itself.
    Store,
}

impl Display for Filled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk => f.write_str("the disk or the user's quota is full"),
            Self::Store => write!(
                f,
                "the store holds its {} MiB; rooms must be removed",
                MAP_SIZE >> 20
            ),
        }
    }
}

impl StoreError {
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::full(path, Filled::Disk)
            }
            _ => Self::Io {
                doing,
                path: path.into(),
                source,
            },
        }
    }

    pub(super) fn full(path: &Path, what: Filled) -> Self {
        Self::Full {
            path: path.into(),
            what,
        }
    }

    #[cold]
    pub(super) fn lmdb(doing: &'static str, path: &Path, error: heed::Error) -> Self {
        match error {
            heed::Error::Io(error) => Self::io(doing, path, error),
            heed::Error::Mdb(heed::MdbError::MapFull) => Self::full(path, Filled::Store),
            other => Self::Damaged {
                path: path.into(),
                what: other.to_string(),
            },
        }
    }
}
