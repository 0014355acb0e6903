//! `paceline explain`: what a response says about limits, and when the next request may go.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use paceline::config::Config;
use paceline::dialect::{self, Provider};

mod case;
mod head;
mod lines;
mod people;
mod reading;
mod slip;

use case::Case;
use reading::Row;

use crate::output::{Exit, Output, Stop};
use crate::settings;

const EXAMPLES: &str = "\
Examples:
  paceline explain --status 429 -H 'Retry-After: 120'
  paceline explain --dialect github --status 403 -H 'x-ratelimit-remaining: 29' --body denied.json
  curl -si https://api.example.com/items | paceline explain
  paceline explain --jsonl < responses.jsonl
  paceline explain --dialects
  paceline explain --dialects slack >> paceline.toml

A line of --jsonl is an object with status, headers (a list of [name, value]) and, where known,
id, now (RFC 3339), body and dialect; a line out is one flat object. Other keys are ignored, unless
one looks like a slip of these. A line that is wrong gives {\"line\", \"error\"}, the rest goes on,
and the exit code is 2.";

/// What `paceline explain` was asked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// The response's status; without it, a whole response is read from standard input
    #[arg(long, short = 's', value_name = "STATUS", allow_hyphen_values = true,
        value_parser = |text: &str| crate::args::whole::<u16>(text, 100..=999))]
    status: Option<u16>,

    /// A header of the response, 'Name: value'
    #[arg(long, short = 'H', value_name = "HEADER")]
    header: Vec<String>,

    /// The response's body; - is standard input
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// How its upstream speaks of limits
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    /// When it was received (RFC 3339) [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,

    /// Read many responses from standard input, one object a line
    #[arg(long, conflicts_with_all = ["status", "header", "body", "now", "dialects"])]
    jsonl: bool,

    /// List the dialects that are known; with a name, print that one as paceline.toml would have it
    #[arg(long, value_name = "NAME", num_args = 0..=1, conflicts_with_all = ["status", "header", "body", "now"])]
    dialects: Option<Option<String>>,

    /// The configuration, for dialects of your own [default: ./paceline.toml if there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs, output: &Output) -> Result<Exit, Stop> {
    let config = settings::load(args.config.as_deref())?;
    match &args.dialects {
        Some(Some(name)) => return print(name, args.json, &config, output),
        Some(None) => return list(args.json, &config, output),
        None => {}
    }
    let named = match &args.dialect {
        Some(name) => Some(settings::dialect("--dialect", name, &config)?),
        None => None,
    };
    if args.jsonl {
        return lines::each(io::stdin().lock(), &config, named.as_ref(), output);
    }
    let case = Case::typed(args, named)?;
    let row = Row::of(&case);
    match args.json {
        true => output.fact(&row.json())?,
        false => output.fact(people::explanation(&case, &row).trim_end())?,
    }
    Ok(Exit::Good)
}

fn list(json: bool, config: &Config, output: &Output) -> Result<Exit, Stop> {
    let own = config.dialects.values();
    let all: Vec<&Arc<Provider>> = own.chain(dialect::all()).collect();
    for provider in &all {
        let line = match json {
            true => reading::listed(provider),
            false => format!(
                "{:22} {} ({})",
                provider.slug, provider.name, provider.confidence
            ),
        };
        output.fact(&line)?;
    }
    Ok(Exit::Good)
}

/// A dialect as a configuration would have it: to read, to correct, or to begin one's own with.
fn print(name: &str, json: bool, config: &Config, output: &Output) -> Result<Exit, Stop> {
    if json {
        let own = settings::dialect("--dialects", name, config)?;
        return output.fact(&reading::listed(&own)).map(|()| Exit::Good);
    }
    let Some(text) = dialect::template(name) else {
        settings::dialect("--dialects", name, config)?;
        return Err(Stop::usage(format!(
            "--dialects: {name} is your own and stands in your configuration; expected one that is built in"
        )));
    };
    output.fact(text.trim_end())?;
    Ok(Exit::Good)
}

/// Whether something is piped in.
fn is_piped() -> bool {
    !io::stdin().is_terminal()
}
