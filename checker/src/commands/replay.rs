//! `oncemore replay`: runs a trace again, and sees whether it says the same.

use std::fs;

use oncemore_model::judge::{Finding, Question, ReplayError, TraceFile};
use serde::Serialize;

use super::conclude;
use crate::cli::ReplayArgs;
use crate::exit::Exit;
use crate::output::{BAD, GOOD, Output, complain, styled};
use crate::report::{Layout, trace_text};
use crate::sink::{Sink, json_text};

/// What `oncemore replay --json` writes.
#[derive(Debug, Serialize)]
struct ReplayJson<'a> {
    scenario: &'a str,
    mutant: Option<&'a str>,
    property: &'a str,
    verdict: &'a str,
    trace_length: usize,
    agrees: bool,
    /// Where it goes another way.
    divergence: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Exit {
    args.report.color.apply();
    match prepare(args) {
        Ok((trace, json)) => replay(&trace, json).unwrap_or_else(unusable),
        Err(problem) => unusable(problem),
    }
}

fn unusable(problem: String) -> Exit {
    complain([problem]);
    Exit::Unusable
}

fn prepare(args: &ReplayArgs) -> Result<(TraceFile, Option<Sink>), String> {
    let file = args.file.display();
    let text = fs::read_to_string(&args.file).map_err(|error| format!("{file}: cannot be read: {error}"))?;
    let trace = serde_json::from_str(&text).map_err(|error| {
        format!(
            "{file}:{}:{}: no trace, such as `oncemore check --trace json` writes: {error}",
            error.line(),
            error.column()
        )
    })?;
    let json = args.report.json.as_deref().map(Sink::open).transpose().map_err(|error| error.to_string())?;
    Ok((trace, json))
}

fn replay(trace: &TraceFile, json: Option<Sink>) -> Result<Exit, String> {
    let result = trace.replay();
    if let Err(error) = &result
        && !error.is_divergence()
    {
        return Err(error.to_string());
    }
    let mut output = Output::new(json.as_ref().is_some_and(Sink::is_stdout));
    output.print(&told(trace, &result));
    if let Some(sink) = json {
        let json = json_text(&ReplayJson::new(trace, &result));
        sink.write(&mut output, &json).map_err(|error| error.to_string())?;
    }
    let exit = if result.is_ok() { Exit::AsExpected } else { Exit::NotAsExpected };
    Ok(conclude(&output, exit))
}

fn told(trace: &TraceFile, result: &Result<(), ReplayError>) -> String {
    let mut text = String::new();
    let broken = trace.mutant.as_deref().map(|mutant| format!(" with {mutant}")).unwrap_or_default();
    text.push_str(&format!("{}{broken}\n", trace.scenario.name));
    if let Some(finding) = finding(trace) {
        text.push_str(&trace_text::trace(&finding, &trace.run, Layout::new(std::iter::empty())));
    }
    let steps = trace.run.steps.len();
    text.push_str(&match result {
        Ok(()) if trace.property.is_empty() => styled(GOOD, &format!("all {steps} steps happen again as recorded\n")),
        Ok(()) => styled(
            GOOD,
            &format!(
                "all {steps} steps happen again as recorded, and {} is {}\n",
                trace.property,
                trace.verdict.word()
            ),
        ),
        Err(divergence) => styled(BAD, &format!("it goes another way: {divergence}\n")),
    });
    text
}

/// The finding that the trace was written for.
fn finding(trace: &TraceFile) -> Option<Finding> {
    let question = Question::all_of(&trace.scenario, 0).into_iter().find(|question| question.id == trace.property)?;
    Some(Finding { question, answer: trace.verdict, run: None, reservation: None })
}

impl<'a> ReplayJson<'a> {
    fn new(trace: &'a TraceFile, result: &Result<(), ReplayError>) -> Self {
        Self {
            scenario: &trace.scenario.name,
            mutant: trace.mutant.as_deref(),
            property: &trace.property,
            verdict: trace.verdict.word(),
            trace_length: trace.run.steps.len(),
            agrees: result.is_ok(),
            divergence: result.as_ref().err().map(ToString::to_string),
        }
    }
}
