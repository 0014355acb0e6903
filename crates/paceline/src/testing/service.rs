//! A limited server as a tower service, in tokio time.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use paceline_sim::{Decision, Model, ServerSpec, SpecError};
use tower_service::Service;

use super::clock::Clock;
use super::script::Script;
use super::stats::Stats;

/// A server that limits, or follows a [`Script`]; clones are the same server.
///
/// A request arrives when `call` is called, and its body is dropped then. With a latency, the
/// server decides after half of it; one that limits requests in flight decides at once, holds the
/// slot for the whole latency and refuses within 10 ms. Dropping the future gives the slot back.
///
/// The number of a request, which [`Wrap::poison`](super::Wrap::poison) looks at, is a `u64` in its
/// extensions, else its header `x-request-number`, else how many arrived before it.
#[derive(Clone)]
pub struct LimitedService {
    shared: Arc<Shared>,
    handler: Arc<Handler>,
    latency: Duration,
}

type Handler = dyn Fn(&Parts) -> Response<Full<Bytes>> + Send + Sync;

impl LimitedService {
    /// The server that `spec` describes, with the dice of seed 1; its time begins now.
    pub fn new(spec: ServerSpec) -> Result<Self, SpecError> {
        Self::seeded(spec, 1)
    }

    /// As [`new`](Self::new) with other dice, for servers that refuse at random.
    pub fn seeded(spec: ServerSpec, seed: u64) -> Result<Self, SpecError> {
        Ok(Self::with_rule(Rule::Model(Box::new(spec.model(seed)?))))
    }

    /// A server that answers what `script` says.
    pub fn scripted(script: Script) -> Self {
        Self::with_rule(Rule::Script(Box::new(script)))
    }

    /// The time from a request to its answer; zero unless set.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// What a request that is served gets; unless set, 200 and a few bytes.
    #[must_use]
    pub fn handler(
        mut self,
        handler: impl Fn(&Parts) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        self.handler = Arc::new(handler);
        self
    }

    /// What has reached the server so far.
    pub fn stats(&self) -> Stats {
        self.shared.lock().stats.clone()
    }

    fn with_rule(rule: Rule) -> Self {
        let state = Mutex::new(State {
            rule,
            stats: Stats::default(),
        });
        let shared = Arc::new(Shared {
            clock: Clock::start(),
            state,
        });
        let handler = Arc::new(|_: &Parts| Response::new(Full::from("served\n")));
        Self {
            shared,
            handler,
            latency: Duration::ZERO,
        }
    }

    /// How long a request travels to the decision, a served answer back, and a refusal back.
    fn travel(&self) -> (Duration, Duration, Duration) {
        let holds_slots = match &self.shared.lock().rule {
            Rule::Model(model) => model.holds_slots(),
            Rule::Script(_) => false,
        };
        if holds_slots {
            (
                Duration::ZERO,
                self.latency,
                self.latency.min(REFUSAL_OF_A_SLOT),
            )
        } else {
            let there = self.latency / 2;
            (there, self.latency - there, self.latency - there)
        }
    }
}

impl<B> Service<Request<B>> for LimitedService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, _) = request.into_parts();
        let (there, served_back, refused_back) = self.travel();
        let handler = Arc::clone(&self.handler);
        let mut visit = Visit::begin(Arc::clone(&self.shared), &parts);
        // Without a way to go, the order of calls is the order of decisions, whoever is polled
        // first.
        let decided = there.is_zero().then(|| visit.decide());
        Box::pin(async move {
            let answer = match decided {
                Some(answer) => answer,
                None => {
                    tokio::time::sleep(there).await;
                    visit.decide()
                }
            };
            let back = if answer.is_served() {
                served_back
            } else {
                refused_back
            };
            if !back.is_zero() {
                tokio::time::sleep(back).await;
            }
            drop(visit);
            Ok(match answer {
                Answer::Handler => handler(&parts),
                Answer::Given(response) => response,
            })
        })
    }
}

impl fmt::Debug for LimitedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedService")
            .field("latency", &self.latency)
            .finish_non_exhaustive()
    }
}

struct Shared {
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    rule: Rule,
    stats: Stats,
}

enum Rule {
    Model(Box<Model>),
    Script(Box<Script>),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Counts are whole after each line, so what another test's panic left behind is usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Answer {
    Handler,
    Given(Response<Full<Bytes>>),
}

impl Answer {
    fn is_served(&self) -> bool {
        match self {
            Self::Handler => true,
            Self::Given(response) => response.status().as_u16() < 400,
        }
    }
}

/// A request from its arrival until its answer leaves or is dropped.
struct Visit {
    shared: Arc<Shared>,
    number: u64,
    admitted: bool,
}

impl Visit {
    fn begin(shared: Arc<Shared>, parts: &Parts) -> Self {
        let mut state = shared.lock();
        let number = number_of(parts).unwrap_or(state.stats.received);
        state.stats.on_received(shared.clock.now());
        drop(state);
        Self {
            shared,
            number,
            admitted: false,
        }
    }

    fn decide(&mut self) -> Answer {
        let mut state = self.shared.lock();
        let answer = match &mut state.rule {
            Rule::Script(script) => script.next_answer().map_or(Answer::Handler, Answer::Given),
            Rule::Model(model) => match model.arrive(self.shared.clock.now(), self.number) {
                Decision::Admit => {
                    self.admitted = true;
                    Answer::Handler
                }
                Decision::Refuse {
                    status,
                    retry_after,
                    ..
                } => {
                    state.stats.refused += 1;
                    return Answer::Given(refusal(status, retry_after));
                }
            },
        };
        if answer.is_served() {
            state.stats.served += 1;
        } else {
            state.stats.refused += 1;
        }
        answer
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stats.in_flight -= 1;
        if let (true, Rule::Model(model)) = (self.admitted, &mut state.rule) {
            model.finish(self.shared.clock.now());
        }
    }
}

fn number_of(parts: &Parts) -> Option<u64> {
    let in_header = || {
        parts
            .headers
            .get("x-request-number")?
            .to_str()
            .ok()?
            .parse()
            .ok()
    };
    parts.extensions.get::<u64>().copied().or_else(in_header)
}

fn refusal(status: u16, retry_after: Option<String>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("refused\n"));
    *response.status_mut() =
        StatusCode::from_u16(status).expect("the model was built with a status from 200 to 599");
    if let Some(text) = retry_after {
        let value = HeaderValue::from_str(&text).expect("digits, a point and a minus");
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    response
}

/// A server that has no free slot says so within this time.
const REFUSAL_OF_A_SLOT: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
