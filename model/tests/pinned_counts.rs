//! Every scenario of the standard suite has as many states as `model/expected/counts.json` says, on one thread and on two.

use std::num::NonZeroUsize;

use oncemore_model::explore::{BreadthFirst, Coverage, Engine, Limits};
use oncemore_model::judge::{Pinned, pinned};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::scenario::{Scenario, find, library};

#[test]
fn the_suite_has_as_many_states_as_are_pinned_on_one_thread() {
    compare(1);
}

#[test]
fn the_suite_has_as_many_states_as_are_pinned_on_two_threads() {
    compare(2);
}

#[test]
fn only_scenarios_of_the_library_are_pinned_and_all_of_the_suite() {
    for name in pinned().keys() {
        assert!(find(name).is_some(), "there is no scenario {name}");
    }
    for entry in library().iter().filter(|entry| entry.scenario.suite) {
        assert!(pinned().contains_key(&entry.scenario.name), "{} is not pinned", entry.scenario.name);
    }
}

fn compare(threads: usize) {
    let suite = library().iter().map(|entry| &entry.scenario).filter(|scenario| scenario.suite);
    let differing: Vec<_> = suite
        .filter_map(|scenario| {
            let (found, expected) = (count(scenario, threads), pinned().get(&scenario.name).copied());
            (Some(found) != expected).then(|| format!("{}: pinned {expected:?}, found {found:?}", scenario.name))
        })
        .collect();
    // `oncemore check --bless` writes down what is found, if it is meant to differ.
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn count(scenario: &Scenario, threads: usize) -> Pinned {
    let model = Model::new(scenario, Broken(None)).expect("the library's scenarios make sense");
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let limits = Limits { threads, ..Limits::default() };
    let found = BreadthFirst.explore(&model, &limits, &mut |_| {}).expect("every finding has its trace");
    assert_eq!(found.coverage, Coverage::Exhausted);
    found.counts.into()
}
