//! Bells: how processes wake each other, and see that one is dead.
//!
//! A bell is a named pipe that its process holds open for reading. Whoever can open it for writing has a living process
//! before him, whatever its process id is and in whatever namespace; the operating system closes it at the very moment the
//! process ends, and `ENXIO` says so. A process that is stopped is alive.
//!
//! A process that forks without executing anything leaves its bell to the child too: it counts as alive until both have
//! ended, and only the parent is woken. Children that execute a program have nothing of it.

mod end;
mod ring;
mod sweep;

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::stat::Mode as FifoMode;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, getpid};

pub use ring::{Bells, Rung};
pub use sweep::sweep;

use crate::folder::BELLS;

/// While it has this ending, its process may not have opened it yet.
const UNFINISHED: &str = "new";

/// As many rings may wait for a bell; a further one is heard with them.
const CAPACITY: usize = 4096;

/// A try fails if somebody takes the bell for one that was left behind: after a step of the wall clock, and then once.
const TRIES: usize = 16;

/// This process's bell. While it hangs, the process is alive to others.
#[derive(Debug)]
pub struct Bell {
    number: u64,
    file: PathBuf,
    /// To tell ourselves from a forked child that drops its copy.
    process: Pid,
    own: OwnedFd,
    quit: Arc<AtomicBool>,
}

impl Bell {
    /// Hangs a bell in the state folder. `rung` is called on the thread `paceline-bell`, once for all rings that came since
    /// the last time; it is not called at the same time twice.
    pub fn hang(folder: &Path, rung: impl Fn() + Send + 'static) -> io::Result<Self> {
        let bells = folder.join(BELLS);
        for _ in 0..TRIES {
            let number = random()?;
            let Some((ear, own)) = Pipe::hang(&bells, number)? else {
                continue;
            };
            let quit = Arc::new(AtomicBool::new(false));
            let bell = Self {
                number,
                file: file(&bells, number),
                process: getpid(),
                own,
                quit: Arc::clone(&quit),
            };
            std::thread::Builder::new()
                .name("paceline-bell".to_owned())
                .spawn(move || listen(ear, &quit, &rung))?;
            return Ok(bell);
        }
        Err(io::Error::other(format!(
            "{bells:?}: somebody removes a bell before it hangs"
        )))
    }

    /// What others ring it by: 48 random bits. It is never that of another process, nor of an earlier life of this one.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if getpid() != self.process {
            return;
        }
        // The file may be gone with its folder already. The thread is not waited for: it may be the one that drops.
        let _ = std::fs::remove_file(&self.file);
        self.quit.store(true, Ordering::Release);
        let _ = end::ring(&self.own);
    }
}

/// The two ends of our own bell.
struct Pipe;

impl Pipe {
    /// Makes the pipe, opens it, and only then gives it its name: what has a name and cannot be opened was alive once.
    /// `None` if somebody who swept took it for dead before we had it open.
    fn hang(bells: &Path, number: u64) -> io::Result<Option<(OwnedFd, OwnedFd)>> {
        let hung = file(bells, number);
        let unfinished = hung.with_extension(UNFINISHED);
        nix::unistd::mkfifo(&unfinished, FifoMode::S_IRUSR | FifoMode::S_IWUSR)?;
        let ends = Self::open(&unfinished)
            .and_then(|ends| std::fs::rename(&unfinished, &hung).map(|()| ends));
        match ends {
            Ok(ends) => Ok(Some(ends)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let _ = std::fs::remove_file(&unfinished);
                Err(error)
            }
        }
    }

    fn open(path: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
        // For reading and writing: reading waits while nobody else has it open, instead of ending.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let ear = rustix::fs::open(path, flags, Mode::empty())?;
        let own = end::open(path)?.ok_or(Errno::NOENT)?;
        // One page will do: a user's pipes share a limit of pages. Where it cannot be had, the rest reads in batches.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&ear, CAPACITY);
        Ok((ear, own))
    }
}

/// Waits in `read`, which costs nothing, and calls `rung` for all that has come.
fn listen(ear: OwnedFd, quit: &AtomicBool, rung: &impl Fn()) {
    let mut ear = std::fs::File::from(ear);
    let mut rings = [0; CAPACITY];
    loop {
        match ear.read(&mut rings) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Nothing known can do this to a pipe. Letting go of it would say that we are dead.
            Err(_) => loop {
                if quit.load(Ordering::Acquire) {
                    return;
                }
                std::thread::park();
            },
        }
        if quit.load(Ordering::Acquire) {
            return;
        }
        // The process lives on after a panic here, and so does its bell. The hook has told of it.
        let _ = catch_unwind(AssertUnwindSafe(rung));
    }
}

/// The file of the bell with this number.
fn file(bells: &Path, number: u64) -> PathBuf {
    bells.join(format!("{number:012x}"))
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // Of the operating system: what a process draws by itself, a forked child draws again.
    getrandom::fill(&mut bytes[..6])?;
    Ok(u64::from_le_bytes(bytes))
}
