//! The one place that reads a clock.

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use paceline_engine::{Timestamp, WallTime};

/// A wait on a [`Clock`].
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A driver's clock: the time, and a way to wait for it.
///
/// [`TokioClock`] is the default. `testing::VirtualClock` stands still until a test moves it.
pub trait Clock: Send + Sync + 'static {
    /// Monotonic time since this clock's origin.
    fn now(&self) -> Timestamp;

    /// The wall clock, to read the dates that upstreams send.
    fn wall(&self) -> WallTime;

    /// Ends at `at` or later, never earlier.
    fn sleep_until(&self, at: Timestamp) -> Sleep;

    /// Parks the calling thread until it is unparked or `at` has come, whichever is first.
    fn park_until(&self, at: Option<Timestamp>);
}

/// Tokio's time: it stands still under `tokio::time::pause()`.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: tokio::time::Instant,
}

impl TokioClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        Self {
            origin: tokio::time::Instant::now(),
        }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::ZERO + self.origin.elapsed()
    }

    fn wall(&self) -> WallTime {
        // A clock before 1970 is a clock that was never set: dates cannot be read against it either way.
        WallTime(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
        )
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        let after = at.since(Timestamp::ZERO);
        match self.origin.checked_add(after) {
            Some(instant) => Box::pin(tokio::time::sleep_until(instant)),
            None => Box::pin(core::future::pending()),
        }
    }

    fn park_until(&self, at: Option<Timestamp>) {
        match at {
            Some(at) => {
                std::thread::park_timeout(at.since(self.now()).max(Duration::from_nanos(1)))
            }
            None => std::thread::park(),
        }
    }
}
