//! The same space under another engine: Stateright's own checkers count what ours counts.

use std::num::NonZeroUsize;

use oncemore_model::explore::stateright::{StaterightSearch, count_with_stateright};
use oncemore_model::explore::{BreadthFirst, Coverage, Engine, Limits};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::scenario::find;

fn agree(name: &str) {
    let scenario = &find(name).unwrap_or_else(|| panic!("no scenario {name}")).scenario;
    let model = Model::new(scenario, Broken(None)).expect("a scenario of the library");
    for threads in [1, 2] {
        let limits = Limits { threads: NonZeroUsize::new(threads).expect("one or two"), ..Limits::default() };
        let ours = BreadthFirst.explore(&model, &limits, &mut |_| {}).expect("a finding backed by a run");
        assert_eq!(ours.coverage, Coverage::Exhausted, "{name}");
        for search in [StaterightSearch::BreadthFirst, StaterightSearch::DepthFirst] {
            let theirs = count_with_stateright(model.clone(), search, threads);
            assert_eq!(
                (ours.counts.states, ours.counts.generated),
                (theirs.states, theirs.generated),
                "{name}, {search:?}, {threads} threads"
            );
        }
    }
}

#[test]
fn on_one_caller() {
    agree("d3");
}

#[test]
fn on_durable_claims() {
    agree("d5");
}

#[test]
fn on_a_predecessor_that_does_not_know() {
    agree("zombie");
}

#[test]
fn on_a_session() {
    agree("session-marked-first");
}
