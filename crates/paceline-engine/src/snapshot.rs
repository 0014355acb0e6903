//! Everything that is, as data: what status pages, progress lines and people see.

use core::time::Duration;

use crate::{Limit, Reason, Timestamp};

/// One gate at one instant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GateSnapshot {
    /// Its name.
    pub name: Box<str>,
    /// Its place among all gates, which stays the same; some may be left out, as nobody goes there any more.
    pub place: usize,
    /// The instant until which nobody may start; `None` if time holds nobody back.
    pub throttled_until: Option<Timestamp>,
    /// Why the next one may not start now.
    pub reason: Option<Reason>,
    /// Since when, for pauses (also those by hand) and the circuit.
    pub since: Option<Timestamp>,
    /// How long the upstream asked us to stop, if such a pause is in force.
    pub asked: Option<Duration>,
    /// The status of the response that asked.
    pub asked_by_status: Option<u16>,
    /// Requests waiting for it.
    pub waiting: u64,
    /// Requests under way.
    pub in_flight: u64,
    /// `closed`, `open` or `probing`.
    pub circuit: &'static str,
    /// Its configured limits.
    pub limits: Vec<LimitSnapshot>,
    /// The windows that the upstream reported and that are not over.
    pub windows: Vec<WindowSnapshot>,
    /// What the hidden limit is believed to be.
    pub belief: BeliefSnapshot,
}

impl GateSnapshot {
    /// The pace believed in, in requests a second; `None` if no limit is.
    pub fn pace_per_s(&self) -> Option<f64> {
        self.belief
            .interval
            .map(|interval| 1.0 / interval.as_secs_f64())
    }
}

/// One configured limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitSnapshot {
    /// The limit.
    pub limit: Limit,
    /// How much of it could be spent at once; of server time, in milliseconds.
    pub available: u64,
    /// What a request is expected to take of the server's time, if that is what is limited and any has been answered.
    pub expected: Option<Duration>,
}

/// One reported window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowSnapshot {
    /// The upstream's name for it.
    pub name: Option<Box<str>>,
    /// How much it holds.
    pub limit: Option<u64>,
    /// How much the upstream said was left.
    pub remaining: u64,
    /// When it starts anew.
    pub reset: Timestamp,
}

/// What a gate believes, and on which grounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BeliefSnapshot {
    /// The time between two starts; `None` if no limit is believed in.
    pub interval: Option<Duration>,
    /// With a probability of four in five the interval lies between these; `None` if nothing is believed.
    pub between: Option<[Duration; 2]>,
    /// How likely it is that there is no limit on the rate at all, in per cent.
    pub no_limit_percent: u8,
    /// How many may be under way at once, if that is what limits.
    pub at_once: Option<u64>,
    /// So many in any stretch of so long, if a window is what limits.
    pub window: Option<(u64, Duration)>,
    /// The fresh refusals that shaped it.
    pub refusals: u64,
    /// Requests accepted since the last of them.
    pub accepted_since: u64,
}

/// A pace line at one instant: its gates, and what waits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// When.
    pub at: Timestamp,
    /// The gates, in the order of their configuration; then those that were found from responses.
    pub gates: Vec<GateSnapshot>,
    /// All requests waiting.
    pub waiting: u64,
}
