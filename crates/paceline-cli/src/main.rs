//! The `paceline` command: fetch many URLs at one shared pace, check a configuration, see a
//! demonstration, play scenarios.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod output;
mod picture;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use output::Output;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    // The one provider of TLS; it fails only where there is one already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let output = Output::new();
    let ended = commands::run(&cli.command, &output);
    output.exit(ended)
}
