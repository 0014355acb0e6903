//! Ringing the bells of others.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{BELLS, end, file};

/// Opening a bell costs several times what ringing it does, but each is one of the program's open files. Those that matter
/// are the few who are next in line.
const KEPT: usize = 32;

/// What came of ringing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The process is alive, and will see that it was rung.
    Heard,
    /// The process has ended, or has taken its bell down.
    Dead,
}

/// The bells of others, with those rung last kept open.
#[derive(Debug)]
pub struct Bells {
    bells: PathBuf,
    /// By last use, the latest at the end.
    ends: Vec<(u64, OwnedFd)>,
}

impl Bells {
    /// The bells in this state folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            bells: folder.join(BELLS),
            ends: Vec::new(),
        }
    }

    /// Wakes the process whose bell has this number. It does not wait, not for one that is stopped either.
    ///
    /// An error says that we could not ring, not that nobody is there.
    pub fn ring(&mut self, number: u64) -> io::Result<Rung> {
        let end = match self.take(number) {
            Some(end) => end,
            None => match end::open(&file(&self.bells, number))? {
                Some(end) => end,
                None => return Ok(Rung::Dead),
            },
        };
        if !end::ring(&end)? {
            return Ok(Rung::Dead);
        }
        self.keep(number, end);
        Ok(Rung::Heard)
    }

    /// Whether the process whose bell has this number is alive, without waking it.
    pub fn is_alive(&mut self, number: u64) -> io::Result<bool> {
        let Some(end) = self.take(number) else {
            return Ok(end::open(&file(&self.bells, number))?.is_some());
        };
        let alive = has_reader(&end)?;
        if alive {
            self.keep(number, end);
        }
        Ok(alive)
    }

    fn take(&mut self, number: u64) -> Option<OwnedFd> {
        let at = self.ends.iter().rposition(|(of, _)| *of == number)?;
        Some(self.ends.remove(at).1)
    }

    fn keep(&mut self, number: u64, end: OwnedFd) {
        if self.ends.len() == KEPT {
            self.ends.remove(0);
        }
        self.ends.push((number, end));
    }
}

/// A pipe that nobody reads is in error for whoever would write to it.
fn has_reader(end: &OwnedFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(end, PollFlags::empty())];
    loop {
        match poll(&mut polled, Some(&Timespec::default())) {
            Ok(_) => return Ok(!polled[0].revents().contains(PollFlags::ERR)),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
