//! Result lines: one JSON object for each request that was asked for, in the order in which they
//! end.

use core::time::Duration;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use paceline::{Outcome, Reason};
use serde::Serialize;

use super::resume::Resume;
use crate::output::{Output, Stop};

/// What became of one request.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Record {
    pub(super) line: u64,
    pub(super) url: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) ok: bool,
    pub(super) attempts: u32,
    pub(super) waited_s: Seconds,
    pub(super) elapsed_s: Seconds,
    pub(super) bytes: Option<u64>,
    pub(super) file: Option<String>,
    /// A code of [`Reason`], or one of fetch's own: [`INVALID`] and the following.
    pub(super) reason: Option<&'static str>,
    pub(super) error: Option<String>,
    /// With `--paginate`: the page that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<Option<String>>,
    /// Answers that refused; part of the sum, not of the line.
    #[serde(skip)]
    pub(super) refused: u32,
}

/// The line is no request.
pub(super) const INVALID: &str = "invalid";
/// The body is larger than was allowed.
pub(super) const TOO_LARGE: &str = "too_large";
/// The body could not be written to its file.
pub(super) const NOT_WRITTEN: &str = "not_written";
/// There are more pages than anybody means.
pub(super) const TOO_MANY_PAGES: &str = "too_many_pages";

impl Record {
    pub(super) fn invalid(line: u64, error: &str) -> Self {
        let error = Some(format!("line {line}: {error}"));
        Self {
            line,
            reason: Some(INVALID),
            error,
            ..Self::default()
        }
    }

    pub(super) fn went_through(&mut self, outcome: &Outcome) {
        self.attempts = outcome.attempts;
        self.refused = outcome.refused;
        self.waited_s = Seconds(outcome.waited);
        self.reason = outcome.stopped.map(Reason::code);
    }

    pub(super) fn failed(&mut self, reason: &'static str, error: impl Into<String>) {
        self.ok = false;
        self.reason = Some(reason);
        self.error = Some(error.into());
    }
}

/// Seconds with six decimals at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seconds(pub(super) Duration);

impl Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A double holds microseconds exactly for 285 years.
        serializer.serialize_f64(self.0.as_micros() as f64 / 1e6)
    }
}

/// Where result lines go.
pub(super) enum Results {
    StandardOutput,
    File(File, PathBuf),
}

impl Results {
    /// Sees that the results do not go over what is read; `read` says which option names it.
    ///
    /// # Errors
    ///
    /// They would.
    pub(super) fn keep_off(path: &Path, read: (&str, &Path)) -> Result<(), Stop> {
        let (option, read) = read;
        // What is not there, or is no file, is not written over.
        let place = |path: &Path| std::fs::canonicalize(path).ok();
        match (place(path), place(read)) {
            (Some(own), Some(other)) if own == other && own.is_file() => Err(Stop::usage(format!(
                "--results: {} is read by {option} and would be written over; expected another file",
                path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Opens the file; with `resume` it is added to, and what it says is done is left out.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub(super) fn open(path: Option<&Path>, resume: bool) -> Result<(Self, Resume), Stop> {
        let Some(path) = path else {
            return Ok((Self::StandardOutput, Resume::default()));
        };
        let cannot = |error| {
            Stop::open(format!(
                "--results: {} cannot be opened: {error}",
                path.display()
            ))
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        if !resume {
            let file = options.truncate(true).open(path).map_err(cannot)?;
            return Ok((Self::File(file, path.into()), Resume::default()));
        }
        let mut file = options
            .read(true)
            .truncate(false)
            .open(path)
            .map_err(cannot)?;
        let (resume, whole) = Resume::read(&file).map_err(cannot)?;
        if file.metadata().map_err(cannot)?.is_file() {
            file.set_len(whole.bytes).map_err(cannot)?;
            file.seek(SeekFrom::End(0)).map_err(cannot)?;
            if whole.ends_open {
                file.write_all(b"\n").map_err(cannot)?;
            }
        }
        Ok((Self::File(file, path.into()), resume))
    }

    /// Writes a line, at once: what is written need not be done again.
    ///
    /// # Errors
    ///
    /// It cannot be written, or nobody reads.
    pub(super) fn write(&mut self, record: &Record, output: &Output) -> Result<(), Stop> {
        let mut line = serde_json::to_string(record).map_err(Stop::open)?;
        match self {
            Self::StandardOutput => output.fact(&line),
            Self::File(file, path) => {
                line.push('\n');
                file.write_all(line.as_bytes()).map_err(|error| {
                    Stop::open(format!(
                        "--results: {} cannot be written: {error}",
                        path.display()
                    ))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there_in_its_order_and_seconds_are_short() {
        let mut record = Record {
            line: 3,
            elapsed_s: Seconds(Duration::from_nanos(1_234_567_890)),
            ..Record::default()
        };
        let plain = concat!(
            r#"{"line":3,"url":null,"status":null,"ok":false,"attempts":0,"waited_s":0.0,"#,
            r#""elapsed_s":1.234567,"bytes":null,"file":null,"reason":null,"error":null}"#
        );
        assert_eq!(serde_json::to_string(&record).unwrap(), plain);
        record.next = Some(None);
        assert!(
            serde_json::to_string(&record)
                .unwrap()
                .ends_with(r#","next":null}"#)
        );
    }
}
