//! Every mutant is caught in its scenario, in which the unbroken rules keep every promise.
#![allow(clippy::expect_used, reason = "a test stops at the first thing that is not as it should be")]

use std::collections::BTreeMap;

use oncemore_model::explore::{Coverage, Limits};
use oncemore_model::mutant::{Broken, Counterexample, Mutant, examine, hunt};
use oncemore_model::property::Property;
use oncemore_model::scenario::Scenario;

/// Far more than any of the scenarios has.
const LIMITS: Limits<'static> = Limits {
    threads: std::num::NonZeroUsize::MIN,
    states_max: Some(500_000),
    depth_max: None,
    deadline: None,
    memory: None,
    stop: None,
    stop_at: 0,
};

/// The most steps that a person should have to read to see what a mutant does.
const STEPS_MAX: usize = 20;

/// The promises, as opposed to what must be reachable.
fn promises() -> impl Iterator<Item = Property> {
    Property::ALL.iter().copied().filter(|property| !property.name().starts_with('R'))
}

/// The scenarios of the mutants, each once.
fn scenarios() -> BTreeMap<String, Scenario> {
    Mutant::ALL.iter().map(|mutant| mutant.scenario()).map(|scenario| (scenario.name.clone(), scenario)).collect()
}

#[test]
fn each_mutant_is_caught_by_the_promise_that_it_is_said_to_break() {
    for &mutant in Mutant::ALL {
        let hunt = hunt(mutant, &LIMITS).expect("an exploration backs its findings");
        assert_eq!(hunt.findings.coverage, Coverage::Exhausted, "{}", mutant.name());
        let broken: Vec<_> = hunt.findings.violated.keys().map(|property| property.name()).collect();
        let steps = hunt.catch().map(Counterexample::len);
        assert!(hunt.caught(), "{} breaks {broken:?} and not {}", mutant.name(), mutant.property().name());
        assert!(steps.is_some_and(|steps| (1..=STEPS_MAX).contains(&steps)), "{}: {steps:?}", mutant.name());
    }
}

#[test]
fn the_unbroken_rules_keep_every_promise_there() {
    for (name, scenario) in scenarios() {
        let findings = examine(&scenario, Broken::default(), &LIMITS).expect("an exploration backs its findings");
        assert_eq!(findings.coverage, Coverage::Exhausted, "{name}");
        assert!(findings.violated.is_empty(), "{name} breaks {:?}", findings.violated.keys());
    }
}

#[test]
fn each_promise_is_broken_by_a_mutant() {
    for property in promises() {
        assert!(Mutant::ALL.iter().any(|mutant| mutant.property() == property), "nothing breaks {}", property.name());
    }
}

#[test]
fn a_name_means_one_scenario() {
    for mutant in Mutant::ALL {
        let scenario = mutant.scenario();
        assert_eq!(scenarios().get(&scenario.name), Some(&scenario));
        assert!(scenario.check().is_ok(), "{}: {:?}", scenario.name, scenario.check());
    }
}
