//! The commands, one file each.

pub(crate) mod check;
mod list;
mod replay;
mod show;

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{Output, complain};

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Exit {
    interrupt::heed();
    match cli.command {
        None => check::run(&cli.check),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Show(args)) => show::run(&args),
    }
}

/// The exit status, once everything has been written; a report that could not be written is no report.
fn conclude(output: &Output, exit: Exit) -> Exit {
    match output.trouble() {
        Some(trouble) => {
            complain([format!("the report cannot be written: {trouble}")]);
            exit.max(Exit::Unusable)
        }
        None => exit,
    }
}
