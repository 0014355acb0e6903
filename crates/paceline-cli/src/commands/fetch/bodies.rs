//! Bodies to files: a name that nobody else chooses, and never half a file under it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use url::Url;

use crate::output::Stop;

/// The folder that bodies are written to.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    folder: PathBuf,
}

/// A body that is being written; dropped before [`finish`](Self::finish), it leaves nothing.
#[derive(Debug)]
pub(super) struct BodyFile {
    file: File,
    unfinished: Unfinished,
    path: PathBuf,
}

/// A file that is removed unless it is kept.
#[derive(Debug)]
struct Unfinished(Option<PathBuf>);

/// As much of a URL as a file name holds: with number and page it stays below the 255 bytes of most file systems.
const LONGEST_NAME: usize = 150;

impl Bodies {
    /// Makes the folder if need be, and sees that files can be written to it.
    ///
    /// # Errors
    ///
    /// They cannot.
    pub(super) fn open(folder: &Path) -> Result<Self, Stop> {
        let cannot = |error: io::Error| {
            Stop::open(format!(
                "--out: {} cannot be written to: {error}",
                folder.display()
            ))
        };
        fs::create_dir_all(folder).map_err(cannot)?;
        let probe = Unfinished(Some(
            folder.join(format!(".paceline-{}.part", std::process::id())),
        ));
        probe.create().map_err(cannot)?;
        Ok(Self {
            folder: folder.into(),
        })
    }

    /// Begins the file for a page of a line.
    pub(super) async fn create(&self, line: u64, page: u64, url: &Url) -> io::Result<BodyFile> {
        let name = name(line, page, url);
        let part = self.folder.join(format!(
            ".paceline-{}-{line}-{page}.part",
            std::process::id()
        ));
        let unfinished = Unfinished(Some(part));
        let file = File::from_std(unfinished.create()?);
        Ok(BodyFile {
            file,
            unfinished,
            path: self.folder.join(name),
        })
    }
}

impl BodyFile {
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
    }

    /// Gives the file its name.
    pub(super) async fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush().await?;
        if let Some(part) = &self.unfinished.0 {
            tokio::fs::rename(part, &self.path).await?;
        }
        self.unfinished.0 = None;
        Ok(self.path)
    }
}

impl Unfinished {
    fn create(&self) -> io::Result<fs::File> {
        let path = self.0.as_deref().unwrap_or(Path::new(""));
        let create = || {
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(path)
        };
        match create() {
            // Left by a process that had this one's id and was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(path)?;
                create()
            }
            created => created,
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(part) = &self.0 {
            // It is in nobody's way if it stays.
            let _ = fs::remove_file(part);
        }
    }
}

/// `000012-api.example.com_items_1.json`; a further page is `000012-p2-…`. Letters, digits, `.`, `-` and `_` only, and it
/// begins with a digit, so no URL can name a folder, a hidden file or a device.
fn name(line: u64, page: u64, url: &Url) -> String {
    let number = match page {
        1 => format!("{line:06}"),
        _ => format!("{line:06}-p{page}"),
    };
    let path = url.path().trim_end_matches('/');
    let query = url
        .query()
        .map(|query| format!("_{query}"))
        .unwrap_or_default();
    let place = format!("{}{path}{query}", url.host_str().unwrap_or_default());
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' => c,
        _ => '_',
    };
    let place: String = place.chars().map(plain).take(LONGEST_NAME).collect();
    format!("{number}-{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_url_leaves_the_folder() {
        for (url, expected) in [
            (
                "https://api.example.com/items/1.json",
                "000007-api.example.com_items_1.json",
            ),
            ("https://api.example.com/", "000007-api.example.com"),
            (
                "http://a/..%2f..%2fetc/passwd",
                "000007-a_..%2f..%2fetc_passwd".replace('%', "_").as_str(),
            ),
            (
                "http://a/%00/\\?q=../../x&y=\u{e9}",
                "000007-a__00_q_.._.._x_y__C3_A9",
            ),
            ("http://[::1]:8080/x", "000007-___1__x"),
        ] {
            let name = name(7, 1, &url.parse().unwrap());
            assert_eq!(name, expected);
            assert!(!name.contains(['/', '\\', '\0', ':']));
        }
        let long: Url = format!("http://a/{}", "x".repeat(10_000)).parse().unwrap();
        assert!(name(u64::MAX, u64::MAX, &long).len() < 255);
        assert!(name(1, 2, &long).starts_with("000001-p2-a_x"));
    }
}
