//! Why there is no state folder: what, where, and what would be right, in one line.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why processes cannot share here. The text is one line: what is wrong, where, and what would be right.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// This operating system has not what sharing needs.
    #[error("processes cannot share a pace on this operating system: it is built for Unix alone")]
    Unsupported,

    /// Nobody says where the state folder is.
    #[error(
        "no state folder: this user has no home folder; set PACELINE_STATE_DIR to an absolute path"
    )]
    NoHome,

    /// `$PACELINE_STATE_DIR` depends on where a process was started.
    #[error(
        "PACELINE_STATE_DIR is {0:?}: started elsewhere, a process would not share it; make it an absolute path"
    )]
    Relative(PathBuf),

    /// Something else has its name.
    #[error(
        "{path:?} is {what}, not a folder: remove it, or set PACELINE_STATE_DIR to another path"
    )]
    NotAFolder {
        /// Where it is.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },

    /// Whoever can change the link chooses what we trust.
    #[error(
        "{path:?} is a symbolic link, which may come to lead elsewhere: set PACELINE_STATE_DIR to the folder itself"
    )]
    Symlink {
        /// Where it is.
        path: PathBuf,
    },

    /// Another user could change what we read.
    #[error(
        "{path:?} belongs to user {owner}, we are user {us}: set PACELINE_STATE_DIR to a folder of our own"
    )]
    Foreign {
        /// Where it is.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        us: u32,
    },

    /// Locks, shared memory and bells are those of one machine.
    #[error(
        "{path:?} is on a network file system ({kind}), where locks, shared memory and bells do not reach the \
         other processes: set PACELINE_STATE_DIR to a folder on a local disk"
    )]
    Network {
        /// Where it is.
        path: PathBuf,
        /// The kind of file system.
        kind: String,
    },

    /// It cannot be written to.
    #[error(
        "{path:?} cannot be written to ({why}): give it mode 0700 on a file system that is writable, or set \
         PACELINE_STATE_DIR to another path"
    )]
    NotWritable {
        /// Where it is.
        path: PathBuf,
        /// What the operating system says.
        why: String,
    },

    /// There is no room left.
    #[error(
        "{path:?} has no room ({left} left, {least} needed): free some, or set PACELINE_STATE_DIR to another disk"
    )]
    Full {
        /// Where it is.
        path: PathBuf,
        /// What is left, with its unit.
        left: String,
        /// What it takes, with its unit.
        least: &'static str,
    },

    /// The operating system refused something else.
    #[error("{path:?}: {doing} failed: {source}")]
    Io {
        /// Where it was.
        path: PathBuf,
        /// What we were doing.
        doing: &'static str,
        /// What it said.
        source: io::Error,
    },
}
