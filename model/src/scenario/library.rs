use std::sync::LazyLock;

use super::Scenario;

/// A scenario that comes with Oncemore.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The scenario.
    pub scenario: Scenario,
    /// Its file: what it says and why, to read or to start one's own from.
    pub text: &'static str,
}

/// Every scenario that comes with Oncemore, in the order of the specification, then the public cases, then the large one.
pub fn library() -> &'static [Entry] {
    &LIBRARY
}

/// The scenario of this name, if it comes with Oncemore.
pub fn find(name: &str) -> Option<&'static Entry> {
    library().iter().find(|entry| entry.scenario.name == name)
}

static LIBRARY: LazyLock<Vec<Entry>> = LazyLock::new(|| FILES.iter().map(|&(name, text)| entry(name, text)).collect());

/// The files are part of the program, and a test reads them all: one that is wrong is a broken build.
fn entry(name: &str, text: &'static str) -> Entry {
    match Scenario::from_toml(&format!("{name}.toml"), text) {
        Ok(scenario) => Entry { scenario, text },
        Err(error) => panic!("a scenario of the library is wrong:\n{error}"),
    }
}

macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".toml"))),)*]
    };
}

/// Name and text; the name is the file's.
const FILES: &[(&str, &str)] = files![
    "not-delivered",
    "doubt",
    "nested",
    "nested-marked",
    "user-error",
    "duplicate-fail",
    "duplicate-fresh",
    "duplicate-ineligible",
    "exact-fresh",
    "ineligible",
    "fetch",
    "pipelining",
    "pipelining-marked",
    "pipelining-fresh",
    "pipelining-then-more",
    "no-retries",
    "limits",
    "limits-duplicates",
    "limits-marked",
    "cutoff",
    "give-up",
    "one-stub",
    "side-by-side",
    "sticky-identity",
    "identities",
    "getter",
    "unknown-method",
    "draining",
    "marked",
    "fail-closed",
    "late-first-attempt",
    "session-unmarked-first",
    "session-marked-first",
    "session-rejected",
    "overload",
    "zombie",
    "durable-claim",
    "believed-mark",
    "d0",
    "d1",
    "d1-restart",
    "d2-margin",
    "d2-skew",
    "d2-slow-clock",
    "d2-zombie",
    "d3",
    "stale-resolve",
    "d4",
    "d5",
    "d5-marked",
    "d5-full",
    "late-write",
    "late-write-fenced",
    "overlapping-runs",
    "overlapping-runs-fenced",
    "window-long-enough",
    "window-too-short",
    "window-unbounded-delivery",
    "eviction",
    "eviction-durable",
    "full-and-open",
    "settled-out-of-order",
    "forgetful",
    "id-reused",
    "two-callers",
    "history",
    "caller-crash",
    "two-objects",
    "everything-settles",
    "recovers",
    "case_01",
    "case_03",
    "case_03-volatile",
    "case_05",
    "case_07",
    "case_09",
    "case_11",
    "case_13",
    "case_15",
    "case_17",
    "case_19",
    "case_21",
    "case_23",
    "case_25",
    "case_27",
    "deep",
];
