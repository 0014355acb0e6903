//! What these tests have in common: answers with fields, gaps between arrivals, a wall clock that is wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use paceline::reqwest::client;
use paceline::testing::{LimitedService, Script};
use paceline::{Clock, Pace, Router, Sleep, Timestamp, TokioClock, WallTime};
use reqwest_middleware::ClientWithMiddleware;

use crate::lab::{Lab, secs, unconfigured};

/// 2025-05-01T22:01:18Z, which is `NOW_TEXT`.
pub(crate) const NOW: u64 = 1_746_136_878;
pub(crate) const NOW_TEXT: &str = "Thu, 01 May 2025 22:01:18 GMT";

/// An answer with these fields; their values may be no ASCII.
pub(crate) fn answer(status: u16, fields: &[(&'static str, &str)]) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("said\n"));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    for (name, value) in fields {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        let fields = response.headers_mut();
        fields.append(HeaderName::from_static(name), value);
    }
    response
}

/// Answers so often with these fields, then serves.
pub(crate) fn says(times: usize, status: u16, fields: &[(&'static str, &str)]) -> LimitedService {
    let script = Script::answer(answer(status, fields)).times(times);
    LimitedService::scripted(script.then(200).forever())
}

/// Serves one request, so that it is known to be alive, then as [`says`].
pub(crate) fn serves_then_says(
    times: usize,
    status: u16,
    fields: &[(&'static str, &str)],
) -> LimitedService {
    let script = Script::status(200).then_answer(answer(status, fields));
    LimitedService::scripted(script.times(times).then(200).forever())
}

/// One caller that knows nothing before this server.
pub(crate) fn lab(server: LimitedService) -> Lab {
    Lab::with(unconfigured(), server)
}

/// The times between arrivals.
pub(crate) fn gaps<R: Router>(lab: &Lab<R>) -> Vec<Duration> {
    let arrivals = lab.server.stats().arrivals;
    arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Not before what was asked for, and later only by the jitter: a thirty-second part, at most a second.
pub(crate) fn keeps(gap: Duration, asked: f64) -> bool {
    let timer = secs(0.002);
    gap >= secs(asked) && gap <= secs(asked) + (secs(asked) / 32).min(secs(1.0)) + timer
}

/// A real client whose requests keep this pace.
pub(crate) fn over_http(router: impl Router) -> ClientWithMiddleware {
    client(builder(), router).unwrap()
}

/// Where another crate of the build has TLS without a provider, the client wants one even for plain HTTP.
pub(crate) fn builder() -> reqwest::ClientBuilder {
    // It fails only if it was done before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}

/// Tokio's time beside a wall clock that tests set.
#[derive(Clone)]
pub(crate) struct Wall {
    time: TokioClock,
    seconds: Arc<AtomicU64>,
}

impl Wall {
    /// It says so many seconds since 1970, and stands still.
    pub(crate) fn at(seconds: u64) -> Self {
        Self {
            time: TokioClock::new(),
            seconds: Arc::new(seconds.into()),
        }
    }

    pub(crate) fn set(&self, seconds: u64) {
        self.seconds.store(seconds, Ordering::Relaxed);
    }

    /// One caller with this clock.
    pub(crate) fn lab(&self, server: LimitedService) -> Lab {
        Lab::with(Pace::builder("lab").seed(1).clock(self.clone()), server)
    }
}

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        self.time.now()
    }

    fn wall(&self) -> WallTime {
        WallTime(Duration::from_secs(self.seconds.load(Ordering::Relaxed)))
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        self.time.sleep_until(at)
    }

    fn park_until(&self, at: Option<Timestamp>) {
        self.time.park_until(at);
    }
}
