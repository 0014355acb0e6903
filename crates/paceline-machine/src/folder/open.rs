//! Finding, making and checking the state folder.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use rustix::fs::{
    self, Access, AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat, StatVfsMountFlags,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{BELLS, FolderError, STATE_DIR, network};
use crate::key::Key;

/// A database of a few gates is less than 200 KiB, and what changes is written beside what was before it is let go.
const LEAST_ROOM: u64 = 1 << 20;
const LEAST_ROOM_IN_WORDS: &str = "1 MiB";

const OTHERS: RawMode = 0o077;

/// Where this user's state is: `$PACELINE_STATE_DIR`, else `paceline` in the user's folder for state.
///
/// That is `$XDG_STATE_HOME` or `~/.local/state`, on macOS `~/Library/Application Support`. `env` is asked for
/// `PACELINE_STATE_DIR`; the rest is the convention of the operating system.
pub fn place(env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, FolderError> {
    if let Some(named) = env(STATE_DIR).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_absolute() {
            Ok(named)
        } else {
            Err(FolderError::Relative(named))
        };
    }
    let user =
        etcetera::base_strategy::choose_native_strategy().map_err(|_| FolderError::NoHome)?;
    let state = user.state_dir().unwrap_or_else(|| user.data_dir());
    if !state.is_absolute() {
        return Err(FolderError::NoHome);
    }
    Ok(state.join("paceline"))
}

/// The state folder, made if it was missing, and found to be ours.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    remarks: Vec<String>,
}

impl Folder {
    /// Makes the folder if it is missing, and checks it: ours, no link, closed to others, local, writable, not full.
    ///
    /// Where it is merely open to others it is closed, with a [remark](Self::remarks).
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        // A slash at the end would follow a link.
        let path: PathBuf = path.components().collect();
        let mut remarks = Vec::new();
        if let Err(Errno::NOENT) = fs::statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW) {
            make(&path)?;
        }
        let root = ours(CWD, &path, &path, &mut remarks)?;
        writable(&root, &path)?;
        room(&root, &path)?;

        let bells = path.join(BELLS);
        match fs::mkdirat(&root, BELLS, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(refused(&bells, "making the folder", error)),
        }
        let rung = ours(&root, Path::new(BELLS), &bells, &mut remarks)?;
        writable(&rung, &bells)?;
        Ok(Self { path, remarks })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key of this machine's hashes, made anew where there is none that can be read.
    pub fn key(&mut self) -> Result<Key, FolderError> {
        Key::of(&self.path, &mut self.remarks)
    }

    /// What was not right and has been put right, a line each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// Makes the folder, and those above it, for its user alone.
fn make(path: &Path) -> Result<(), FolderError> {
    use std::os::unix::fs::DirBuilderExt as _;

    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(errno) => refused(path, "making the folder", errno),
            None => FolderError::Io {
                path: path.to_owned(),
                doing: "making the folder",
                source: error,
            },
        })
}

/// Opens `name` in `parent`, which must be a folder of ours, and closes it to others.
fn ours(
    parent: impl AsFd + Copy,
    name: &Path,
    path: &Path,
    remarks: &mut Vec<String>,
) -> Result<OwnedFd, FolderError> {
    let named = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| refused(path, "looking at it", error))?;
    a_folder_of_ours(&named, path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = fs::openat(parent, name, flags, Mode::empty())
        .map_err(|error| refused(path, "opening it", error))?;
    // Between the two somebody may have put another in its place.
    let opened = fs::fstat(&folder).map_err(|error| refused(path, "looking at it", error))?;
    a_folder_of_ours(&opened, path)?;
    if let Some(kind) = network::kind(&folder, &opened) {
        return Err(FolderError::Network {
            path: path.to_owned(),
            kind,
        });
    }
    let mode = opened.st_mode & 0o7777;
    if mode & OTHERS != 0 {
        fs::fchmod(&folder, Mode::from_raw_mode(mode & !OTHERS))
            .map_err(|error| refused(path, "closing it to others", error))?;
        remarks.push(format!(
            "{path:?} was open to others (mode {mode:04o}): now it is ours alone ({:04o})",
            mode & !OTHERS
        ));
    }
    Ok(folder)
}

fn a_folder_of_ours(stat: &Stat, path: &Path) -> Result<(), FolderError> {
    let path = || path.to_owned();
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {}
        FileType::Symlink => return Err(FolderError::Symlink { path: path() }),
        other => {
            return Err(FolderError::NotAFolder {
                path: path(),
                what: match other {
                    FileType::RegularFile => "a file",
                    FileType::Fifo => "a named pipe",
                    FileType::Socket => "a socket",
                    _ => "a device",
                },
            });
        }
    }
    let us = geteuid().as_raw();
    if stat.st_uid != us {
        return Err(FolderError::Foreign {
            path: path(),
            owner: stat.st_uid,
            us,
        });
    }
    Ok(())
}

/// Asks, without writing: a folder of ours may be without the mode, or on a file system that is mounted read-only.
fn writable(folder: &OwnedFd, path: &Path) -> Result<(), FolderError> {
    fs::accessat(
        folder,
        ".",
        Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK,
        AtFlags::EACCESS,
    )
    .map_err(|error| refused(path, "asking whether it is writable", error))
}

fn room(folder: &OwnedFd, path: &Path) -> Result<(), FolderError> {
    let system =
        fs::fstatvfs(folder).map_err(|error| refused(path, "asking for its room", error))?;
    if system.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(refused(path, "", Errno::ROFS));
    }
    let full = |left: String, least| {
        Err(FolderError::Full {
            path: path.to_owned(),
            left,
            least,
        })
    };
    // Where a file system has no limit of its own it says that it has none at all.
    let left = system.f_bavail.saturating_mul(system.f_frsize);
    if system.f_blocks > 0 && left < LEAST_ROOM {
        return full(format!("{} KiB", left / 1024), LEAST_ROOM_IN_WORDS);
    }
    // The database, its lock, the key and a bell.
    if system.f_files > 0 && system.f_favail < 8 {
        return full(format!("{} files", system.f_favail), "8 files");
    }
    Ok(())
}

/// The error that says best what the operating system refused.
fn refused(path: &Path, doing: &'static str, error: Errno) -> FolderError {
    let path = path.to_owned();
    match error {
        Errno::ACCESS | Errno::PERM | Errno::ROFS => FolderError::NotWritable {
            path,
            why: said(error),
        },
        Errno::NOSPC | Errno::DQUOT => FolderError::Full {
            path,
            left: "nothing".to_owned(),
            least: LEAST_ROOM_IN_WORDS,
        },
        _ => FolderError::Io {
            path,
            doing,
            source: error.into(),
        },
    }
}

/// The operating system's words, without the number behind them.
fn said(error: Errno) -> String {
    let text = std::io::Error::from(error).to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    words.to_lowercase()
}
