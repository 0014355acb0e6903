//! What was typed.
//!
//! What may hold a credential (URLs, headers, data, stores) is taken as it is and read later:
//! errors made here repeat the text that they are about.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use paceline::Limit;

use crate::commands::check::CheckArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::simulate::SimulateArgs;
use crate::commands::status::StatusArgs;
use crate::commands::top::TopArgs;

/// All HTTP requests that share an upstream's quota keep one pace.
#[derive(Debug, Parser)]
#[command(name = "paceline", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fetch many URLs, as fast as their upstreams allow
    Fetch(Box<FetchArgs>),
    /// Check a configuration, and see what a request would be charged to
    Check(CheckArgs),
    /// See what it is for: a limited site on loopback, walked without Paceline and with it
    Demo(DemoArgs),
    /// See what a response says about limits, and when the next request may go
    Explain(ExplainArgs),
    /// Play scenarios in virtual time: a client against a server that hides its limit
    Simulate(SimulateArgs),
    /// See what the paces are at that processes of this machine share
    Status(StatusArgs),
    /// Watch the paces that processes of this machine share, live in a terminal; pause and reset gates
    Top(TopArgs),
}

const EXAMPLES: &str = "\
Examples:
  paceline fetch https://api.example.com/items/1 https://api.example.com/items/2
  paceline fetch --input urls.txt --out pages --results results.ndjson
  paceline check --request 'GET https://api.example.com/items'
  curl -si https://api.example.com/items | paceline explain
  paceline top
  paceline simulate scenario.toml --policy paceline --policy independent --plot run.svg
  paceline demo";

const FETCH_EXAMPLES: &str = "\
Examples:
  A list of URLs, bodies to files, able to go on after an interruption:
    paceline fetch --input urls.txt --out pages --results results.ndjson
    paceline fetch --input urls.txt --out pages --results results.ndjson --resume
  All pages of a collection, at most 30 requests a minute:
    paceline fetch --paginate --limit 30/m -H @token.txt https://api.example.com/items
  Requests from another program, the facts for the next one:
    make-requests | paceline fetch --input - --json | jq 'select(.ok == false)'

Input lines are URLs, or JSON objects such as
  {\"url\": \"https://a.example/\", \"method\": \"PUT\", \"headers\": {\"A\": \"b\"}, \"body\": \"\"}
Blank lines and lines that begin with # are skipped. A line that is neither fails alone.

A result is one line of JSON: line, url, status, ok, attempts, waited_s, elapsed_s, bytes, file,
reason, error (with --paginate also next: the following page). ok is true where the status is
below 400 and the upstream's dialect reads no refusal in head and body. The exit code is 0 when
all are ok, 1 when some failed, 2 when something typed or configured is wrong, 3 when something
could not be opened, 130 after an interruption.";

/// What `paceline fetch` was asked.
#[derive(Args, Debug)]
#[command(after_help = FETCH_EXAMPLES)]
pub(crate) struct FetchArgs {
    /// What to fetch: http or https
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read URLs or JSON objects, one a line, from a file; - is standard input
    #[arg(long, short = 'i', value_name = "FILE", conflicts_with = "urls")]
    pub(crate) input: Option<PathBuf>,

    /// How many lines are worked on at the same time
    #[arg(long, short = 'c', value_name = "N", default_value_t = 10,
        allow_hyphen_values = true, value_parser = |text: &str| whole::<u32>(text, 1..=10_000))]
    pub(crate) concurrency: u32,

    /// A limit of each upstream: 10/s, '10/s burst 50', 30/m, '10 in flight', '20s server time / 10s'; several add up
    #[arg(long, short = 'l', value_name = "LIMIT", allow_hyphen_values = true)]
    #[arg(value_parser = limit)]
    pub(crate) limit: Vec<Limit>,

    /// How the upstreams speak of their limits
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,

    /// A header of every request, 'Name: value', or @FILE with one on each line
    #[arg(long, short = 'H', value_name = "HEADER|@FILE")]
    pub(crate) header: Vec<String>,

    /// The method [default: GET, or POST for requests with a body]
    #[arg(long, short = 'X', value_name = "METHOD")]
    pub(crate) method: Option<String>,

    /// A body for every request that brings none, or @FILE
    #[arg(
        long,
        short = 'd',
        value_name = "DATA|@FILE",
        allow_hyphen_values = true
    )]
    pub(crate) data: Option<String>,

    /// Follow Link headers with rel=next (RFC 8288)
    #[arg(long)]
    pub(crate) paginate: bool,

    /// Write the body of each ok answer to a file in this folder
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// The largest body that is read: bytes, or with KiB, MiB, GiB; a larger one fails its line
    #[arg(long, value_name = "SIZE", default_value = "100MiB", allow_hyphen_values = true, value_parser = size)]
    pub(crate) max_body: u64,

    /// Write the result lines to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,

    /// Go on: skip what is ok in the results file, and add to it
    #[arg(long, requires = "results")]
    pub(crate) resume: bool,

    /// The longest that one request takes, waits and attempts together [default: 2m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) total: Option<Duration>,

    /// The longest that one attempt takes, from its start to the end of the body
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) timeout: Duration,

    /// Try each request once, at once or not at all
    #[arg(long)]
    pub(crate) best_effort: bool,

    /// Who keeps the pace together: process, machine, or redis://HOST; without it as configured, else process
    #[arg(long, value_name = "WHO")]
    pub(crate) share: Option<String>,

    /// Serve metrics for Prometheus at http://ADDR/metrics while it runs
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) metrics: Option<SocketAddr>,

    /// Draw a chart of the run
    #[arg(long, value_name = "OUT.svg")]
    pub(crate) plot: Option<PathBuf>,

    /// The configuration [default: ./paceline.toml if there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// End with one JSON object that sums it up, as the last line of standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A whole number in a range. Hyphens are allowed where it is used: below zero is out of range, and no other option.
pub(crate) fn whole<T: TryFrom<i64>>(text: &str, range: RangeInclusive<i64>) -> Result<T, String> {
    let (from, to) = (range.start(), range.end());
    let number: i64 = text
        .parse()
        .map_err(|_| format!("it is no whole number; expected one from {from} to {to}"))?;
    let number = Some(number).filter(|number| range.contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("{text} is not in {from}..={to}"))
}

fn limit(text: &str) -> Result<Limit, String> {
    text.parse()
        .map_err(|error: paceline::LimitError| error.to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    match paceline::upstream::parse_duration(text) {
        Ok(Duration::ZERO) => Err("nothing happens in no time; expected more than 0s".into()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 5] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("B", 1),
        ("", 1),
    ];
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim());
    let bytes = number.parse::<u64>().ok().zip(unit);
    bytes
        .and_then(|(number, (_, factor))| number.checked_mul(*factor))
        .ok_or_else(|| {
            "expected a whole number of bytes, or one with KiB, MiB or GiB, such as 100MiB".into()
        })
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an address and a port, such as 127.0.0.1:9429";
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| format!("{error}; {expected}"))?;
    found.next().ok_or_else(|| expected.into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_are_exact_and_nonsense_is_refused() {
        for (text, bytes) in [
            ("0", 0),
            ("12", 12),
            ("12B", 12),
            ("3KiB", 3072),
            ("100 MiB", 104_857_600),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "MiB",
            "-1",
            "1.5MiB",
            "1MB",
            "18446744073709551616",
            "99999999999GiB",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
