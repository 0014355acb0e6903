//! Waking a process of the same user: each has a named pipe, and a thread that sleeps in reading it.
//!
//! Who is woken looks at the record itself, so a ring says nothing and one for many is as good. A pipe that nobody has open
//! for reading belongs to a process that is dead: the kernel closes it whatever its process died of, and the name is random,
//! so that process numbers, which are used again and differ between containers, play no part. A child that was forked and
//! did not execute another program keeps its parent's bell alive.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::io::Errno;

use crate::folder::BELLS;

/// Somebody wants to be heard.
const RING: u8 = 1;
/// The thread is to end.
const QUIT: u8 = 0;
/// So many ends of others' pipes are kept open.
const KEPT: usize = 64;
/// Numbers have so many bits.
const BITS: u32 = 48;

/// This process's bell. It is taken down when it is dropped.
#[derive(Debug)]
pub struct Bell {
    number: u64,
    path: PathBuf,
    /// Our own writing end, to tell the thread to end.
    own: File,
    thread: Option<JoinHandle<()>>,
}

/// What became of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Its process lives and will look.
    Heard,
    /// Its process is dead.
    Dead,
}

impl Bell {
    /// Hangs one up in `folder`. `rung` is called in a thread of its own whenever somebody rang.
    pub fn hang(folder: &Path, rung: impl Fn() + Send + 'static) -> io::Result<Self> {
        let folder = folder.join(BELLS);
        let mut random = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let number = (u64::from_le_bytes(random) >> (64 - BITS)).max(1);
        // It gets its name when it is open: a bell that has a name and no reader is dead.
        let draft = folder.join(format!("new-{number:012x}"));
        let path = path(&folder, number);
        mknodat(CWD, &draft, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let open = OpenOptions::new().read(true).write(true).open(&draft);
        let hung = open.and_then(|own| fs::rename(&draft, &path).map(|()| own));
        let own = hung.inspect_err(|_| drop(fs::remove_file(&draft)))?;
        let mut reader = own.try_clone()?;
        let thread = thread::Builder::new()
            .name("paceline-bell".into())
            .spawn(move || {
                let mut bytes = [0; 512];
                while let Ok(count) = reader.read(&mut bytes) {
                    if bytes[..count].contains(&QUIT) {
                        return;
                    }
                    rung();
                }
            })?;
        Ok(Self {
            number,
            path,
            own,
            thread: Some(thread),
        })
    }

    /// What others call it by: 48 bits, never zero.
    pub const fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let told = self.own.write_all(&[QUIT]);
        // Whoever drops it from within a ring cannot wait for itself.
        let thread = self.thread.take();
        let other = thread.filter(|own| own.thread().id() != thread::current().id());
        if let (Ok(()), Some(thread)) = (told, other) {
            let _ = thread.join();
        }
    }
}

/// The bells of a folder.
#[derive(Debug)]
pub struct Bells {
    folder: PathBuf,
    open: Mutex<BTreeMap<u64, File>>,
}

impl Bells {
    /// Of this folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.join(BELLS),
            open: Mutex::default(),
        }
    }

    /// Rings one. The cost is a system call, three the first time.
    ///
    /// # Errors
    ///
    /// If it cannot be found out whether it is there: too many files are open, for example.
    pub fn ring(&self, number: u64) -> io::Result<Rung> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains_key(&number) {
            let Some(end) = end(&path(&self.folder, number))? else {
                return Ok(Rung::Dead);
            };
            if open.len() >= KEPT {
                open.pop_first();
            }
            open.insert(number, end);
        }
        let rung = match open.get_mut(&number).map(|end| end.write(&[RING])) {
            Some(Ok(_)) | None => return Ok(Rung::Heard),
            // It is full of rings.
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok(Rung::Heard);
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Rung::Dead),
            Some(Err(error)) => Err(error),
        };
        open.remove(&number);
        rung
    }

    /// Whether its process lives; in doubt it does.
    pub fn is_alive(&self, number: u64) -> bool {
        !matches!(end(&path(&self.folder, number)), Ok(None))
    }

    /// Removes what the dead left behind.
    pub fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_bell = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| {
                    name.len() == 12 && name.bytes().all(|b| b.is_ascii_hexdigit())
                });
            if is_bell && matches!(end(&path), Ok(None)) {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:012x}"))
}

/// The writing end of a pipe of ours; `None` if nobody reads it.
fn end(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    match OpenOptions::new()
        .write(true)
        .custom_flags(flags)
        .open(path)
    {
        Ok(end) => {
            let found = end.metadata()?;
            let is_ours =
                found.file_type().is_fifo() && found.uid() == rustix::process::geteuid().as_raw();
            Ok(is_ours.then_some(end))
        }
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::NXIO | Errno::NOENT | Errno::LOOP) => Ok(None),
            _ => Err(error),
        },
    }
}
