//! From a request to the gates that it is charged to.

use core::time::Duration;
use std::sync::Arc;

use http::{HeaderMap, Method, Uri};
use paceline_engine::{RetryPolicy, Want};

use crate::pace::Pace;

/// Says which gates a request is charged to.
///
/// A [`Pace`] sends everything through its own gate; a [`Paceline`](crate::Paceline) goes by host, route and credential.
pub trait Router: Clone + Send + Sync + 'static {
    /// Where a request with this head goes.
    fn route(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Routed;
}

/// What a request is charged to, and how far to go for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Routed {
    /// The pace that it keeps.
    pub pace: Pace,
    /// What it asks of it.
    pub want: Want,
    /// Whether and how it is sent again.
    pub policy: Arc<RetryPolicy>,
    /// The bound of all its waits and sends.
    pub total: Option<Duration>,
    /// The bound of each wait in line.
    pub queue_wait: Option<Duration>,
}

impl Routed {
    /// A request that wants `want` of `pace`, under `policy`.
    pub const fn new(pace: Pace, want: Want, policy: Arc<RetryPolicy>) -> Self {
        Self {
            pace,
            want,
            policy,
            total: None,
            queue_wait: None,
        }
    }
}

impl Router for Pace {
    fn route(&self, method: &Method, uri: &Uri, _: &HeaderMap) -> Routed {
        let want = self.want().route(self.route_of(method, uri.path()));
        Routed::new(self.clone(), want, self.policy())
    }
}
