//! One request on its way: wait, send, read the head, and perhaps again.
//!
//! ```text
//!   Waiting ──► Ready ──► Sending ──► (Peeking) ──► answered
//!    ▲   ▲        │          │ refused or failed, and another attempt helps
//!    │   └─ Unready          │ (the service has no slot for it at the moment)
//!    └────── Keeping ◄───────┘ (keeps a small refusal, in case there is no other answer)
//! ```
//!
//! Whoever holds a permit waits for nothing but the answer: those who have the service's slots may wait for that permit.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::{Request, Response, request, response};
use http_body::Body;
use paceline_engine::{Failure, Observation};
use pin_project_lite::pin_project;
use tower_service::Service;

use super::body::PacedBody;
use super::error::{BoxError, Error};
use crate::call::{Call, Next};
use crate::clock::Sleep;
use crate::driver::{Acquire, Permit};
use crate::failure::failure;
use crate::outcome::{Outcome, Stopped};
use crate::pace::Pace;
use crate::peek::{self, Peeked};
use crate::replay::ReplayBody;

/// A refusal larger than this, or slower, is not kept: its connection is worth more than its text.
const LARGEST_KEPT: usize = 64 * 1024;
const LONGEST_KEEPING: Duration = Duration::from_secs(1);

pin_project! {
    /// The future of a response.
    #[must_use = "nothing is sent unless it is polled"]
    pub struct ResponseFuture<S, B, ResBody>
    where
        S: Service<Request<B>>,
        ResBody: Body,
    {
        service: S,
        call: Call,
        pace: Pace,
        request: Option<Request<B>>,
        // What the next attempt is made from.
        copy: Option<(request::Parts, B)>,
        kept: Kept,
        #[pin]
        state: State<S::Future, ResBody>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<F, ResBody>
    where
        ResBody: Body,
    {
        Waiting { acquire: Option<Acquire> },
        Ready { permit: Option<Permit> },
        Unready { end: Option<Sleep> },
        Sending {
            #[pin]
            sending: F,
            permit: Option<Permit>,
            // The end of the request's time, if it has one.
            end: Option<Sleep>,
        },
        // Reads the beginning of a body that the dialect understands.
        Peeking {
            parts: Option<response::Parts>,
            body: Option<Peeked<ResBody>>,
            permit: Option<Permit>,
            end: Sleep,
        },
        Keeping {
            parts: Option<response::Parts>,
            #[pin]
            body: PacedBody<ResBody>,
            permit: Option<Permit>,
            bytes: BytesMut,
            end: Sleep,
        },
    }
}

impl<S, B, ResBody> ResponseFuture<S, B, ResBody>
where
    S: Service<Request<B>, Response = Response<ResBody>>,
    B: ReplayBody,
    ResBody: Body,
{
    pub(super) fn new(
        service: S,
        mut call: Call,
        pace: Pace,
        request: Request<B>,
        copy: Option<B>,
    ) -> Self {
        let copy = copy.map(|body| (head(&request), body));
        let state = match call.take_prepaid() {
            Some(permit) => State::Ready {
                permit: Some(permit),
            },
            None => State::Waiting { acquire: None },
        };
        Self {
            service,
            call,
            pace,
            request: Some(request),
            copy,
            kept: None,
            state,
        }
    }
}

impl<S, B, ResBody> Future for ResponseFuture<S, B, ResBody>
where
    S: Service<Request<B>, Response = Response<ResBody>>,
    S::Error: Into<BoxError>,
    B: ReplayBody,
    ResBody: Body,
{
    type Output = Result<Response<PacedBody<ResBody>>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let (mut permit, seen, answer) = match this.state.as_mut().project() {
                Projected::Waiting { acquire } => {
                    let acquire = acquire.get_or_insert_with(|| this.call.start());
                    let granted = ready!(acquire.poll_granted(cx));
                    match this.call.granted(granted) {
                        Ok(permit) => this.state.set(State::Ready {
                            permit: Some(permit),
                        }),
                        Err(stopped) => return Poll::Ready(not_again(this.kept, stopped)),
                    }
                    continue;
                }
                Projected::Ready { permit } => {
                    if let Some(request) = this.request.take() {
                        let mut permit = permit.take().expect("a permit that is ready");
                        permit.sending();
                        this.call.leaves();
                        let sending = this.service.call(request);
                        let end = this.call.deadline().map(|end| this.pace.sleep_until(end));
                        this.state.set(State::Sending {
                            sending,
                            permit: Some(permit),
                            end,
                        });
                        continue;
                    }
                    match this.service.poll_ready(cx) {
                        Poll::Ready(Ok(())) => *this.request = again(this.copy),
                        Poll::Ready(Err(error)) => {
                            let outcome = this.call.failed();
                            return Poll::Ready(last(this.kept, error.into(), outcome));
                        }
                        Poll::Pending => {
                            let end = this.call.deadline().map(|end| this.pace.sleep_until(end));
                            this.state.set(State::Unready { end });
                        }
                    }
                    continue;
                }
                Projected::Unready { end } => match this.service.poll_ready(cx) {
                    Poll::Ready(Ok(())) => {
                        *this.request = again(this.copy);
                        this.state.set(State::Waiting { acquire: None });
                        continue;
                    }
                    Poll::Ready(Err(error)) => {
                        let outcome = this.call.failed();
                        return Poll::Ready(last(this.kept, error.into(), outcome));
                    }
                    Poll::Pending => {
                        let Some(end) = end else { return Poll::Pending };
                        ready!(end.as_mut().poll(cx));
                        let stopped = this.call.out_of_time();
                        return Poll::Ready(not_again(this.kept, stopped));
                    }
                },
                Projected::Sending {
                    sending,
                    permit,
                    end,
                } => {
                    let answer = match sending.poll(cx) {
                        Poll::Ready(answer) => answer.map_err(Into::into),
                        Poll::Pending => {
                            let Some(end) = end else { return Poll::Pending };
                            ready!(end.as_mut().poll(cx));
                            Err(Box::new(OutOfTime) as BoxError)
                        }
                    };
                    let permit = permit.take().expect("a permit until the answer");
                    match answer {
                        Ok(response)
                            if peek::is_needed(
                                this.pace,
                                response.status(),
                                response.headers(),
                            ) =>
                        {
                            let (parts, body) = response.into_parts();
                            let end = soon(this.pace, this.call);
                            this.state.set(State::Peeking {
                                parts: Some(parts),
                                body: Some(Peeked::new(body)),
                                permit: Some(permit),
                                end,
                            });
                            continue;
                        }
                        Ok(response) => {
                            let seen = this.pace.read(response.status(), response.headers(), None);
                            (permit, seen, Ok(response.map(PacedBody::fresh)))
                        }
                        Err(error) if error.is::<OutOfTime>() => {
                            (permit, Observation::failure(Failure::Timeout), Err(error))
                        }
                        Err(error) => {
                            let seen = Observation::failure(failure(&*error));
                            (permit, seen, Err(error))
                        }
                    }
                }
                Projected::Peeking {
                    parts,
                    body,
                    permit,
                    end,
                } => {
                    let reading = body.as_mut().expect("a body until it is read");
                    if reading.poll_read(cx).is_pending() {
                        ready!(end.as_mut().poll(cx));
                    }
                    let (parts, body) = parts
                        .take()
                        .zip(body.take())
                        .expect("a head until the body is read");
                    let permit = permit.take().expect("a permit until the body is read");
                    let seen = this.pace.read(parts.status, &parts.headers, body.whole());
                    let response = Response::from_parts(parts, PacedBody::peeked(body));
                    (permit, seen, Ok(response))
                }
                Projected::Keeping {
                    parts,
                    body,
                    permit,
                    bytes,
                    end,
                } => {
                    let whole = match read(body, bytes, cx) {
                        Poll::Ready(whole) => whole,
                        Poll::Pending => {
                            ready!(end.as_mut().poll(cx));
                            false
                        }
                    };
                    let kept = core::mem::take(bytes).freeze();
                    *this.kept = parts.take().filter(|_| whole).map(|parts| (parts, kept));
                    drop(permit.take());
                    this.state.set(State::Waiting { acquire: None });
                    continue;
                }
            };
            match (this.call.settle(&mut permit, &seen), answer) {
                (Next::Return(outcome), Ok(response)) => {
                    return Poll::Ready(Ok(answered(response, permit, outcome)));
                }
                (Next::Return(outcome), Err(source)) => {
                    return Poll::Ready(Err(Error::Service { source, outcome }));
                }
                (Next::Again, Ok(response)) => {
                    let (parts, body) = response.into_parts();
                    let end = soon(this.pace, this.call);
                    this.state.set(State::Keeping {
                        parts: Some(parts),
                        body,
                        permit: Some(permit),
                        bytes: BytesMut::new(),
                        end,
                    });
                }
                (Next::Again, Err(_)) => {
                    *this.kept = None;
                    drop(permit);
                    this.state.set(State::Waiting { acquire: None });
                }
            }
        }
    }
}

