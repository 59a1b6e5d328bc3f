//! A system written down transition by transition, for examples and tests.

use super::{FairClass, System, Tags};

/// A system whose states are numbers and whose transitions are listed one by one.
///
/// A run begins in state 0. State n violates and leaves pending what it was told to.
///
/// ```
/// use oncemore_model::explore::{BreadthFirst, Engine, Explicit, Limits, Verdict};
///
/// let system = Explicit::new(3).step(0, 1, None).step(1, 2, None).violates(2, 0);
/// let found = BreadthFirst.explore(&system, &Limits::default(), &mut |_| {})?;
/// assert_eq!(found.verdict(0), Verdict::Violated);
/// assert_eq!(found.violation(0).map(|trace| trace.steps.len()), Some(2));
/// # Ok::<(), oncemore_model::explore::ExploreError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explicit {
    steps: Vec<Vec<ExplicitStep>>,
    violated: Vec<u64>,
    pending: Vec<u64>,
}

/// A transition of an [`Explicit`] system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplicitStep {
    /// The state it leads to.
    pub to: u32,
    /// Its class, unless it need never be taken.
    pub class: Option<FairClass>,
    /// The tag that it fires.
    pub tag: u8,
}

impl Explicit {
    /// A system of this many states, without transitions.
    #[must_use]
    pub fn new(states: u32) -> Self {
        let states = states as usize;
        Self { steps: vec![Vec::new(); states], violated: vec![0; states], pending: vec![0; states] }
    }

    /// Adds a transition that fires tag 0; `class` is the number of its fairness class.
    ///
    /// # Panics
    ///
    /// If there is no state `from` or no such class.
    #[must_use]
    pub fn step(self, from: u32, to: u32, class: Option<u8>) -> Self {
        self.tagged_step(from, to, class, 0)
    }

    /// Adds a transition that fires `tag`.
    ///
    /// # Panics
    ///
    /// If there is no state `from` or no such class.
    #[must_use]
    pub fn tagged_step(mut self, from: u32, to: u32, class: Option<u8>, tag: u8) -> Self {
        let class = class.map(FairClass::new);
        self.steps[from as usize].push(ExplicitStep { to, class, tag });
        self
    }

    /// Has `state` violate a safety property.
    ///
    /// # Panics
    ///
    /// If there is no such state.
    #[must_use]
    pub fn violates(mut self, state: u32, property: u32) -> Self {
        self.violated[state as usize] |= 1 << property;
        self
    }

    /// Has a progress goal pending in these states.
    ///
    /// # Panics
    ///
    /// If there is no such state.
    #[must_use]
    pub fn pends(mut self, states: impl IntoIterator<Item = u32>, goal: u32) -> Self {
        for state in states {
            self.pending[state as usize] |= 1 << goal;
        }
        self
    }
}

impl System for Explicit {
    type State = u32;
    type Action = ExplicitStep;
    type Desk = ();

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, state: &u32, actions: &mut Vec<ExplicitStep>) {
        actions.extend(&self.steps[*state as usize]);
    }

    fn next(&self, _: &u32, action: &ExplicitStep, fired: &mut Tags) -> Option<u32> {
        fired.insert(action.tag);
        Some(action.to)
    }

    fn violated(&self, state: &u32) -> u64 {
        self.violated[*state as usize]
    }

    fn pending(&self, state: &u32) -> u64 {
        self.pending[*state as usize]
    }

    fn fairness(&self, action: &ExplicitStep) -> Option<FairClass> {
        action.class
    }
}
