//! Any [`System`] as a model of Stateright, so that an independent checker counts the same space.
//!
//! An engine that loses states reports success all the more readily. The counts of two engines
//! that share no code, down to the hash of a state, are the best evidence against that.
//!
//! What the numbers mean is the same on both sides: *unique* are distinct states, *generated* are
//! initial states and transitions, duplicates included; an action for which the system answers
//! `None` is no transition. Stateright's depth counts the states of a path instead of its transitions,
//! which is corrected here. One difference is left: a state listed twice among the initial ones is
//! explored twice by Stateright, and its transitions count twice.

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

#[cfg(test)]
mod tests {
    use super::super::{BreadthFirst, Engine, Explicit, FairClass, Limits};
    use super::*;

    /// A system that lists its initial state twice.
    struct Twice(Explicit);

    impl System for Twice {
        type State = u32;
        type Action = <Explicit as System>::Action;
        type Desk = ();

        fn initial(&self) -> Vec<u32> {
            [self.0.initial(), self.0.initial()].concat()
        }

        fn actions(&self, state: &u32, actions: &mut Vec<Self::Action>) {
            self.0.actions(state, actions);
        }

        fn next(&self, state: &u32, action: &Self::Action, fired: &mut Tags) -> Option<u32> {
            self.0.next(state, action, fired)
        }

        fn violated(&self, state: &u32) -> u64 {
            self.0.violated(state)
        }

        fn pending(&self, state: &u32) -> u64 {
            self.0.pending(state)
        }

        fn fairness(&self, action: &Self::Action) -> Option<FairClass> {
            self.0.fairness(action)
        }
    }

    #[test]
    fn an_initial_state_that_is_listed_twice_is_explored_twice_by_stateright_alone() {
        let system = || Twice(Explicit::new(3).step(0, 1, None).step(0, 2, None).step(1, 2, None));
        let ours = BreadthFirst.explore(&system(), &Limits::default(), &mut |_| {}).unwrap().counts;
        let theirs = count_with_stateright(system(), StaterightSearch::BreadthFirst, 1);
        assert_eq!((ours.states, ours.generated), (3, 2 + 3));
        assert_eq!((theirs.states, theirs.generated), (3, 2 + 3 + 2));
    }

    #[test]
    fn a_violation_does_not_keep_stateright_from_seeing_every_state() {
        let system = Explicit::new(3).step(0, 1, None).step(1, 2, None).violates(0, 5);
        let theirs = count_with_stateright(system, StaterightSearch::DepthFirst, 1);
        assert_eq!(theirs, StaterightCounts { states: 3, generated: 3, depth: 2, is_safe: false });
    }
}
