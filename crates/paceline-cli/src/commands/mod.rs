//! One module a command.

mod fetch;

use crate::args::Command;
use crate::output::{Exit, Output, Stop};

pub(crate) fn run(command: &Command, output: &Output) -> Result<Exit, Stop> {
    match command {
        Command::Fetch(args) => fetch::run(args, output),
    }
}
