//! L1: whether every run reaches its goals.
//!
//! The exploration says where runs get stuck. Runs that go round for ever need the graph of all states in memory, and so
//! are looked for in spaces of a bounded size; in larger ones the answer stays open.

use std::time::Duration;

use super::{Answer, Ask, Finding, JudgeError, JudgeOptions, Phase, Question, Run, Subject};
use crate::explore::liveness::{LassoOf, ProgressCheck, check_progress};
use crate::explore::{Counts, Coverage, Exploration, TraceOf};

/// How the search for runs that go round for ever went.
#[derive(Clone, Copy, Debug)]
pub struct ProgressSummary {
    /// Whether all of the graph was seen.
    pub coverage: Coverage,
    /// Its states.
    pub states: u64,
    /// Its transitions, duplicates included.
    pub transitions: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl ProgressSummary {
    pub(super) fn new<S: Subject>(check: &ProgressCheck<S>) -> Self {
        let ProgressCheck { coverage, states, transitions, elapsed, .. } = *check;
        Self { coverage, states, transitions, elapsed }
    }
}

/// Looks for cycles if a question asks for them, the space was seen and is small enough, and nothing is stuck anyway.
pub(super) fn check<S: Subject>(
    subject: &S,
    exploration: &Exploration<S>,
    questions: &[Question],
    options: &mut JudgeOptions<'_>,
) -> Result<Option<ProgressCheck<S>>, JudgeError> {
    let states = exploration.counts.states;
    let is_asked = questions
        .iter()
        .any(|question| matches!(question.ask, Ask::Progress { cycle_states_max } if states <= cycle_states_max));
    let is_stuck = exploration.stuck_goals().next().is_some();
    if !is_asked || is_stuck || exploration.coverage != Coverage::Exhausted {
        return Ok(None);
    }
    let observe = &mut *options.observe;
    let check = check_progress(subject, &options.limits, &mut |status| observe(Phase::LookingForCycles, status))?;
    agree(exploration, &check, subject.initial().len() as u64)?;
    Ok(Some(check))
}

/// Whether both searches saw the same space, if both saw all of it.
fn agree<S: Subject>(exploration: &Exploration<S>, check: &ProgressCheck<S>, initial: u64) -> Result<(), JudgeError> {
    let Counts { states, generated, .. } = exploration.counts;
    let (graph_states, graph_generated) = (check.states, check.transitions + initial);
    if check.coverage != Coverage::Exhausted || (states, generated) == (graph_states, graph_generated) {
        return Ok(());
    }
    Err(JudgeError::Disagreement { states, generated, graph_states, graph_generated })
}

/// The answer to L1.
pub(super) fn find<S: Subject>(
    subject: &S,
    exploration: &Exploration<S>,
    check: Option<&ProgressCheck<S>>,
    question: Question,
) -> Finding {
    let stuck = exploration.stuck_goals().min_by_key(|(_, trace)| trace.steps.len());
    let run = stuck.map(|(goal, trace): (u32, &TraceOf<S>)| Run::stuck(subject, trace, goal)).or_else(|| {
        let cycles = (0..u64::BITS).filter_map(|goal| Some((goal, check?.cycle(goal)?)));
        let shortest = cycles.min_by_key(|(_, lasso)| lasso.stem.steps.len() + lasso.cycle.len());
        shortest.map(|(goal, lasso): (u32, &LassoOf<S>)| Run::circling(subject, lasso, goal))
    });
    let cycles = check.map(|check| check.coverage);
    let is_all_seen = exploration.coverage == Coverage::Exhausted && cycles == Some(Coverage::Exhausted);
    let answer = match &run {
        Some(_) => Answer::Violated,
        None if is_all_seen => Answer::Holds,
        None => Answer::Inconclusive,
    };
    if answer != Answer::Inconclusive || exploration.coverage != Coverage::Exhausted {
        return Finding { question, answer, run, reservation: None };
    }
    let Some(Coverage::Cut(reason)) = cycles else {
        // What nobody set out to answer is not missing.
        let reservation = Some(format!("no run gets stuck; cycles were not looked for{}", beyond(question.ask)));
        return Finding { question: Question { expected: None, ..question }, answer, run, reservation };
    };
    let reservation = Some(format!("no run gets stuck; the search for cycles was cut: {reason}"));
    Finding { question, answer, run, reservation }
}

fn beyond(ask: Ask) -> String {
    match ask {
        Ask::Progress { cycle_states_max } => format!(" in more than {cycle_states_max} states"),
        Ask::Safety { .. } | Ask::Reach { .. } => String::new(),
    }
}
