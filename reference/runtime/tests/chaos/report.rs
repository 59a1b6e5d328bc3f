//! What came of it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::Duration;

use oncemore::Delivery;

use super::cutting::Point;
use super::hosts::{CLASSES, Strike, Which};
use crate::support::ledger::{Outcome, Told};

const DELIVERED: &str = "failed, delivered";

pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) took: Duration,
    pub(crate) told: Vec<(Which, Told)>,
    pub(crate) attempts: u64,
    pub(crate) attempts_failed: u64,
    pub(crate) cuts: HashMap<Point, u64>,
    pub(crate) strikes: HashMap<Strike, u64>,
    pub(crate) caller_lives: u64,
    pub(crate) incarnations: u64,
    pub(crate) counts: HashMap<&'static str, u64>,
    pub(crate) wrong: Vec<String>,
}

impl Report {
    /// Everything was put to the test, and every promise was kept.
    pub(crate) fn verify(&self) {
        let seed = self.seed;
        assert!(self.wrong.is_empty(), "seed {seed}\n{}", self.wrong.join("\n"));
        for point in Point::ALL {
            assert!(self.cuts.get(&point).is_some_and(|&count| count > 0), "seed {seed}: nothing was cut at {point:?}");
        }
        for strike in Strike::ALL {
            assert!(self.strikes.contains_key(&strike), "seed {seed}: {strike:?} never came up: more calls are needed");
        }
        for (what, count) in self.outcomes() {
            // Only an object that is taken over in the middle of a call has a failure of this kind that nobody threw.
            assert!(count > 0 || what == DELIVERED, "seed {seed}: no call was {what}");
        }
    }

    /// How many calls became what.
    fn outcomes(&self) -> [(&'static str, usize); 7] {
        let count = |is: &dyn Fn(&Told) -> bool| self.told.iter().filter(|(_, told)| is(told)).count();
        let failed = |delivery| count(&|told| told.outcome == Outcome::Failed(delivery));
        let written = |marked| count(&|told| told.marked == marked && matches!(told.outcome, Outcome::Written { .. }));
        [
            ("answered, unmarked", written(false)),
            ("answered, marked", written(true)),
            ("threw, as asked", count(&|told| matches!(told.outcome, Outcome::Thrown { .. }))),
            ("failed, not delivered", failed(Delivery::NotDelivered)),
            ("failed, unknown", failed(Delivery::Unknown)),
            (DELIVERED, failed(Delivery::Delivered)),
            ("given up, or left by a dead caller", count(&|told| told.outcome == Outcome::Untold)),
        ]
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |what: &str, count: u64| writeln!(f, "| {what} | {count} |");
        row("seconds", self.took.as_secs())?;
        row("calls", self.told.len() as u64)?;
        for (what, count) in self.outcomes() {
            row(what, count as u64)?;
        }
        for (class, name) in CLASSES.iter().enumerate() {
            let calls = self.told.iter().filter(|((of, _), _)| *of == class);
            let unknown = calls.clone().filter(|(_, told)| told.outcome == Outcome::Failed(Delivery::Unknown));
            row(&format!("calls to {name}"), calls.count() as u64)?;
            row(&format!("calls to {name} that failed, unknown"), unknown.count() as u64)?;
        }
        row("attempts of this process's callers on the wire", self.attempts)?;
        row("attempts of calls that failed", self.attempts_failed)?;
        row("incarnations of objects", self.incarnations)?;
        row("lives of the caller that is killed", self.caller_lives)?;
        for (what, &count) in self.counts.iter().collect::<BTreeMap<_, _>>() {
            row(what, count)?;
        }
        for point in Point::ALL {
            row(&format!("cut: {point:?}"), self.cuts.get(&point).copied().unwrap_or_default())?;
        }
        for strike in Strike::ALL {
            row(&format!("strike: {strike:?}"), self.strikes.get(&strike).copied().unwrap_or_default())?;
        }
        Ok(())
    }
}
