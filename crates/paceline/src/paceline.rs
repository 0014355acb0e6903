//! All upstreams of a program.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, Method, Uri, header};
use paceline_engine::{Limit, RetryPolicy, Snapshot};

use crate::pace::Pace;
use crate::partition::{Partition, PartitionKeyer};
use crate::router::{Routed, Router};

/// All upstreams of a program: finds the pace of each request by its host and credential.
///
/// An upstream that nobody configured is the request's origin, and who shares its quota is told by the `Authorization`
/// header.
#[derive(Clone, Debug)]
pub struct Paceline {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    keyer: PartitionKeyer,
    limits: Vec<Limit>,
    policy: RetryPolicy,
    total: Option<Duration>,
    max_waiting: usize,
    paces: Mutex<BTreeMap<(Box<str>, Partition), Pace>>,
}

impl Paceline {
    /// Nothing configured: every origin and credential keeps a pace of its own.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Configures one.
    pub fn builder() -> PacelineBuilder {
        PacelineBuilder {
            limits: Vec::new(),
            policy: RetryPolicy::default(),
            total: None,
            max_waiting: 10_000,
        }
    }

    /// Everything that is, by upstream name.
    pub fn snapshots(&self) -> Vec<(Box<str>, Snapshot)> {
        let paces = self
            .inner
            .paces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        paces
            .values()
            .map(|pace| (pace.name().into(), pace.snapshot()))
            .collect()
    }

    /// Refuses everybody who waits and whoever asks later.
    pub fn shut_down(&self) {
        let paces = self
            .inner
            .paces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        paces.values().for_each(Pace::shut_down);
    }
}

impl Default for Paceline {
    fn default() -> Self {
        Self::new()
    }
}

impl Router for Paceline {
    fn route(&self, _method: &Method, uri: &Uri, headers: &HeaderMap) -> Routed {
        let inner = &*self.inner;
        let origin: Box<str> = format!(
            "{}://{}",
            uri.scheme_str().unwrap_or("http"),
            uri.authority().map_or("", |authority| authority.as_str())
        )
        .into();
        let credential = headers
            .get(header::AUTHORIZATION)
            .map(header::HeaderValue::as_bytes);
        let partition = inner.keyer.partition([credential]);
        let mut paces = inner.paces.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = paces.entry((origin.clone(), partition)).or_insert_with(|| {
            inner
                .limits
                .iter()
                .cloned()
                .fold(Pace::builder(&origin), crate::PaceBuilder::limit)
                .max_waiting(inner.max_waiting)
                .policy(inner.policy.clone())
                .build()
        });
        let mut routed = Routed::new(pace.clone(), pace.want(), pace.policy());
        routed.total = inner.total;
        routed
    }
}

/// Configures a [`Paceline`].
#[derive(Clone, Debug)]
#[must_use]
pub struct PacelineBuilder {
    limits: Vec<Limit>,
    policy: RetryPolicy,
    total: Option<Duration>,
    max_waiting: usize,
}

impl PacelineBuilder {
    /// A limit of every origin that nobody configured.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// How far to go for each request.
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The bound of all waits and sends of a request.
    pub const fn total(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// The most that may wait for one upstream.
    pub const fn max_waiting(mut self, max: usize) -> Self {
        self.max_waiting = max;
        self
    }

    /// Builds it.
    pub fn build(self) -> Paceline {
        let Self {
            limits,
            policy,
            total,
            max_waiting,
        } = self;
        let inner = Inner {
            keyer: PartitionKeyer::random(),
            limits,
            policy,
            total,
            max_waiting,
            paces: Mutex::default(),
        };
        Paceline {
            inner: Arc::new(inner),
        }
    }
}
