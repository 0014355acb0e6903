//! What was typed.

use clap::{Parser, Subcommand};

use crate::commands::{check::CheckArgs, demo::DemoArgs};

/// All HTTP requests that share an upstream's quota keep one pace.
#[derive(Debug, Parser)]
#[command(name = "paceline", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Walk a limited site on loopback, with independent retries and with Paceline
    Demo(DemoArgs),
    /// Check a configuration, and see what a request would be charged to
    Check(CheckArgs),
}
