//! What the library expects, against what the model finds; the large ones are looked at in part.

use std::num::NonZeroUsize;

use oncemore_model::explore::{BreadthFirst, Coverage, Engine, Exploration, Limits};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::property::{Judged, Property};
use oncemore_model::scenario::{Scenario, find, library};

/// What is left of a larger scenario is for the `oncemore` command.
const STATES_MAX: u64 = 30_000;

#[test]
fn what_is_expected_is_found() {
    let scenarios = library().iter().map(|entry| &entry.scenario).filter(|scenario| scenario.suite);
    let surprising: Vec<_> = scenarios
        .map(|scenario| (scenario.name.as_str(), surprises(scenario)))
        .filter(|(_, surprises)| !surprises.is_empty())
        .collect();
    assert!(surprising.is_empty(), "surprises: {surprising:#?}");
}

/// Case 11: the table must not forget sooner than the last retry can have been judged.
#[test]
fn the_least_safe_window_is_cutoff_delivery_and_queueing_together() {
    let case = &find("case_11").expect("it is in the library").scenario;
    for (lifetime_ms, waiting_ms) in [(200, 100), (1, 1), (700, 40)] {
        let mut scenario = case.clone();
        scenario.world.lifetime_ms = Some(lifetime_ms);
        scenario.world.waiting_ms = Some(waiting_ms);
        // The case expects that P1 and P2 are violated, so a window is safe if that comes as a surprise.
        let mut is_safe = |window_ms| {
            scenario.store.window_ms = window_ms;
            !surprises(&scenario).is_empty()
        };
        let (mut unsafe_ms, mut safe_ms) = (1_u32, 10_000_u32);
        while safe_ms - unsafe_ms > 1 {
            let middle = unsafe_ms.midpoint(safe_ms);
            *if is_safe(middle) { &mut safe_ms } else { &mut unsafe_ms } = middle;
        }
        let sum = case.limits.timeout_ms + lifetime_ms + waiting_ms;
        assert_eq!(safe_ms, sum, "delivery {lifetime_ms} ms, queueing {waiting_ms} ms");
    }
}

/// What was found otherwise than expected. Where a part was looked at, only what it can tell.
fn surprises(scenario: &Scenario) -> Vec<String> {
    let model = Model::new(scenario, Broken(None)).expect("the library is checked");
    let limits = Limits { threads: NonZeroUsize::MIN, states_max: Some(STATES_MAX), ..Limits::default() };
    let found = BreadthFirst.explore(&model, &limits, &mut |_| {}).expect("the model answers alike twice");
    let whole = found.coverage == Coverage::Exhausted;
    let mut surprises = Vec::new();
    for property in Property::ALL.iter().copied() {
        let name = property.name();
        let listed = |list: &[String]| list.iter().any(|listed| listed == name);
        let (is, must, must_not) = match property.judged() {
            Judged::InEveryState(bit) => {
                let violated = listed(&scenario.expect.violated);
                (found.violation(bit).is_some(), violated, !violated)
            }
            Judged::OnTheGraph => (is_stuck(&found), false, !listed(&scenario.expect.violated)),
            Judged::ByTransition(tag) => {
                (found.fired.contains(tag), listed(&scenario.expect.reached), listed(&scenario.expect.unreached))
            }
            Judged::ByCoverage => continue,
        };
        if is && must_not {
            surprises.push(format!("{name} unexpected"));
        }
        if !is && must && whole {
            surprises.push(format!("{name} missing"));
        }
    }
    surprises
}

/// L1 as far as it can be told without looking for cycles.
fn is_stuck(found: &Exploration<Model>) -> bool {
    found.stuck_goals().next().is_some()
}
