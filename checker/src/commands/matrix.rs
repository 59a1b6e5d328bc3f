//! `oncemore matrix`: every design of the claim store against every world.

use std::fs;
use std::path::Path;
use std::time::Instant;

use oncemore_model::explore::Limits;
use oncemore_model::matrix::{Cell, Expected, Matrix, Outcome, PROPERTIES, Verdict, run as explore};
use oncemore_model::property::Property;
use serde_json::{Value, json};

use super::conclude;
use crate::cli::MatrixArgs;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{BAD, Output, complain, styled};
use crate::report::matrix_text;
use crate::sink::Sink;

/// Runs the command.
pub(crate) fn run(args: &MatrixArgs) -> Exit {
    args.report.color.apply();
    let opened = |path: &Option<std::path::PathBuf>| path.as_deref().map(Sink::open).transpose();
    let (json, page) = match opened(&args.report.json).and_then(|json| Ok((json, opened(&args.write)?))) {
        Ok(sinks) => sinks,
        Err(problem) => {
            complain([problem]);
            return Exit::Unusable;
        }
    };
    let taken = [&json, &page].into_iter().flatten().any(Sink::is_stdout);
    let mut output = Output::new(taken);
    let began = Instant::now();
    let matrix = match work(args) {
        Ok(matrix) => matrix,
        Err(problem) => {
            complain([problem]);
            return Exit::NotAsExpected;
        }
    };
    let exit = report(args, &matrix, began, &mut output);
    let written = [json.map(|sink| (sink, to_json(&matrix))), page.map(|sink| (sink, matrix_text::markdown(&matrix)))];
    for (sink, text) in written.into_iter().flatten() {
        if let Err(problem) = sink.write(&mut output, &text) {
            complain([problem]);
            return Exit::Unusable;
        }
    }
    conclude(&output, exit)
}

fn work(args: &MatrixArgs) -> Result<Matrix, oncemore_model::matrix::MatrixError> {
    let deadline = args.explore.timeout.map(|timeout| Instant::now() + timeout);
    let limits =
        Limits { states_max: args.explore.max_states, deadline, stop: Some(interrupt::flag()), ..Limits::default() };
    explore(&Cell::all(), args.explore.threads(), &limits, &|_| {})
}

/// Prints the matrix and what is not as expected, and says how the command ends.
fn report(args: &MatrixArgs, matrix: &Matrix, began: Instant, output: &mut Output) -> Exit {
    if args.details {
        output.print(&matrix_text::details(matrix));
    }
    output.print(&matrix_text::table(matrix, args.details));
    let explored = matrix.outcomes.values().filter(|outcome| matches!(outcome, Outcome::Explored { .. })).count();
    let seconds = began.elapsed().as_secs_f64();
    output.print(&format!(
        "{} cells, {explored} of them explored, {} states, {seconds:.1} s\n",
        matrix.outcomes.len(),
        matrix.states
    ));
    let mut exit = Exit::AsExpected;
    for (cell, property, found) in differences(matrix) {
        let expected = expected(cell, property);
        output.print(&styled(BAD, &format!("{cell}: {} is {found}, but expected: {expected}\n", property.name())));
        exit = Exit::NotAsExpected;
    }
    if is_cut(matrix) {
        exit = exit.max(Exit::Cut);
    }
    if let Some(page) = &args.check {
        exit = exit.max(check_page(page, matrix, output));
    }
    exit
}

/// Whether the page says what the matrix says now.
fn check_page(page: &Path, matrix: &Matrix, output: &mut Output) -> Exit {
    match fs::read_to_string(page) {
        Ok(text) if text == matrix_text::markdown(matrix) => Exit::AsExpected,
        Ok(_) => {
            let path = page.display();
            output.print(&styled(BAD, &format!("{path} is not current: write it anew with --write {path}\n")));
            Exit::NotAsExpected
        }
        Err(problem) => {
            complain([format!("{}: cannot be read: {problem}", page.display())]);
            Exit::Unusable
        }
    }
}

fn is_cut(matrix: &Matrix) -> bool {
    matrix.outcomes.values().any(|outcome| match outcome {
        Outcome::Explored { cut, .. } => cut.is_some(),
        Outcome::DoesNotApply(_) => false,
    })
}

/// Where a verdict is not the expected one.
fn differences(matrix: &Matrix) -> impl Iterator<Item = (Cell, Property, &'static str)> {
    verdicts(matrix).filter_map(|(cell, property, verdict)| {
        let found = word(verdict);
        (verdict != Verdict::Inconclusive && found != expected(cell, property)).then_some((cell, property, found))
    })
}

fn verdicts(matrix: &Matrix) -> impl Iterator<Item = (Cell, Property, Verdict)> {
    matrix.outcomes.iter().flat_map(|(cell, outcome)| {
        let verdicts = match outcome {
            Outcome::Explored { verdicts, .. } => Some(*verdicts),
            Outcome::DoesNotApply(_) => None,
        };
        let pairs = verdicts.into_iter().flat_map(|verdicts| PROPERTIES.into_iter().zip(verdicts));
        pairs.map(|(property, verdict)| (*cell, property, verdict))
    })
}

/// What is expected of a cell: what the data in the repository says is broken is, all else holds.
fn expected(cell: Cell, property: Property) -> &'static str {
    if Expected::shipped().is_violated(&cell, property) { "violated" } else { "holds" }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated { .. } => "violated",
        Verdict::Inconclusive => "inconclusive",
    }
}

fn to_json(matrix: &Matrix) -> String {
    let cells: Vec<Value> = matrix.outcomes.iter().flat_map(|(cell, outcome)| cell_json(cell, outcome)).collect();
    format!("{:#}\n", json!({ "cells": cells }))
}

fn cell_json(cell: &Cell, outcome: &Outcome) -> Vec<Value> {
    let common = |property: Property, verdict: &str, expected: &str, steps: Option<u32>, why: Option<&str>| {
        json!({
            "design": cell.design.name(), "fenced": cell.fenced, "retention": cell.retention,
            "first_rejection": cell.first_rejection(), "callers": cell.callers, "world": cell.trouble.name(),
            "property": property.name(), "verdict": verdict, "expected": expected, "trace_length": steps, "why": why,
        })
    };
    match outcome {
        Outcome::DoesNotApply(why) => PROPERTIES
            .into_iter()
            .map(|property| common(property, "does-not-apply", "does-not-apply", None, Some(why)))
            .collect(),
        Outcome::Explored { verdicts, .. } => PROPERTIES
            .into_iter()
            .zip(verdicts)
            .map(|(property, verdict)| {
                let steps = if let Verdict::Violated { steps } = verdict { Some(*steps) } else { None };
                common(property, word(*verdict), expected(*cell, property), steps, cell.why_violated(property))
            })
            .collect(),
    }
}
