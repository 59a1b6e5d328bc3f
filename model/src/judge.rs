//! Judges a scenario: explores it, asks every question that it raises, and keeps a run for each answer that has one.
//!
//! An [`Exploration`] knows properties by bit and runs by fingerprint. A [`Judgement`] knows them by name, has what was
//! expected beside what was found, and holds runs that are told in words, can be written to a file ([`TraceFile`]) and can
//! be run again ([`replay`]). It is the same whatever the engine, and whatever the model: see [`Subject`].
//!
//! No answer goes further than what was looked at. After a cut nothing *holds*; and that every call settles (L1) is never
//! said unless the runs that go round for ever were looked for too.

mod options;
mod pinned;
mod progress;
mod question;
mod replay;
mod run;
mod subject;
mod trace_file;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::explore::liveness::ProgressCheck;
use crate::explore::{Counts, Coverage, Engine, Exploration, ExploreError, System, Tags};

pub use crate::narrate::{Event, RuleTaken};
pub use oncemore_protocol::rule::Branch;

pub use self::options::{JudgeOptions, Meter, Phase};
pub use self::pinned::{Pinned, pinned};
pub use self::progress::ProgressSummary;
pub use self::question::{Answer, Ask, Finding, Question};
pub use self::replay::{Divergence, replay};
pub use self::run::{Ending, Run, RunStep};
pub use self::trace_file::{ReplayError, TraceFile};

/// A system whose runs can be told, written down and run again.
pub trait Subject: System<Action: Serialize + DeserializeOwned> {
    /// The state that an action leads to, as a run is told: like [`System::next`], but with what happened before still in it,
    /// where that lets go of it.
    fn next_told(&self, before: &Self::State, action: &Self::Action, fired: &mut Tags) -> Option<Self::State> {
        self.next(before, action, fired)
    }

    /// What happens when `action` leads from `before` to `after` and fires these tags.
    fn tell(&self, before: &Self::State, action: &Self::Action, after: &Self::State, fired: Tags) -> Event;

    /// What the progress goal with this number is about, such as a call's name.
    fn goal(&self, goal: u32) -> String;

    /// What became of it all, seen from a state in which a run ends, in a few sentences.
    fn account(&self, end: &Self::State) -> Vec<String>;

    /// A state as plain data, for those who read runs with other tools: an object of variables.
    fn show(&self, state: &Self::State) -> Value;
}

/// What was found out about one scenario.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Whether all of its space was seen.
    pub coverage: Coverage,
    /// How large the space is, and how long it took to see it.
    pub counts: Counts,
    /// The tags that some transition fired.
    pub fired: Tags,
    /// The odds that two of its states shared a fingerprint, so that one of them was never looked at.
    pub collision_odds: f64,
    /// What was found out by looking for runs that go round for ever, if that was done.
    pub progress: Option<ProgressSummary>,
    /// The most bytes in use while the space was explored, above those in use before; none without a [`Meter`].
    pub explore_peak_bytes: Option<u64>,
    /// The same, for all of the judging.
    pub peak_bytes: Option<u64>,
    /// One for each question, in their order.
    pub findings: Vec<Finding>,
}

impl Judgement {
    /// Whether every answer that was expected was found.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        !self.findings.iter().any(Finding::is_surprise)
    }

    /// Whether an answer is missing: one that was expected, or one that a cut stood in the way of.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        let is_cut = self.coverage != Coverage::Exhausted;
        self.findings.iter().any(|finding| finding.is_open() && (is_cut || finding.question.expected.is_some()))
    }
}

/// Why there is no judgement: nothing that was found may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// A finding cannot be backed by a run.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// Two searches of the same space do not agree on its size. They share little code, so that each checks the other.
    #[error(
        "the exploration counts {states} states and {generated} generated, the search for cycles {graph_states} and {graph_generated}"
    )]
    Disagreement {
        /// The states that the exploration counts.
        states: u64,
        /// The states that it generated.
        generated: u64,
        /// The states that the search for cycles counts.
        graph_states: u64,
        /// The states that it generated.
        graph_generated: u64,
    },
}

/// Explores the subject with the engine and answers the questions.
///
/// # Errors
///
/// [`JudgeError`]
///
/// # Panics
///
/// If the subject does.
pub fn judge<S: Subject>(
    subject: &S,
    questions: Vec<Question>,
    engine: &impl Engine<S>,
    options: &mut JudgeOptions<'_>,
) -> Result<Judgement, JudgeError> {
    options.begin_metering();
    let observe = &mut *options.observe;
    let exploration = engine.explore(subject, &options.limits, &mut |status| observe(Phase::Exploring, status))?;
    let explore_peak_bytes = options.peak_bytes();
    let progress = progress::check(subject, &exploration, &questions, options)?;
    let findings = questions
        .into_iter()
        .map(|question| find(subject, &exploration, progress.as_ref(), question))
        .collect::<Result<_, ExploreError>>()?;
    Ok(Judgement {
        coverage: exploration.coverage,
        counts: exploration.counts,
        fired: exploration.fired,
        collision_odds: exploration.collision_odds(),
        progress: progress.as_ref().map(ProgressSummary::new),
        explore_peak_bytes,
        peak_bytes: options.peak_bytes(),
        findings,
    })
}

/// The answer to one question.
fn find<S: Subject>(
    subject: &S,
    exploration: &Exploration<S>,
    progress: Option<&ProgressCheck<S>>,
    question: Question,
) -> Result<Finding, ExploreError> {
    match question.ask {
        Ask::Safety { property } => {
            let run = exploration.violation(property).map(|trace| Run::violating(subject, trace));
            let answer = exploration.verdict(property).into();
            Ok(Finding { question, answer, run, reservation: None })
        }
        Ask::Reach { tag } => {
            let run = exploration.witness(subject, tag)?.map(|trace| Run::reaching(subject, &trace));
            let answer = match (&run, exploration.coverage) {
                (Some(_), _) => Answer::Reached,
                (None, Coverage::Exhausted) => Answer::Unreached,
                (None, Coverage::Cut(_)) => Answer::Inconclusive,
            };
            Ok(Finding { question, answer, run, reservation: None })
        }
        Ask::Progress { .. } => Ok(progress::find(subject, exploration, progress, question)),
    }
}
