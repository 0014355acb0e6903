//! What is reported: metrics through the `metrics` facade (feature `metrics`), log lines through `tracing`.
//!
//! | metric | kind | labels | meaning |
//! |---|---|---|---|
//! | `paceline_requests_total` | counter | `gate`, `class` | answers by verdict: `ok`, `rate_limited`, `overloaded`, `redirect`, `other` |
//! | `paceline_retries_total` | counter | `gate` | requests sent again |
//! | `paceline_backoff_milliseconds_total` | counter | `gate` | the requests' own delays before they were sent again |
//! | `paceline_wait_seconds` | histogram | `gate`, `reason` | time in line, by what was waited for in the end |
//! | `paceline_refused_share` | gauge | `gate` | share of `rate_limited` among the last hundred or so answers (0 to 1) |
//! | `paceline_pace_per_second` | gauge | `gate` | the pace believed in; +Inf while no limit is |
//! | `paceline_waiting` | gauge | `gate` | requests in line for this gate |
//! | `paceline_in_flight` | gauge | `gate` | requests under way, until their bodies end |
//! | `paceline_circuit_changes_total` | counter | `gate`, `to` | `open`, `closed`, `gave_up` |
//! | `paceline_pauses_total` | counter | `gate` | pauses that the upstream asked for |
//!
//! `gate` is a configured name (for an upstream that nobody configured, `origin`): labels never hold a URL, a host that a
//! request named, or a credential, so their number is bounded by the configuration. The quotas of an upstream, one for
//! each credential, share it, and so do gates that are found from its responses: counters and levels add up; of pace and
//! share the one that changed last is told.

use core::time::Duration;

use paceline_engine::{Engine, Event, EventKind, Observation, Reason, Sent};

#[cfg(feature = "metrics")]
mod gate_metrics;

/// The reporting side of one pace.
#[derive(Debug)]
pub(crate) struct Telemetry {
    names: Vec<Box<str>>,
    #[cfg(feature = "metrics")]
    gates: Vec<gate_metrics::GateMetrics>,
}

impl Telemetry {
    /// For gates whose metrics are labelled with `labels`, in order.
    pub(crate) fn new<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<Box<str>> = labels.map(Into::into).collect();
        Self {
            #[cfg(feature = "metrics")]
            gates: names
                .iter()
                .map(|name| gate_metrics::GateMetrics::new(name))
                .collect(),
            names,
        }
    }

    pub(crate) fn answered(&self, sent: &Sent, seen: &Observation) {
        tracing::trace!(
            gate = self.name(sent.gates().iter().next()),
            class = seen.verdict.code(),
            order = sent.order(),
            "answered"
        );
        #[cfg(feature = "metrics")]
        self.each(sent.gates(), |gate| gate.answered(seen.verdict));
    }

    pub(crate) fn waited(&self, sent: &Sent, waited: Duration, reason: Reason) {
        tracing::trace!(
            gate = self.name(sent.gates().iter().next()),
            waited_s = waited.as_secs_f64(),
            reason = reason.code(),
            "admitted"
        );
        #[cfg(feature = "metrics")]
        self.each(sent.gates(), |gate| gate.waited(waited, reason));
    }

    pub(crate) fn retried(&self, gates: paceline_engine::GateSet, delay: Duration) {
        tracing::debug!(
            gate = self.name(gates.iter().next()),
            delay_s = delay.as_secs_f64(),
            "sending again"
        );
        #[cfg(feature = "metrics")]
        self.each(gates, |gate| gate.retried(delay));
    }

    pub(crate) fn event(&self, event: &Event) {
        // Gates that were found go by their upstream's name.
        let index = Some(usize::from(event.gate)).filter(|index| *index < self.names.len());
        let index = index.unwrap_or(0);
        let gate = self.name(Some(index));
        match event.kind {
            EventKind::Paused { asked, .. } => {
                tracing::debug!(
                    gate,
                    asked_s = asked.as_secs_f64(),
                    "the upstream asked for a pause"
                );
            }
            EventKind::Resumed => tracing::debug!(gate, "the pause was about one request alone"),
            EventKind::Pace { interval } => {
                tracing::trace!(gate, interval_s = interval.as_secs_f64(), "pace");
            }
            EventKind::CircuitOpened => tracing::debug!(gate, "circuit opened"),
            EventKind::CircuitClosed => tracing::debug!(gate, "circuit closed"),
            EventKind::CircuitGaveUp => {
                tracing::warn!(
                    gate,
                    "the upstream has never served a request: giving up on it"
                );
            }
            _ => {}
        }
        #[cfg(feature = "metrics")]
        if let Some(metrics) = self.gates.get(index) {
            metrics.event(event.kind);
        }
    }

    /// Queue length and in flight, after every input.
    #[cfg_attr(
        not(feature = "metrics"),
        expect(clippy::unused_self, reason = "metrics are off")
    )]
    pub(crate) fn levels(&self, engine: &Engine) {
        #[cfg(feature = "metrics")]
        for (index, metrics) in self.gates.iter().enumerate() {
            if let Some(gauges) = u16::try_from(index).ok().and_then(|i| engine.gauges(i)) {
                metrics.levels(gauges.in_flight, gauges.waiting);
            }
        }
        #[cfg(not(feature = "metrics"))]
        let _ = engine;
    }

    fn name(&self, gate: Option<usize>) -> &str {
        gate.and_then(|gate| self.names.get(gate))
            .map_or("", AsRef::as_ref)
    }

    #[cfg(feature = "metrics")]
    fn each(&self, gates: paceline_engine::GateSet, report: impl Fn(&gate_metrics::GateMetrics)) {
        gates
            .iter()
            .filter_map(|gate| self.gates.get(gate))
            .for_each(report);
    }
}
