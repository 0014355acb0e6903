//! The metrics of one gate, registered once.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use paceline_engine::{EventKind, Reason, Verdict};

/// Handles, so that reporting is an atomic addition.
pub(super) struct GateMetrics {
    answers: [Counter; 5],
    retries: Counter,
    backoff: Counter,
    waits: Vec<Histogram>,
    refused_share: Gauge,
    /// The share in 2^-20, a moving average over about a hundred answers.
    share: AtomicU32,
    pace: Gauge,
    waiting: Level,
    in_flight: Level,
    opened: Counter,
    closed: Counter,
    gave_up: Counter,
    pauses: Counter,
}

/// What one pace adds to a gauge: the quotas of an upstream, one for each credential, share its label.
struct Level {
    sum: Gauge,
    own: AtomicU64,
}

impl Level {
    fn new(sum: Gauge) -> Self {
        // So that it is there from the beginning.
        sum.increment(0.0);
        let own = AtomicU64::new(0);
        Self { sum, own }
    }

    fn set(&self, level: u64) {
        let before = self.own.swap(level, Ordering::Relaxed);
        if level > before {
            self.sum.increment((level - before) as f64);
        } else if level < before {
            self.sum.decrement((before - level) as f64);
        }
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        self.set(0);
    }
}

const VERDICTS: [Verdict; 5] = [
    Verdict::Ok,
    Verdict::RateLimited,
    Verdict::Overloaded,
    Verdict::Redirect,
    Verdict::Other,
];

const ONE: u32 = 1 << 20;
const ANSWERS_REMEMBERED: u32 = 100;

impl GateMetrics {
    pub(super) fn new(gate: &str) -> Self {
        let gate = gate.to_owned();
        let answers = VERDICTS.map(|verdict| {
            counter!("paceline_requests_total", "gate" => gate.clone(), "class" => verdict.code())
        });
        let waits = Reason::ALL.iter().map(|reason| {
            histogram!("paceline_wait_seconds", "gate" => gate.clone(), "reason" => reason.code())
        });
        let circuit = |to: &'static str| counter!("paceline_circuit_changes_total", "gate" => gate.clone(), "to" => to);
        let metrics = Self {
            answers,
            retries: counter!("paceline_retries_total", "gate" => gate.clone()),
            backoff: counter!("paceline_backoff_milliseconds_total", "gate" => gate.clone()),
            waits: waits.collect(),
            refused_share: gauge!("paceline_refused_share", "gate" => gate.clone()),
            share: AtomicU32::new(0),
            pace: gauge!("paceline_pace_per_second", "gate" => gate.clone()),
            waiting: Level::new(gauge!("paceline_waiting", "gate" => gate.clone())),
            in_flight: Level::new(gauge!("paceline_in_flight", "gate" => gate.clone())),
            opened: circuit("open"),
            closed: circuit("closed"),
            gave_up: circuit("gave_up"),
            pauses: counter!("paceline_pauses_total", "gate" => gate.clone()),
        };
        metrics.pace.set(f64::INFINITY);
        metrics
    }

    pub(super) fn answered(&self, verdict: Verdict) {
        let index = VERDICTS.iter().position(|own| *own == verdict).unwrap_or(0);
        self.answers[index].increment(1);
        let refused = if verdict == Verdict::RateLimited {
            ONE / ANSWERS_REMEMBERED
        } else {
            0
        };
        let step = |share: u32| Some(share - share / ANSWERS_REMEMBERED + refused);
        let share = self
            .share
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        let share = share.ok().and_then(step).unwrap_or_default();
        self.refused_share.set(f64::from(share) / f64::from(ONE));
    }

    pub(super) fn waited(&self, waited: Duration, reason: Reason) {
        let index = Reason::ALL.iter().position(|own| *own == reason);
        if let Some(histogram) = index.and_then(|index| self.waits.get(index)) {
            histogram.record(waited.as_secs_f64());
        }
    }

    pub(super) fn retried(&self, delay: Duration) {
        self.retries.increment(1);
        self.backoff
            .increment(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
    }

    pub(super) fn levels(&self, in_flight: u64, waiting: u64) {
        self.in_flight.set(in_flight);
        self.waiting.set(waiting);
    }

    pub(super) fn event(&self, kind: EventKind) {
        match kind {
            EventKind::Paused { .. } => self.pauses.increment(1),
            EventKind::Pace { interval } if interval.is_zero() => self.pace.set(f64::INFINITY),
            EventKind::Pace { interval } => self.pace.set(1.0 / interval.as_secs_f64()),
            EventKind::CircuitOpened => self.opened.increment(1),
            EventKind::CircuitClosed => self.closed.increment(1),
            EventKind::CircuitGaveUp => self.gave_up.increment(1),
            _ => {}
        }
    }
}

impl core::fmt::Debug for GateMetrics {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("GateMetrics")
    }
}
