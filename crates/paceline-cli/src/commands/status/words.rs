//! What is shared, for people.

use core::time::Duration;

use paceline::{GateSnapshot, LimitKind, LimitSnapshot, Shared, Snapshot, Timestamp};

/// A line an upstream, and one a gate with what is known of it below.
pub(super) fn of(shared: &Shared) -> Vec<String> {
    let Snapshot { at, gates, .. } = &shared.snapshot;
    let mut lines = vec![format!("{} ({})", shared.name, takes_part(shared.owners))];
    for gate in gates {
        lines.push(format!(
            "  {}: {} waiting, {} in flight, {}",
            gate.name,
            gate.waiting,
            gate.in_flight,
            held(gate, *at)
        ));
        let known = of_gate(gate, *at).into_iter();
        lines.extend(known.map(|line| format!("    {line}")));
    }
    lines
}

pub(crate) fn takes_part(owners: usize) -> String {
    match owners {
        0 => "nobody takes part".into(),
        1 => "1 takes part".into(),
        more => format!("{more} take part"),
    }
}

/// What a gate is told to keep to, what its upstream said, and what is believed.
pub(crate) fn of_gate(gate: &GateSnapshot, at: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    for own in &gate.limits {
        lines.push(format!("{}: {}", own.limit, could_go(own)));
    }
    for window in &gate.windows {
        let limit = window
            .limit
            .map_or_else(String::new, |limit| format!(" of {limit}"));
        let name = window.name.as_deref().unwrap_or("window");
        let left = window.remaining;
        let reset = roughly(window.reset.since(at));
        lines.push(format!("{name}: {left}{limit} left, ends in {reset} s"));
    }
    if let Some(pace) = gate.pace_per_s() {
        let refusals = gate.belief.refusals;
        lines.push(format!(
            "believed: {pace:.3} a second, from {refusals} refusals"
        ));
    }
    lines
}

fn could_go(own: &LimitSnapshot) -> String {
    if !matches!(own.limit.kind, LimitKind::ServerTime { .. }) {
        return format!("{} could go at once", own.available);
    }
    let left = roughly(Duration::from_millis(own.available));
    match own.expected.map(roughly) {
        Some(expected) => format!("{left} s left, and a request takes {expected} s"),
        None => format!("{left} s left, and nobody knows yet what a request takes"),
    }
}

/// When the next one may go, and why not before, as a sentence.
pub(crate) fn held(gate: &GateSnapshot, at: Timestamp) -> String {
    let when = when(gate, at);
    match (gate.throttled_until, gate.reason) {
        (None, Some(_)) => when,
        _ => format!("the next one {when}"),
    }
}

/// The same without saying that it is about the next one.
pub(crate) fn when(gate: &GateSnapshot, at: Timestamp) -> String {
    match (gate.throttled_until, gate.reason) {
        (Some(until), reason) => {
            let why = reason.map_or("", |reason| reason.explanation());
            format!("in {} s: {why}", roughly(until.since(at)))
        }
        (None, Some(reason)) => reason.explanation().into(),
        (None, None) => "at once".into(),
    }
}

/// Seconds, as exactly as people care.
fn roughly(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let decimals = match seconds {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{seconds:.decimals$}")
}