/// When a body is waited for no longer.
fn soon(pace: &Pace, call: &Call) -> Sleep {
    let soon = pace.after(LONGEST_KEEPING);
    pace.sleep_until(call.deadline().map_or(soon, |end| end.min(soon)))
}

/// Reads on; ready with whether all of it was read.
fn read<ResBody: Body>(
    mut body: Pin<&mut ResBody>,
    bytes: &mut BytesMut,
    cx: &mut Context<'_>,
) -> Poll<bool> {
    loop {
        match ready!(body.as_mut().poll_frame(cx)) {
            None => return Poll::Ready(true),
            Some(Err(_)) => return Poll::Ready(false),
            Some(Ok(frame)) => {
                // Trailers of a refusal are not kept: nobody could tell that they were late.
                if let Ok(data) = frame.into_data() {
                    if bytes.len() + data.remaining() > LARGEST_KEPT {
                        return Poll::Ready(false);
                    }
                    bytes.put(data);
                }
            }
        }
    }
}

fn answered<ResBody: Body>(
    response: Response<PacedBody<ResBody>>,
    mut permit: Permit,
    outcome: Outcome,
) -> Response<PacedBody<ResBody>> {
    let (mut parts, body) = response.into_parts();
    parts.extensions.insert(outcome);
    if permit.is_estimate() {
        parts.extensions.insert(permit.settle_cost_later());
    }
    // Nothing follows the head: it is not in flight any more.
    let permit = Some(permit).filter(|_| !body.is_end_stream());
    Response::from_parts(parts, body.holding(permit))
}

