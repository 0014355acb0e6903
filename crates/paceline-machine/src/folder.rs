//! The folder that a user's processes share: whose it is, who may look into it, and on which kind of disk.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use rustix::fs::statfs;
use rustix::process::geteuid;

/// Names the folder, if the user wants another one.
pub const VARIABLE: &str = "PACELINE_STATE_DIR";

/// Where the bells are.
pub const BELLS: &str = "bells";

/// A folder that can be shared.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Why a folder cannot be shared. One line: what, where, and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// Nobody says where it is.
    #[error("there is no home folder: name a folder for shared state in {VARIABLE}")]
    Homeless,
    /// A path that depends on where a program was started is no place to meet.
    #[error("{VARIABLE} is {}, which is not an absolute path", path.display())]
    Relative {
        /// What it names.
        path: PathBuf,
    },
    /// The operating system refuses.
    #[error("cannot {doing} {}: {source}; it must be a folder that this user can write", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// It is not a folder of the user's own.
    #[error("{} {what}; it must be a folder of this user's own: name another one in {VARIABLE}", path.display())]
    Foreign {
        /// Which one.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// Locks and pipes of such a file system do not reach other machines, or not even processes of this one.
    #[error("{} is on a network file system ({kind}), where processes cannot share a lock: name a local folder in {VARIABLE}", path.display())]
    Network {
        /// Which folder.
        path: PathBuf,
        /// Its kind.
        kind: &'static str,
    },
}

impl Folder {
    /// The folder that `variable` says (`std::env::var_os` does), or `paceline` in the user's folder for state: by the XDG
    /// conventions, on macOS and Windows by theirs. It is made if it is not there.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, FolderError> {
        match variable(VARIABLE).filter(|value| !value.is_empty()) {
            Some(path) => Self::open(&PathBuf::from(path)),
            None => {
                let dirs = etcetera::choose_base_strategy().map_err(|_| FolderError::Homeless)?;
                let state = dirs.state_dir().unwrap_or_else(|| dirs.data_dir());
                Self::open(&state.join("paceline"))
            }
        }
    }

    /// This folder. It is made if it is not there.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        if !path.is_absolute() {
            let path = path.into();
            return Err(FolderError::Relative { path });
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|source| failed("make", parent, source))?;
        }
        make(path)?;
        local(path)?;
        make(&path.join(BELLS))?;
        Ok(Self { path: path.into() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A folder of ours that nobody else can look into.
fn make(path: &Path) -> Result<(), FolderError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => return Err(failed("make", path, source)),
    }
    let found = fs::symlink_metadata(path).map_err(|source| failed("look at", path, source))?;
    let foreign = |what: String| {
        let path = path.into();
        Err(FolderError::Foreign { path, what })
    };
    if found.is_symlink() {
        return foreign("is a symbolic link".into());
    }
    if !found.is_dir() {
        return foreign("is not a folder".into());
    }
    if found.uid() != geteuid().as_raw() {
        return foreign(format!("belongs to user {}", found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))
            .map_err(|source| failed("close to others", path, source))?;
    }
    Ok(())
}

/// By the magic numbers of statfs(2).
#[cfg(target_os = "linux")]
fn local(path: &Path) -> Result<(), FolderError> {
    let found = statfs(path).map_err(|error| failed("look at", path, error.into()))?;
    let kind = match found.f_type as u64 & 0xffff_ffff {
        0x6969 => "nfs",
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => "smb",
        0x0102_1997 => "9p",
        0x5346_414f => "afs",
        0x00c3_6400 => "ceph",
        0x0bd0_0bd0 => "lustre",
        0x6573_5546 if is_sshfs(path) => "sshfs",
        _ => return Ok(()),
    };
    let path = path.into();
    Err(FolderError::Network { path, kind })
}

/// FUSE may be anything; what it is stands in the list of mounts.
#[cfg(target_os = "linux")]
fn is_sshfs(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let own = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (at, kind) = (fields.next()?, fields.next()?);
        path.starts_with(at).then_some((at.len(), kind))
    });
    own.max().is_some_and(|(_, kind)| kind == "fuse.sshfs")
}

#[cfg(not(target_os = "linux"))]
fn local(path: &Path) -> Result<(), FolderError> {
    statfs(path).map_err(|error| failed("look at", path, error.into()))?;
    Ok(())
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> FolderError {
    let path = path.into();
    FolderError::Io {
        doing,
        path,
        source,
    }
}
