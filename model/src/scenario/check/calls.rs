use super::Findings;
use crate::scenario::error::Wrong;
use crate::scenario::fields::{CALLERS_MAX, CALLS_MAX, HISTORY_CALLS_MAX, INNER_MAX, RUNS_MAX};
use crate::scenario::place::Table;
use crate::scenario::{CallKind, CallScript, Scenario};

/// Who calls, how often, under which names, and what refers to what.
pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    numbers(scenario, findings);
    names(scenario, findings);
    for (i, j, call) in placed(scenario) {
        let at = Table::Call(i, j);
        findings.range(at.field("object"), call.object);
        findings.repeated(&at.field("writes"), &call.writes, |field| field.name().to_owned());
        inner(call, (i, j), findings);
        method(call, at, findings);
    }
    for (i, caller) in scenario.callers.iter().enumerate() {
        for (j, call) in caller.calls.iter().enumerate() {
            references(call, caller.calls.get(..j).unwrap_or_default(), Table::Call(i, j), findings);
        }
    }
}

/// Every call with the indices of its caller and of its own.
fn placed(scenario: &Scenario) -> impl Iterator<Item = (usize, usize, &CallScript)> {
    scenario
        .callers
        .iter()
        .enumerate()
        .flat_map(|(i, caller)| caller.calls.iter().enumerate().map(move |(j, call)| (i, j, call)))
}

fn numbers(scenario: &Scenario, findings: &mut Findings) {
    findings.add_if(scenario.callers.is_empty(), Table::Scenario, Wrong::NoCaller);
    findings.add_if(scenario.callers.len() > CALLERS_MAX, Table::Caller(CALLERS_MAX), Wrong::TooManyCallers);
    for (i, caller) in scenario.callers.iter().enumerate() {
        findings.add_if(caller.calls.is_empty(), Table::Caller(i), Wrong::NoCall);
    }
    if let Some((i, j, _)) = placed(scenario).nth(CALLS_MAX) {
        findings.add(Table::Call(i, j), Wrong::TooManyCalls);
    }
    runs(scenario, findings);
    subrequests(scenario, findings);
}

/// C1: the limit is there to be charged, once for each call, and not to be met.
fn subrequests(scenario: &Scenario, findings: &mut Findings) {
    let found = scenario.world.subrequests_max;
    let made = scenario.callers.iter().map(|caller| caller.calls.len());
    let calls = made.chain(scenario.calls().map(|call| call.inner.len())).max().unwrap_or(0);
    // None at all is out of the field's range, and said to be.
    let too_few = usize::try_from(found).is_ok_and(|found| (1..calls).contains(&found));
    findings.add_if(too_few, Table::World.field("subrequests_max"), Wrong::TooFewSubrequests { found, calls });
}

/// The model has a call of its own for each run that may make one.
fn runs(scenario: &Scenario, findings: &mut Findings) {
    let runs = 1 + usize::from(scenario.limits.retries_max) + usize::from(scenario.faults.duplicate);
    let mut found = placed(scenario).count();
    for (i, j, call) in placed(scenario).filter(|(.., call)| !call.inner.is_empty()) {
        let before = found;
        found += call.inner.len() * runs;
        let first = before <= RUNS_MAX && found > RUNS_MAX;
        findings.add_if(first, Table::Call(i, j).field("inner"), Wrong::TooManyRuns { found, runs });
    }
    let crowded = scenario.world.history && found > HISTORY_CALLS_MAX;
    findings.add_if(crowded, Table::World.field("history"), Wrong::TooManyForHistory { found });
}

fn names(scenario: &Scenario, findings: &mut Findings) {
    for (index, (i, j, call)) in placed(scenario).enumerate() {
        let place = Table::Call(i, j).field("name");
        match placed(scenario).take(index).find(|(.., earlier)| earlier.name == call.name) {
            Some((caller, of, _)) => {
                findings.add(place, Wrong::NameTaken { name: call.name.clone(), caller: caller + 1, call: of + 1 });
            }
            None => findings.name(place, &call.name),
        }
    }
}

fn inner(call: &CallScript, (i, j): (usize, usize), findings: &mut Findings) {
    findings.add_if(call.inner.len() > INNER_MAX, Table::Inner(i, j, INNER_MAX), Wrong::TooManyInner);
    for (k, inner) in call.inner.iter().enumerate() {
        let at = Table::Inner(i, j, k);
        findings.range(at.field("object"), inner.object);
        findings.add_if(inner.object == call.object, at.field("object"), Wrong::InnerToItself { object: inner.object });
        findings.repeated(&at.field("writes"), &inner.writes, |field| field.name().to_owned());
    }
}

/// What a method is excludes other things that it could be.
fn method(call: &CallScript, at: Table, findings: &mut Findings) {
    let unmarked = "no mark is ever found for it, so it counts as unmarked (G1, M2)";
    findings.add_if(
        call.getter && call.marked,
        at.field("marked"),
        Wrong::Excludes { other: "`getter`", why: unmarked },
    );
    findings.add_if(
        call.unknown && call.marked,
        at.field("marked"),
        Wrong::Excludes { other: "`unknown`", why: unmarked },
    );
    let nothing_runs = "a method that the object does not have runs no code";
    let runs = [
        ("getter", call.getter),
        ("writes", !call.writes.is_empty()),
        ("awaits", call.awaits),
        ("inner", !call.inner.is_empty()),
    ];
    for (field, set) in runs {
        findings.add_if(
            call.unknown && set,
            at.field(field),
            Wrong::Excludes { other: "`unknown`", why: nothing_runs },
        );
    }
}

/// `session_of` and `pipelined_on`; `earlier` are the caller's calls before this one.
fn references(call: &CallScript, earlier: &[CallScript], at: Table, findings: &mut Findings) {
    if !call.depends() {
        return;
    }
    let either = "`session_of` or `pipelined_on`";
    findings.add_if(
        call.kind != CallKind::Method,
        at.field("kind"),
        Wrong::Excludes {
            other: either,
            why: "such a call is a method call that is never retried, whatever its arguments (E4, G8)",
        },
    );
    findings.add_if(
        !call.inner.is_empty(),
        at.field("inner"),
        Wrong::Excludes { other: either, why: "a call that makes others stands on its own here" },
    );
    findings.add_if(
        call.session_of.is_some() && call.pipelined_on.is_some(),
        at.field("pipelined_on"),
        Wrong::Excludes { other: "`session_of`", why: "a call is made on a session's stub or on a pending result" },
    );
    let allowed: Vec<_> = earlier
        .iter()
        .filter(|earlier| earlier.object == call.object && !earlier.depends())
        .map(|earlier| earlier.name.clone())
        .collect();
    for (field, reference) in [("session_of", &call.session_of), ("pipelined_on", &call.pipelined_on)] {
        if let Some(name) = reference.as_ref().filter(|name| !allowed.contains(name)) {
            findings.add(at.field(field), Wrong::NoSuchCall { name: name.clone(), allowed: allowed.clone() });
        }
    }
}
