//! `oncemore show`: a scenario of the library as its file has it.

use oncemore_model::scenario::find;

use super::conclude;
use crate::cli::ShowArgs;
use crate::exit::Exit;
use crate::output::{Output, complain};
use crate::select::SelectError;

/// Runs the command.
pub(crate) fn run(args: &ShowArgs) -> Exit {
    let Some(entry) = find(&args.scenario) else {
        complain([SelectError::unknown(&args.scenario)]);
        return Exit::Unusable;
    };
    let mut output = Output::new(false);
    output.print(entry.text);
    conclude(&output, Exit::AsExpected)
}
