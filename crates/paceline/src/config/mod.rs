//! The configuration file, `paceline.toml`, as plain values that need no further check.
//!
//! ```toml
//! [upstream.github]
//! hosts = ["api.github.com"]            # or url = "https://…"
//! partition = ["header:authorization"]  # who shares a quota
//! limits = ["5000/h", "100 in flight"]
//! share = "machine"                     # process | machine | redis://…
//! queue = { max = 10000, wait = "2m" }
//!
//! [[upstream.github.route]]
//! match = "GET /search/**"
//! limits = ["30/m"]                     # in addition to the upstream's
//! cost = 2                              # requests; or by unit: { requests = 1, tokens = 1200 }
//!
//! [upstream.github.retry]
//! attempts = 4
//! total = "2m"
//! ```
//!
//! Everything wrong with a file is told at once, with file, line, key, and what would be right.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::dialect::{self, Provider};
use crate::upstream::{TextError, Upstream};

mod cost;
mod dialects;
pub(crate) mod document;
mod error;
pub(crate) mod read;

pub use error::{ConfigError, ConfigErrors, Position};

/// Far above any configuration that a person wrote; a wrong file name must not fill the memory.
const LONGEST_FILE: u64 = 1 << 20;

/// What `paceline.toml` says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Config {
    /// The upstreams by name. No two of them have the same host pattern.
    pub upstreams: BTreeMap<String, Upstream>,
    /// The file's own dialects by name, `[dialect.NAME]`.
    pub dialects: BTreeMap<String, Arc<Provider>>,
}

impl Config {
    /// Reads a configuration; `file_name` is what errors call it.
    ///
    /// # Errors
    ///
    /// Everything that is wrong (the first hundred), in the order of the file; where the text is
    /// not TOML, the first place at which it is not.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ConfigErrors> {
        read::config(text, file_name)
    }

    /// Reads the configuration file at `path`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is longer than a mebibyte, is not UTF-8, or says something wrong.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigErrors> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let failed = |position, problem: String, expected: &str| ConfigError {
            file: file.clone(),
            position,
            key: String::new(),
            problem,
            expected: expected.into(),
        };
        let bytes = read_bounded(path).map_err(|error| {
            failed(
                None,
                format!("it cannot be read: {error}"),
                "a TOML file of at most 1 MiB that this user may read",
            )
        })?;
        match core::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text, &file),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let place = Position::of(&valid, valid.len());
                Err(failed(
                    Some(place),
                    "it is not UTF-8".into(),
                    "UTF-8 text, as TOML is",
                )
                .into())
            }
        }
    }

    /// The dialect of this name: one of the file's own, else a built-in one. Whoever writes one for a provider knows better.
    ///
    /// # Errors
    ///
    /// There is none; the error says which are near.
    pub fn dialect(&self, name: &str) -> Result<Arc<Provider>, TextError> {
        dialect::find(name, &self.dialects)
    }

    /// The dialect that an upstream of this host speaks where it names none: by the hosts of the file's own dialects, else
    /// by those of the built-in ones.
    pub fn dialect_of(&self, host: &str, port: u16) -> Option<Arc<Provider>> {
        dialect::spoken_at(host, port, &self.dialects)
    }

    /// The upstream that a request to `host` belongs to, by the most specific pattern; `port` as in
    /// [`HostPattern::matches`](crate::upstream::HostPattern::matches).
    pub fn upstream_of(&self, host: &str, port: u16) -> Option<(&str, &Upstream)> {
        let claims = self.upstreams.iter().flat_map(|(name, upstream)| {
            let hosts = upstream.hosts.iter().filter(|own| own.matches(host, port));
            hosts.map(move |own| (own, name.as_str(), upstream))
        });
        claims
            .max_by_key(|(own, ..)| *own)
            .map(|(_, name, upstream)| (name, upstream))
    }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(LONGEST_FILE + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
