//! Taking away the bells of the dead.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::process::geteuid;

use super::{BELLS, UNFINISHED, end};

/// It takes microseconds: what is without a name for so long was left by a process that died there.
const HANGING: Duration = Duration::from_secs(60);

/// Removes the bells of processes that have ended, and says how many. Whatever else is in the folder stays.
///
/// A bell has its name only after its process has opened it, and is never opened for reading by anybody later: dead once is
/// dead for ever, so nothing can come between the look and the removal. One that has no name yet is left alone for a minute.
/// Should that be wrong, after a step of the wall clock or for a process that was stopped, then its process finds it gone
/// before it has told anybody of it, and hangs another.
pub fn sweep(folder: &Path) -> io::Result<usize> {
    let us = geteuid().as_raw();
    let mut removed = 0;
    for entry in std::fs::read_dir(folder.join(BELLS))? {
        let path = entry?.path();
        if !is_bell(&path) {
            continue;
        }
        let Ok(there) = path.symlink_metadata() else {
            continue;
        };
        if !there.file_type().is_fifo() || there.uid() != us {
            continue;
        }
        if is_unfinished(&path) && !there.modified().is_ok_and(is_old) {
            continue;
        }
        if matches!(end::open(&path), Ok(None)) && std::fs::remove_file(&path).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some()
}

fn is_old(since: SystemTime) -> bool {
    since.elapsed().is_ok_and(|age| age > HANGING)
}

fn is_bell(path: &Path) -> bool {
    let ending = path.extension();
    if ending.is_some_and(|ending| ending != UNFINISHED) {
        return false;
    }
    path.file_stem()
        .and_then(|name| name.to_str())
        .is_some_and(|name| {
            name.len() == 12
                && name
                    .bytes()
                    .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        })
}
