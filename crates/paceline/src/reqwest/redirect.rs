//! Following redirects above the client, so that each hop is a request like any other.
//!
//! `tower-http` knows when and how (RFC 9110 section 15.4); each of its calls is a hop with its own
//! route and permits.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::sync::Arc;

use ::reqwest::{Body, Client};
use bytes::Bytes;
use http::header;
use http_body_util::BodyExt;
use reqwest_middleware::{Error as Below, Next, Result};
use tokio::sync::Mutex;
use tower_http::follow_redirect::FollowRedirect;
use tower_http::follow_redirect::policy::{Action, Attempt, FilterCredentials, Policy};
use tower_service::Service;

use super::Middleware;
use super::hop::{self, Journey};
use crate::outcome::Outcome;
use crate::router::Router;

/// Sends `request` and follows where it is sent.
pub(super) async fn follow<R: Router>(
    middleware: &Middleware<R>,
    client: Next<'_>,
    journey: Journey<'_>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>> {
    let (parts, body) = request.into_parts();
    // Known bytes are shared with whatever hop sends them again; a stream goes once.
    let (body, bytes) = match body.as_bytes() {
        Some(_) => {
            let bytes = body.collect().await?.to_bytes();
            (Body::from(bytes.clone()), Some(bytes))
        }
        None => (body, None),
    };
    let request = http::Request::from_parts(parts, body);
    let refused = Arc::new(AtomicBool::new(false));
    let hops = Hops {
        router: &middleware.router,
        client,
        journey: Arc::new(Mutex::new(journey)),
        refused: Arc::clone(&refused),
    };
    let policy = Follow {
        refused,
        left: middleware.redirects,
        stays_home: middleware.stays_home,
        bytes,
        // Extensions never leave the process.
        credentials: FilterCredentials::new().keep_all_extensions(),
    };
    FollowRedirect::with_policy(hops, policy)
        .call(request)
        .await
}

/// Whether the client adds credentials of its own to whatever it sends.
///
/// Its `Debug` is the only place that names its default headers; where it does not, the answer is
/// yes.
pub(super) fn adds_credentials(client: &Client) -> bool {
    let client = format!("{client:?}");
    let names = CREDENTIALS.iter().map(|name| format!("\"{name}\":"));
    !client.contains("default_headers") || names.into_iter().any(|name| client.contains(&name))
}

/// What `FilterCredentials` removes.
const CREDENTIALS: &[header::HeaderName] = &[
    header::AUTHORIZATION,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
];

/// The hops of one operation, one after the other.
struct Hops<'a, R> {
    router: &'a R,
    client: Next<'a>,
    journey: Arc<Mutex<Journey<'a>>>,
    /// Whether the last answer was a refusal.
    refused: Arc<AtomicBool>,
}

impl<R> Clone for Hops<'_, R> {
    fn clone(&self) -> Self {
        Self {
            router: self.router,
            client: self.client.clone(),
            journey: Arc::clone(&self.journey),
            refused: Arc::clone(&self.refused),
        }
    }
}

impl<'a, R: Router> Service<http::Request<Body>> for Hops<'a, R> {
    type Response = http::Response<Body>;
    type Error = Below;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response>> + Send + 'a>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let hops = self.clone();
        Box::pin(async move {
            let mut journey = hops.journey.lock().await;
            let response = hop::send(hops.router, &hops.client, &mut journey, request).await?;
            let outcome = response.extensions().get::<Outcome>();
            let refused = outcome.is_some_and(|outcome| outcome.ends_refused);
            hops.refused.store(refused, Ordering::Relaxed);
            Ok(response)
        })
    }
}

/// Which redirects are followed, and what goes along.
#[derive(Clone)]
struct Follow {
    refused: Arc<AtomicBool>,
    left: usize,
    stays_home: bool,
    bytes: Option<Bytes>,
    credentials: FilterCredentials,
}

impl Policy<Body, Below> for Follow {
    fn redirect(&mut self, attempt: &Attempt<'_>) -> Result<Action> {
        let (from, to) = (attempt.previous(), attempt.location());
        // Where a refusal leads is not what was asked for.
        if self.refused.load(Ordering::Relaxed) {
            return Ok(Action::Stop);
        }
        if self.left == 0 || !matches!(to.scheme_str(), Some("http" | "https")) {
            return Ok(Action::Stop);
        }
        if self.stays_home && (from.scheme(), from.authority()) != (to.scheme(), to.authority()) {
            tracing::warn!(
                "a redirect to another origin was not followed: the client's default headers hold \
                 credentials that would go along; put them into `Middleware::default_headers`"
            );
            return Ok(Action::Stop);
        }
        self.left -= 1;
        Policy::<Body, Below>::redirect(&mut self.credentials, attempt)
    }

    fn on_request(&mut self, request: &mut http::Request<Body>) {
        Policy::<Body, Below>::on_request(&mut self.credentials, request);
    }

    fn clone_body(&self, _: &Body) -> Option<Body> {
        self.bytes.clone().map(Body::from)
    }
}
