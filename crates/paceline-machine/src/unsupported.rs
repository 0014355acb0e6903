//! What stands in where there is no Unix: nothing can be had, and it says so.
//!
//! It is compiled for such systems, and has never run on one.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::folder::FolderError;

/// Always [`FolderError::Unsupported`].
pub fn place(_env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, FolderError> {
    Err(FolderError::Unsupported)
}

/// The state folder: there is none here.
#[derive(Debug)]
pub struct Folder(Infallible);

impl Folder {
    /// Always [`FolderError::Unsupported`].
    pub fn open(_path: &Path) -> Result<Self, FolderError> {
        Err(FolderError::Unsupported)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// The key of this machine's hashes.
    pub fn key(&mut self) -> Result<Key, FolderError> {
        match self.0 {}
    }

    /// What was not right and has been put right.
    pub fn remarks(&self) -> &[String] {
        match self.0 {}
    }
}

/// The machine's key: there is none here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(Infallible);

impl Key {
    /// The key itself.
    pub fn as_bytes(&self) -> &[u8; 16] {
        match self.0 {}
    }
}

/// The boot-time clock: there is none here.
#[derive(Clone, Copy, Debug)]
pub struct BootClock(Infallible);

impl BootClock {
    /// Always [`FolderError::Unsupported`].
    pub fn new() -> Result<Self, FolderError> {
        Err(FolderError::Unsupported)
    }

    /// Nanoseconds since the machine was started.
    pub fn now(&self) -> u64 {
        match self.0 {}
    }
}

/// Which boot it is: nobody knows here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BootId(Infallible);

impl BootId {
    /// Always [`FolderError::Unsupported`].
    pub fn read() -> Result<Self, FolderError> {
        Err(FolderError::Unsupported)
    }

    /// As bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        match self.0 {}
    }
}

/// This process's bell: there is none here.
#[derive(Debug)]
pub struct Bell(Infallible);

impl Bell {
    /// Always an error of the kind `Unsupported`.
    pub fn hang(_folder: &Path, _rung: impl Fn() + Send + 'static) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// What others ring it by.
    pub fn number(&self) -> u64 {
        match self.0 {}
    }
}

/// What came of ringing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The process is alive.
    Heard,
    /// The process has ended.
    Dead,
}

/// The bells of others: there are none here.
#[derive(Debug)]
pub struct Bells;

impl Bells {
    /// No bells.
    pub fn new(_folder: &Path) -> Self {
        Self
    }

    /// Always an error of the kind `Unsupported`.
    pub fn ring(&mut self, _number: u64) -> io::Result<Rung> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always an error of the kind `Unsupported`.
    pub fn is_alive(&mut self, _number: u64) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Always an error of the kind `Unsupported`.
pub fn sweep(_folder: &Path) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
