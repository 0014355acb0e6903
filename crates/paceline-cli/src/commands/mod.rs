//! One module a command.

pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod explain;
mod fetch;
pub(crate) mod simulate;
pub(crate) mod status;
pub(crate) mod top;

use crate::args::Command;
use crate::output::{Exit, Output, Stop};

pub(crate) fn run(command: &Command, output: &Output) -> Result<Exit, Stop> {
    match command {
        Command::Fetch(args) => fetch::run(args, output),
        Command::Check(args) => check::run(args, output),
        Command::Demo(args) => demo::run(args, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Simulate(args) => simulate::run(args, output),
        Command::Status(args) => status::run(args, output),
        Command::Top(args) => top::run(args, output),
    }
}
