//! Blocks for what a step may write, taken before it writes: through a map, a full disk is a signal instead of an error.
//!
//! File systems that write every block anew (btrfs, ZFS) promise nothing by this. There a disk that becomes full may still end
//! a process; the next one finds the store whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::open::Shared;
use super::{Filled, MAP_SIZE, StoreError};

/// Blocks are reserved this far ahead, so that one step in hundreds calls the system for it.
const AHEAD: usize = 1 << 20;
/// Pages that the first change of a step can take at most: those on the way down both trees, copied and split, and the lists
/// of free pages. Either tree is at most six pages deep in 64 MiB.
pub(super) const FIRST_CHANGE: usize = 48;
/// And each further one, next to it: a leaf and one that was split off, twice.
pub(super) const NEXT_CHANGE: usize = 6;

/// How far the file has blocks, as far as this process knows.
#[derive(Debug, Default)]
pub(super) struct Reserved(AtomicUsize);

impl Shared {
    /// Makes sure that the file has blocks for `pages` more than the last step left in use. Only whoever is in a step may
    /// call this: nobody else takes pages meanwhile.
    #[inline]
    pub(super) fn reserve(&self, pages: usize) -> Result<(), StoreError> {
        let used = self.env().info().last_page_number + 1;
        let needed = ((used + pages) * self.page_size()).min(MAP_SIZE);
        let reserved = self.reserved.0.load(Ordering::Relaxed);
        if needed <= reserved {
            Ok(())
        } else {
            self.reserve_more(used, needed, reserved)
        }
    }

    #[cold]
    fn reserve_more(&self, used: usize, needed: usize, reserved: usize) -> Result<(), StoreError> {
        let to = needed.next_multiple_of(AHEAD).min(MAP_SIZE);
        let done = loop {
            match fallocate(
                &self.file,
                FallocateFlags::empty(),
                reserved as u64,
                (to - reserved) as u64,
            ) {
                Ok(()) => break Ok(()),
                Err(Errno::INTR) => {}
                // Some file systems cannot. There, what is beyond all pages in use is written.
                Err(Errno::OPNOTSUPP) => {
                    break fill(&self.file, reserved.max(used * self.page_size()), to);
                }
                Err(error) => break Err(error.into()),
            }
        };
        done.map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::NOSPC | Errno::DQUOT) => StoreError::full(self.path(), Filled::Disk),
            _ => StoreError::io("reserve room in", self.path(), error),
        })?;
        self.reserved.0.store(to, Ordering::Relaxed);
        Ok(())
    }
}

fn fill(file: &File, from: usize, to: usize) -> io::Result<()> {
    let zeros = [0; 1 << 16];
    let mut at = from;
    while at < to {
        let len = zeros.len().min(to - at);
        file.write_all_at(&zeros[..len], at as u64)?;
        at += len;
    }
    Ok(())
}
