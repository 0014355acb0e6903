//! `paceline simulate`: how a client fares against a server that hides its limit, in virtual time.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use paceline_sim::policy::Kind;

mod play;
mod plot;
mod row;
mod source;
mod table;

use play::Played;
use row::{Bad, Row};
use source::Found;
use table::Table;

use crate::output::{Exit, Output, Stop};

const EXAMPLES: &str = "\
Examples:
  How Paceline fares where a server allows 3 requests a second and does not say so:
    paceline simulate scenario.toml
  Against other clients, and as a picture:
    paceline simulate scenario.toml --policy paceline --policy independent --plot run.svg
  All scenarios of a file, one a line, as facts for another program:
    paceline simulate scenarios.jsonl --json | jq 'select(.failed > 0)'

A scenario in TOML, with the same keys as in JSON:
    name = \"a tree of pages\"
    shape = \"tree\"          # or flat, burst
    requests = 300
    workers = 10
    latency = 0.1
    server = { kind = \"token-bucket\", rate = 3, burst = 3, retry_after = \"zero\" }

Required are name, shape, requests, workers, latency and server; left out, jitter is 0, seeds 1,
fanout 10 and give_up_after 300 s. Every run can be repeated: its dice come from its seed.

The exit code is 0 when everything ran, whatever came of it, 2 when a scenario was wrong or could
not be read (the others run all the same), 3 when the picture could not be written.";

/// What `paceline simulate` was asked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// Scenarios: TOML or JSON (one each), or .jsonl (one a line); - is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Read JSON Lines, whatever the files are called
    #[arg(long)]
    jsonl: bool,

    /// A client to send with; several are compared [default: paceline]
    #[arg(long, value_name = "NAME", value_parser = policies())]
    policy: Vec<Kind>,

    /// Print one JSON object for each scenario, policy and seed
    #[arg(long)]
    json: bool,

    /// Draw the first scenario's runs, those of seed 1
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
}

fn policies() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name()))
        .map(|name| Kind::parse(&name).expect("it is one of the names"))
}

pub(crate) fn run(args: &SimulateArgs, output: &Output) -> Result<Exit, Stop> {
    let policies = chosen(&args.policy);
    let mut plot = args.plot.as_deref();
    let mut table = Table::default();
    let mut exit = Exit::Good;
    source::each(&args.files, args.jsonl, |found| {
        match found {
            Found::Scenario(scenario) => {
                if let Some(file) = plot.take() {
                    plot::draw(&scenario, &policies, file)?;
                }
                for policy in &policies {
                    let played =
                        Played::new(&scenario, *policy, |row: &Row<'_>| match args.json {
                            true => output.fact(&row.json()),
                            false => Ok(()),
                        })?;
                    if !args.json {
                        table
                            .add(&played)
                            .iter()
                            .try_for_each(|line| output.fact(line))?;
                    }
                }
            }
            Found::Wrong { file, error } => {
                exit = Exit::Usage;
                output.talk(format_args!("error: {file}: {error}"));
                if args.json {
                    output.fact(&Bad::new(&file, &error).json())?;
                }
            }
            Found::Unreadable { file, problem } => {
                exit = Exit::Usage;
                output.talk(format_args!("error: {file}: {problem}"));
            }
        }
        Ok(())
    })?;
    table.end().iter().try_for_each(|line| output.fact(line))?;
    if let Some(file) = plot {
        output.talk(format_args!(
            "{}: not drawn, since no scenario ran",
            file.display()
        ));
    }
    Ok(exit)
}

/// Each one once, in the order in which they were named.
fn chosen(named: &[Kind]) -> Vec<Kind> {
    let mut chosen = Vec::new();
    for kind in named {
        if !chosen.contains(kind) {
            chosen.push(*kind);
        }
    }
    if chosen.is_empty() {
        chosen.push(Kind::Paceline);
    }
    chosen
}
