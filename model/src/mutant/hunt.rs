use std::collections::BTreeMap;

use super::{Broken, Mutant};
use crate::explore::liveness::{LassoOf, check_progress};
use crate::explore::{BreadthFirst, Coverage, Engine, Exploration, ExploreError, Limits, TraceOf};
use crate::model::Model;
use crate::property::{Judged, Property};
use crate::scenario::Scenario;

/// What came of looking for a mutant.
#[derive(Debug)]
pub struct Hunt {
    /// The mutant.
    pub mutant: Mutant,
    /// What the broken rules do in its scenario.
    pub findings: Findings,
}

impl Hunt {
    /// Whether the promise that the mutant is said to break is broken.
    #[must_use]
    pub fn caught(&self) -> bool {
        self.catch().is_some()
    }

    /// The run that shows it.
    #[must_use]
    pub fn catch(&self) -> Option<&Counterexample> {
        self.findings.violated.get(&self.mutant.property())
    }
}

/// What an exploration of a scenario found, of every promise that is asked there.
#[derive(Debug)]
pub struct Findings {
    /// Whether all of the space was seen; a promise that is not among the broken ones holds only then.
    pub coverage: Coverage,
    /// Distinct states.
    pub states: u64,
    /// The broken promises, each with a shortest run that breaks it.
    pub violated: BTreeMap<Property, Counterexample>,
}

/// A run that breaks a promise.
#[derive(Clone, Debug)]
pub enum Counterexample {
    /// It ends in a state that does, or in one where nothing more happens.
    Run(TraceOf<Model>),
    /// It goes round for ever.
    Cycle(LassoOf<Model>),
}

impl Counterexample {
    /// How many steps it takes; of a cycle, the way in and once round.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Run(trace) => trace.steps.len(),
            Self::Cycle(lasso) => lasso.stem.steps.len() + lasso.cycle.len(),
        }
    }

    /// Whether the very first state breaks the promise.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Looks for the mutant in its scenario.
///
/// # Errors
///
/// [`ExploreError`] if a finding cannot be backed by a run, and so must not be trusted.
///
/// # Panics
///
/// If the model does.
pub fn hunt(mutant: Mutant, limits: &Limits<'_>) -> Result<Hunt, ExploreError> {
    Ok(Hunt { mutant, findings: examine(&mutant.scenario(), mutant.into(), limits)? })
}

/// Which promises the rules break in a scenario; [`Broken::default`] stands for the unbroken ones.
///
/// # Errors
///
/// [`ExploreError`] if a finding cannot be backed by a run, and so must not be trusted.
///
/// # Panics
///
/// If the scenario makes no sense ([`Scenario::check`]), or if the model panics.
pub fn examine(scenario: &Scenario, rules: Broken, limits: &Limits<'_>) -> Result<Findings, ExploreError> {
    let model = Model::new(scenario, rules).expect("the scenario has been checked");
    let exploration = BreadthFirst.explore(&model, limits, &mut |_| {})?;
    let mut violated = broken_safety(&exploration);
    // A run that is stuck is no shorter than the one that the search for cycles would find.
    let stuck = exploration.stuck_goals().map(|(_, trace)| trace).min_by_key(|trace| trace.steps.len());
    if let Some(stuck) = stuck {
        violated.insert(Property::L1, Counterexample::Run(stuck.clone()));
    } else {
        let progress = check_progress(&model, limits, &mut |_| {})?;
        let cycles = (0..u64::BITS).filter_map(|goal| progress.cycle(goal));
        if let Some(cycle) = cycles.min_by_key(|lasso| lasso.stem.steps.len() + lasso.cycle.len()) {
            violated.insert(Property::L1, Counterexample::Cycle(cycle.clone()));
        }
    }
    Ok(Findings { coverage: exploration.coverage, states: exploration.counts.states, violated })
}

fn broken_safety(exploration: &Exploration<Model>) -> BTreeMap<Property, Counterexample> {
    let runs = Property::ALL.iter().filter_map(|&property| match property.judged() {
        Judged::InEveryState(bit) => {
            exploration.violation(bit).map(|trace| (property, Counterexample::Run(trace.clone())))
        }
        Judged::OnTheGraph | Judged::ByTransition(_) | Judged::ByCoverage => None,
    });
    runs.collect()
}
