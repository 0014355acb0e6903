//! What the tests of the policies have in common.

use core::time::Duration;

use crate::{Scenario, ServerSpec, Shape};

pub(super) fn burst(requests: u64, server: ServerSpec) -> Scenario {
    Scenario::new(
        "lab",
        Shape::Burst,
        requests,
        requests,
        Duration::ZERO,
        server,
    )
}

pub(super) fn flat(requests: u64, workers: u64, latency: u64, server: ServerSpec) -> Scenario {
    let latency = Duration::from_millis(latency);
    Scenario::new("lab", Shape::Flat, requests, workers, latency, server)
}

pub(super) fn tree(requests: u64, workers: u64, latency: u64, server: ServerSpec) -> Scenario {
    Scenario {
        shape: Shape::Tree { fanout: 10 },
        ..flat(requests, workers, latency, server)
    }
}

/// To the millisecond, as the arena's files have it.
pub(super) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e3).round() / 1e3
}
