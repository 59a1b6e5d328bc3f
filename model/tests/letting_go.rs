//! What a state lets go of makes no difference: explored both ways, the small scenarios get the same verdicts.

use oncemore_model::explore::{BreadthFirst, Engine, Limits};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::property::{Judged, Property};
use oncemore_model::scenario::library;

/// Beyond this, a scenario that keeps everything takes too long for a test.
const STATES_MAX: u64 = 30_000;

/// The properties that are violated or reached, and the goals at which a run can get stuck.
fn findings(model: &Model, limits: &Limits<'_>) -> Option<(u64, Vec<&'static str>)> {
    let found = BreadthFirst.explore(model, limits, &mut |_| {}).expect("a finding backed by a run");
    if found.counts.states >= STATES_MAX {
        return None;
    }
    let mut named: Vec<&'static str> = Property::ALL
        .iter()
        .filter(|property| match property.judged() {
            Judged::InEveryState(bit) => found.violation(bit).is_some(),
            Judged::ByTransition(tag) => found.fired.contains(tag),
            Judged::OnTheGraph | Judged::ByCoverage => false,
        })
        .map(|property| property.name())
        .collect();
    named.extend(found.stuck_goals().map(|_| "stuck"));
    Some((found.counts.states, named))
}

#[test]
fn verdicts_do_not_depend_on_what_is_let_go() {
    let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
    let mut compared = 0;
    let (mut fewer, mut more) = (0, 0);
    for entry in library() {
        let model = Model::new(&entry.scenario, Broken(None)).unwrap();
        let Some((states, verdicts)) = findings(&model, &limits) else { continue };
        let Some((all_states, all_verdicts)) = findings(&model.keeping_all(), &limits) else { continue };
        assert_eq!(verdicts, all_verdicts, "{}", entry.scenario.name);
        compared += 1;
        fewer += states;
        more += all_states;
    }
    assert!(compared > 20, "only {compared} scenarios were small enough to compare");
    // A single scenario may have a few more: a window that was let go comes back only when something is let in.
    assert!(fewer < more, "{fewer} states, {more} if all is kept: nothing is let go");
}
