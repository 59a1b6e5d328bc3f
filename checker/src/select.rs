//! Which scenarios are meant.

use std::path::Path;

use clap::CommandFactory;
use oncemore_model::matrix::{Cell, PROPERTIES};
use oncemore_model::scenario::{Entry, ReadError, Scenario, find, library};
use thiserror::Error;

use crate::cli::Cli;

/// The scenarios that a command is to run.
#[derive(Debug)]
pub(crate) struct Selection {
    /// In the order in which they were named, each once.
    pub(crate) scenarios: Vec<Selected>,
    /// Whether it is the standard suite, whole.
    pub(crate) is_suite: bool,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selected {
    pub(crate) scenario: Scenario,
    pub(crate) origin: Origin,
}

/// Where a scenario comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It comes with Oncemore: how many states it has is known.
    Library,
    /// It is the user's own.
    File,
}

/// What was named is no scenario.
#[derive(Debug, Error)]
pub(crate) enum SelectError {
    #[error("there is no scenario `{name}`{}; `oncemore list` lists them, and a file of your own ends in .toml", did_you_mean(.similar))]
    Unknown { name: String, similar: Vec<&'static str> },
    #[error("`{0}` is a command: write it first, and options after it")]
    Command(String),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Selection {
    /// Those named, or the standard suite.
    ///
    /// # Errors
    ///
    /// All that is wrong, not just the first.
    pub(crate) fn of(names: &[String]) -> Result<Self, Vec<SelectError>> {
        if names.is_empty() {
            let entries = library().iter().filter(|entry| entry.scenario.suite);
            return Ok(Self { scenarios: entries.map(Selected::library).collect(), is_suite: true });
        }
        let mut scenarios: Vec<Selected> = Vec::new();
        let mut errors = Vec::new();
        for name in names {
            match Selected::named(name) {
                Ok(selected) if scenarios.contains(&selected) => {}
                Ok(selected) => scenarios.push(selected),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Self { scenarios, is_suite: false }) } else { Err(errors) }
    }
}

impl Selected {
    fn library(entry: &Entry) -> Self {
        Self { scenario: entry.scenario.clone(), origin: Origin::Library }
    }

    pub(crate) fn named(name: &str) -> Result<Self, SelectError> {
        if let Some(entry) = find(name) {
            return Ok(Self::library(entry));
        }
        let path = Path::new(name);
        let is_path = path.extension().is_some_and(|extension| extension == "toml") || path.components().count() > 1;
        if is_path {
            return Ok(Self { scenario: Scenario::read(path)?, origin: Origin::File });
        }
        if let Some(known) = Self::known(name) {
            return Ok(known);
        }
        if Cli::command().find_subcommand(name).is_some() {
            return Err(SelectError::Command(name.to_owned()));
        }
        Err(SelectError::unknown(name))
    }

    /// What comes with Oncemore under this name: a scenario of the library or a cell of the matrix. No file is read.
    pub(crate) fn known(name: &str) -> Option<Self> {
        let cell = || Cell::all().into_iter().find(|cell| cell.scenario().name == name);
        find(name).map(Self::library).or_else(|| cell().map(Self::cell))
    }

    /// A scenario of the user's own.
    pub(crate) const fn own(scenario: Scenario) -> Self {
        Self { scenario, origin: Origin::File }
    }

    /// A cell of the matrix, with what is expected of it there. It is no scenario of the library: nothing is pinned.
    fn cell(cell: Cell) -> Self {
        let mut scenario = cell.scenario();
        for property in PROPERTIES {
            if let Some(why) = cell.why_violated(property) {
                scenario.expect.violated.push(property.name().to_owned());
                scenario.expect.because.insert(property.name().to_owned(), why.to_owned());
            }
        }
        Self { scenario, origin: Origin::File }
    }
}

impl SelectError {
    /// There is no scenario of this name.
    pub(crate) fn unknown(name: &str) -> Self {
        let names = library().iter().map(|entry| entry.scenario.name.as_str());
        Self::Unknown { name: name.to_owned(), similar: similar(name, names) }
    }
}

/// At most three names that somebody who wrote `name` may have meant, the nearest first.
fn similar<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<_> = names
        .map(|candidate| (if candidate.contains(name) { 1 } else { distance(name, candidate) }, candidate))
        .filter(|(distance, _)| *distance <= 1 + name.len() / 4)
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// How many letters must be put in, left out or exchanged for others to make the one word of the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.bytes().enumerate() {
            let kept = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = kept.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

fn did_you_mean(similar: &[&str]) -> String {
    match similar {
        [] => String::new(),
        names => format!(" (did you mean `{}`?)", names.join("` or `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_understood() {
        let names = || ["lost-reply", "lost-request", "two-callers", "case_01"].into_iter();
        assert_eq!(similar("lost-rply", names()), ["lost-reply"]);
        assert_eq!(similar("lost", names()), ["lost-reply", "lost-request"]);
        assert_eq!(similar("case-01", names()), ["case_01"]);
        assert_eq!(similar("nothing-like-it", names()), [""; 0]);
    }

    #[test]
    fn the_standard_suite_is_what_is_meant_by_nothing() {
        let selection = Selection::of(&[]).unwrap();
        assert!(selection.is_suite && !selection.scenarios.is_empty());
        assert!(selection.scenarios.iter().all(|selected| selected.scenario.suite));
    }

    #[test]
    fn a_scenario_named_twice_runs_once() {
        let name = library()[0].scenario.name.clone();
        let selection = Selection::of(&[name.clone(), name]).unwrap();
        assert_eq!((selection.scenarios.len(), selection.is_suite), (1, false));
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        let names = ["no-such", "neither"].map(str::to_owned);
        assert_eq!(Selection::of(&names).unwrap_err().len(), 2);
    }
}
