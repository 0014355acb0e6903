//! What is printed, and how the process ends. Nothing else prints.
//!
//! Facts go to standard output, talk to standard error. Whoever reads standard output may stop
//! reading at any time: that ends the command, and is not an error.

use std::ffi::OsString;
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

/// Which arguments are no text: by their number and what stands before them, since they themselves may be secret.
fn not_text(arguments: &[OsString]) -> String {
    let mut text = String::new();
    for (i, argument) in arguments.iter().enumerate().skip(1) {
        if argument.to_str().is_some() {
            continue;
        }
        let option = |text: &str| text.starts_with('-').then(|| text.to_owned());
        let before = arguments[i - 1].to_str().filter(|_| i > 1).and_then(option);
        let lossy = argument.to_string_lossy();
        let own = lossy.split_once('=').and_then(|(own, _)| option(own));
        let place = own.map(|own| format!(", {own}"));
        let place = place.or_else(|| before.map(|before| format!(", after {before}")));
        let place = place.unwrap_or_default();
        text += &format!("error: argument {i}{place}: it is not UTF-8; expected UTF-8 text\n");
    }
    text
}

/// Help, a version, or what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if error.kind() == clap::error::ErrorKind::InvalidUtf8 {
        let arguments: Vec<_> = std::env::args_os().collect();
        let _ = write!(io::stderr().lock(), "{}", not_text(&arguments));
        return ExitCode::from(Exit::Usage as u8);
    }
    let _ = error.print();
    match error.exit_code() {
        0 => ExitCode::from(Exit::Good as u8),
        _ => ExitCode::from(Exit::Usage as u8),
    }
}
