//! `paceline status`: what the paces are at that processes of this machine share.

mod facts;
mod words;

use clap::Args;
use paceline::Machine;
use serde_json::json;

use crate::output::{Exit, Output, Stop};
pub(super) use words::{held, of_gate, takes_part, when};

/// What is said of an empty folder.
pub(super) const NOTHING: &str = "no pace is shared";

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
    let survey = machine.survey().map_err(Stop::open)?;
    for left_out in &survey.left_out {
        output.talk(format_args!("warning: {left_out}"));
    }
    let all = survey.shared;
    if args.json {
        let gates: Vec<_> = all.iter().flat_map(facts::of).collect();
        output.fact(&json!({ "gates": gates }).to_string())?;
    } else if all.is_empty() {
        output.fact(NOTHING)?;
    } else {
        for line in all.iter().flat_map(words::of) {
            output.fact(&line)?;
        }
    }
    Ok(Exit::Good)
}
