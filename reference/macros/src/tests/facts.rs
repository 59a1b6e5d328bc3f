//! `facts/retryable_calls.json`: what can be marked, and that a mistake marks nothing (M2).
//!
//! Each row is run or excused with a reason. A `TypeError` there is an error of the compiler here, and then the class
//! does not exist, whatever else in it is marked.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{class_of, expand};

const FACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../protocol/facts/retryable_calls.json");

const METHOD: &str = "async fn a(&self) {}";
const NO_METHOD: &str = "const FIVE: u8 = 5;";

const EXCUSES: &[(&str, &str)] = &[
    ("retryable(generator)", "generators: there is one kind of method here"),
    ("retryable(class)", "classes that are functions, as JavaScript's are"),
    ("retryable(Cart)", "classes that are functions, as JavaScript's are"),
    ("retryable(new Proxy(fn,{}))", "proxies"),
    ("retryable(new Proxy(fn,{get throws}))", "proxies"),
    ("retryable(revoked proxy of fn)", "proxies"),
    ("retryable(frozen fn)", "frozen objects: a mark is no property here"),
    ("retryable(stub method proxy)", "proxies: the methods of a stub are written by the macro and cannot be marked"),
    ("retryable.call(null, fn)", "a receiver: an attribute has none"),
    ("new retryable(fn)", "constructors: an attribute cannot be one"),
    ("returns", "the value of the call: an attribute has none"),
    (
        "decorator-style returns (value, ctx) -> 2nd arg object",
        "a decorator's second argument: nothing is passed to an attribute",
    ),
    (
        "object with [[Call]] (document.all n/a) Function.prototype",
        "objects that can be called without being functions",
    ),
];

/// The functions of a class that does what a row says.
fn functions(call: &str) -> Option<String> {
    let marked = |items: &[&str]| Some(items.iter().map(|item| format!("#[retryable] {item} ")).collect());
    match call {
        "retryable()" => Some(METHOD.to_owned()),
        "retryable(Base.prototype.m1) at module scope" | "retryable(async arrow)" => marked(&[METHOD]),
        "retryable(a,a) same twice" => Some(format!("#[retryable] #[retryable] {METHOD}")),
        "retryable(a,b,c)" => marked(&[METHOD, "async fn b(&self) {}", "async fn c(&self) {}"]),
        "retryable(undefined)" | "retryable(null)" | "retryable(5)" | "retryable(true)" => marked(&[NO_METHOD]),
        "retryable('set')" => marked(&["const NAME: &'static str = \"a\";"]),
        "retryable([fn])" => marked(&["const ALL: [fn(&Self); 1] = [Self::a];"]),
        "retryable(a, 5)" => marked(&[METHOD, NO_METHOD]),
        "retryable(5, a)" => marked(&[NO_METHOD, METHOD]),
        _ => None,
    }
}

/// What the macro makes of it, in the words of the facts, and how many marks it wrote.
fn outcome(functions: &str) -> (&'static str, usize) {
    match expand("", &class_of(functions)) {
        Ok(tokens) => ("ok", tokens.to_string().matches(":: MARKED").count()),
        Err(_) => ("TypeError", 0),
    }
}

#[test]
fn what_can_be_marked_is_what_was_measured() {
    let text = std::fs::read_to_string(FACTS).unwrap();
    let facts: Value = serde_json::from_str(&text).unwrap();
    let rows = facts["rows"].as_array().unwrap();
    let excuses: BTreeMap<&str, &str> = EXCUSES.iter().copied().collect();
    let mut seen = BTreeSet::new();
    for row in rows {
        let (call, verdict) = (row["call"].as_str().unwrap(), row["verdict"].as_str().unwrap());
        assert!(seen.insert(call), "{call}: two rows have this name");
        let Some(functions) = functions(call) else {
            assert!(excuses.contains_key(call), "{call}: is neither run nor excused");
            continue;
        };
        assert!(!excuses.contains_key(call), "{call}: is excused, but can be run");
        let candidates = functions.matches("async fn").count();
        let marks = if call == "retryable()" || verdict != "ok" { 0 } else { candidates };
        assert_eq!(outcome(&functions), (verdict, marks), "{call}");
    }
    let stale: Vec<_> = excuses.keys().filter(|call| !seen.contains(*call)).collect();
    assert!(!rows.is_empty() && stale.is_empty(), "excuses that match no row: {stale:?}");
}
