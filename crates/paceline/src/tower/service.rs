//! The service.

use core::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::body::PacedBody;
use super::error::{BoxError, Error};
use super::future::ResponseFuture;
use crate::options;
use crate::replay::ReplayBody;
use crate::router::Router;

/// A service whose requests keep a pace.
#[derive(Clone, Debug)]
pub struct Paced<S, R> {
    inner: S,
    router: R,
}

impl<S, R: Router> Paced<S, R> {
    /// Requests to `inner` are charged where `router` says.
    pub const fn new(inner: S, router: R) -> Self {
        Self { inner, router }
    }
}

impl<S, R, B, ResBody> Service<Request<B>> for Paced<S, R>
where
    S: Service<Request<B>, Response = Response<ResBody>> + Clone,
    S::Error: Into<BoxError>,
    R: Router,
    B: ReplayBody,
    ResBody: Body,
{
    type Response = Response<PacedBody<ResBody>>;
    type Error = Error;
    type Future = ResponseFuture<S, B, ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner
            .poll_ready(cx)
            .map_err(|error| Error::not_ready(error.into()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The service that was polled ready is the one to call; the clone takes its place here.
        let clone = self.inner.clone();
        let ready = core::mem::replace(&mut self.inner, clone);
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let routed = self.router.route(method, uri, headers);
        let wall = routed.pace.clone();
        let copy = request.body().replay();
        let options = request.extensions().get();
        let call = options::call(routed, method, headers, options, copy.is_some());
        ResponseFuture::new(ready, call, wall, request, copy)
    }
}
