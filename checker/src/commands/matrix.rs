//! `oncemore matrix`: every design of the claim store against every world.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use oncemore_model::matrix::{
    Cell, Difference, Expected, Matrix, MatrixError, Outcome, PROPERTIES, Summary, Verdict, run as work_off,
};
use oncemore_model::property::Property;
use serde_json::{Value, json};

use super::{begin, conclude, limits_each, open, write};
use crate::cli::MatrixArgs;
use crate::exit::Exit;
use crate::output::{BAD, OPEN, Output, complain, styled};
use crate::progress::Progress;
use crate::report::matrix_text;
use crate::sink::{Sink, json_text};
use crate::units::metric;

/// Runs the command.
pub(crate) fn run(args: &MatrixArgs) -> Exit {
    let (json, page) = match begin(&args.report).and_then(|json| Ok((json, open(args.write.as_deref())?))) {
        Ok(sinks) => sinks,
        Err(exit) => return exit,
    };
    let current = match args.check.as_deref().map(read).transpose() {
        Ok(current) => current,
        Err(exit) => return exit,
    };
    let mut output = Output::new([&json, &page].into_iter().flatten().any(Sink::is_stdout));
    let matrix = match explore(args, &mut output) {
        Ok(matrix) => matrix,
        Err(problem) => {
            complain([problem]);
            return Exit::NotAsExpected;
        }
    };
    let mut exit = judge(&matrix, &mut output);
    exit = exit.max(write(json, &mut output, || json_text(&json!({ "cells": cells_json(&matrix) }))));
    if exit == Exit::Cut {
        if page.is_some() || current.is_some() {
            output.print(&styled(OPEN, "The page says what all cells say; after a cut it is left alone.\n"));
        }
        return conclude(&output, exit);
    }
    exit = exit.max(write(page, &mut output, || matrix_text::markdown(&matrix)));
    if current.is_some_and(|current| current != matrix_text::markdown(&matrix)) {
        let path = args.check.as_deref().unwrap_or(Path::new("")).display();
        output.print(&styled(BAD, &format!("{path} is not current: write it anew with --write {path}\n")));
        exit = exit.max(Exit::NotAsExpected);
    }
    conclude(&output, exit)
}

/// The page that is to be current, read before anything is run.
fn read(path: &Path) -> Result<String, Exit> {
    fs::read_to_string(path).map_err(|problem| {
        complain([format!("{}: cannot be read: {problem}", path.display())]);
        Exit::Unusable
    })
}

/// Works the cells off, and prints what they say.
fn explore(args: &MatrixArgs, output: &mut Output) -> Result<Matrix, MatrixError> {
    let chosen = |cell: &Cell| {
        (args.designs.is_empty() || args.designs.contains(&cell.design))
            && (args.worlds.is_empty() || args.worlds.contains(&cell.trouble))
    };
    let cells: Vec<Cell> = Cell::all().into_iter().filter(chosen).collect();
    let began = Instant::now();
    let progress = Mutex::new(Progress::new());
    let line = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    line().begin(0, 1, "matrix");
    let matrix = work_off(&cells, args.explore.threads(), &limits_each(&args.explore), &|so_far| {
        line().tell(|| {
            format!("{} of {} cells, {} states", so_far.cells, so_far.cells_max, metric(so_far.states as f64))
        });
    });
    line().end();
    let matrix = matrix?;
    let summary = Summary::of(&matrix);
    if args.details {
        output.print(&matrix_text::details(&matrix));
        output.print(&format!("{summary}\n"));
    } else if args.designs.is_empty() && args.worlds.is_empty() {
        output.print(&format!("{}\n\n", summary.headline()));
    }
    output.print(&matrix_text::table(&matrix, args.details));
    let explored = matrix.outcomes.values().filter(|outcome| matches!(outcome, Outcome::Explored { .. })).count();
    output.print(&format!(
        "{} cells, {explored} of them explored, {} states, {:.1} s\n",
        matrix.outcomes.len(),
        matrix.states,
        began.elapsed().as_secs_f64(),
    ));
    Ok(matrix)
}

/// Says what is not as expected.
fn judge(matrix: &Matrix, output: &mut Output) -> Exit {
    let (open, wrong): (Vec<_>, Vec<_>) =
        matrix.differences(Expected::shipped()).into_iter().partition(Difference::is_unanswered);
    for difference in &wrong {
        output.print(&styled(BAD, &format!("{difference}\n")));
    }
    if !open.is_empty() {
        let text = format!("{} answers are open: their cells were cut short.\n", open.len());
        output.print(&styled(OPEN, &text));
    }
    match (wrong.is_empty(), open.is_empty()) {
        (false, _) => Exit::NotAsExpected,
        (true, false) => Exit::Cut,
        (true, true) => Exit::AsExpected,
    }
}

fn cells_json(matrix: &Matrix) -> Vec<Value> {
    matrix.outcomes.iter().flat_map(|(cell, outcome)| cell_json(cell, outcome)).collect()
}

fn cell_json(cell: &Cell, outcome: &Outcome) -> Vec<Value> {
    let entry = |property: Property, verdict: &str, expected: &str, steps: Option<u32>, why: Option<&str>| {
        json!({
            "design": cell.design.name(), "fenced": cell.fenced, "retention": cell.retention,
            "first_rejection": cell.first_rejection(), "callers": cell.callers, "world": cell.trouble.name(),
            "property": property.name(), "verdict": verdict, "expected": expected, "trace_length": steps, "why": why,
            "scenario": cell.does_not_apply().is_none().then(|| cell.scenario().name),
        })
    };
    match outcome {
        Outcome::DoesNotApply(why) => {
            let says = "does-not-apply";
            PROPERTIES.into_iter().map(|property| entry(property, says, says, None, Some(why))).collect()
        }
        Outcome::Explored { .. } => outcome
            .verdicts()
            .map(|(property, verdict)| {
                let violated = Expected::shipped().is_violated(cell, property);
                let expected = if violated { "violated" } else { "holds" };
                let steps = if let Verdict::Violated { steps } = verdict { Some(steps) } else { None };
                entry(property, word(verdict), expected, steps, cell.why_violated(property))
            })
            .collect(),
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated { .. } => "violated",
        Verdict::Inconclusive => "inconclusive",
    }
}
