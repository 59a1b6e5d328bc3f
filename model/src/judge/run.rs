//! Runs as data: told in words, with enough beside the words to run them again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Event, Subject};
use crate::explore::liveness::LassoOf;
use crate::explore::{Fingerprinter, Step, Tags, TraceOf};

/// A run of a subject, and what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// What it shows, and where.
    pub ending: Ending,
    /// The fingerprint of the state in which it begins.
    pub initial: String,
    /// What happens, in order.
    pub steps: Vec<RunStep>,
    /// What the goal is about that is never reached, if the run shows that.
    pub missed: Option<String>,
    /// What became of it all, in a few sentences.
    pub account: Vec<String>,
    /// The states, from the first to the last, as values; for exports, and not written to a file with the run.
    #[serde(skip)]
    pub states: Vec<Value>,
}

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Ending {
    /// Nothing in particular: somebody went there.
    Here,
    /// Its last state violates a safety property.
    Violated,
    /// Its last transition is what was to be reached.
    Reached,
    /// Nothing that must happen can happen in its last state, and the goal with this number is pending.
    Stuck {
        /// The goal.
        goal: u32,
    },
    /// It goes back to where this many steps had been taken, and may do so for ever with the goal pending.
    Cycle {
        /// The goal.
        goal: u32,
        /// How many steps lead to the cycle.
        from: usize,
    },
}

impl Ending {
    /// The goal that is never reached, if that is what the run shows.
    #[must_use]
    pub const fn goal(self) -> Option<u32> {
        match self {
            Self::Here | Self::Violated | Self::Reached => None,
            Self::Stuck { goal } | Self::Cycle { goal, .. } => Some(goal),
        }
    }
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStep {
    /// The action, in the subject's own form.
    pub action: Value,
    /// The fingerprint of the state that it leads to.
    pub leads_to: String,
    /// The same in words.
    pub event: Event,
}

impl Run {
    pub(super) fn violating<S: Subject>(subject: &S, trace: &TraceOf<S>) -> Self {
        Self::told(subject, &trace.initial, trace.steps.iter(), Ending::Violated)
    }

    pub(super) fn reaching<S: Subject>(subject: &S, trace: &TraceOf<S>) -> Self {
        Self::told(subject, &trace.initial, trace.steps.iter(), Ending::Reached)
    }

    pub(super) fn stuck<S: Subject>(subject: &S, trace: &TraceOf<S>, goal: u32) -> Self {
        Self::told(subject, &trace.initial, trace.steps.iter(), Ending::Stuck { goal })
    }

    pub(super) fn circling<S: Subject>(subject: &S, lasso: &LassoOf<S>, goal: u32) -> Self {
        let ending = Ending::Cycle { goal, from: lasso.stem.steps.len() };
        Self::told(subject, &lasso.stem.initial, lasso.stem.steps.iter().chain(&lasso.cycle), ending)
    }

    fn told<'a, S: Subject>(
        subject: &S,
        initial: &'a S::State,
        steps: impl Iterator<Item = &'a Step<S::State, S::Action>>,
        ending: Ending,
    ) -> Self
    where
        S::Action: 'a,
    {
        let mut run = Self {
            ending,
            initial: fingerprint(initial),
            steps: Vec::new(),
            missed: ending.goal().map(|goal| subject.goal(goal)),
            account: Vec::new(),
            states: vec![subject.show(initial)],
        };
        let mut told = initial.clone();
        for Step { action, state } in steps {
            let (event, after) = tell(subject, &told, action, state);
            run.steps.push(RunStep { action: value(action), leads_to: fingerprint(state), event });
            run.states.push(subject.show(&after));
            told = after;
        }
        run.account = subject.account(&told);
        run
    }

    /// What is done, in order.
    ///
    /// # Errors
    ///
    /// The first step whose action is none that there is.
    pub fn actions(&self) -> Result<Vec<crate::action::Action>, serde_json::Error> {
        self.steps.iter().map(|step| Deserialize::deserialize(&step.action)).collect()
    }

    /// A run of these steps that is told for its own sake, and need show nothing.
    #[must_use]
    pub fn of_actions<S: Subject>(subject: &S, actions: &[S::Action], ending: Ending) -> Option<Self> {
        let initial = subject.initial().into_iter().next()?;
        let mut steps: Vec<Step<S::State, S::Action>> = Vec::new();
        for action in actions {
            let before = steps.last().map_or(&initial, |step| &step.state);
            let state = subject.next(before, action, &mut Tags::default())?;
            steps.push(Step { action: action.clone(), state });
        }
        Some(Self::told(subject, &initial, steps.iter(), ending))
    }

    /// The events, in order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = &Event> {
        self.steps.iter().map(|step| &step.event)
    }
}

/// One step in words, and the state that it leads to as it is told; `reached` is what engines make of that state.
pub(super) fn tell<S: Subject>(
    subject: &S,
    told: &S::State,
    action: &S::Action,
    reached: &S::State,
) -> (Event, S::State) {
    let mut fired = Tags::EMPTY;
    // A subject that cannot tell more than engines know tells that.
    let after = subject.next_told(told, action, &mut fired).unwrap_or_else(|| reached.clone());
    (subject.tell(told, action, &after, fired), after)
}

/// The 64 bits by which the engines know a state, as 16 hexadecimal digits.
pub(super) fn fingerprint(state: &impl std::hash::Hash) -> String {
    format!("{:016x}", Fingerprinter::default().of(state).get())
}

/// Actions are plain data. Should one have no form as JSON after all, its place says why, and it cannot be replayed.
fn value(plain: &impl Serialize) -> Value {
    serde_json::to_value(plain).unwrap_or_else(|error| Value::String(format!("no JSON form: {error}")))
}
