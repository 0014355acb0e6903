//! A server that tells how much is left of its window, with a network that lets answers overtake each other.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::Full;
use paceline::Pace;
use paceline::tower::{Paced, PacelineLayer};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tower::{Layer, Service, ServiceExt};

use crate::lab::{secs, unconfigured};

/// When a window begins.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Begins {
    /// With the first request after the one before.
    WithARequest,
    /// With the clock, at multiples of its length; the server was started this long after one.
    Aligned(f64),
    /// Each request is counted for one length.
    EachItsOwn,
}

/// How the reset is told.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reset {
    /// Whole seconds from now, rounded up, beside a policy that names the length.
    WithLength,
    Up,
    Down,
}

#[derive(Clone)]
pub(crate) struct Quota(Arc<Mutex<State>>);

struct State {
    limit: usize,
    length: Duration,
    begins: Begins,
    reset: Reset,
    origin: Instant,
    /// When each request that counts was counted.
    counted: Vec<Duration>,
    rival: Option<(Duration, Duration)>,
    /// Fields of the answers to every request whose path is not `/`.
    stale: HeaderMap,
    dice: u64,
    rivals: usize,
    served: usize,
    refused: Vec<Duration>,
}

impl Quota {
    pub(crate) fn new(limit: usize, length: f64, begins: Begins, reset: Reset) -> Self {
        Self(Arc::new(Mutex::new(State {
            limit,
            length: secs(length),
            begins,
            reset,
            origin: Instant::now(),
            counted: Vec::new(),
            rival: None,
            stale: HeaderMap::new(),
            dice: 1,
            rivals: 0,
            served: 0,
            refused: Vec::new(),
        })))
    }

    /// Somebody else asks once in so many seconds, from the first second on, and is as welcome as we are.
    pub(crate) fn rival(self, every: f64) -> Self {
        self.0.lock().expect("nobody panicked").rival = Some((secs(1.0), secs(every)));
        self
    }

    /// What is answered to any path but `/`, with status 200 or that of a field `:status`.
    pub(crate) fn stale(self, fields: &[(&'static str, &'static str)]) -> Self {
        for (name, value) in fields {
            let value = HeaderValue::from_static(value);
            self.0
                .lock()
                .expect("nobody panicked")
                .stale
                .insert(*name, value);
        }
        self
    }

    /// Another client with a pace of its own.
    pub(crate) fn client(&self, seed: u64) -> (Paced<Self, Pace>, Pace) {
        let pace = unconfigured().seed(seed).build();
        (PacelineLayer::new(pace.clone()).layer(self.clone()), pace)
    }

    pub(crate) fn refused(&self) -> usize {
        self.0.lock().expect("nobody panicked").refused.len()
    }

    /// Requests of the rival that were let through.
    pub(crate) fn rivals(&self) -> usize {
        self.0.lock().expect("nobody panicked").rivals
    }
}

impl State {
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    /// From 5 to 15 ms, by a linear congruential generator (Knuth's constants).
    fn way(&mut self) -> Duration {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Duration::from_micros(5_000 + (self.dice >> 33) % 10_000)
    }

    /// Takes one request at `now`, if it may.
    fn take(&mut self, now: Duration) -> bool {
        let over = self.ends(now) <= now;
        match self.begins {
            Begins::EachItsOwn => {
                let length = self.length;
                self.counted.retain(|at| *at + length > now);
            }
            _ if over => self.counted.clear(),
            _ => {}
        }
        let free = self.counted.len() < self.limit;
        if free {
            self.counted.push(now);
        }
        free
    }

    /// When the first of what counts does not count any more.
    fn ends(&self, now: Duration) -> Duration {
        let first = self.counted.first().copied().unwrap_or(now);
        match self.begins {
            Begins::WithARequest | Begins::EachItsOwn => first + self.length,
            Begins::Aligned(phase) => {
                let since = first + secs(phase);
                let windows = since.as_nanos() / self.length.as_nanos() + 1;
                self.length * u32::try_from(windows).expect("few windows") - secs(phase)
            }
        }
    }

    fn arrive(&mut self, path: &str) -> Response<Full<Bytes>> {
        let now = self.now();
        while let Some((next, every)) = self.rival
            && next <= now
        {
            self.rivals += usize::from(self.take(next));
            self.rival = Some((next + every, every));
        }
        let mut response = Response::new(Full::from("answer\n"));
        if path != "/" {
            let status = self
                .stale
                .get("x-status")
                .map(|s| s.to_str().expect("text"));
            *response.status_mut() = status.unwrap_or("200").parse().expect("a status");
            *response.headers_mut() = self.stale.clone();
            return response;
        }
        if self.take(now) {
            self.served += 1;
        } else {
            self.refused.push(now);
            *response.status_mut() = http::StatusCode::TOO_MANY_REQUESTS;
        }
        let left = self.limit - self.counted.len();
        let wait = self.ends(now).saturating_sub(now).as_secs_f64();
        let reset = match self.reset {
            Reset::Down => wait.floor(),
            _ => wait.ceil(),
        };
        let policy = format!("{};w={}", self.limit, self.length.as_secs());
        let mut tell = |name: &'static str, value: String| {
            let value = HeaderValue::from_str(&value).expect("a value");
            response.headers_mut().insert(name, value);
        };
        tell("ratelimit-limit", self.limit.to_string());
        tell("ratelimit-remaining", left.to_string());
        tell("ratelimit-reset", reset.to_string());
        if self.reset == Reset::WithLength {
            tell("ratelimit-policy", policy);
        }
        response
    }
}

impl Service<Request<()>> for Quota {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        let state = Arc::clone(&self.0);
        let (there, back) = {
            let mut state = state.lock().expect("nobody panicked");
            (state.way(), state.way())
        };
        Box::pin(async move {
            sleep(there).await;
            let response = state
                .lock()
                .expect("nobody panicked")
                .arrive(request.uri().path());
            sleep(back).await;
            Ok(response)
        })
    }
}

/// `workers` send `requests`; how long it took. Panics if one is lost.
pub(crate) async fn flat(client: &Paced<Quota, Pace>, requests: usize, workers: usize) -> Duration {
    let began = Instant::now();
    let mut set = JoinSet::new();
    for number in 0..requests {
        if number >= workers {
            set.join_next()
                .await
                .expect("one under way")
                .expect("served");
        }
        let client = client.clone();
        set.spawn(async move {
            let request = Request::get("/").body(()).expect("a request");
            let response = client.oneshot(request).await.expect("an answer");
            assert_eq!(response.status(), 200);
        });
    }
    set.join_all().await;
    began.elapsed()
}
