//! What every exploration engine offers, however it searches.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fingerprint::Fingerprint;
use super::trace::{replay, successors};
use super::{Coverage, ExploreError, Limits, Status, System, Tags, TraceOf, Verdict, collision_odds};

/// A way to visit every reachable state of a system.
///
/// Engines differ in what they hold in memory and in how many machines they use, never in what
/// they find: an exhausted space has one number of states, one of transitions, one depth, and
/// shortest traces of one length.
pub trait Engine<S: System> {
    /// What reports call this engine.
    fn name(&self) -> &'static str;

    /// Visits the states of `system` as far as the limits let it, and calls `observe` at every
    /// barrier.
    ///
    /// # Errors
    ///
    /// [`ExploreError`] if a finding cannot be backed by a trace, and so must not be trusted.
    ///
    /// # Panics
    ///
    /// If the system does.
    fn explore(
        &self,
        system: &S,
        limits: &Limits<'_>,
        observe: &mut dyn FnMut(&Status),
    ) -> Result<Exploration<S>, ExploreError>;
}

/// What an exploration found.
#[derive(Debug)]
pub struct Exploration<S: System> {
    /// Whether all of the space was seen.
    pub coverage: Coverage,
    /// What was counted.
    pub counts: Counts,
    /// The tags that some transition fired.
    pub fired: Tags,
    /// For each violated property its shortest trace.
    pub(crate) violations: BTreeMap<u32, TraceOf<S>>,
    /// For each goal at which a run can get stuck its shortest trace.
    pub(crate) stuck: BTreeMap<u32, TraceOf<S>>,
    /// For each fired tag the first transition that fired it.
    pub(crate) firings: BTreeMap<u8, Firing>,
}

/// The size of what was explored and what exploring it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Distinct states. Each has been judged by every safety property.
    pub states: u64,
    /// States produced: the initial ones and one for each transition, duplicates included.
    pub generated: u64,
    /// How many transitions the farthest counted state is from the nearest initial state.
    pub depth: u32,
    /// The most states held in full at a barrier.
    pub frontier_peak: u64,
    /// What those states occupied, in bytes, without what they own on the heap.
    pub frontier_peak_bytes: u64,
    /// What the visited set occupied in the end, in bytes.
    pub table_bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// The first transition that fired a tag: the last step of a path.
#[derive(Clone, Debug)]
pub(crate) struct Firing {
    /// The states from an initial state to the one where the transition begins.
    pub(crate) path: Vec<Fingerprint>,
    /// Which of that state's transitions it is.
    pub(crate) ordinal: u32,
}

impl<S: System> Exploration<S> {
    /// What may be concluded about a safety property.
    ///
    /// # Panics
    ///
    /// If `property` is not below 64: there is no such property, and so nothing that could be said
    /// to hold.
    #[must_use]
    pub fn verdict(&self, property: u32) -> Verdict {
        assert!(property < u64::BITS, "a property is a number below 64");
        Verdict::new(self.violations.contains_key(&property), self.coverage)
    }

    /// The shortest run that violates a safety property in its last state; among several, the one
    /// whose end has the least fingerprint.
    #[must_use]
    pub fn violation(&self, property: u32) -> Option<&TraceOf<S>> {
        self.violations.get(&property)
    }

    /// Every violated property with its shortest run.
    pub fn violations(&self) -> impl Iterator<Item = (u32, &TraceOf<S>)> {
        self.violations.iter().map(|(&property, trace)| (property, trace))
    }

    /// The shortest run that gets stuck with this goal pending: nothing that must happen can happen
    /// in its last state.
    ///
    /// That there is none does not mean the goal is reached, since a run may also go round in
    /// circles: see [`check_progress`](super::liveness::check_progress).
    #[must_use]
    pub fn stuck(&self, goal: u32) -> Option<&TraceOf<S>> {
        self.stuck.get(&goal)
    }

    /// Every goal at which a run can get stuck with the shortest such run.
    pub fn stuck_goals(&self) -> impl Iterator<Item = (u32, &TraceOf<S>)> {
        self.stuck.iter().map(|(&goal, trace)| (goal, trace))
    }

    /// The shortest run whose last transition fires `tag`, or `None` if no transition did.
    ///
    /// # Errors
    ///
    /// [`ExploreError`] if the run cannot be replayed on `system`, in particular if it is not the
    /// system that was explored.
    pub fn witness(&self, system: &S, tag: u8) -> Result<Option<TraceOf<S>>, ExploreError> {
        let Some(firing) = self.firings.get(&tag) else {
            return Ok(None);
        };
        let mut trace = replay(system, &firing.path)?;
        let found = successors(system, trace.last()).nth(firing.ordinal as usize);
        match found {
            Some((fired, step)) if fired.contains(tag) => {
                trace.steps.push(step);
                Ok(Some(trace))
            }
            _ => Err(ExploreError::FindingLost { steps: trace.steps.len() }),
        }
    }

    /// The odds that a collision of fingerprints hid a state: see [`collision_odds`].
    #[must_use]
    pub fn collision_odds(&self) -> f64 {
        collision_odds(self.counts.states)
    }
}
