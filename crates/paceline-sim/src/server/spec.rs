//! A server as plain data.

use core::time::Duration;

use super::Model;
use super::build::SpecError;
use super::retry_after::{RetryAfter, Wording};
use super::wrap::Wrap;

/// What a server limits and how it says so; [`model`](Self::model) makes it work.
///
/// A refusal has status 429 and no Retry-After unless told otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSpec {
    pub(crate) kind: Kind,
    pub(crate) wording: Wording,
    pub(crate) wraps: Vec<Wrap>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    TokenBucket {
        rates: Vec<(Duration, f64)>,
        burst: u64,
    },
    FixedWindow {
        limit: u64,
        window: Duration,
        phase: Duration,
    },
    SlidingLog {
        limit: u64,
        window: Duration,
        count_refused: bool,
    },
    Concurrency {
        max: u64,
    },
    AllOf {
        parts: Vec<ServerSpec>,
    },
    Open,
    Always,
}

impl ServerSpec {
    /// `rate` requests per second on average, `burst` at once; starts full.
    pub fn token_bucket(rate: f64, burst: u64) -> Self {
        Self::token_bucket_with_rates([(Duration::ZERO, rate)], burst)
    }

    /// A token bucket whose rate changes: each rate (per second) holds from that time since the
    /// origin on.
    pub fn token_bucket_with_rates(
        rates: impl IntoIterator<Item = (Duration, f64)>,
        burst: u64,
    ) -> Self {
        Self::new(Kind::TokenBucket {
            rates: rates.into_iter().collect(),
            burst,
        })
    }

    /// Strictly one request per 1/`rate` seconds: a token bucket with a burst of 1.
    pub fn gcra(rate: f64) -> Self {
        Self::token_bucket(rate, 1)
    }

    /// `limit` requests in each window; windows begin where the time since the origin plus `phase`
    /// is a multiple of `window`.
    pub fn fixed_window(limit: u64, window: Duration, phase: Duration) -> Self {
        Self::new(Kind::FixedWindow {
            limit,
            window,
            phase,
        })
    }

    /// Never more than `limit` served requests in any stretch of `window`.
    pub fn sliding_log(limit: u64, window: Duration) -> Self {
        Self::new(Kind::SlidingLog {
            limit,
            window,
            count_refused: false,
        })
    }

    /// As [`sliding_log`](Self::sliding_log), but refused requests enter the log too.
    pub fn sliding_log_counting_refused(limit: u64, window: Duration) -> Self {
        Self::new(Kind::SlidingLog {
            limit,
            window,
            count_refused: true,
        })
    }

    /// At most `max` requests in flight.
    pub fn concurrency(max: u64) -> Self {
        Self::new(Kind::Concurrency { max })
    }

    /// Each part must admit, then each is charged. The refusal is worded by the whole; the parts'
    /// own status and Retry-After are not used.
    pub fn all_of(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Kind::AllOf {
            parts: parts.into_iter().collect(),
        })
    }

    /// Refuses nothing.
    pub fn open() -> Self {
        Self::new(Kind::Open)
    }

    /// Refuses everything.
    pub fn always() -> Self {
        Self::new(Kind::Always)
    }

    /// The status of a refusal, 200 to 599: some servers hide one behind a 200.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.wording.status = status;
        self
    }

    /// What a refusal says about the exact wait.
    #[must_use]
    pub fn retry_after(mut self, retry_after: RetryAfter) -> Self {
        self.wording.retry_after = retry_after;
        self
    }

    /// Adds a wrap below those that are there: the first one added is asked first.
    #[must_use]
    pub fn wrap(mut self, wrap: Wrap) -> Self {
        self.wraps.push(wrap);
        self
    }

    /// The server at its origin, with dice from `seed`.
    pub fn model(&self, seed: u64) -> Result<Model, SpecError> {
        self.build(&mut fastrand::Rng::with_seed(seed))
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            wording: Wording {
                status: 429,
                retry_after: RetryAfter::None,
            },
            wraps: Vec::new(),
        }
    }
}
