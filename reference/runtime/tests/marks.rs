//! `facts/marks.json`: for each way to define what a call reaches, whether it is marked (M2), here for classes that
//! `#[durable_object]` writes.
//!
//! What of `facts/retryable_calls.json` can be said of an attribute is held against it in the unit tests of the macros,
//! since half of it is about errors of the compiler.

#[allow(dead_code, reason = "it looks for files in the crate whose test it is, and these are elsewhere")]
#[path = "../../protocol/tests/facts/mod.rs"]
mod facts;

use facts::{Excuse, Row, assert_rows, rows, text};
use futures_util::FutureExt;
use oncemore::{Context, DurableObject, Input, Output, Request, Response, durable_object};
use oncemore_protocol::marks::{FETCH, Mark, MarkTable, Target};
use serde_json::Value;

const FACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../protocol/facts/marks.json");

/// MessagePack: no arguments.
const NIL: &[u8] = &[0xc0];

const EXCUSES: &[Excuse] = &[
    ("Sub#targetOfMarkedProxy", "proxies: nothing outside JavaScript stands in for a function unseen"),
    ("Sub#genFn", "generators: a method is an `async fn`, and there is no other kind"),
    ("Sub#copyProps", "functions with properties that can be copied: a mark is no property here"),
    (
        "Sub#partial1",
        "a call of retryable() that throws: here the compiler refuses the class; see the tests of the macros",
    ),
    ("Sub#lateMethod", "methods that are added while the program runs"),
    ("Sub#lateMethod (after runtime mark)", "methods that are added or marked while the program runs"),
    ("Sub#toString", "the members of every JavaScript object: a class here has only what its block says"),
    ("Sub#hasOwnProperty", "the members of every JavaScript object, as for toString"),
    (
        "Shadow#m (own instance prop shadows marked proto)",
        "properties of one instance: the table is the class's, and an instance offers nothing else",
    ),
];

/// What a class offers under a name: whether it is in the table and marked, and whether a call runs a function.
struct Found {
    known: bool,
    mark: Mark,
    ran: bool,
}

#[test]
fn what_a_call_reaches_is_marked_as_measured() {
    let file = std::fs::read_to_string(FACTS).expect("the facts");
    let facts: Value = serde_json::from_str(&file).expect("JSON");
    let rows = rows(&facts["rows"], |row| text(row, "call").to_owned());
    assert_rows(&rows, EXCUSES, run);
}

fn run(row: &Row) -> Option<Result<(), String>> {
    let said = match row.id.split_once(" get property ") {
        Some((class, _property)) => word(table(class)?.mark(Target::Read)),
        None => called(&row.id)?,
    };
    let agrees = said == text(&row.data, "mark");
    Some(if agrees { Ok(()) } else { Err(format!("the code says {said}")) })
}

fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Marked => "marked",
        Mark::Unmarked => "unmarked",
    }
}

/// What is to be said of a row that calls something.
fn called(call: &str) -> Option<&'static str> {
    let (class, method) = call.split_once('#')?;
    let method = method.split(' ').next()?;
    let found = found(class, &snake_case(method))?;
    assert_eq!(found.known, found.ran, "{call}: the table and the dispatcher know the same names");
    match (method, found.known) {
        // A constructor is unknown, like any other function that is no method.
        ("constructor", false) => Some("not callable"),
        ("doesNotExist" | "getPlain", false) | (_, true) => Some(word(found.mark)),
        // Any unknown name is unmarked, so a row about something that these classes lack would pass unseen.
        (_, false) => None,
    }
}

/// The name that a method has in Rust.
fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut name, letter| {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        name
    })
}

fn table(class: &str) -> Option<MarkTable<'static>> {
    match class {
        "Base" => Some(Base::MARKS),
        "Sub" => Some(Sub::MARKS),
        "PF" => Some(WithFetch::MARKS),
        "SubF" => Some(OverridesFetch::MARKS),
        "InhF" => Some(InheritsFetch::MARKS),
        _ => None,
    }
}

fn found(class: &str, name: &str) -> Option<Found> {
    let table = table(class)?;
    let ran = match class {
        "Base" => is_reached(&Base, name),
        "Sub" => is_reached(&Sub { base: Base }, name),
        "PF" => is_reached(&WithFetch, name),
        "SubF" => is_reached(&OverridesFetch(WithFetch), name),
        "InhF" => is_reached(&InheritsFetch { base: WithFetch }, name),
        _ => return None,
    };
    Some(Found { known: table.member(name).is_some(), mark: table.mark(Target::Call(name)), ran })
}

/// Whether a call of that name runs a function. None of those here waits for anything.
fn is_reached<O: DurableObject>(object: &O, name: &str) -> bool {
    let input = match name {
        FETCH => Input::Fetch(Request::new("".into()).into()),
        _ => Input::Arguments(NIL.into()),
    };
    let output = object.dispatch(name, input).now_or_never().expect("it waits for nothing");
    match output {
        Output::Value(_) | Output::Response(_) => true,
        Output::UnknownMethod => false,
        Output::Thrown { .. } | Output::MalformedArguments(_) | Output::Unwritable(_) => panic!("{name}: {output:?}"),
    }
}

struct Base;

#[durable_object]
impl Base {
    #[construct]
    fn new(_context: Context) -> Self {
        Self
    }

    #[retryable]
    async fn m(&self) {}

    #[also = "alias_of_unmarked"]
    async fn n(&self) {}

    #[retryable]
    async fn over(&self) {}

    #[retryable]
    async fn over_super(&self) {}

    async fn over_marked(&self) {}

    /// A getter is no method: it is called to get what is then called.
    #[allow(dead_code, reason = "nobody can call it from outside, which is what is tested")]
    fn get_plain(&self) -> fn() {
        || {}
    }

    async fn fetch(&self, request: Request) -> Response {
        Response::new(request.into_body())
    }
}

struct Sub {
    base: Base,
}

#[durable_object(extends(base: Base))]
impl Sub {
    #[construct]
    fn constructor(context: Context) -> Self {
        Self { base: Base::new(context) }
    }

    async fn over(&self) {}

    async fn over_super(&self) {
        self.base.over_super().await;
    }

    #[retryable]
    async fn over_marked(&self) {}

    #[retryable]
    async fn am(&self) {}

    #[retryable]
    async fn bound_then_marked(&self) {
        self.base.m().await;
    }

    async fn wrapper(&self) {
        self.base.m().await;
    }
}

struct WithFetch;

#[durable_object(class = "PF")]
impl WithFetch {
    #[construct]
    fn new(_context: Context) -> Self {
        Self
    }

    #[retryable]
    async fn fetch(&self, request: Request) -> Response {
        Response::new(request.into_body())
    }
}

struct OverridesFetch(WithFetch);

#[durable_object(class = "SubF", extends(0: WithFetch))]
impl OverridesFetch {
    #[construct]
    fn new(context: Context) -> Self {
        Self(WithFetch::new(context))
    }

    async fn fetch(&self, request: Request) -> Response {
        self.0.fetch(request).await
    }
}

struct InheritsFetch {
    base: WithFetch,
}

#[durable_object(class = "InhF", extends(base: WithFetch))]
impl InheritsFetch {
    #[construct]
    fn new(context: Context) -> Self {
        Self { base: WithFetch::new(context) }
    }
}
