//! A key of the folder's own: what is hashed with it is the same for all who share the folder, and nothing to others.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::folder::{Folder, FolderError};

const NAME: &str = "key";

/// The folder's key, made if there is none. One that is damaged is set aside; where it went is said.
pub fn read(folder: &Folder) -> Result<([u8; 16], Option<PathBuf>), FolderError> {
    let path = folder.path().join(NAME);
    let mut set_aside = None;
    loop {
        match fs::read(&path) {
            Ok(bytes) => match bytes.try_into() {
                Ok(key) => return Ok((key, set_aside)),
                Err(_) => set_aside = Some(put_aside(&path)?),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(folder.path(), &path)?,
            Err(source) => return Err(failed("read", &path, source)),
        }
    }
}

/// Whoever links it first made it: the name is there with all of the key or not at all.
fn make(folder: &Path, path: &Path) -> Result<(), FolderError> {
    let mut key = [0; 16];
    let random = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut key));
    random.map_err(|source| failed("draw", path, source))?;
    let draft = folder.join(format!(
        "{NAME}.{:08x}",
        u32::from_le_bytes([key[0], key[1], key[2], key[3]])
    ));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(&key))
        .and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(failed("make", path, source)),
        Ok(()) => Ok(()),
    }
}

fn put_aside(path: &Path) -> Result<PathBuf, FolderError> {
    let mut names = (1..).map(|n: u32| path.with_extension(format!("bad-{n}")));
    let name = names.find(|name| !name.exists()).unwrap_or_default();
    match fs::rename(path, &name) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(failed("set aside", path, source))
        }
        _ => Ok(name),
    }
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> FolderError {
    let path = path.into();
    FolderError::Io {
        doing,
        path,
        source,
    }
}
