use oncemore_protocol::design::{Design, Retention};
use oncemore_protocol::rules::FirstRejection;

use super::Findings;
use crate::scenario::error::Wrong;
use crate::scenario::place::Table;
use crate::scenario::{Faults, LimitSettings, Scenario, StoreSettings};

/// Settings that need others, and settings that nothing would look at.
pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    store(scenario, findings);
    clock(scenario, findings);
    faults(scenario, findings);
}

fn store(scenario: &Scenario, findings: &mut Findings) {
    let Scenario { store, world, callers, .. } = scenario;
    let default = StoreSettings::default();
    let timed = store.retention == Retention::Time;
    let untimed = Wrong::NoEffect { because: "only `retention = \"time\"` looks at it" };
    findings.add_if(!timed && store.window_ms != default.window_ms, Table::Store.field("window_ms"), untimed.clone());
    findings.add_if(!timed && world.lifetime_ms.is_some(), Table::World.field("lifetime_ms"), untimed.clone());
    findings.add_if(!timed && world.waiting_ms.is_some(), Table::World.field("waiting_ms"), untimed);
    let clocked = store.design == Design::VolatileClock;
    let unclocked = Wrong::NoEffect { because: "only design D2 looks at wall clocks" };
    findings.add_if(!clocked && store.margin_ms != 0, Table::Store.field("margin_ms"), unclocked.clone());
    for (index, caller) in callers.iter().enumerate() {
        findings.add_if(!clocked && caller.skew_ms != 0, Table::Caller(index).field("skew_ms"), unclocked.clone());
    }
    let keeps_nothing = Wrong::NoEffect { because: "design D0 keeps no claims, and rejects nothing" };
    let nothing = store.design == Design::None;
    findings.add_if(nothing && timed, Table::Store.field("retention"), keeps_nothing.clone());
    findings.add_if(nothing && store.capacity.is_some(), Table::Store.field("capacity"), keeps_nothing.clone());
    let fresh = store.first_rejection == FirstRejection::Fresh;
    findings.add_if(nothing && fresh, Table::Store.field("first_rejection"), keeps_nothing.clone());
    findings.add_if(nothing && scenario.faults.forget > 0, Table::Faults.field("forget"), keeps_nothing);
}

fn clock(scenario: &Scenario, findings: &mut Findings) {
    let Scenario { store, limits, world, .. } = scenario;
    if world.clock {
        return;
    }
    let on = "`world.clock = true`";
    findings.add_if(
        store.design == Design::VolatileClock,
        Table::Store.field("design"),
        Wrong::Needs { other: on, why: "D2 tells what is older by the clock" },
    );
    findings.add_if(
        store.retention == Retention::Time,
        Table::Store.field("retention"),
        Wrong::Needs { other: on, why: "a window of time passes only if time does" },
    );
    let unchanged = limits.timeout_ms == LimitSettings::default().timeout_ms;
    findings.add_if(
        !unchanged,
        Table::Limits.field("timeout_ms"),
        Wrong::NoEffect { because: "with `world.clock = false` no cutoff falls" },
    );
}

fn faults(scenario: &Scenario, findings: &mut Findings) {
    let faults = &scenario.faults;
    findings.add_if(
        faults.max.is_some() && faults.bounded() == 0,
        Table::Faults.field("max"),
        Wrong::NoEffect { because: "it bounds the faults from `lose_request` to `forget`, and all of them are 0" },
    );
    findings.add_if(faults.stale > 0 && !has_successors(scenario), Table::Faults.field("stale"), Wrong::NoEffect {
        because: "no incarnation ever has a successor: only `restart`, `drain` or `seize` begin one, or a full store",
    });
}

/// Whether an object may come to a second incarnation.
fn has_successors(scenario: &Scenario) -> bool {
    let Faults { restart, drain, seize, .. } = scenario.faults;
    restart > 0 || drain > 0 || seize > 0 || scenario.store.capacity.is_some()
}
