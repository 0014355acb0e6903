//! The machine's key: what turns names and credentials into hashes that mean nothing elsewhere.
//!
//! It is made once and never changes, since the records of a partition are found by its hash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use crate::folder::FolderError;

const NAME: &str = "key";

/// Somebody who sets aside so many has another trouble.
const ASIDE: u32 = 1000;

/// 16 random bytes that all processes of this folder have, and nobody else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 16]);

impl Key {
    /// The key itself, for a keyed hash.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The key in this folder. What cannot be one is set aside, with a remark, and another is made.
    pub(crate) fn of(folder: &Path, remarks: &mut Vec<String>) -> Result<Self, FolderError> {
        let path = folder.join(NAME);
        found_or_made(folder, &path, remarks).map_err(|source| FolderError::Io {
            path,
            doing: "reading or making the machine's key",
            source,
        })
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// What has the key's name.
enum Found {
    Key(Key),
    Nothing,
    /// Why it cannot be the key.
    Bad(String),
}

fn found_or_made(folder: &Path, path: &Path, remarks: &mut Vec<String>) -> io::Result<Key> {
    match read(path, remarks)? {
        Found::Key(key) => return Ok(key),
        Found::Nothing => {}
        Found::Bad(_) => {
            // One at a time: a second process that still has the bad one in mind would set the good one aside. The
            // lock ends with its process, and the operating system holds it, not a file.
            let only = File::open(folder)?;
            flock(&only, FlockOperation::LockExclusive)?;
            match read(path, remarks)? {
                Found::Key(key) => return Ok(key),
                Found::Nothing => {}
                Found::Bad(why) => {
                    let aside = set_aside(path)?;
                    remarks.push(format!(
                        "{path:?} {why}: set aside as {aside:?} and made anew; what was kept under the old key is not found"
                    ));
                }
            }
            return make(folder, path, remarks);
        }
    }
    make(folder, path, remarks)
}

/// Writes a key beside, complete, then gives it the name, unless another process was first.
fn make(folder: &Path, path: &Path, remarks: &mut Vec<String>) -> io::Result<Key> {
    let mut random = [0; 24];
    getrandom::fill(&mut random)?;
    let (bytes, name) = random.split_at(16);
    let beside = folder.join(format!("key.new-{}", hex(name)));
    let linked = write(&beside, bytes).and_then(|()| fs::hard_link(&beside, path));
    let removed = fs::remove_file(&beside);
    match linked {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    removed?;
    match read(path, remarks)? {
        Found::Key(key) => Ok(key),
        Found::Nothing => Err(io::Error::other("somebody removes it")),
        Found::Bad(why) => Err(io::Error::other(format!("it {why}"))),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    // Once in a folder's life: after a power cut the name must not be there without the bytes.
    file.sync_all()
}

fn read(path: &Path, remarks: &mut Vec<String>) -> io::Result<Found> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = match OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
    {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => {
            // A link, or what cannot be opened: something is there, and it is no key of ours.
            return match path.symlink_metadata() {
                Ok(there) if there.is_symlink() => Ok(Found::Bad("is a symbolic link".to_owned())),
                _ => Err(error),
            };
        }
    };
    let there = file.metadata()?;
    let us = geteuid().as_raw();
    if !there.is_file() {
        return Ok(Found::Bad("is not a file".to_owned()));
    }
    if there.uid() != us {
        return Ok(Found::Bad(format!("belongs to user {}", there.uid())));
    }
    if there.len() != 16 {
        return Ok(Found::Bad(format!(
            "has {} bytes instead of 16",
            there.len()
        )));
    }
    if there.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        remarks.push(format!(
            "{path:?} was open to others (mode {:04o}): now it is ours alone (0600)",
            there.mode() & 0o7777
        ));
    }
    let mut key = [0; 16];
    file.read_exact(&mut key)?;
    Ok(Found::Key(Key(key)))
}

fn set_aside(path: &Path) -> io::Result<PathBuf> {
    for n in 1..=ASIDE {
        let aside = path.with_file_name(format!("{NAME}.bad-{n}"));
        // We hold the lock, so nobody takes the name in between.
        if aside.symlink_metadata().is_err() {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other(format!(
        "{ASIDE} bad keys were set aside already; remove them"
    )))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
