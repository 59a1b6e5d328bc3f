//! `facts/retryable_calls.json`: what `retryable()` takes, and that it marks all or nothing (M2).

mod facts;

use facts::{Excuse, Row, assert_rows, load, rows, text};
use oncemore_protocol::marks::{Candidate, Function, Mark, retryable};

const EXCUSES: &[Excuse] = &[
    ("retryable(generator)", "kinds of function: a function here has no kind that marking could look at"),
    ("retryable(class)", "classes that are functions, as JavaScript's are"),
    ("retryable(Cart)", "classes that are functions, as JavaScript's are"),
    ("retryable(new Proxy(fn,{}))", "proxies"),
    ("retryable(new Proxy(fn,{get throws}))", "proxies, and code that runs when a property is read"),
    ("retryable(revoked proxy of fn)", "proxies"),
    ("retryable(frozen fn)", "frozen objects: a mark is no property here"),
    ("retryable(stub method proxy)", "methods of a stub as functions: a stub here is no class's function"),
    (
        "retryable(a,a) same twice",
        "one function twice in a call: it cannot be lent out twice; see the unit tests of marks",
    ),
    ("retryable.call(null, fn)", "a receiver: retryable() has none here"),
    ("new retryable(fn)", "functions that are called as constructors"),
    ("returns", "the row has no call: it says only that JavaScript's retryable() returned"),
    (
        "object with [[Call]] (document.all n/a) Function.prototype",
        "objects that can be called without being functions",
    ),
];

#[test]
fn retryable_takes_and_refuses_as_measured() {
    let facts = load("retryable_calls");
    let rows = rows(&facts["rows"], |row| text(row, "call").to_owned());
    assert_rows(&rows, EXCUSES, run);
}

/// One argument of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Function,
    Other,
}

fn run(row: &Row) -> Option<Result<(), String>> {
    let arguments = arguments(&row.id)?;
    let mut functions: Vec<Function> = arguments.iter().map(|_| Function::UNMARKED).collect();
    let mut candidates: Vec<Candidate<'_>> = functions
        .iter_mut()
        .zip(arguments)
        .map(|(function, argument)| match argument {
            Argument::Function => Candidate::Function(function),
            Argument::Other => Candidate::Other,
        })
        .collect();
    let (verdict, expected) = match retryable(&mut candidates) {
        Ok(()) => ("ok", Mark::Marked),
        Err(_) => ("TypeError", Mark::Unmarked),
    };
    Some(if verdict != text(&row.data, "verdict") {
        Err(format!("the code says {verdict}"))
    } else if functions.iter().any(|function| function.mark() != expected) {
        Err(format!("not every function is {expected:?} after it"))
    } else {
        Ok(())
    })
}

/// The arguments of a call of the facts, or `None` if they have no counterpart outside JavaScript.
fn arguments(call: &str) -> Option<&'static [Argument]> {
    use Argument::{Function, Other};
    match call {
        "retryable()" => Some(&[]),
        "retryable(Base.prototype.m1) at module scope" | "retryable(async arrow)" => Some(&[Function]),
        "retryable(a,b,c)" => Some(&[Function, Function, Function]),
        "retryable(undefined)"
        | "retryable(null)"
        | "retryable(5)"
        | "retryable('set')"
        | "retryable([fn])"
        | "retryable(true)" => Some(&[Other]),
        "retryable(a, 5)" | "decorator-style returns (value, ctx) -> 2nd arg object" => Some(&[Function, Other]),
        "retryable(5, a)" => Some(&[Other, Function]),
        _ => None,
    }
}
