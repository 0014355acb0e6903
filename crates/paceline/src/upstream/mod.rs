//! An API as configured: its hosts, who shares its quota, its limits, how far to go for a request.
//!
//! Plain values that need no further check; `config` reads them from a file.

use core::time::Duration;
use std::sync::Arc;

use http::{HeaderName, Method, Uri, header};
use paceline_engine::{Cost, Limit, Priority, RetryPolicy};

use crate::dialect::Provider;

mod duration;
mod host;
pub(crate) mod partition;
mod route;
pub(crate) mod share;
pub(crate) mod text;

pub use duration::parse_duration;
pub use host::HostPattern;
pub use partition::PartitionKey;
pub use route::RouteMatch;
pub use share::Share;
pub use text::TextError;

/// An API as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upstream {
    /// Its hosts: the configured ones, and that of `url`. Never empty in a configuration that was read.
    pub hosts: Vec<HostPattern>,
    /// Where a reverse proxy sends requests: `http` or `https`, without credentials and query.
    pub url: Option<Uri>,
    /// How it speaks of limits. Without one that is told by its host, and by the form of what it says. Its published
    /// limits are kept to where `limits` is empty and `published` is true.
    pub dialect: Option<Arc<Provider>>,
    /// Whether the limits that the dialect has published are safe starting points. Default: true; `limits = []` in a file
    /// makes it false.
    pub published: bool,
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

    /// As it is kept to: what a named dialect has published stands in for limits that nobody configured.
    #[must_use]
    pub fn with_published(mut self) -> Self {
        if let Some(provider) = self.published_by().cloned() {
            self.limits.clone_from(&provider.limits);
            self.routes.extend(provider.routes.iter().cloned());
        }
        self
    }

    /// Whose published limits stand in for its own.
    pub fn published_by(&self) -> Option<&Arc<Provider>> {
        let provider = self.dialect.as_ref()?;
        let stands_in = self.published && self.limits.is_empty();
        stands_in.then_some(provider)
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
            published: true,
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
    /// What one of them spends. Default: one request; none for those that the upstream does not count.
    pub cost: Cost,
    /// How much they matter. Default: whatever the request says.
    pub priority: Option<Priority>,
}

impl Route {
    /// Requests that match, charged nothing beyond the upstream's limits so far.
    pub fn new(matcher: RouteMatch) -> Self {
        Self {
            matcher,
            limits: Vec::new(),
            cost: Cost::default(),
            priority: None,
        }
    }
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

impl Retry {
    /// The same for the engine.
    pub(crate) fn policy(&self) -> RetryPolicy {
        let mut policy = RetryPolicy::default();
        policy.attempts = self.attempts;
        policy.resend_refused = self.resend_refused;
        policy.ignore_retry_after = self.ignore_retry_after;
        policy.best_effort = self.best_effort;
        policy
    }
}
