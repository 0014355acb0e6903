//! The only place here that reads a clock.

use paceline_engine::Timestamp;
use tokio::time::Instant;

/// Tokio's time since the server began, so that a paused runtime pauses the server too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    pub(super) fn now(self) -> Timestamp {
        Timestamp::ZERO + self.origin.elapsed()
    }
}
