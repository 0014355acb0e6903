//! The files of a store: whether they may be trusted, and setting aside those that may not.

use std::fmt::{self, Display};
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::check::{self, Fault, Sound, damaged};
use super::{LAYOUT, StoreError};

pub(super) const FILE: &str = "paces.mdb";
const LOCK: &str = "paces.mdb-lock";
/// One page: the mutexes, and a table of readers that is never used.
const LOCK_LEN: usize = 4096;
/// So many bad stores are kept; after that the last one is replaced. The first ones tell more.
const KEPT: u32 = 8;
/// Nobody else may write it.
const OTHERS_WRITE: u32 = 0o022;

/// What was wrong with a store, and where its file is now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SetAside {
    /// The file as it was.
    pub was: PathBuf,
    /// Where it is now.
    pub is: PathBuf,
    /// What was wrong.
    pub why: String,
}

impl Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cannot be used ({}); it is now {}",
            self.was.display(),
            self.why,
            self.is.display()
        )
    }
}

/// Nobody else has the store open: all of it is checked, what fails is set aside, and what LMDB needs is there afterwards.
pub(super) fn alone(folder: &Path) -> Result<Option<SetAside>, StoreError> {
    let (path, lock) = (folder.join(FILE), folder.join(LOCK));
    let whole = |file: &File| match check::whole(file)? {
        Some(Sound {
            layout: Some(found),
            ..
        }) if found > LAYOUT => Err(Fault::Newer(found)),
        _ => Ok(()),
    };
    let found = examine(&path, whole).and_then(|()| examine(&lock, |_| Ok(())));
    let set_aside = match found {
        Ok(()) => None,
        Err(Fault::Damaged(why)) => Some(put_aside(folder, why)?),
        Err(fault) => return Err(at(&path, fault)),
    };
    begin_lock(&lock).map_err(|error| StoreError::io("begin", &lock, error))?;
    Ok(set_aside)
}

/// Others have the store open: what they cannot be changing is looked at, and nothing is done about it.
pub(super) fn beside_others(folder: &Path) -> Result<(), StoreError> {
    let (path, lock) = (folder.join(FILE), folder.join(LOCK));
    examine(&path, |file| check::head(file).map(drop)).map_err(|fault| at(&path, fault))?;
    let whole = |file: &File| match file.metadata()?.len() {
        len if len < LOCK_LEN as u64 => damaged(format!("it was cut off after {len} bytes")),
        _ => Ok(()),
    };
    examine(&lock, whole).map_err(|fault| at(&lock, fault))
}

/// All of a file that nobody has open.
pub(super) fn check(path: &Path) -> Result<Option<Sound>, StoreError> {
    let file = File::open(path).map_err(|error| StoreError::io("open", path, error))?;
    check::whole(&file).map_err(|fault| at(path, fault))
}

/// A file whose lock means something; it is empty. What is in its place may be a trap, so that it is not followed.
pub(super) fn lock_file(path: &Path) -> Result<File, StoreError> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(path);
    let trusted = match opened {
        Ok(file) => trusted(&file).map(|()| file),
        Err(error) => Err(untrusted(path, error)),
    };
    trusted.map_err(|fault| match fault {
        Fault::Damaged(what) => StoreError::Foreign {
            path: path.into(),
            what,
        },
        fault => at(path, fault),
    })
}

/// Opens a file without following it anywhere, and looks into it. A missing one is as good as a sound one.
fn examine(path: &Path, look: impl FnOnce(&File) -> Result<(), Fault>) -> Result<(), Fault> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => trusted(&file).and_then(|()| look(&file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(untrusted(path, error)),
    }
}

fn trusted(file: &File) -> Result<(), Fault> {
    let meta = file.metadata()?;
    let us = rustix::process::geteuid().as_raw();
    if !meta.is_file() {
        damaged("it is no regular file")
    } else if meta.uid() != us {
        damaged(format!(
            "it belongs to user {}, we are user {us}",
            meta.uid()
        ))
    } else if meta.mode() & OTHERS_WRITE != 0 {
        damaged(format!(
            "others can write it, its mode is {:03o}",
            meta.mode() & 0o777
        ))
    } else {
        Ok(())
    }
}

/// It could not even be opened: it may be what we would not trust anyway.
fn untrusted(path: &Path, error: std::io::Error) -> Fault {
    let us = rustix::process::geteuid().as_raw();
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Fault::Damaged("it is a symbolic link".into()),
        Ok(meta) if meta.uid() != us => Fault::Damaged(format!(
            "it belongs to user {}, we are user {us}",
            meta.uid()
        )),
        Ok(meta) if !meta.is_file() => Fault::Damaged("it is no regular file".into()),
        _ => Fault::Io(error),
    }
}

fn at(path: &Path, fault: Fault) -> StoreError {
    match fault {
        Fault::Damaged(what) => StoreError::Damaged {
            path: path.into(),
            what,
        },
        Fault::Newer(found) => StoreError::Newer {
            path: path.into(),
            found,
        },
        Fault::Io(error) => StoreError::io("read", path, error),
    }
}

/// Both files are renamed, whatever they are; nothing is followed or deleted.
fn put_aside(folder: &Path, why: String) -> Result<SetAside, StoreError> {
    let name = |n: u32| folder.join(format!("{FILE}.bad-{n}"));
    let free = (1..KEPT).find(|&n| fs::symlink_metadata(name(n)).is_err());
    let is = name(free.unwrap_or(KEPT));
    let lock = folder.join(format!(
        "{}-lock",
        is.file_name().expect("it was just made").to_string_lossy()
    ));
    for (from, to) in [(folder.join(FILE), &is), (folder.join(LOCK), &lock)] {
        match fs::rename(&from, to) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io("set aside", &from, error));
            }
            _ => {}
        }
    }
    Ok(SetAside {
        was: folder.join(FILE),
        is,
        why,
    })
}

/// LMDB makes its lock file a hole and writes it through a map: on a full disk that is a signal. Written here, it is an error.
fn begin_lock(path: &Path) -> Result<(), std::io::Error> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32);
    let file = options.open(path)?;
    if file.metadata()?.len() != LOCK_LEN as u64 {
        file.set_len(0)?;
        file.write_all_at(&[0; LOCK_LEN], 0)?;
    }
    Ok(())
}
