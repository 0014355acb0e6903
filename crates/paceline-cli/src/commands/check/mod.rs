//! `paceline check`: whether a configuration is right, and what a request would be charged to.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

mod dialect;
mod notes;
mod request;
mod summary;

use dialect::DialectSummary;
use request::{Charged, Head};
use summary::Summary;

use crate::output::{Exit, Output, Stop};
use crate::settings;

const EXAMPLES: &str = "\
Examples:
  paceline check
  paceline check deploy/paceline.toml --json
  paceline check --request 'GET https://api.example.com/search/code'

With --request and without a file nothing is configured, and the dialect of the URL's host tells.
The exit code is 0 if the configuration is right, else 2: each error names file,
line, key and what would be right. What this version cannot do yet is told as a note.";

/// What `paceline check` was asked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The configuration [default: ./paceline.toml; with --request, if there]
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,

    /// The same, as other commands name it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Show which gates this request would be charged to, and what for
    #[arg(long, value_name = "METHOD URL")]
    request: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Checked<'a> {
    /// None where nothing is configured.
    file: Option<String>,
    upstreams: Vec<Summary<'a>>,
    dialects: Vec<DialectSummary<'a>>,
    notes: &'a [String],
    request: Option<Charged>,
}

pub(crate) fn run(args: &CheckArgs, output: &Output) -> Result<Exit, Stop> {
    let named = args.file.as_deref().or(args.config.as_deref());
    let usual = Path::new(settings::USUAL_FILE);
    let needs_none = args.request.is_some() && !usual.exists();
    let file = named.or_else(|| (!needs_none).then_some(usual));
    let head: Option<Head> = match &args.request {
        Some(text) => Some(text.parse().map_err(Stop::usage)?),
        None => None,
    };
    let config = file.map(settings::read).transpose()?.unwrap_or_default();
    let notes = notes::notes(&config);
    for note in &notes {
        output.talk(format_args!("note: {note}"));
    }
    let kept: Vec<_> = config
        .upstreams
        .iter()
        .map(|(name, upstream)| (name, upstream, upstream.clone().with_published()))
        .collect();
    let checked = Checked {
        file: file.map(|file| file.display().to_string()),
        upstreams: kept
            .iter()
            .map(|(name, own, kept)| Summary::new(name, own, kept))
            .collect(),
        dialects: config
            .dialects
            .iter()
            .map(|(name, own)| DialectSummary::new(name, own))
            .collect(),
        notes: &notes,
        request: head.as_ref().map(|head| Charged::new(head, &config)),
    };
    match args.json {
        true => output.fact(&serde_json::to_string(&checked).map_err(Stop::open)?)?,
        false => output.fact(checked.for_people().trim_end())?,
    }
    Ok(Exit::Good)
}

impl Checked<'_> {
    fn for_people(&self) -> String {
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let mut counts = count(self.upstreams.len(), "upstream");
        if !self.dialects.is_empty() {
            counts += &format!(", {}", count(self.dialects.len(), "dialect"));
        }
        let mut text = match &self.file {
            Some(file) => format!("{file}: good, {counts}\n"),
            None => format!("no {} here: nothing is configured\n", settings::USUAL_FILE),
        };
        for upstream in &self.upstreams {
            text += &format!("\n{upstream}");
        }
        for dialect in &self.dialects {
            text += &format!("\n{dialect}");
        }
        if let Some(charged) = &self.request {
            text += &format!("\n{charged}");
        }
        text
    }
}
