//! `facts/session.json`: the calls of one session, and what became of each (G8).

mod facts;

use facts::{Row, assert_rows, load, rows};
use oncemore_protocol::design::Plan;
use oncemore_protocol::eligibility::Position;
use oncemore_protocol::failure::Refusal;
use oncemore_protocol::gate::{Decision, Gate, GateTerms, Request, SessionId};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::marks::{Function, MarkTable, Member, Target};
use oncemore_protocol::rules::Spec;
use oncemore_protocol::store::{Birth, Digest};
use oncemore_protocol::time::{Time, WallTime};
use serde_json::Value;

const HERE: Incarnation = Incarnation(1);

static MK: Function = Function::MARKED;
static MK2: Function = Function::MARKED;
static UM: Function = Function::UNMARKED;
static UM2: Function = Function::UNMARKED;
static CLASS: MarkTable<'_> = MarkTable::new(&[
    ("mk", Member::Method(&MK)),
    ("mk2", Member::Method(&MK2)),
    ("um", Member::Method(&UM)),
    ("um2", Member::Method(&UM2)),
]);

#[test]
fn sessions_go_as_measured() {
    let facts = load("session");
    let rows = rows(&facts["rows"], |row| format!("{} -> {}", row["calls"], row["results"]));
    assert_rows(&rows, &[], run);
}

fn run(row: &Row) -> Option<Result<(), String>> {
    let calls = texts(&row.data["calls"])?;
    let expected = texts(&row.data["results"])?;
    // A session whose first call is rejected although it is marked: only what a mark does not waive does that.
    let rejected = expected.first() == Some(&"claim rejected");
    let results = session(&calls, rejected)?;
    Some(if results == expected { Ok(()) } else { Err(format!("the gate says {results:?}")) })
}

fn texts(array: &Value) -> Option<Vec<&str>> {
    array.as_array()?.iter().map(Value::as_str).collect()
}

/// What becomes of the calls of a session, if their names are known here.
fn session(calls: &[&str], rejected: bool) -> Option<Vec<&'static str>> {
    let terms = GateTerms { store: Plan::default(), queue_max: 10, rules: Spec };
    let birth = Birth { incarnation: HERE, wall: WallTime::default() };
    let mut gate = Gate::<u32>::open(&terms, birth, core::iter::empty());
    if rejected {
        // Number 0 is settled before the session's first call arrives under it.
        arrive(&mut gate, &terms, Request { ticket: 1_000, header: header(1), ..Request::default() });
    }
    let mut results = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let target = target(call)?;
        let request = Request {
            ticket: u32::try_from(place).ok()?,
            // Only the first call of a session carries an identity.
            header: if place == 0 { header(0) } else { Header { identity: None, ..header(0) } },
            mark: CLASS.mark(target),
            digest: Digest(0),
            session: Some(SessionId(7)),
            position: if place == 0 { Position::First } else { Position::Later },
            ..Request::default()
        };
        results.push(match arrive(&mut gate, &terms, request) {
            Decision::Start if is_missing(target) => "no such method",
            Decision::Start => "ran",
            Decision::Refuse(Refusal::SessionMarked) => "refused: session claimed as marked",
            Decision::Refuse(refusal) if refusal.is_claim_rejection() => "claim rejected",
            Decision::Refuse(_) | Decision::Store(_) | Decision::AnswerRecorded | Decision::NewEpoch => return None,
        });
    }
    Some(results)
}

fn arrive(gate: &mut Gate<u32>, terms: &GateTerms, request: Request<u32>) -> Decision {
    let arrival = gate.arrive(terms, request, Time::ORIGIN);
    assert_eq!(arrival.refused, None);
    gate.next(terms, Time::ORIGIN).expect("a turn").decision
}

/// A first attempt of a caller that has settled all lower numbers.
fn header(number: u64) -> Header {
    let caller = CallerId::from_bits(1);
    let identity = Identity { caller, number: Number(number), born: HERE, created: WallTime::default() };
    Header { identity: Some(identity), ordinal: Ordinal(1), retry: false, address: HERE, unsettled: Unsettled(0) }
}

fn target(call: &str) -> Option<Target<'_>> {
    if call.strip_prefix("get:").is_some() {
        return Some(Target::Read);
    }
    if call.contains('.') {
        return Some(Target::NestedCall);
    }
    ["mk", "mk2", "um", "um2", "nosuch"].contains(&call).then_some(Target::Call(call))
}

/// A method is looked up after the claim, so that a missing one has claimed (G1).
fn is_missing(target: Target<'_>) -> bool {
    match target {
        Target::Call(name) => CLASS.member(name).is_none(),
        Target::NestedCall | Target::Read => false,
    }
}
