//! Everything that happened, as data: what telemetry reports.

use core::time::Duration;

use crate::Timestamp;

/// Something that happened at a gate. Telemetry turns these into metrics and log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The gate's place in the pace line.
    pub gate: u16,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The upstream asked for a pause, or for a longer one.
    Paused {
        /// Its end.
        until: Timestamp,
        /// What was asked for.
        asked: Duration,
    },
    /// The pause was about one request alone and is lifted.
    Resumed,
    /// The believed pace changed.
    Pace {
        /// The time between two starts; zero for no limit.
        interval: Duration,
    },
    /// The circuit opened: one probe at a time from now on.
    CircuitOpened,
    /// A probe was served.
    CircuitClosed,
    /// An upstream that never served us is given up: whoever waits fails.
    CircuitGaveUp,
}
