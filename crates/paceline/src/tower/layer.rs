//! The layer.

use tower_layer::Layer;

use super::service::Paced;
use crate::router::Router;

/// Puts [`Paced`] around services. All of them, and all clones of them, share the paces of one router.
#[derive(Clone, Debug)]
pub struct PacelineLayer<R> {
    router: R,
}

impl<R: Router> PacelineLayer<R> {
    /// Requests are charged where `router` says: a [`Pace`](crate::Pace), or a [`Paceline`](crate::Paceline) for many
    /// upstreams.
    pub const fn new(router: R) -> Self {
        Self { router }
    }
}

impl<S, R: Router> Layer<S> for PacelineLayer<R> {
    type Service = Paced<S, R>;

    fn layer(&self, inner: S) -> Self::Service {
        Paced::new(inner, self.router.clone())
    }
}
