//! `oncemore explore`: a page in which a person walks through the states of a scenario.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};

use oncemore_model::judge::TraceFile;

use super::conclude;
use crate::cli::ExplorerArgs;
use crate::exit::Exit;
use crate::explorer::{JobLimits, Settings, Start, begin_at, serve};
use crate::output::{Output, complain, say};
use crate::select::Selected;

/// Runs the command.
pub(crate) fn run(args: &ExplorerArgs) -> Exit {
    args.color.apply();
    let start = match args.what.as_deref().map(start).transpose() {
        Ok(start) => start,
        Err(problem) => {
            complain([problem]);
            return Exit::Unusable;
        }
    };
    let explore = &args.explore;
    let settings = Settings {
        port: args.port,
        threads: explore.threads_given().unwrap_or_else(one_less),
        limits: JobLimits {
            states_max: explore.max_states,
            depth_max: explore.max_depth,
            timeout: explore.timeout,
            bytes_max: explore.memory,
            cycle_states_max: args.max_cycle_states,
        },
        start,
    };
    let mut output = Output::new(false);
    let served = serve(settings, |address| {
        let address = format!("http://{address}/");
        output.print(&format!("{address}\n"));
        say("Open it in a browser; Ctrl-C ends it.\n");
        if args.open {
            open(&address);
        }
    });
    match served {
        Ok(()) => conclude(&output, Exit::AsExpected),
        Err(error) => {
            complain([format!("cannot listen on port {}: {error}", args.port)]);
            Exit::Unusable
        }
    }
}

/// One core is left to those who look around.
fn one_less() -> NonZeroUsize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores - 1).unwrap_or(NonZeroUsize::MIN)
}

/// Where the page begins.
fn start(what: &str) -> Result<Start, String> {
    if Path::new(what).extension().is_some_and(|extension| extension == "json") {
        let text = fs::read_to_string(what).map_err(|error| format!("{what}: cannot be read: {error}"))?;
        let trace: TraceFile = serde_json::from_str(&text).map_err(|error| {
            format!(
                "{what}:{}:{}: no trace, such as `oncemore check --trace json` writes: {error}",
                error.line(),
                error.column()
            )
        })?;
        return begin_at(&trace).map_err(|error| format!("{what}: {error}"));
    }
    let selected = Selected::named(what).map_err(|error| error.to_string())?;
    Start::of(&selected).map_err(|error| error.to_string())
}

/// Asks the desktop to show the page. If there is none, the address has been printed.
fn open(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    let _ = Command::new(opener).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