type Kept = Option<(response::Parts, Bytes)>;

/// It is not sent again: the answer that was kept, or why.
fn not_again<T: Body>(kept: &mut Kept, stopped: Stopped) -> Result<Response<PacedBody<T>>, Error> {
    match kept.take() {
        Some(kept) => Ok(response_of(kept, *stopped.outcome)),
        None => Err(Error::Stopped(stopped)),
    }
}

/// The service is gone: the answer that was kept, or the service's error.
fn last<T: Body>(
    kept: &mut Kept,
    source: BoxError,
    outcome: Outcome,
) -> Result<Response<PacedBody<T>>, Error> {
    match kept.take() {
        Some(kept) => Ok(response_of(kept, outcome)),
        None => Err(Error::Service { source, outcome }),
    }
}

fn response_of<ResBody: Body>(
    (mut parts, bytes): (response::Parts, Bytes),
    outcome: Outcome,
) -> Response<PacedBody<ResBody>> {
    parts.extensions.insert(outcome);
    Response::from_parts(parts, PacedBody::kept(bytes))
}

/// The next attempt's request; what it is made from stays for the one after.
fn again<B: ReplayBody>(copy: &mut Option<(request::Parts, B)>) -> Option<Request<B>> {
    let (parts, body) = copy.take()?;
    *copy = body.replay().map(|body| (parts.clone(), body));
    Some(Request::from_parts(parts, body))
}

/// The head of a request, to be sent again.
fn head<B>(request: &Request<B>) -> request::Parts {
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.method = request.method().clone();
    parts.uri = request.uri().clone();
    parts.version = request.version();
    parts.headers = request.headers().clone();
    parts.extensions = request.extensions().clone();
    parts
}

/// The request's time ended while it was being sent.
#[derive(Debug)]
struct OutOfTime;

impl core::fmt::Display for OutOfTime {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no answer within the request's time")
    }
}

impl core::error::Error for OutOfTime {}

impl<S, B, ResBody> core::fmt::Debug for ResponseFuture<S, B, ResBody>
where
    S: Service<Request<B>>,
    ResBody: Body,
{
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ResponseFuture")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
