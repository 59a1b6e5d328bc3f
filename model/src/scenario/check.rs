//! What makes sense: judged before anything is run.
//!
//! Everything that is wrong is found in one go, so that nobody mends a file one error at a time.

mod calls;
mod effect;
mod expect;

use oncemore_protocol::limits::Limits;

use super::Scenario;
use super::error::{Problem, ScenarioError, Wrong};
use super::fields::{self, FieldInfo, Takes};
use super::place::{Place, Table};

impl Scenario {
    /// Whether the scenario makes sense: every number within its range, every name known and unique, no setting that
    /// needs another one which is not there, and none that would be ignored.
    ///
    /// A setting is said to be ignored if it differs from its default and could not change anything.
    ///
    /// Returns the limits, which are within their ranges then.
    ///
    /// # Errors
    /// [`ScenarioError`], with all that is wrong.
    pub fn check(&self) -> Result<Limits, ScenarioError> {
        let mut findings = Findings::default();
        findings.name(Table::Scenario.field("name"), &self.name);
        ranges(self, &mut findings);
        calls::check(self, &mut findings);
        effect::check(self, &mut findings);
        expect::check(self, &mut findings);
        // M4 has the say; `ranges` has told which of the two it means, and what is allowed.
        match Limits::new(self.limits.retries_max, self.limits.timeout_ms) {
            Ok(limits) if findings.0.is_empty() => Ok(limits),
            Ok(_) | Err(_) => Err(ScenarioError(findings.0)),
        }
    }
}

/// What has been found wrong so far.
#[derive(Default)]
struct Findings(Vec<Problem>);

impl Findings {
    fn add(&mut self, place: impl Into<Place>, wrong: Wrong) {
        self.0.push(Problem { place: place.into(), wrong });
    }

    fn add_if(&mut self, is_wrong: bool, place: impl Into<Place>, wrong: Wrong) {
        if is_wrong {
            self.add(place, wrong);
        }
    }

    /// The range is that which [`FieldInfo`] names for the place.
    fn range(&mut self, place: Place, found: impl Into<i64>) {
        let found = found.into();
        let Some(takes @ Takes::Whole(least, greatest, _)) = takes(&place) else { return };
        self.add_if(!(least..=greatest).contains(&found), place, Wrong::OutOfRange { found, takes });
    }

    fn name(&mut self, place: Place, name: &str) {
        let Some(takes) = takes(&place) else { return };
        self.add_if(!is_name(name), place, Wrong::Name { found: name.to_owned(), takes });
    }

    /// Says so of each item of a list that stands there before.
    fn repeated<T: PartialEq>(&mut self, list: &Place, items: &[T], spelled: impl Fn(&T) -> String) {
        for (index, item) in items.iter().enumerate() {
            let before = items.get(..index).unwrap_or_default();
            self.add_if(before.contains(item), list.clone().index(index), Wrong::Twice { found: spelled(item) });
        }
    }
}

fn takes(place: &Place) -> Option<Takes> {
    place.field.and_then(|key| FieldInfo::find(place.table, key)).map(|field| field.takes)
}

/// Words of lower-case letters and digits, joined by single hyphens or underscores.
fn is_name(name: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    name.len() <= fields::NAME_BYTES_MAX && name.split(['-', '_']).all(word)
}

fn ranges(scenario: &Scenario, findings: &mut Findings) {
    let Scenario { store, limits, world, faults, callers, .. } = scenario;
    findings.range(Table::Store.field("window_ms"), store.window_ms);
    findings.range(Table::Store.field("margin_ms"), store.margin_ms);
    if let Some(capacity) = store.capacity {
        findings.range(Table::Store.field("capacity"), capacity);
    }
    findings.range(Table::Limits.field("retries_max"), limits.retries_max);
    findings.range(Table::Limits.field("timeout_ms"), limits.timeout_ms);
    findings.range(Table::World.field("queue_max"), world.queue_max);
    findings.range(Table::World.field("subrequests_max"), world.subrequests_max);
    for (key, delay) in [("lifetime_ms", world.lifetime_ms), ("waiting_ms", world.waiting_ms)] {
        if let Some(delay) = delay {
            findings.range(Table::World.field(key), delay);
        }
    }
    if let Some(max) = faults.max {
        findings.range(Table::Faults.field("max"), max);
    }
    for (key, budget) in faults.budgets() {
        findings.range(Table::Faults.field(key), budget);
    }
    for (index, caller) in callers.iter().enumerate() {
        findings.range(Table::Caller(index).field("skew_ms"), caller.skew_ms);
    }
}
