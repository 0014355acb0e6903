//! One request and all its attempts: the first of an operation, or the one after a redirect.

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::sync::Once;

use ::reqwest::{Body, Request, Response, ResponseBuilderExt, Url};
use http::{Extensions, header};
use paceline_engine::{Failure, Observation};
use reqwest_middleware::{Error as Below, Next as Client, Result};

use super::body::{in_flight, peeked};
use super::error::{Error, Last};
use super::kept::{SLOWEST, keep};
use super::within::{Sleep, before};
use crate::call::{Call, Next};
use crate::driver::Permit;
use crate::failure::failure;
use crate::options::{self, RequestOptions};
use crate::outcome::{Outcome, Stopped};
use crate::pace::Pace;
use crate::peek::{self, Peeked};
use crate::router::Router;

/// What the hops of one operation share.
pub(super) struct Journey<'a> {
    extensions: &'a mut Extensions,
    options: Option<RequestOptions>,
    /// What is left of the time for all of it.
    left: Option<Duration>,
    /// The caller bounded bodies as well.
    bounds_bodies: bool,
    /// What the hops before went through.
    gone: Option<Outcome>,
}

impl<'a> Journey<'a> {
    /// A journey that takes no longer than `timeout`.
    pub(super) fn new(
        timeout: Option<Duration>,
        request: &http::Request<Body>,
        extensions: &'a mut Extensions,
    ) -> Self {
        let options = extensions.get().or_else(|| request.extensions().get());
        Self {
            options: options.cloned(),
            extensions,
            left: timeout,
            bounds_bodies: timeout.is_some(),
            gone: None,
        }
    }

    /// Adds what the hops before went through.
    fn so_far(&mut self, outcome: Outcome) -> Outcome {
        let outcome = match self.gone.take() {
            Some(gone) => gone.redirected(outcome),
            None => outcome,
        };
        self.gone = Some(outcome.clone());
        outcome
    }

    /// There is no permit for another attempt: what was received comes back, or a typed error.
    fn stopped(
        &mut self,
        mut stopped: Stopped,
        earlier: Option<Earlier>,
    ) -> Result<http::Response<Body>> {
        *stopped.outcome = self.so_far(core::mem::take(&mut *stopped.outcome));
        let Some(Earlier { came, asked }) = earlier else {
            return Err(Below::middleware(stopped));
        };
        let mut outcome = (*stopped.outcome).clone();
        outcome.asked = asked.or(stopped.asked);
        outcome.next_allowed = stopped.possible_in.zip(stopped.waiting_for);
        match came {
            Ok(mut response) => {
                response.extensions_mut().insert(outcome);
                Ok(response)
            }
            Err(last) => {
                let upstream = stopped.upstream.clone();
                let error = Error::new(&upstream, outcome, last, Some(stopped));
                Err(Below::middleware(error))
            }
        }
    }
}

/// The attempt before: what came of it, and how long it asked to wait.
struct Earlier {
    came: core::result::Result<http::Response<Body>, Last>,
    asked: Option<Duration>,
}

/// Sends `request` as often as it takes, each time with a permit. The response's body holds the
/// last one.
pub(super) async fn send(
    router: &impl Router,
    client: &Client<'_>,
    journey: &mut Journey<'_>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let routed = router.route(method, uri, headers);
    let pace = routed.pace.clone();
    let replayable = request.body().as_bytes().is_some();
    let options = journey.options.as_ref();
    let mut call = options::call(routed, method, headers, options, replayable);
    if let Some(left) = journey.left {
        call = call.total(left);
    }
    let mut request = Some(Request::try_from(request)?);
    let mut earlier = None;
    loop {
        let mut permit = match call.acquire().await {
            Ok(permit) => permit,
            Err(stopped) => return journey.stopped(stopped, earlier),
        };
        let mut attempt = once_or_copy(&mut request);
        if journey.bounds_bodies {
            *attempt.timeout_mut() = call.remaining();
        }
        let asked = attempt.url().clone();
        let end = call.deadline().map(|end| pace.sleep_until(end));
        let sending = run(client, attempt, journey.extensions, end);
        let came = spend(&mut permit, sending).await?;
        if let Ok(response) = &came
            && is_elsewhere(response.url(), &asked)
        {
            charge_hidden_hop(router, response.url(), request.as_ref());
        }
        let (came, seen) = match came {
            Ok(response) => {
                let (response, seen) = read(into_http(response), &pace, &call).await;
                (Ok(response), seen)
            }
            Err((failure, last)) => (Err(last), Observation::failure(failure)),
        };
        let next = call.settle(&mut permit, &seen);
        journey.left = call.remaining();
        match (next, came) {
            (Next::Return(outcome), Ok(mut response)) => {
                response.extensions_mut().insert(journey.so_far(outcome));
                if permit.is_estimate() {
                    response.extensions_mut().insert(permit.settle_cost_later());
                }
                // Of a body that was decoded, reqwest removes the field.
                let length = response.headers().get(header::CONTENT_LENGTH);
                let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
                return Ok(response.map(|body| in_flight(body, length, permit)));
            }
            (Next::Return(outcome), Err(last)) => {
                let outcome = journey.so_far(outcome);
                let error = Error::new(pace.name(), outcome, last, None);
                return Err(Below::middleware(error));
            }
            (Next::Again, came) => {
                let came = match came {
                    Ok(response) => {
                        let end = soon(&pace, &call);
                        keep(response, end).await
                    }
                    Err(last) => Err(last),
                };
                let asked = seen.retry_after;
                earlier = Some(Earlier { came, asked });
                // The permit goes here: a request that waits for its turn is not in flight.
            }
        }
    }
}

