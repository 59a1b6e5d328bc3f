//! Any [`System`] as a model of Stateright, so that an independent checker counts the same space.
//!
//! An engine that loses states reports success all the more readily. The counts of two engines
//! that share no code, down to the hash of a state, are the best evidence against that.
//!
//! What the numbers mean is the same on both sides: *unique* are distinct states, *generated* are
//! initial states and transitions, duplicates included; an action for which the system answers
//! `None` is no transition. Only the depth differs by one: Stateright counts the states of a path.

use ::stateright::{Checker, Model, Property};

use super::{System, Tags};

/// A system seen as a Stateright model.
///
/// Its properties are two: that no safety property is violated, and one that never has a discovery,
/// lest Stateright stop before it has seen every state.
#[derive(Clone, Debug)]
pub struct AsStateright<S>(pub S);

/// The name of the Stateright property that some safety property is violated.
pub const SAFETY: &str = "no safety property is violated";

/// The name of the Stateright property that keeps its checkers going.
const KEEP_GOING: &str = "every state is visited";

impl<S: System> Model for AsStateright<S> {
    type State = S::State;
    type Action = S::Action;

    fn init_states(&self) -> Vec<S::State> {
        self.0.initial()
    }

    fn actions(&self, state: &S::State, actions: &mut Vec<S::Action>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, state: &S::State, action: S::Action) -> Option<S::State> {
        self.0.next(state, &action, &mut Tags::default())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(SAFETY, |model: &Self, state| model.0.violated(state) == 0),
            Property::always(KEEP_GOING, |_, _| true),
        ]
    }
}

/// A search of Stateright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaterightSearch {
    /// `spawn_bfs`
    BreadthFirst,
    /// `spawn_dfs`
    DepthFirst,
}

/// What Stateright found, in the words of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaterightCounts {
    /// Distinct states.
    pub states: u64,
    /// States produced: the initial ones and one for each transition, duplicates included.
    pub generated: u64,
    /// How many transitions the farthest state was from an initial state on the path by which it
    /// was found: breadth first on one thread the shortest, otherwise not.
    pub depth: u32,
    /// Whether no state violates a safety property.
    pub is_safe: bool,
}

/// Has Stateright visit every state of `system`.
///
/// # Panics
///
/// If the system does, on one of Stateright's threads.
pub fn count_with_stateright<S>(system: S, search: StaterightSearch, threads: usize) -> StaterightCounts
where
    S: System + Send + 'static,
{
    let builder = AsStateright(system).checker().threads(threads);
    match search {
        StaterightSearch::BreadthFirst => counts(&builder.spawn_bfs().join()),
        StaterightSearch::DepthFirst => counts(&builder.spawn_dfs().join()),
    }
}

fn counts<S: System>(checker: &impl Checker<AsStateright<S>>) -> StaterightCounts {
    StaterightCounts {
        states: checker.unique_state_count() as u64,
        generated: checker.state_count() as u64,
        depth: u32::try_from(checker.max_depth()).unwrap_or(u32::MAX).saturating_sub(1),
        is_safe: checker.discovery(SAFETY).is_none(),
    }
}
