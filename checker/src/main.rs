//! The `oncemore` command: checks the retry protocol exhaustively and says what holds, what does not, and why.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod commands;
mod exit;
mod explorer;
mod export;
mod interrupt;
mod memory;
mod output;
mod progress;
mod report;
mod select;
mod sink;
mod units;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    commands::run(cli::Cli::parse()).into()
}
