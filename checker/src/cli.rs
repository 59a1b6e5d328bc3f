//! What can be written on the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use oncemore_model::matrix::{Design, Trouble};
use oncemore_model::property::Property;

use crate::units::{parse_bytes, parse_count, parse_duration};

const EXIT_STATUS: &str = "\
Exit status:
  0  everything is as expected
  1  something is not as expected: it is in the report
  2  the command line, a scenario or a file is no good; nothing was run
  3  something was cut short before it could be answered
  Where several apply: 2, then 1, then 3.";

const EXPLORE_NOTES: &str = "\
The limits hold for each check of the page. Without --threads it uses one core less than there are.

Exit status:
  0  it was ended with Ctrl-C
  2  the command line, the scenario, the file or the port is no good; nothing was served";

/// Checks the retry protocol exhaustively, and says what holds, what does not, and why.
///
/// Without a command it checks the standard suite.
#[derive(Debug, Parser)]
#[command(name = "oncemore", version, args_conflicts_with_subcommands = true, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the standard suite, or the scenarios named
    #[command(after_help = EXIT_STATUS)]
    Check(Box<CheckArgs>),
    /// See what any fault does to a call, in a page on this machine
    #[command(after_help = EXPLORE_NOTES)]
    Explore(ExplorerArgs),
    /// Every design of the claim store against every world
    #[command(after_help = EXIT_STATUS)]
    Matrix(MatrixArgs),
    /// Break each rule on purpose, and see that it is caught
    #[command(after_help = EXIT_STATUS)]
    Mutants(MutantsArgs),
    /// Run a trace again and see whether it says the same
    #[command(after_help = EXIT_STATUS)]
    Replay(ReplayArgs),
    /// List the scenarios, or the properties, branches of rules or mutants
    List(ListArgs),
    /// Print a scenario as TOML, to start one of your own from
    Show(ShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Scenarios of the library by name, or files of your own (*.toml) [default: the standard suite]
    #[arg(value_name = "SCENARIO|FILE.toml")]
    pub(crate) scenarios: Vec<String>,
    /// Ask only about this property, such as P1 or R3; may be given several times
    #[arg(long = "property", value_name = "ID", value_parser = property)]
    pub(crate) properties: Vec<Property>,
    /// How to write the trace of a violated (or, with --property, reached) property
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) trace: TraceFormat,
    /// Write that trace to a file [default: standard output, unless it is text, which is part of the report]
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_out: Option<PathBuf>,
    /// Write the counts found to model/expected/counts.json, instead of comparing with them
    #[arg(long)]
    pub(crate) bless: bool,
    /// Look for cycles (L1) in scenarios of the library up to so many states; in your own it is always done
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M", help_heading = "Limits")]
    pub(crate) max_cycle_states: u64,
    #[command(flatten)]
    pub(crate) explore: ExploreArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// How far to explore; the same for all commands that do.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct ExploreArgs {
    /// How many threads explore [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Cut a scenario short after so many states (300000, 300k, 20M)
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) max_states: Option<u64>,
    /// Cut a scenario short after so many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_depth: Option<u32>,
    /// Cut everything short after so long (90, 90s, 5m)
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Cut a scenario short rather than allocate more than this (500M, 4G, 4GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
}

/// How to report; the same for all commands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportArgs {
    /// Write the result to a file as JSON (docs/json.md); `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,
}

#[derive(Args, Debug)]
pub(crate) struct ExplorerArgs {
    /// A scenario by name, a file of your own, or a trace that `--trace json` wrote [default: the library]
    #[arg(value_name = "SCENARIO|FILE.toml|TRACE.json")]
    pub(crate) what: Option<String>,
    /// Listen on this port of 127.0.0.1; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Look for cycles (L1) in checks of up to so many states
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M", help_heading = "Limits")]
    pub(crate) max_cycle_states: u64,
    #[command(flatten)]
    pub(crate) explore: ExploreArgs,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, help_heading = "Output")]
    pub(crate) color: Color,
}

#[derive(Args, Debug)]
pub(crate) struct MatrixArgs {
    /// Print every row and every cell, not only the rows near the default
    #[arg(long)]
    pub(crate) details: bool,
    /// Only this design, D0 to D5; may be given several times
    #[arg(long = "design", value_name = "DESIGN", value_parser = design)]
    pub(crate) designs: Vec<Design>,
    /// Only this world, such as restart+late; may be given several times
    #[arg(long = "world", value_name = "WORLD", value_parser = world)]
    pub(crate) worlds: Vec<Trouble>,
    /// Write the page with all verdicts to this file
    #[arg(long, value_name = "FILE.md", conflicts_with_all = ["designs", "worlds"])]
    pub(crate) write: Option<PathBuf>,
    /// Fail if the page in this file is not what would be written
    #[arg(long, value_name = "FILE.md", conflicts_with_all = ["designs", "worlds"])]
    pub(crate) check: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) explore: ExploreArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MutantsArgs {
    #[command(flatten)]
    pub(crate) explore: ExploreArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// A trace that `--trace json` wrote
    #[arg(value_name = "TRACE.json")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list
    #[arg(value_enum, default_value_t)]
    pub(crate) what: Listing,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The scenario's name
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// One event a line, with its rules
    #[default]
    Text,
    /// For `oncemore replay`
    Json,
    /// The Informal Trace Format of Apalache and Quint
    Itf,
    /// A sequence diagram
    Mermaid,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// What comes with Oncemore
    #[default]
    Scenarios,
    /// What is promised
    Properties,
    /// What the rules can decide
    Branches,
    /// The rules, each broken on purpose
    Mutants,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

impl ExploreArgs {
    /// How many threads explore, if that was said.
    pub(crate) const fn threads_given(&self) -> Option<NonZeroUsize> {
        self.threads
    }

    /// How many threads explore.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl Color {
    /// From now on what is written heeds it.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

fn property(text: &str) -> Result<Property, String> {
    let asked = || Property::ALL.iter().filter(|&&property| property != Property::R6);
    asked().copied().find(|property| property.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
        let names: Vec<_> = asked().map(|property| property.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn design(text: &str) -> Result<Design, String> {
    named(text, "design", &Design::ALL, Design::name)
}

fn world(text: &str) -> Result<Trouble, String> {
    named(text, "world", &Trouble::ALL, Trouble::name)
}

/// The one with this name.
fn named<T: Copy>(text: &str, kind: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|item| name(*item).eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|item| name(*item)).collect();
        format!("there is no such {kind}; there are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
