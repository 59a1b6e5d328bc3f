//! The commands, one file each.

pub(crate) mod check;
mod explore;
mod list;
mod matrix;
mod mutants;
mod replay;
mod show;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use oncemore_model::explore::{Limits, MemoryLimit};

use crate::cli::{Cli, Command, ExploreArgs, ReportArgs};
use crate::exit::Exit;
use crate::output::{Output, complain};
use crate::sink::Sink;
use crate::{interrupt, memory};

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Exit {
    interrupt::heed();
    match cli.command {
        None => check::run(&cli.check),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Explore(args)) => explore::run(&args),
        Some(Command::Matrix(args)) => matrix::run(&args),
        Some(Command::Mutants(args)) => mutants::run(&args),
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

/// Heeds how to report, and opens the file for JSON; what stands in the way has been said.
fn begin(report: &ReportArgs) -> Result<Option<Sink>, Exit> {
    report.color.apply();
    open(report.json.as_deref())
}

/// Opens a file that is to be written.
fn open(path: Option<&Path>) -> Result<Option<Sink>, Exit> {
    path.map(Sink::open).transpose().map_err(|problem| {
        complain([problem]);
        Exit::Unusable
    })
}

/// Writes a file that was opened, and says how that changes the end.
fn write(sink: Option<Sink>, output: &mut Output, text: impl FnOnce() -> String) -> Exit {
    match sink.map(|sink| sink.write(output, &text())) {
        None | Some(Ok(())) => Exit::AsExpected,
        Some(Err(problem)) => {
            complain([problem]);
            Exit::Unusable
        }
    }
}

/// How far each of many explorations may go that are worked off side by side, each by one thread.
fn limits_each(args: &ExploreArgs) -> Limits<'static> {
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    Limits { threads: NonZeroUsize::MIN, ..limits(args, deadline) }
}

/// How far an exploration may go.
fn limits(args: &ExploreArgs, deadline: Option<Instant>) -> Limits<'static> {
    Limits {
        threads: args.threads(),
        states_max: args.max_states,
        depth_max: args.max_depth,
        deadline,
        memory: args.memory.map(|bytes_max| MemoryLimit { in_use: memory::peak_bytes, bytes_max }),
        stop: Some(interrupt::flag()),
        stop_at: 0,
    }
}
