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
//!
//! [upstream.github.retry]
//! attempts = 4
//! total = "2m"
//! ```
//!
//! Everything wrong with a file is told at once, with file, line, key, and what would be right.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use http::{HeaderName, Method, Uri, header};
use paceline_engine::{Limit, Priority};

mod document;
mod duration;
mod error;
mod host;
mod partition;
mod read;
mod route;
mod share;

pub use duration::parse_duration;
pub use error::{ConfigError, ConfigErrors, Position, TextError};
pub use host::HostPattern;
pub use partition::PartitionKey;
pub use route::RouteMatch;
pub use share::Share;

/// Far above any configuration that a person wrote; a wrong file name must not fill the memory.
const LONGEST_FILE: u64 = 1 << 20;

/// What `paceline.toml` says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Config {
    /// The upstreams by name. No two of them have the same host pattern.
    pub upstreams: BTreeMap<String, Upstream>,
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

    /// The upstream that a request to `host` belongs to, by the most specific pattern; `port` as in
    /// [`HostPattern::matches`].
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

/// An API as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upstream {
    /// Its hosts: the configured ones, and that of `url`. Never empty in a [`Config`].
    pub hosts: Vec<HostPattern>,
    /// Where a reverse proxy sends requests: `http` or `https`, without credentials and query.
    pub url: Option<Uri>,
    /// The name of the dialect in which it speaks of limits; detected if there is none. Whether
    /// there is such a dialect is decided where it is looked up.
    pub dialect: Option<String>,
    /// Who shares a quota. Default: `header:authorization`.
    pub partition: Vec<PartitionKey>,
    /// The limits that all its requests are charged to. Default: none, the pace is learned.
    pub limits: Vec<Limit>,
    /// How far its gates are shared. Default: the process.
    pub share: Share,
    /// How many may wait, and how long.
    pub queue: Queue,
    /// What some of its requests are charged beyond that; all routes that match add up.
    pub routes: Vec<Route>,
    /// What is sent again, and how often.
    pub retry: Retry,
}

impl Upstream {
    /// The routes that speak of a request, in the order of the file; `path` without the query, as
    /// it is sent.
    pub fn routes_of<'a>(
        &'a self,
        method: &'a Method,
        path: &'a str,
    ) -> impl Iterator<Item = &'a Route> {
        self.routes
            .iter()
            .filter(move |route| route.matcher.matches(method, path))
    }

    /// The partition of an upstream that names none.
    pub(crate) fn default_partition() -> Vec<PartitionKey> {
        const DEFAULT: HeaderName = header::AUTHORIZATION;
        vec![PartitionKey::Header(DEFAULT)]
    }
}

impl Default for Upstream {
    /// An upstream without hosts, of which nothing is known.
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            url: None,
            dialect: None,
            partition: Self::default_partition(),
            limits: Vec::new(),
            share: Share::default(),
            queue: Queue::default(),
            routes: Vec::new(),
            retry: Retry::default(),
        }
    }
}

/// How many requests may wait for an upstream, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queue {
    /// The most that wait at once; 0 fails whatever cannot go at once. More of them cost memory and
    /// patience. Default: 10000.
    pub max: usize,
    /// The longest that one waits. Default: as long as the request's own time allows.
    pub wait: Option<Duration>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            max: 10_000,
            wait: None,
        }
    }
}

/// What some requests are charged beyond the upstream's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// Which requests.
    pub matcher: RouteMatch,
    /// Limits of their own, in addition to the upstream's.
    pub limits: Vec<Limit>,
    /// What one of them spends. Default: 1; 0 for requests that the upstream does not count.
    pub cost: u64,
    /// How much they matter. Default: whatever the request says.
    pub priority: Option<Priority>,
}

/// What is sent again, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// The most sends of one request that fails; refusals by quota do not count. At least 1.
    /// Default: 4.
    pub attempts: u32,
    /// The longest that one request takes, waits and sends together. Above zero. Default: 2
    /// minutes.
    pub total: Duration,
    /// Whether a request that is not idempotent, such as a POST, is sent again after a refusal. A
    /// refusal means that it was not processed; set it where the upstream keeps to that. Default:
    /// false.
    pub resend_refused: bool,
    /// Whether the upstream's `Retry-After` is nonsense. Never leads to a retry without a delay.
    /// Default: false.
    pub ignore_retry_after: bool,
    /// Whether to fail and move on: no retries. Default: false.
    pub best_effort: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 4,
            total: Duration::from_secs(120),
            resend_refused: false,
            ignore_retry_after: false,
            best_effort: false,
        }
    }
}

#[cfg(test)]
mod tests;
