//! Runs a run again, on the state machines as they are now.

use serde::Deserialize;
use thiserror::Error;

use super::run::{fingerprint, tell};
use super::{Ask, Ending, Event, Question, Run, RunStep, Subject};
use crate::explore::{Tags, stuck, successors};

/// Where a run goes another way than was written down.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Divergence {
    /// It cannot begin.
    #[error("no run begins in the state recorded as the first")]
    NoSuchBeginning,
    /// An action that this version does not have.
    #[error("step {step}: the recorded action is none that there is: {message}")]
    UnknownAction {
        /// Which step, counted from one.
        step: usize,
        /// Why not.
        message: String,
    },
    /// An action that cannot be taken there.
    #[error("step {step}: \"{recorded}\" cannot happen here")]
    NotEnabled {
        /// Which step, counted from one.
        step: usize,
        /// What was recorded.
        recorded: String,
    },
    /// A step that leads to another state.
    #[error("step {step}: \"{recorded}\" leads to another state than was recorded")]
    LeadsElsewhere {
        /// Which step, counted from one.
        step: usize,
        /// What was recorded.
        recorded: String,
    },
    /// A step that is told otherwise.
    #[error("step {step} is told otherwise: recorded {recorded}; now {now}")]
    ToldOtherwise {
        /// Which step, counted from one.
        step: usize,
        /// What was recorded.
        recorded: String,
        /// What is told now.
        now: String,
    },
    /// The end is told otherwise.
    #[error("what became of it is told otherwise: recorded {recorded:?}; now {now:?}")]
    EndsOtherwise {
        /// What was recorded.
        recorded: Vec<String>,
        /// What is told now.
        now: Vec<String>,
    },
    /// All steps were taken, and they do not show what they were kept for.
    #[error("all {steps} steps happen as recorded, but the run does not show {id} {word}")]
    NotShown {
        /// How many steps there are.
        steps: usize,
        /// The property.
        id: &'static str,
        /// What was recorded of it.
        word: &'static str,
    },
}

/// Takes every step of the run again, and asks whether it still shows what it was kept for.
///
/// # Errors
///
/// The first [`Divergence`].
pub fn replay<S: Subject>(subject: &S, question: &Question, run: &Run) -> Result<(), Divergence> {
    let taken = retrace(subject, run)?;
    if taken.shows(subject, question.ask, run.ending) {
        return Ok(());
    }
    let word = if run.ending == Ending::Reached { "reached" } else { "violated" };
    Err(Divergence::NotShown { steps: run.steps.len(), id: question.id, word })
}

/// Takes every step of a run again that was kept for its own sake.
///
/// # Errors
///
/// The first [`Divergence`].
pub(super) fn replay_alone<S: Subject>(subject: &S, run: &Run) -> Result<(), Divergence> {
    retrace(subject, run).map(|_| ())
}

fn retrace<S: Subject>(subject: &S, run: &Run) -> Result<Taken<S>, Divergence> {
    let begin = subject.initial().into_iter().find(|state| fingerprint(state) == run.initial);
    let begin = begin.ok_or(Divergence::NoSuchBeginning)?;
    let mut taken = Taken { told: begin.clone(), states: vec![begin], actions: Vec::new(), fired: Tags::EMPTY };
    for (index, step) in run.steps.iter().enumerate() {
        taken.take(subject, index + 1, step)?;
    }
    let now = subject.account(&taken.told);
    if now != run.account {
        return Err(Divergence::EndsOtherwise { recorded: run.account.clone(), now });
    }
    Ok(taken)
}

/// The part of a run that has been taken again.
struct Taken<S: Subject> {
    states: Vec<S::State>,
    /// The last of them as it is told.
    told: S::State,
    actions: Vec<S::Action>,
    /// What the last step fired.
    fired: Tags,
}

impl<S: Subject> Taken<S> {
    fn take(&mut self, subject: &S, step: usize, recorded: &RunStep) -> Result<(), Divergence> {
        let action = S::Action::deserialize(&recorded.action)
            .map_err(|error| Divergence::UnknownAction { step, message: error.to_string() })?;
        let text = || recorded.event.text.clone();
        let before = self.last();
        let found = successors(subject, before).find(|(_, next)| next.action == action);
        let (fired, next) = found.ok_or_else(|| Divergence::NotEnabled { step, recorded: text() })?;
        if fingerprint(&next.state) != recorded.leads_to {
            return Err(Divergence::LeadsElsewhere { step, recorded: text() });
        }
        let (event, told) = tell(subject, &self.told, &action, &next.state);
        if event != recorded.event {
            let (recorded, now) = (in_full(&recorded.event), in_full(&event));
            return Err(Divergence::ToldOtherwise { step, recorded, now });
        }
        self.told = told;
        self.states.push(next.state);
        self.actions.push(action);
        self.fired = fired;
        Ok(())
    }

    /// There is always one.
    fn last(&self) -> &S::State {
        &self.states[self.states.len() - 1]
    }

    fn shows(&self, subject: &S, ask: Ask, ending: Ending) -> bool {
        match (ask, ending) {
            (Ask::Safety { property }, Ending::Violated) => subject.violated(self.last()) >> property & 1 == 1,
            (Ask::Reach { tag }, Ending::Reached) => self.fired.contains(tag),
            (Ask::Progress { .. }, Ending::Stuck { goal }) => is_bit(stuck(subject, self.last()), goal),
            (Ask::Progress { .. }, Ending::Cycle { goal, from }) => self.circles(subject, goal, from),
            (Ask::Safety { .. } | Ask::Reach { .. } | Ask::Progress { .. }, _) => false,
        }
    }

    /// Whether the steps after the first `from` lead back, may be repeated for ever, and leave the goal pending: no class
    /// of actions that must happen is enabled all the way round and never taken.
    fn circles(&self, subject: &S, goal: u32, from: usize) -> bool {
        let (Some(states), Some(actions)) = (self.states.get(from..), self.actions.get(from..)) else { return false };
        let mut owed = u128::MAX;
        for (state, action) in states.iter().zip(actions) {
            let class = |action: &S::Action| subject.fairness(action).map_or(0, |class| 1u128 << class.index());
            let enabled = successors(subject, state).fold(0, |classes, (_, next)| classes | class(&next.action));
            owed &= enabled & !class(action);
        }
        let is_closed = !actions.is_empty() && states.first() == states.last();
        is_closed && owed == 0 && states.iter().all(|state| is_bit(subject.pending(state), goal))
    }
}

fn is_bit(mask: u64, bit: u32) -> bool {
    mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1)
}

fn in_full(event: &Event) -> String {
    let rules: Vec<_> = event.rules.iter().map(|rule| rule.rule.as_str()).collect();
    format!("{}: {} ({})", event.who, event.text, rules.join(" "))
}
