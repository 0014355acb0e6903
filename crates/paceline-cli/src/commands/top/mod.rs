//! `paceline top`: what the paces are at that processes of this machine share, live in a terminal.
//!
//! `model` and `view` are pure: what there is, what a key does, which cells that makes. `live` has the loop, `screen` the
//! terminal, `watch` the folder.

mod keys;
mod live;
mod model;
mod prompt;
mod row;
mod screen;
mod signals;
mod sort;
#[cfg(all(test, unix))]
#[path = "../../../tests/support/terminal.rs"]
mod terminal;
mod view;
mod watch;

use core::time::Duration;

use clap::Args;
use paceline::Machine;

use crate::output::{Exit, Output, Stop};

const EXAMPLES: &str = "\
Examples:
  paceline top
  paceline top --interval 250ms

Keys: arrows select a gate, s sorts by the next column, p pauses the gate for a while, r resets it
(both ask first), ? shows all keys, q quits. A pause by hand holds every process; it ends by itself
or by a reset.

For scripts, and where there is no terminal: paceline status --json";

/// What `paceline top` was asked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// How often to look
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Duration,
}

/// A look at thousands of gates takes some milliseconds, in which everybody else waits.
const SHORTEST: Duration = Duration::from_millis(50);

fn interval(text: &str) -> Result<Duration, String> {
    let interval = paceline::upstream::parse_duration(text).map_err(|error| error.to_string())?;
    if interval < SHORTEST {
        return Err(format!(
            "while it looks everybody else waits; expected {SHORTEST:?} or more"
        ));
    }
    Ok(interval)
}

pub(crate) fn run(args: &TopArgs, output: &Output) -> Result<Exit, Stop> {
    if let Some(obstacle) = screen::obstacle() {
        return Err(Stop::usage(format_args!(
            "paceline top draws on a terminal, and {obstacle}; \
             paceline status says the same once, paceline status --json for scripts"
        )));
    }
    let machine = Machine::open().map_err(Stop::open)?;
    for note in machine.notes() {
        output.talk(format_args!("warning: {note}"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Stop::open)?;
    runtime.block_on(live::run(machine, args.interval))
}
