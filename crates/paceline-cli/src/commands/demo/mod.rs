//! `paceline demo`: the reason to care, in under a minute.
//!
//! A small site on loopback allows a few requests a second and never says how many. Ten workers
//! walk its pages over real HTTP, first with a client in which each request retries alone, then
//! with Paceline, which is told nothing.

use std::io;

use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

mod client;
mod rate;
mod report;
mod site;
mod walk;

use client::Client;
use rate::Rate;
use report::Report;
use walk::Walk;

use crate::output::{Exit, Output, Stop};

const EXAMPLES: &str = "\
Examples:
  paceline demo
  paceline demo --pages 20 --limit 5/s --json

The exit code is 0 if Paceline lost no page, else 1.";

/// What `paceline demo` was asked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Pages of the site, the first one included
    #[arg(long, value_name = "N", default_value_t = 40,
        allow_hyphen_values = true, value_parser = |text: &str| crate::args::whole::<u32>(text, 1..=10_000))]
    pages: u32,

    /// What the site allows: a rate such as 3/s or 30/m; nobody is told
    #[arg(
        long,
        value_name = "LIMIT",
        default_value = "3/s",
        allow_hyphen_values = true
    )]
    limit: Rate,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DemoArgs, output: &Output) -> Result<Exit, Stop> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Stop::open(format_args!("no threads: {error}")))?;
    if !args.json {
        output
            .talk("A limited site on loopback is walked twice; it does not say what it allows.\n");
    }
    let report = runtime.block_on(compare(args))?;
    match args.json {
        true => {
            output.fact(&serde_json::to_string(&report).expect("a report has only text keys"))?
        }
        false => output.fact(&format!("\n{report}"))?,
    }
    Ok(match report.paceline.failed {
        0 => Exit::Good,
        _ => Exit::SomeFailed,
    })
}

async fn compare(args: &DemoArgs) -> Result<Report, Stop> {
    let screen = match Output::is_watched() {
        true => MultiProgress::new(),
        false => MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
    };
    let bars = ["independent", "paceline"].map(|name| screen.add(bar(name, args.pages)));
    let client = |built: reqwest::Result<Client>| {
        built.map_err(|error| Stop::open(format_args!("no HTTP client: {error}")))
    };
    Ok(Report {
        pages: args.pages,
        limit: args.limit.clone(),
        independent: walk_once(args, client(Client::independent())?, &bars[0]).await?,
        paceline: walk_once(args, client(Client::paced())?, &bars[1]).await?,
    })
}

/// Each walk has a site of its own, so each finds a full bucket.
async fn walk_once(args: &DemoArgs, client: Client, bar: &ProgressBar) -> Result<Walk, Stop> {
    let site = site::open(&args.limit, args.pages);
    let site = site.await.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => Stop::usage(format_args!(
            "--limit {}: {error}; expected a rate that a server can keep, such as 3/s",
            args.limit
        )),
        _ => Stop::open(format_args!("the site found no port on 127.0.0.1: {error}")),
    })?;
    let walk = walk::walk(&client, &site, args.pages, bar).await;
    bar.abandon();
    Ok(walk)
}

/// Drawn on standard error, and only if that is a terminal.
fn bar(name: &'static str, pages: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:12} {bar:30} {pos:>3}/{len} pages  {msg}")
        .expect("the template is well-formed");
    ProgressBar::new(pages.into())
        .with_style(style)
        .with_prefix(name)
}
