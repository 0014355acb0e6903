//! Where scenarios come from: files, lines, standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use paceline_sim::{Scenario, ScenarioError};

use crate::output::Stop;

/// What was found next.
pub(super) enum Found {
    Scenario(Box<Scenario>),
    /// It says something wrong; `file` as it was named.
    Wrong {
        file: String,
        error: ScenarioError,
    },
    /// Nothing more can be had from it.
    Unreadable {
        file: String,
        problem: String,
    },
}

/// A scenario is short, and a wrong file name must not fill the memory.
const LONGEST: u64 = 16 << 20;
const TOO_LONG: &str = "is longer than 16 MiB; must be shorter";

/// Hands on each scenario as soon as it is there, in order.
///
/// # Errors
///
/// Whatever `take` returns; nothing was named and nothing is piped.
pub(super) fn each(
    files: &[PathBuf],
    jsonl: bool,
    mut take: impl FnMut(Found) -> Result<(), Stop>,
) -> Result<(), Stop> {
    if files.is_empty() && io::stdin().is_terminal() {
        return Err(Stop::usage(
            "there is no scenario; expected a file such as scenario.toml, or one piped in",
        ));
    }
    let piped = [PathBuf::from("-")];
    let files = if files.is_empty() { &piped } else { files };
    for file in files {
        one(file, jsonl, &mut take)?;
    }
    Ok(())
}

fn one(
    path: &Path,
    jsonl: bool,
    take: &mut dyn FnMut(Found) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let stdin = path == Path::new("-");
    let file = match stdin {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let unreadable = |error: &io::Error| Found::Unreadable {
        file: file.clone(),
        problem: format!("it cannot be read: {error}"),
    };
    let reader: Box<dyn BufRead> = match stdin {
        true => Box::new(io::stdin().lock()),
        false => match File::open(path) {
            Ok(opened) => Box::new(BufReader::new(opened)),
            Err(error) => return take(unreadable(&error)),
        },
    };
    let found = |read: Result<Scenario, ScenarioError>| match read {
        Ok(scenario) => Found::Scenario(Box::new(scenario)),
        Err(error) => Found::Wrong {
            file: file.clone(),
            error,
        },
    };
    let lines = jsonl || has_extension(path, &["jsonl", "ndjson"]);
    let read = match lines {
        true => each_line(reader, |line, text| {
            let text = text.ok_or_else(|| ScenarioError::new(line, TOO_LONG));
            take(found(text.and_then(|text| scenario_in_line(line, text))))
        })?,
        false => match whole(reader) {
            Ok(bytes) => {
                take(found(scenario_in_file(path, &bytes)))?;
                Ok(())
            }
            Err(error) => Err(error),
        },
    };
    read.or_else(|error| take(unreadable(&error)))
}

/// Every line that is not blank, by its number from 1, `None` for one that is too long; the inner error is the file's.
fn each_line(
    mut reader: Box<dyn BufRead>,
    mut take: impl FnMut(u64, Option<&[u8]>) -> Result<(), Stop>,
) -> Result<io::Result<()>, Stop> {
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        match (&mut reader).take(LONGEST + 1).read_until(b'\n', &mut text) {
            Ok(0) => break,
            Ok(_) if text.len() as u64 > LONGEST => {
                take(line, None)?;
                if text.last() != Some(&b'\n')
                    && let Err(error) = reader.skip_until(b'\n')
                {
                    return Ok(Err(error));
                }
            }
            Ok(_) if text.trim_ascii().is_empty() => {}
            Ok(_) => take(line, Some(&text))?,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}

fn whole(reader: Box<dyn BufRead>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(LONGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LONGEST {
        true => Err(io::Error::other(format!("a scenario {TOO_LONG}"))),
        false => Ok(bytes),
    }
}

fn scenario_in_line(line: u64, bytes: &[u8]) -> Result<Scenario, ScenarioError> {
    let text = utf8(bytes).map_err(|error| ScenarioError::new(line, error.problem))?;
    let text = if line == 1 { without_mark(text) } else { text };
    Scenario::from_json_line(line, text.trim_end())
}

/// By the name's ending; where that says nothing, JSON is what begins with a brace.
fn scenario_in_file(path: &Path, bytes: &[u8]) -> Result<Scenario, ScenarioError> {
    let text = without_mark(utf8(bytes)?);
    let toml = match text.trim_start().starts_with('{') {
        true => has_extension(path, &["toml"]),
        false => !has_extension(path, &["json"]),
    };
    match toml {
        true => Scenario::from_toml(text),
        false => Scenario::from_json(text),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, ScenarioError> {
    core::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        ScenarioError::new(line, "is not UTF-8; must be UTF-8 text")
    })
}

fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|own| known.iter().any(|known| own.eq_ignore_ascii_case(known)))
}