/// What the response says, its body included where the dialect understands it; the response comes back whole.
async fn read(
    response: http::Response<Body>,
    pace: &Pace,
    call: &Call,
) -> (http::Response<Body>, Observation) {
    let (parts, body) = response.into_parts();
    if !peek::is_needed(pace, parts.status, &parts.headers) {
        let seen = pace.read(parts.status, &parts.headers, None);
        return (http::Response::from_parts(parts, body), seen);
    }
    let mut body = Peeked::new(body);
    let _ = before(Some(soon(pace, call)), poll_fn(|cx| body.poll_read(cx))).await;
    let seen = pace.read(parts.status, &parts.headers, body.whole());
    (http::Response::from_parts(parts, peeked(body)), seen)
}

/// When a body is waited for no longer.
fn soon(pace: &Pace, call: &Call) -> Sleep {
    let soon = pace.after(SLOWEST);
    pace.sleep_until(call.deadline().map_or(soon, |end| end.min(soon)))
}

/// A copy, or the request itself if its body goes out once.
fn once_or_copy(request: &mut Option<Request>) -> Request {
    let copy = request.as_ref().and_then(Request::try_clone);
    copy.or_else(|| request.take())
        .expect("a request whose body goes out once is not sent again")
}

/// Spends the permit, unless the request fails at once: then nothing left.
async fn spend<T>(permit: &mut Permit, sending: impl Future<Output = T>) -> T {
    let mut sending = pin!(sending);
    match poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx))).await {
        Poll::Ready(at_once) => at_once,
        Poll::Pending => {
            permit.sending();
            sending.await
        }
    }
}

/// A response, or why there was none.
type Came = core::result::Result<Response, (Failure, Last)>;

/// One send, before the end of its time. An error that is not about the upstream goes to the caller
/// as it is.
async fn run(
    client: &Client<'_>,
    attempt: Request,
    extensions: &mut Extensions,
    end: Option<Sleep>,
) -> Result<Came> {
    match before(end, client.clone().run(attempt, extensions)).await {
        None => Ok(Err((Failure::Timeout, Last::TimedOut))),
        Some(Ok(response)) => Ok(Ok(response)),
        Some(Err(error)) => match blame(&error) {
            Some(failure) => Ok(Err((failure, Last::Failed(error)))),
            None => Err(error),
        },
    }
}

/// Why there was no response; `None` if the upstream is not to blame: nothing was sent, or another
/// middleware had its reasons.
fn blame(error: &Below) -> Option<Failure> {
    let error = match error {
        Below::Reqwest(error) => error,
        Below::Middleware(any) => any.chain().find_map(|cause| cause.downcast_ref())?,
    };
    if error.is_builder() || error.is_redirect() {
        None
    } else if error.is_connect() {
        Some(Failure::Connect)
    } else if error.is_timeout() {
        Some(Failure::Timeout)
    } else {
        Some(failure(error))
    }
}

/// Whether the answer comes from somewhere else than asked; nobody sends fragments.
fn is_elsewhere(answered: &Url, asked: &Url) -> bool {
    let bare = |url: &Url| {
        let mut url = url.clone();
        url.set_fragment(None);
        url
    };
    answered != asked && bare(answered) != bare(asked)
}

/// A client that follows redirects below us made at least one request that nobody admitted.
fn charge_hidden_hop(router: &impl Router, answered: &Url, request: Option<&Request>) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        tracing::warn!(
            "the client follows redirects by itself, so they did not wait for their turn: build it \
             with `paceline::reqwest::client`, or with `redirect::Policy::none()` and \
             `Middleware::follow_redirects`"
        );
    });
    let Ok(uri) = http::Uri::try_from(answered.as_str()) else {
        return;
    };
    let routed = match request {
        Some(request) => router.route(request.method(), &uri, request.headers()),
        None => router.route(&http::Method::GET, &uri, &http::HeaderMap::new()),
    };
    routed.pace.spend(&routed.want);
}

/// The response, its URL in its extensions.
fn into_http(response: Response) -> http::Response<Body> {
    let url = http::Response::builder().url(response.url().clone());
    let mut response = http::Response::from(response);
    if let Ok(carrier) = url.body(()) {
        response
            .extensions_mut()
            .extend(carrier.into_parts().0.extensions);
    }
    response
}
