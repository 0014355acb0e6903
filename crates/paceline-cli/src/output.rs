//! What is printed, and how the process ends. Nothing else prints.
//!
//! Facts go to standard output, talk to standard error. Whoever reads standard output may stop reading at any time: that
//! ends the command, and is not an error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use indicatif::ProgressBar;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All good.
    Good = 0,
    /// Some requests failed.
    SomeFailed = 1,
    /// Bad usage or configuration.
    Usage = 2,
    /// Could not bind, open or write.
    Open = 3,
    /// Interrupted.
    Interrupted = 130,
}

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Nobody reads standard output any more.
    NobodyReads,
    /// An error, in words.
    Error(Exit, String),
}

impl Stop {
    /// What was typed, or configured, is wrong.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::Error(Exit::Usage, message.to_string())
    }

    /// Something could not be bound, opened or written.
    pub(crate) fn open(message: impl fmt::Display) -> Self {
        Self::Error(Exit::Open, message.to_string())
    }
}

/// Standard output and standard error.
pub(crate) struct Output {
    bar: ProgressBar,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self {
            bar: ProgressBar::hidden(),
        }
    }

    /// Whether progress has a place to be shown.
    pub(crate) fn is_watched() -> bool {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        io::stderr().is_terminal() && !dumb
    }

    /// The same output with a progress bar, which gives way to what is printed.
    pub(crate) fn with_bar(bar: ProgressBar) -> Self {
        Self { bar }
    }

    /// One line of facts.
    ///
    /// # Errors
    ///
    /// Nobody reads, or it cannot be written.
    pub(crate) fn fact(&self, line: &str) -> Result<(), Stop> {
        let written = self.bar.suspend(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(line.as_bytes())?;
            stdout.write_all(b"\n")?;
            stdout.flush()
        });
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::NobodyReads,
            _ => Stop::open(format_args!("standard output: {error}")),
        })
    }

    /// Something for the person who looks on. That nobody does is no reason to stop.
    pub(crate) fn talk(&self, words: impl fmt::Display) {
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{words}");
        });
    }

    /// Ends the process' work: says what is wrong, if something is.
    pub(crate) fn exit(&self, ended: Result<Exit, Stop>) -> ExitCode {
        let exit = match ended {
            Ok(exit) => exit,
            Err(Stop::NobodyReads) => Exit::Good,
            Err(Stop::Error(exit, message)) => {
                self.talk(format_args!("error: {message}"));
                exit
            }
        };
        ExitCode::from(exit as u8)
    }
}

/// Help, a version, or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    match error.exit_code() {
        0 => ExitCode::from(Exit::Good as u8),
        _ => ExitCode::from(Exit::Usage as u8),
    }
}
