//! The `reqwest` door: a middleware through which every HTTP request of a client keeps its pace.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let paceline = paceline::Paceline::new();
//! let client = paceline::reqwest::client(reqwest::Client::builder(), paceline)?;
//! let response = client.get("https://api.example.com/pages/1").send().await?;
//! let outcome = response.extensions().get::<paceline::Outcome>();
//! # Ok(())
//! # }
//! ```
//!
//! - Each HTTP request that leaves spends one permit: retries and redirect hops, too. It is in
//!   flight until its response's body has ended or is dropped.
//! - A response that was received comes back untouched, with an [`Outcome`] in its extensions.
//!   Where there is none, the [`reqwest_middleware::Error::Middleware`] holds a [`Stopped`]
//!   (nothing was sent) or an [`Error`] (nothing useful came back). [`outcome`] finds the facts in
//!   all of them.
//! - What a caller says about one request ([`RequestOptions`](crate::RequestOptions)) rides in
//!   `RequestBuilder::with_extension`, or in the extensions of an `http::Request` that was turned
//!   into a request.
//! - Who names a cost finds [`SettleCost`](crate::SettleCost) beside the response, to tell what it did cost.
//! - A request's own `timeout` bounds all its waits, sends and bodies together. The client's
//!   `timeout` starts anew with each send; no wait is charged to it.
//! - A body that is a stream goes out once.

mod body;
mod error;
mod hop;
mod kept;
mod redirect;
mod within;

use core::future::Future;
use core::pin::Pin;

use ::reqwest::header::{Entry, HeaderMap};
use ::reqwest::{Body, Request, Response};
use http::Extensions;
/// What [`client`] makes, so that it can be named without a dependency of one's own.
pub use reqwest_middleware::ClientWithMiddleware;
use reqwest_middleware::{Next, Result};

use crate::outcome::{Outcome, Stopped};
use crate::router::Router;

pub use error::Error;
use hop::Journey;

/// As many redirects as [`client`] follows: reqwest's own number.
const REDIRECTS: usize = 10;

/// A client all of whose requests, redirect hops included, keep the pace that `router` finds for
/// them: [`Middleware::client`] of one that follows up to ten redirects.
///
/// # Errors
///
/// If the builder cannot build its client.
pub fn client(
    builder: ::reqwest::ClientBuilder,
    router: impl Router,
) -> ::reqwest::Result<ClientWithMiddleware> {
    Middleware::new(router)
        .follow_redirects(REDIRECTS)
        .client(builder)
}

/// Gives every HTTP request of a client its turn; see the [module](self).
///
/// [`client`](Self::client) makes a client with it. Whoever puts it into a client of their own sets
/// that client's redirect policy to none and its retries to never; a redirect that the client
/// follows by itself is noticed, charged afterwards and complained about in the log. It comes last:
/// what is below it changes requests that it has already routed.
#[derive(Clone, Debug)]
pub struct Middleware<R> {
    router: R,
    default_headers: HeaderMap,
    redirects: usize,
    /// The client below adds credentials of its own, so nothing goes to another origin.
    stays_home: bool,
}

impl<R: Router> Middleware<R> {
    /// Requests keep the pace that `router` finds for them. Redirects come back as they are.
    pub fn new(router: R) -> Self {
        Self {
            router,
            default_headers: HeaderMap::new(),
            redirects: 0,
            stays_home: false,
        }
    }

    /// Follows up to `limit` redirects; each hop is routed, waits and is charged like any request.
    /// The one after that comes back as it is.
    #[must_use]
    pub const fn follow_redirects(mut self, limit: usize) -> Self {
        self.redirects = limit;
        self
    }

    /// Adds these to every request that does not have them. Routing sees them, and those that are
    /// credentials stay behind when a redirect leads to another origin.
    #[must_use]
    pub fn default_headers(mut self, headers: HeaderMap) -> Self {
        self.default_headers = headers;
        self
    }

    /// A client whose requests all go through this middleware.
    ///
    /// The builder's redirect policy and retry policy are replaced: the middleware follows
    /// redirects itself and is the only layer that retries. Credentials belong into
    /// [`default_headers`](Self::default_headers) rather than the builder's default headers:
    /// reqwest adds those to every request, and the middleware sees neither them nor whose quota
    /// they spend. Where the builder has some, redirects to another origin are not followed,
    /// because they would take the credentials along.
    ///
    /// # Errors
    ///
    /// If the builder cannot build its client.
    pub fn client(
        mut self,
        builder: ::reqwest::ClientBuilder,
    ) -> ::reqwest::Result<ClientWithMiddleware> {
        let client = builder
            .redirect(::reqwest::redirect::Policy::none())
            .retry(::reqwest::retry::never())
            .build()?;
        self.stays_home = redirect::adds_credentials(&client);
        Ok(reqwest_middleware::ClientBuilder::new(client)
            .with(self)
            .build())
    }

    async fn run(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        if !matches!(request.url().scheme(), "http" | "https") {
            // Nothing will leave: the client says what is wrong.
            return next.run(request, extensions).await;
        }
        for (name, value) in &self.default_headers {
            if let Entry::Vacant(entry) = request.headers_mut().entry(name) {
                entry.insert(value.clone());
            }
        }
        let timeout = request.timeout_mut().take();
        let request = http::Request::<Body>::try_from(request)?;
        let journey = Journey::new(timeout, &request, extensions);
        let response = if self.redirects == 0 {
            let mut journey = journey;
            hop::send(&self.router, &next, &mut journey, request).await
        } else {
            redirect::follow(self, next, journey, request).await
        };
        response.map(Response::from)
    }
}

impl<R: Router> reqwest_middleware::Middleware for Middleware<R> {
    // What `#[async_trait]` makes of `async fn handle`.
    fn handle<'a, 'b, 'c, 'async_trait>(
        &'a self,
        request: Request,
        extensions: &'b mut Extensions,
        next: Next<'c>,
    ) -> Pin<Box<dyn Future<Output = Result<Response>> + Send + 'async_trait>>
    where
        'a: 'async_trait,
        'b: 'async_trait,
        'c: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(self.run(request, extensions, next))
    }
}

/// What a request went through, whatever became of it; `None` if another middleware or the client
/// made the result.
pub fn outcome(result: &Result<Response>) -> Option<&Outcome> {
    match result {
        Ok(response) => response.extensions().get(),
        Err(error) => Error::of(error)
            .map(Error::outcome)
            .or_else(|| stopped(error).map(|stopped| &*stopped.outcome)),
    }
}

/// Why a request was not sent, or not sent again, if a wait ended it.
pub fn stopped(error: &reqwest_middleware::Error) -> Option<&Stopped> {
    match error {
        reqwest_middleware::Error::Middleware(any) => any
            .downcast_ref()
            .or_else(|| any.downcast_ref().and_then(Error::stopped)),
        reqwest_middleware::Error::Reqwest(_) => None,
    }
}
