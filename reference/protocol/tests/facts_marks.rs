//! `facts/marks.json`: for each way to define what a call reaches, whether it is marked (M2).

mod facts;

use facts::{Excuse, Row, assert_rows, complaints, load, rows, text};
use oncemore_protocol::marks::{Candidate, FETCH, Function, Mark, MarkTable, Member, NotAFunction, Target, retryable};
use serde_json::json;

const EXCUSES: &[Excuse] = &[
    ("Sub#targetOfMarkedProxy", "proxies: nothing outside JavaScript stands in for a function unseen"),
    ("Sub#genFn", "generators: a mark does not depend on a function's kind, and there is only one kind here"),
    ("Sub#copyProps", "functions with properties that can be copied: a mark is no property here"),
    ("Sub#toString", "the members of every JavaScript object: a class here has only what its table says"),
    ("Sub#hasOwnProperty", "the members of every JavaScript object, as for toString"),
    ("Sub#constructor", "the members of every JavaScript object, as for toString"),
    (
        "Shadow#m (own instance prop shadows marked proto)",
        "properties of one instance: the table is the class's, and an instance offers nothing else",
    ),
];

#[test]
fn what_a_call_reaches_is_marked_as_measured() {
    let facts = load("marks");
    let rows = rows(&facts["rows"], |row| text(row, "call").to_owned());
    assert_rows(&rows, EXCUSES, |row| {
        let mark = match reached(&row.id)? {
            Mark::Marked => "marked",
            Mark::Unmarked => "unmarked",
        };
        let agrees = mark == text(&row.data, "mark");
        Some(if agrees { Ok(()) } else { Err(format!("the code says {mark}")) })
    });
}

/// The mark of what a row's call reaches in the classes below, or `None` if they have no such thing.
fn reached(call: &str) -> Option<Mark> {
    if let Some((class, _property)) = call.split_once(" get property ") {
        return in_class(class, false, |table| Some(table.mark(Target::Read)));
    }
    let (class, method) = call.split_once('#')?;
    let name = method.split(' ').next()?;
    in_class(class, method.ends_with("(after runtime mark)"), |table| {
        // Any unknown name is unmarked, so a row about something that these classes lack would pass unseen.
        let known = table.member(name).is_some() || name == "doesNotExist";
        known.then(|| table.mark(Target::Call(name)))
    })
}

/// Lends the table of a class: `Base`, its subclass `Sub`, and three that have a handler for fetch.
fn in_class<T>(name: &str, late_is_marked: bool, look: impl Fn(&MarkTable<'_>) -> Option<T>) -> Option<T> {
    let mut base = Class::declare(&["m", "n", "over", "overSuper", "overMarked", FETCH]);
    base.mark(&["m", "over", "overSuper"]);
    let mut base_members = base.members();
    base_members.extend([("getPlain", Member::Getter), ("getVal", Member::Getter)]);
    let base_table = MarkTable::new(&base_members);

    // A bound copy, a wrapper and an override that calls the overridden method are functions of their own.
    let mut sub = Class::declare(&["over", "overSuper", "overMarked", "am", "boundThenMarked", "wrapper"]);
    sub.mark(&["overMarked", "am", "boundThenMarked"]);
    let partial = partly_marked();
    let late = if late_is_marked { Function::MARKED } else { Function::UNMARKED };
    let mut sub_members = sub.members();
    sub_members.extend([
        ("aliasOfUnmarked", Member::Method(base.function("n"))),
        ("partial1", Member::Method(&partial)),
        ("lateMethod", Member::Method(&late)),
    ]);
    let sub_table = MarkTable::new(&sub_members).extending(&base_table);

    let mut with_fetch = Class::declare(&[FETCH]);
    with_fetch.mark(&[FETCH]);
    let with_fetch_members = with_fetch.members();
    let with_fetch_table = MarkTable::new(&with_fetch_members);
    let override_of_fetch = Class::declare(&[FETCH]);
    let override_members = override_of_fetch.members();

    match name {
        "Base" => look(&base_table),
        "Sub" => look(&sub_table),
        "PF" => look(&with_fetch_table),
        "SubF" => look(&MarkTable::new(&override_members).extending(&with_fetch_table)),
        "InhF" => look(&MarkTable::new(&[]).extending(&with_fetch_table)),
        _ => None,
    }
}

/// A function that was to be marked together with something that is none.
fn partly_marked() -> Function {
    let mut function = Function::UNMARKED;
    let marked = retryable(&mut [Candidate::Function(&mut function), Candidate::Other]);
    assert_eq!(marked, Err(NotAFunction { index: 1 }));
    function
}

/// A class as its author writes it: functions of its own, all unmarked at first.
struct Class(Vec<(&'static str, Function)>);

impl Class {
    fn declare(names: &[&'static str]) -> Self {
        Self(names.iter().map(|name| (*name, Function::UNMARKED)).collect())
    }

    /// Marks all of these in one call.
    fn mark(&mut self, names: &[&str]) {
        let named = self.0.iter_mut().filter(|(name, _)| names.contains(name));
        let mut candidates: Vec<_> = named.map(|(_, function)| Candidate::Function(function)).collect();
        assert_eq!(candidates.len(), names.len(), "each of {names:?} is declared");
        retryable(&mut candidates).expect("all are functions");
    }

    fn function(&self, name: &str) -> &Function {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, function)| function).expect("declared")
    }

    fn members(&self) -> Vec<(&'static str, Member<'_>)> {
        self.0.iter().map(|(name, function)| (*name, Member::Method(function))).collect()
    }
}

#[test]
fn a_row_that_is_neither_run_nor_excused_fails_and_so_does_a_stale_excuse() {
    let row = |id: &str| Row { id: id.to_owned(), data: json!({}) };
    let rows = [row("agrees"), row("differs"), row("unknown"), row("excused"), row("agrees")];
    let excuses = [("excused", "a reason"), ("gone", "a reason"), ("agrees", " ")];
    let run = |row: &Row| match row.id.as_str() {
        "agrees" => Some(Ok(())),
        "differs" => Some(Err("the code says otherwise".to_owned())),
        _ => None,
    };
    assert_eq!(
        complaints(&rows, &excuses, run),
        [
            "agrees: two rows have this name",
            "gone: the excuse matches no row",
            "agrees: is excused without a reason",
            "agrees: is excused, but can be run",
            "differs: the code says otherwise",
            "unknown: is neither run nor excused",
            "agrees: is excused, but can be run",
        ]
    );
    assert_eq!(complaints(&[], &[], run), ["there are no rows"]);
    assert!(complaints(&rows[..1], &[], run).is_empty());
}
