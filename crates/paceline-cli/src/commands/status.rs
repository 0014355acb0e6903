//! `paceline status`: what the paces are at that processes of this machine share.

use clap::Args;
use jiff::{SignedDuration, Timestamp as Instant};
use paceline::{GateSnapshot, Machine, Shared, Snapshot};
use serde_json::{Value, json};

use crate::output::{Exit, Output, Stop};

const EXAMPLES: &str = "\
Examples:
  paceline status
  paceline status --json | jq '.gates[] | select(.throttled_until)'
  paceline status --reset https://api.example.com:443

Paces are shared by whatever runs with --share machine, share = \"machine\" or the library's
Machine. The state is in $PACELINE_STATE_DIR, else in paceline in the user's folder for state.";

/// What `paceline status` was asked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatusArgs {
    /// One object for scripts
    #[arg(long)]
    json: bool,

    /// Let the gates of this name, or all of an upstream, forget pauses, windows and what was learned
    #[arg(long, value_name = "NAME")]
    reset: Option<String>,
}

pub(crate) fn run(args: &StatusArgs, output: &Output) -> Result<Exit, Stop> {
    let machine = Machine::open().map_err(Stop::open)?;
    for note in machine.notes() {
        output.talk(format_args!("warning: {note}"));
    }
    if let Some(name) = &args.reset {
        let count = machine.reset(name).map_err(Stop::open)?;
        if count == 0 {
            return Err(Stop::usage(format!(
                "--reset: no gate and no upstream is called {name}; paceline status lists them"
            )));
        }
        output.talk(format_args!("{count} reset"));
    }
    let all = machine.shared().map_err(Stop::open)?;
    if args.json {
        let gates: Vec<_> = all.iter().flat_map(facts).collect();
        output.fact(&json!({ "gates": gates }).to_string())?;
    } else if all.is_empty() {
        output.fact("no pace is shared")?;
    } else {
        for line in all.iter().flat_map(lines) {
            output.fact(&line)?;
        }
    }
    Ok(Exit::Good)
}

fn facts(shared: &Shared) -> impl Iterator<Item = Value> + '_ {
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
        let limits = gate
            .limits
            .iter()
            .map(|own| json!({ "limit": own.limit.to_string(), "available": own.available }));
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

/// For people: a line an upstream, and one a gate.
fn lines(shared: &Shared) -> Vec<String> {
    let Snapshot { at, gates, .. } = &shared.snapshot;
    let takes_part = match shared.owners {
        0 => "nobody takes part".into(),
        1 => "1 takes part".into(),
        more => format!("{more} take part"),
    };
    let mut lines = vec![format!("{} ({takes_part})", shared.name)];
    for gate in gates {
        lines.push(format!(
            "  {}: {} waiting, {} in flight, {}",
            gate.name,
            gate.waiting,
            gate.in_flight,
            held(gate, *at)
        ));
        for own in &gate.limits {
            lines.push(format!(
                "    {}: {} could go at once",
                own.limit, own.available
            ));
        }
        for window in &gate.windows {
            let limit = window
                .limit
                .map_or_else(String::new, |limit| format!(" of {limit}"));
            let name = window.name.as_deref().unwrap_or("window");
            let left = window.remaining;
            let reset = seconds(window.reset.since(*at));
            lines.push(format!("    {name}: {left}{limit} left, ends in {reset} s"));
        }
        if let Some(pace) = gate.pace_per_s() {
            let refusals = gate.belief.refusals;
            lines.push(format!(
                "    believed: {pace:.3} a second, from {refusals} refusals"
            ));
        }
    }
    lines
}

fn held(gate: &GateSnapshot, at: paceline::Timestamp) -> String {
    match (gate.throttled_until, gate.reason) {
        (Some(until), reason) => {
            let why = reason.map_or("", |reason| reason.explanation());
            format!("the next one in {} s: {why}", seconds(until.since(at)))
        }
        (None, Some(reason)) => reason.explanation().into(),
        (None, None) => "the next one at once".into(),
    }
}

fn seconds(duration: core::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}

/// The wall clock's time after so long.
fn wall(after: core::time::Duration) -> Option<String> {
    let after = SignedDuration::try_from(after).ok()?;
    let at = Instant::now().checked_add(after).ok()?;
    Some(format!("{at:.0}"))
}
