//! Whether every run reaches its goals: runs that get stuck, and runs that go round for ever.
//!
//! # What is claimed
//!
//! A goal *holds* if no fair run leaves it pending from some moment on. For a goal that stays
//! reached once reached, such as "the call has settled", that is: every fair run reaches it.
//!
//! # What is assumed
//!
//! Nothing is assumed of an action without a [`FairClass`]: it is a fault, and may happen any
//! number of times or never. Of a class, *weak fairness* is assumed, and no more:
//!
//! > If from some moment on there is always some enabled action of the class, then actions of the
//! > class are taken again and again.
//!
//! It is a promise about the class, not about each action in it. If all deliveries are one class,
//! a run in which one message is passed over for ever, while others are delivered, is fair. A run
//! ends only where no action that has a class is enabled. An action is enabled where it is a
//! transition, so where [`System::next`] has an answer.
//!
//! # How it is decided
//!
//! A run that leaves a goal pending for ever either ends in a state with the goal pending (it is
//! *stuck*), or it is infinite. Then let V be the states that it visits again and again and E the
//! transitions that it takes again and again. V is finite and not empty; from some moment on the
//! run only takes transitions of E, which connect the states of V strongly, and the goal is pending
//! in all of V. So V and E lie in one maximal strongly connected component C of the graph
//! restricted to states in which the goal is pending. If the run is fair, then for each class
//! either a transition of the class is in E, and so in C; or the class is disabled at some state of
//! V, and so of C.
//!
//! Conversely let C be a maximal component with at least one transition, such that each class has a
//! transition in C or is disabled at a state of C. The run that tours all states and transitions of
//! C for ever is fair. Hence it suffices to look at maximal components: what weak fairness asks of
//! a component cannot be lost by making it larger. (Strong fairness can, and would need them to be
//! taken apart.)
//!
//! A transition from a state to itself makes a cycle. Whether a class is enabled is judged in the
//! whole graph, not in the restricted one.
//!
//! # What a cut leaves
//!
//! A graph that is cut short holds only states all of whose transitions are known. A cycle or stuck
//! state in it is real; that there is none means nothing, and the verdict is
//! [`Verdict::Inconclusive`].
//!
//! [`FairClass`]: super::FairClass

mod components;
mod graph;
mod lasso;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use self::components::Components;
use self::graph::Graph;
pub use self::lasso::{Lasso, LassoOf};
use super::{Coverage, ExploreError, Limits, Status, System, TraceOf, Verdict};

/// What [`check_progress`] found.
#[derive(Debug)]
pub struct ProgressCheck<S: System> {
    /// Whether all of the space was seen.
    pub coverage: Coverage,
    /// Distinct states, including those whose transitions a cut left unknown.
    pub states: u64,
    /// Transitions, duplicates included.
    pub transitions: u64,
    /// How long it took.
    pub elapsed: Duration,
    stuck: BTreeMap<u32, TraceOf<S>>,
    cycles: BTreeMap<u32, LassoOf<S>>,
}

impl<S: System> ProgressCheck<S> {
    /// What may be concluded about a goal.
    ///
    /// # Panics
    ///
    /// If `goal` is not below 64: there is no such goal, and so nothing that could be said to hold.
    #[must_use]
    pub fn verdict(&self, goal: u32) -> Verdict {
        assert!(goal < u64::BITS, "a goal is a number below 64");
        let is_missed = self.stuck.contains_key(&goal) || self.cycles.contains_key(&goal);
        Verdict::new(is_missed, self.coverage)
    }

    /// A shortest run that ends with the goal pending.
    #[must_use]
    pub fn stuck(&self, goal: u32) -> Option<&TraceOf<S>> {
        self.stuck.get(&goal)
    }

    /// A run that goes round for ever, fairly, with the goal pending.
    #[must_use]
    pub fn cycle(&self, goal: u32) -> Option<&LassoOf<S>> {
        self.cycles.get(&goal)
    }
}

/// Searches for fair runs that leave a goal pending for ever.
///
/// The graph of all states is kept in memory, about 70 bytes for a state and 8 for a transition,
/// besides the states still to be explored. It is built by one thread whatever
/// [`Limits::threads`] says; [`Limits::stop_at`] is not heeded.
///
/// # Errors
///
/// [`ExploreError`] if a finding cannot be backed by a run, and so must not be trusted.
///
/// # Panics
///
/// If the system does.
pub fn check_progress<S: System>(
    system: &S,
    limits: &Limits<'_>,
    observe: &mut dyn FnMut(&Status),
) -> Result<ProgressCheck<S>, ExploreError> {
    let began = Instant::now();
    let (graph, coverage) = Graph::build(system, limits, began, observe);
    let mut stuck = BTreeMap::new();
    let mut cycles = BTreeMap::new();
    for goal in graph.goals() {
        if let Some(end) = graph.first_stuck(goal) {
            stuck.insert(goal, lasso::stuck_run(system, &graph, end, goal)?);
        }
        let within = |state| graph.is_pending(state, goal);
        let components = Components::of(&graph, within);
        let fair = components.iter().filter(|component| component.is_fair(&graph));
        if let Some(component) = fair.min_by_key(|component| component.entry()) {
            cycles.insert(goal, lasso::fair_cycle(system, &graph, &component, goal)?);
        }
    }
    Ok(ProgressCheck {
        coverage,
        states: graph.states() as u64,
        transitions: graph.transitions() as u64,
        elapsed: began.elapsed(),
        stuck,
        cycles,
    })
}
