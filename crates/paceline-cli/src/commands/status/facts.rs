//! What is shared, for scripts: an object a gate.

use core::time::Duration;

use jiff::{SignedDuration, Timestamp as Instant};
use paceline::{LimitKind, LimitSnapshot, Shared, Snapshot};
use serde_json::{Value, json};

pub(super) fn of(shared: &Shared) -> impl Iterator<Item = Value> + '_ {
    let Snapshot { at, gates, .. } = &shared.snapshot;
    gates.iter().map(move |gate| {
        let windows = gate.windows.iter().map(|window| {
            json!({
                "name": window.name,
                "limit": window.limit,
                "remaining": window.remaining,
                "reset_in_s": seconds(window.reset.since(*at)),
            })
        });
        let limits = gate.limits.iter().map(|own| {
            json!({
                "limit": own.limit.to_string(),
                "available": available(own),
                "expected_s": own.expected.map(seconds),
            })
        });
        let belief = &gate.belief;
        json!({
            "upstream": shared.name,
            "name": gate.name,
            "share": "machine",
            "throttled_until": gate.throttled_until.map(|until| wall(until.since(*at))),
            "throttled_for_s": gate.throttled_until.map(|until| seconds(until.since(*at))),
            "reason": gate.reason.map(|reason| reason.code()),
            "pace_per_s": gate.pace_per_s(),
            "waiting": gate.waiting,
            "in_flight": gate.in_flight,
            "processes": shared.owners,
            "circuit": gate.circuit,
            "limits": limits.collect::<Vec<_>>(),
            "windows": windows.collect::<Vec<_>>(),
            "belief": {
                "interval_s": belief.interval.map(seconds),
                "between_s": belief.between.map(|between| between.map(seconds)),
                "no_limit_percent": belief.no_limit_percent,
                "at_once": belief.at_once,
                "window": belief.window.map(|(count, length)| json!([count, seconds(length)])),
                "refusals": belief.refusals,
            },
        })
    })
}

/// Of server time, seconds.
fn available(own: &LimitSnapshot) -> Value {
    match own.limit.kind {
        LimitKind::ServerTime { .. } => seconds(Duration::from_millis(own.available)).into(),
        _ => own.available.into(),
    }
}

/// The wall clock's time after so long.
fn wall(after: Duration) -> Option<String> {
    let after = SignedDuration::try_from(after).ok()?;
    let at = Instant::now().checked_add(after).ok()?;
    Some(format!("{at:.0}"))
}

/// With six decimals at most.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}
