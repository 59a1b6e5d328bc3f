//! Runs of a system, and how they are rebuilt from fingerprints.

use super::fingerprint::{Fingerprint, Fingerprinter};
use super::{System, Tags};

/// A run from an initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace<State, Action> {
    /// Where the run begins.
    pub initial: State,
    /// What happens then, in order.
    pub steps: Vec<Step<State, Action>>,
}

/// One transition of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<State, Action> {
    /// What was done.
    pub action: Action,
    /// The state it led to.
    pub state: State,
}

/// A run of the system `S`.
pub type TraceOf<S> = Trace<<S as System>::State, <S as System>::Action>;

impl<State, Action> Trace<State, Action> {
    /// The state in which the run ends.
    #[must_use]
    pub fn last(&self) -> &State {
        self.steps.last().map_or(&self.initial, |step| &step.state)
    }

    /// What was done, in order.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = &Action> {
        self.steps.iter().map(|step| &step.action)
    }
}

/// Why an exploration has no result.
///
/// Each says that the system broke its promise to answer the same question the same way, or that
/// two states share a fingerprint ([odds](super::collision_odds)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// A trace could not be rebuilt: no transition led on to the state recorded next.
    #[error(
        "a trace cannot be replayed beyond step {step}: the system does not answer alike twice, or two states share a fingerprint"
    )]
    TraceLost {
        /// How many transitions could be replayed.
        step: usize,
    },
    /// A trace was rebuilt, but its end does not show what it was recorded for.
    #[error(
        "a trace of {steps} steps ends without the finding it was kept for: the system does not answer alike twice, or two states share a fingerprint"
    )]
    FindingLost {
        /// How many transitions the trace has.
        steps: usize,
    },
}

/// Rebuilds the run that visits the states with these fingerprints. At each step it takes the
/// first action, in the system's order, that leads on.
pub(crate) fn replay<S: System>(system: &S, path: &[Fingerprint]) -> Result<TraceOf<S>, ExploreError> {
    let mut fingerprinter = Fingerprinter::default();
    let lost = |step| ExploreError::TraceLost { step };
    let (first, rest) = path.split_first().ok_or(lost(0))?;
    let initial = system.initial().into_iter().find(|state| fingerprinter.of(state) == *first).ok_or(lost(0))?;
    let mut trace = Trace { initial, steps: Vec::with_capacity(rest.len()) };
    for (step, fingerprint) in rest.iter().enumerate() {
        let found = successors(system, trace.last()).find(|(_, next)| fingerprinter.of(&next.state) == *fingerprint);
        trace.steps.push(found.ok_or(lost(step))?.1);
    }
    Ok(trace)
}

/// The transitions out of `state`, in the system's order, each with the tags it fired.
pub(crate) fn successors<'a, S: System>(
    system: &'a S,
    state: &'a S::State,
) -> impl Iterator<Item = (Tags, Step<S::State, S::Action>)> + 'a {
    let mut actions = Vec::new();
    system.actions(state, &mut actions);
    actions.into_iter().filter_map(move |action| {
        let mut fired = Tags::EMPTY;
        let next = system.next(state, &action, &mut fired)?;
        Some((fired, Step { action, state: next }))
    })
}

/// The goals at which a run that ends in `state` ends for ever: nothing that must happen can
/// happen, and they are pending.
pub(crate) fn stuck<S: System>(system: &S, state: &S::State) -> u64 {
    let may_rest = !successors(system, state).any(|(_, step)| system.fairness(&step.action).is_some());
    if may_rest { system.pending(state) } else { 0 }
}
