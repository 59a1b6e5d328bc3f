use std::collections::BTreeSet;

use super::{Findings, takes};
use crate::scenario::Scenario;
use crate::scenario::error::Wrong;
use crate::scenario::fields::Takes;
use crate::scenario::place::Table;

/// Every name in an expectation is one of the specification's, and none is expected both ways.
pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    let expect = &scenario.expect;
    for (field, names) in
        [("violated", &expect.violated), ("reached", &expect.reached), ("unreached", &expect.unreached)]
    {
        let list = Table::Expect.field(field);
        let Some(takes @ Takes::Words(known)) = takes(&list) else { continue };
        for (index, name) in names.iter().enumerate() {
            let unknown = !known.contains(&name.as_str());
            findings.add_if(unknown, list.clone().index(index), Wrong::NotOneOf { found: name.clone(), takes });
        }
        findings.repeated(&list, names, String::clone);
    }
    for (index, name) in expect.unreached.iter().enumerate() {
        let place = Table::Expect.field("unreached").index(index);
        findings.add_if(expect.reached.contains(name), place, Wrong::ReachedAndUnreached { found: name.clone() });
    }
    for name in expect.because.keys() {
        let place = Table::Expect.field("because").key(name);
        findings.add_if(
            !expect.violated.contains(name),
            place,
            Wrong::ReasonForNothing {
                allowed: expect.violated.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect(),
            },
        );
    }
    history(scenario, findings);
}

/// P13 and P14 are asked of histories.
fn history(scenario: &Scenario, findings: &mut Findings) {
    for (index, name) in scenario.expect.violated.iter().enumerate() {
        let asked = scenario.world.history || !matches!(name.as_str(), "P13" | "P14");
        let place = Table::Expect.field("violated").index(index);
        findings.add_if(
            !asked,
            place,
            Wrong::Needs { other: "`world.history = true`", why: "this property is asked of the object's history" },
        );
    }
}
