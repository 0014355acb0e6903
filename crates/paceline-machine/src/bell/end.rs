//! The end that rings: opening it, and writing to it without being killed by it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

/// The end of a living bell; `None` if nobody holds it open, or there is none of ours.
pub(super) fn open(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::open(path, flags, Mode::empty()) {
        Ok(end) => {
            let stat = fs::fstat(&end)?;
            let ours = FileType::from_raw_mode(stat.st_mode) == FileType::Fifo
                && stat.st_uid == geteuid().as_raw();
            Ok(ours.then_some(end))
        }
        // Of these only the first two are usual; the others are what is no bell.
        Err(Errno::NXIO | Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NOTDIR) => Ok(None),
        // Too many open files, above all: that says nothing about the other process.
        Err(error) => Err(error.into()),
    }
}

/// Writes one ring. `false` if nobody holds the bell open any more.
///
/// Writing to such a pipe also raises `SIGPIPE`, which kills a program that does not ignore it. Rust's do, but this may be
/// in a program of another language, or in one that restored the default to be a good neighbour in shell pipes. A look
/// beforehand leaves a gap, sockets have a flag that pipes have not (before Linux 6.18), and how the program handles
/// signals is not ours to change. So the signal is blocked in this thread alone, and taken back if it came.
pub(super) fn ring(end: &OwnedFd) -> io::Result<bool> {
    let quiet = Quiet::begin()?;
    let written = loop {
        match rustix::io::write(end, b"!") {
            Err(Errno::INTR) => {}
            other => break other,
        }
    };
    quiet.end(written == Err(Errno::PIPE))?;
    match written {
        // A full pipe has woken its process already.
        Ok(_) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::PIPE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A while without `SIGPIPE` in this thread.
#[cfg(target_os = "linux")]
struct Quiet {
    pipe: nix::sys::signal::SigSet,
    before: nix::sys::signal::SigSet,
}

#[cfg(target_os = "linux")]
impl Quiet {
    fn begin() -> io::Result<Self> {
        use nix::sys::signal::{SigSet, SigmaskHow, Signal};

        let mut pipe = SigSet::empty();
        pipe.add(Signal::SIGPIPE);
        let before = pipe.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Self { pipe, before })
    }

    fn end(self, raised: bool) -> io::Result<()> {
        // Linux keeps a blocked signal even where it is ignored, so it is there and this does not wait.
        let taken = if raised {
            self.pipe.wait().map(drop)
        } else {
            Ok(())
        };
        self.before.thread_set_mask()?;
        Ok(taken?)
    }
}

/// Elsewhere a signal that is blocked and ignored may be dropped, so that waiting for it would not end: a program that does
/// not ignore `SIGPIPE` can be killed by it there.
#[cfg(not(target_os = "linux"))]
struct Quiet;

#[cfg(not(target_os = "linux"))]
impl Quiet {
    fn begin() -> io::Result<Self> {
        Ok(Self)
    }

    fn end(self, _raised: bool) -> io::Result<()> {
        Ok(())
    }
}
