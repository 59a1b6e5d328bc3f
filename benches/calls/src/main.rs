//! What a whole call costs, and what retries do when a host fails: two commands, each of which prints its figures and leaves
//! them in a file from which `docs/benchmarks.md` is written.

// The messages that the runtime speaks, for those who speak them by hand here.
#[allow(missing_docs, unreachable_pub, unused_qualifications, dead_code, clippy::all, clippy::restriction, clippy::pedantic, clippy::nursery, reason = "generated")]
#[path = "../../../reference/runtime/src/oncemore_capnp.rs"]
#[rustfmt::skip]
mod oncemore_capnp;
mod failure;
// And how it writes a header.
#[path = "../../../reference/runtime/src/wire/header.rs"]
mod header;
mod report;
mod statistics;
mod whole;

use std::error::Error;
use std::future::Future;
use std::io;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use failure::host::How;
use report::{Report, publish};
use tokio::runtime::Builder;
use tokio::task::LocalSet;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    /// Only looks whether everything runs: a few seconds, and no figures to rely on.
    #[arg(long, global = true)]
    quick: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Subcommand)]
enum Command {
    /// Calls a second and their latencies, beside the same messages without the runtime, tarpc and tonic.
    WholeCall,
    /// What becomes of calls when a host restarts, and what load retries make.
    UnderFailure,
    /// What `under-failure` runs for a host, and kills.
    #[command(hide = true)]
    Host { folder: PathBuf, how: How },
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { quick, command } = Arguments::parse();
    match command {
        None => {
            whole_call(quick)?;
            under_failure(quick)
        }
        Some(Command::WholeCall) => whole_call(quick),
        Some(Command::UnderFailure) => under_failure(quick),
        Some(Command::Host { folder, how }) => in_one_thread(failure::host::serve(&folder, how))?,
    }
}

fn in_one_thread<F: Future>(task: F) -> io::Result<F::Output> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    Ok(LocalSet::new().block_on(&runtime, task))
}

fn whole_call(quick: bool) -> Result<(), Box<dyn Error>> {
    publish(&in_one_thread(whole::measure(quick))??, "whole-call", quick)
}

fn under_failure(quick: bool) -> Result<(), Box<dyn Error>> {
    let mut report = Report::here(40, "Under failure", failure::NOTE);
    in_one_thread(failure::of_processes(quick, &mut report))??;
    failure::on_virtual_time(quick, &mut report)?;
    publish(&report, "under-failure", quick)
}
