//! Many responses, one a line.

use std::io::{BufRead, Read};
use std::sync::Arc;

use paceline::config::Config;
use paceline::dialect::Provider;
use serde_json::json;

use super::case::Case;
use super::reading::Row;
use crate::output::{Exit, Output, Stop};

/// A head is short; a wrong file must not fill the memory.
const LONGEST: u64 = 4 << 20;

/// Reads each line that is not blank; `named` is the dialect of those that name none.
pub(super) fn each(
    mut reader: impl BufRead,
    config: &Config,
    named: Option<&Arc<Provider>>,
    output: &Output,
) -> Result<Exit, Stop> {
    let mut exit = Exit::Good;
    let mut text = Vec::new();
    for line in 1_u64.. {
        text.clear();
        let read = reader
            .by_ref()
            .take(LONGEST + 1)
            .read_until(b'\n', &mut text);
        if read.map_err(|error| Stop::open(format!("standard input: {error}")))? == 0 {
            break;
        }
        let too_long = text.len() as u64 > LONGEST;
        if too_long && text.last() != Some(&b'\n') {
            let skipped = reader.skip_until(b'\n');
            skipped.map_err(|error| Stop::open(format!("standard input: {error}")))?;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let case = match core::str::from_utf8(&text) {
            _ if too_long => Err("it is longer than 4 MiB; expected one response".to_owned()),
            Ok(text) => Case::from_json(text.trim_start_matches('\u{feff}'), config),
            Err(_) => Err("it is not UTF-8; expected UTF-8 text".to_owned()),
        };
        match case {
            Ok(mut case) => {
                case.dialect = case.dialect.or_else(|| named.cloned());
                output.fact(&Row::of(&case).json())?;
            }
            Err(error) => {
                exit = Exit::Usage;
                output.fact(&json!({ "line": line, "error": error }).to_string())?;
            }
        }
    }
    Ok(exit)
}
