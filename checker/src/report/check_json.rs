//! What `oncemore check --json` writes; `docs/json.md` describes it.

use oncemore_model::explore::{Coverage, CutReason};
use oncemore_model::judge::{Answer, Finding, Pinned, ProgressSummary, Question};
use serde::Serialize;

use crate::commands::check::{Checked, NotRun, PinCheck};
use crate::exit::Exit;
use crate::report::totals::Totals;

/// The whole of it.
#[derive(Debug, Serialize)]
pub(crate) struct CheckJson<'a> {
    /// Whether it was the standard suite, whole.
    suite: bool,
    threads: usize,
    /// What the command's exit status says.
    exit_status: u8,
    scenarios: Vec<ScenarioJson<'a>>,
    /// Of the whole suite, exhausted; otherwise nothing can be said, and the list is empty.
    untaken_branches: Vec<&'static str>,
    /// Whether something can be said of them.
    branches_judged: bool,
}

#[derive(Debug, Serialize)]
struct ScenarioJson<'a> {
    name: &'a str,
    exhausted: bool,
    /// Why not.
    cut: Option<&'static str>,
    unique_states: u64,
    generated_states: u64,
    max_depth: u32,
    /// Of the exploration; the search for cycles has its own.
    seconds: f64,
    peak_bytes: Option<u64>,
    bytes_per_state: Option<f64>,
    collision_odds: f64,
    as_expected: bool,
    pinned: Option<Pinned>,
    cycles: Option<CyclesJson>,
    properties: Vec<PropertyJson<'a>>,
}

#[derive(Debug, Serialize)]
struct CyclesJson {
    exhausted: bool,
    states: u64,
    transitions: u64,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct PropertyJson<'a> {
    id: &'static str,
    verdict: Answer,
    expected: Option<Answer>,
    trace_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl<'a> CheckJson<'a> {
    pub(crate) fn new(totals: &'a Totals<'a>) -> Self {
        let Totals { is_suite, checked, not_run, threads, untaken, .. } = totals;
        let run = checked.iter().map(ScenarioJson::run);
        Self {
            suite: *is_suite,
            threads: *threads,
            exit_status: totals.exit().status(),
            scenarios: run.chain(not_run.iter().map(ScenarioJson::not_run)).collect(),
            untaken_branches: untaken.iter().flatten().map(|branch| branch.name()).collect(),
            branches_judged: untaken.is_some(),
        }
    }
}

impl<'a> ScenarioJson<'a> {
    fn run(checked: &'a Checked) -> Self {
        let Checked { selected, judgement, pin } = checked;
        let counts = judgement.counts;
        let per_state = |bytes: u64| bytes as f64 / counts.states.max(1) as f64;
        Self {
            name: &selected.scenario.name,
            exhausted: judgement.coverage == Coverage::Exhausted,
            cut: cut(judgement.coverage),
            unique_states: counts.states,
            generated_states: counts.generated,
            max_depth: counts.depth,
            seconds: counts.elapsed.as_secs_f64(),
            peak_bytes: judgement.peak_bytes,
            bytes_per_state: judgement.explore_peak_bytes.map(per_state),
            collision_odds: judgement.collision_odds,
            as_expected: checked.exit() == Exit::AsExpected,
            pinned: match pin {
                PinCheck::Same(pinned) | PinCheck::Differs { pinned, .. } => Some(*pinned),
                PinCheck::NotAsked | PinCheck::Missing => None,
            },
            cycles: judgement.progress.map(CyclesJson::new),
            properties: judgement.findings.iter().map(PropertyJson::found).collect(),
        }
    }

    fn not_run(not_run: &'a NotRun) -> Self {
        Self {
            name: &not_run.name,
            exhausted: false,
            cut: Some("not-run"),
            unique_states: 0,
            generated_states: 0,
            max_depth: 0,
            seconds: 0.0,
            peak_bytes: None,
            bytes_per_state: None,
            collision_odds: 0.0,
            as_expected: false,
            pinned: None,
            cycles: None,
            properties: not_run.questions.iter().map(PropertyJson::open).collect(),
        }
    }
}

impl CyclesJson {
    fn new(summary: ProgressSummary) -> Self {
        let ProgressSummary { coverage, states, transitions, elapsed } = summary;
        Self { exhausted: coverage == Coverage::Exhausted, states, transitions, seconds: elapsed.as_secs_f64() }
    }
}

impl<'a> PropertyJson<'a> {
    fn open(question: &Question) -> Self {
        let Question { id, expected, .. } = *question;
        Self { id, verdict: Answer::Inconclusive, expected, trace_length: None, note: None }
    }

    fn found(finding: &'a Finding) -> Self {
        Self {
            id: finding.question.id,
            verdict: finding.answer,
            expected: finding.question.expected,
            trace_length: finding.trace_length(),
            note: finding.reservation.as_deref(),
        }
    }
}

/// The word for why not everything was seen.
pub(crate) fn cut(coverage: Coverage) -> Option<&'static str> {
    match coverage {
        Coverage::Exhausted => None,
        Coverage::Cut(CutReason::States) => Some("states"),
        Coverage::Cut(CutReason::Depth) => Some("depth"),
        Coverage::Cut(CutReason::Deadline) => Some("timeout"),
        Coverage::Cut(CutReason::Memory) => Some("memory"),
        Coverage::Cut(CutReason::Stopped) => Some("interrupt"),
        Coverage::Cut(CutReason::Violation) => Some("violation"),
    }
}
