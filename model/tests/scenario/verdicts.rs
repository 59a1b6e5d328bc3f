//! What the library expects, against what the model finds; the large ones are looked at in part.

use std::num::NonZeroUsize;

use oncemore_model::explore::{BreadthFirst, Coverage, Engine, Exploration, Limits};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::property::{Judged, Property};
use oncemore_model::scenario::{Entry, Scenario, library};

/// What is left of a larger scenario is for the `oncemore` command.
const STATES_MAX: u64 = 30_000;

/// Scenarios whose expectation the model does not share yet.
const OPEN: [(&str, &str); 2] = [
    ("session-marked-first", "a later call of a session that an object does not know is let in as if it had none (G8)"),
    ("case_11", "a request is never delivered at the very end of its lifetime, so windows seem safe that are not"),
];

#[test]
fn what_is_expected_is_found() {
    for entry in library().iter().filter(|entry| entry.scenario.suite) {
        let surprises = surprises(&entry.scenario);
        let open = OPEN.iter().find(|(name, _)| *name == entry.scenario.name);
        assert_eq!(surprises.is_empty(), open.is_none(), "{}: {surprises:?}", entry.scenario.name);
    }
}

#[test]
fn what_is_open_is_in_the_library() {
    for (name, why) in OPEN {
        assert!(library().iter().any(|Entry { scenario, .. }| scenario.name == name), "{name}: {why}");
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
