//! `facts/calls.json` on the real RPC code: what one call does, given what happens to each of its attempts.
//!
//! Caller and host talk over in-memory streams, on virtual time; between them stands a network that gives each attempt its
//! fate.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../protocol/tests/facts/mod.rs"]
mod facts;
#[path = "support/fated.rs"]
mod fated;
#[allow(
    missing_docs, unreachable_pub, unused_qualifications, dead_code, clippy::all, clippy::restriction, clippy::pedantic, clippy::nursery,
    reason = "generated from schema/oncemore.capnp"
)]
#[rustfmt::skip]
#[path = "../src/oncemore_capnp.rs"]
mod oncemore_capnp;
mod support;

use std::time::Duration;

use facts::{Excuse, Row, assert_rows, load, rows, text};
use fated::{Fate, Fated};
use oncemore::{CallError, Delivery, Namespace, Request, RetryOptions};
use serde_json::{Value, json};
use support::probe::{Plan, Probe, ProbeError, ProbeStub};
use support::{World, on_virtual_time};
use tokio::time::Instant;

const STREAMS: &str =
    "this runtime has no streams, functions or stubs as arguments yet, so that no such call can be made";
const PIPELINING: &str = "this runtime has no pipelining yet: a result is awaited before it is used";

const EXCUSES: &[Excuse] = &[
    ("fetch-stream", STREAMS),
    ("stream-arg", STREAMS),
    ("function-arg", STREAMS),
    ("received-stub", STREAMS),
    ("returns-target", STREAMS),
    ("pipelined", PIPELINING),
    ("pipelined-in-backoff", PIPELINING),
    ("unmarked-lost-after-no-gate", "D0 is not offered"),
];

#[test]
fn calls_go_as_measured() {
    let facts = load("calls");
    let rows = rows(&facts["rows"], |row| text(row, "id").to_owned());
    assert_rows(&rows, EXCUSES, |row| on_virtual_time(play(row)));
}

/// What can be seen of a call once it is over.
#[derive(Debug)]
struct Saw {
    outcome: String,
    took: Duration,
    attempts: u64,
    runs: u64,
    identities: Vec<String>,
}

async fn play(row: &Row) -> Option<Result<(), String>> {
    let call = Call::read(&row.data)?;
    let fates: Option<Vec<Fate>> =
        row.data["world_by_attempt"].as_array()?.iter().map(|word| fate(word.as_str()?)).collect();
    let options = RetryOptions::from_json(&row.data["limits"]).ok()?;
    let world = World::new();
    let _host = world.host("only").await;
    let network = Fated::new(&world.network, fates?);
    let stub = world.caller_over(network.clone()).namespace::<Probe>().get_by_name_with("probe", options);
    let began = Instant::now();
    let outcome = call.make(&stub).await;
    let took = began.elapsed();
    // What still runs on the object runs to its end.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let calm: Namespace<Probe> = world.caller().namespace();
    let runs = calm.get_by_name("probe").runs().await.unwrap();
    let (attempts, identities) = (network.met() as u64, identities(&network));
    let saw = Saw { outcome, took, attempts, runs: runs.into(), identities };
    Some(compare(&row.data["expect"], &saw))
}

fn fate(word: &str) -> Option<Fate> {
    Some(match word {
        "refused" => Fate::Refused(Duration::ZERO),
        "refused after 1 s" => Fate::Refused(Duration::from_secs(1)),
        "answer after 3 s" => Fate::Late(Duration::from_secs(3)),
        "lost-before" => Fate::LostBefore,
        "lost-after" => Fate::LostAfter,
        "silent" => Fate::Silent,
        // What the method does, and what the gate says, is not the network's business.
        "ok" | "rejected" | "user-error" | "slow 4 s" => Fate::Passes,
        _ => return None,
    })
}

/// What can be called here.
const CALLS: &[&str] = &[
    "method",
    "unmarked method",
    "unmarked method; the gate knows the identity",
    "method; identities sent",
    "marked method",
    "method whose error says retryable",
    "fetch, no body",
    "fetch",
    "fetch POST, text body",
    "fetch DELETE",
    "fetch POST, 2 MB text body",
    "fetch POST, form body",
    "fetch; the object answers 500",
];

/// The call that a row describes.
#[derive(Debug)]
struct Call {
    words: String,
    plan: Plan,
}

impl Call {
    fn read(row: &Value) -> Option<Self> {
        let words = row["call"].as_str()?;
        if !CALLS.contains(&words) {
            return None;
        }
        let fates = row["world_by_attempt"].as_array()?;
        // Every attempt before it that was lost on the way back has run.
        let throws = fates.iter().position(|fate| fate == "user-error");
        let runs_before = |place| fates[..place].iter().filter(|fate| *fate == "lost-after").count() as u32;
        let throws_from = throws.map_or(0, |place| runs_before(place) + 1);
        let takes_ms = if fates.iter().any(|fate| fate == "slow 4 s") { 4000 } else { 0 };
        Some(Self { words: words.to_owned(), plan: Plan { throws_from, takes_ms } })
    }

    async fn make(&self, stub: &ProbeStub) -> String {
        match &*self.words {
            "method"
            | "unmarked method"
            | "unmarked method; the gate knows the identity"
            | "method; identities sent" => told(stub.run(self.plan).await.map(|_| String::new())),
            "marked method" => told(stub.run_marked(self.plan).await.map(|_| String::new())),
            "method whose error says retryable" => told(stub.throw_dressed().await.map(|()| String::new())),
            _ => self.fetch(stub).await,
        }
    }

    async fn fetch(&self, stub: &ProbeStub) -> String {
        let (method, body, status) = match &*self.words {
            "fetch, no body" | "fetch" => ("GET", String::new(), "200"),
            "fetch POST, text body" => ("POST", "text".into(), "200"),
            "fetch DELETE" => ("DELETE", String::new(), "200"),
            "fetch POST, 2 MB text body" => ("POST", "x".repeat(2 << 20), "200"),
            "fetch POST, form body" => ("POST", "a=1&b=2".into(), "200"),
            "fetch; the object answers 500" => ("GET", String::new(), "500"),
            other => panic!("no such call: {other}"),
        };
        let length = body.len().to_string();
        let mut request = Request::new(body.into());
        *request.method_mut() = method.parse().unwrap();
        for (name, value) in [("throws-from", self.plan.throws_from.into()), ("takes-ms", self.plan.takes_ms)] {
            request.headers_mut().insert(name, value.to_string().parse().unwrap());
        }
        request.headers_mut().insert("status", status.parse().unwrap());
        told(stub.fetch(request).await.map(|response| {
            assert_eq!(response.body(), &length, "the object got the whole body");
            response.status().as_u16().to_string()
        }))
    }
}

/// The outcome in the words of the facts.
fn told(result: Result<String, CallError<ProbeError>>) -> String {
    match result {
        Ok(status) if status == "500" => "ok (status 500)".into(),
        Ok(_) => "ok".into(),
        Err(error) if error.thrown().is_some() => {
            assert!(error.remote() && error.delivery() == Delivery::Delivered, "{error:?}");
            "user error".into()
        }
        Err(error) => {
            assert!(error.retryable(), "the original failure is a disconnect: {error:?}");
            "original failure".into()
        }
    }
}

/// The identities in the order of their sending, counted from n1.
fn identities(network: &Fated) -> Vec<String> {
    let name = |number: u64, retry| format!("n{}{}", number + 1, if retry { " retry" } else { "" });
    network.seen().iter().map(|seen| name(seen.number, seen.retry)).collect()
}

fn compare(expected: &Value, saw: &Saw) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (key, value) in expected.as_object().unwrap() {
        let right = match key.as_str() {
            "attempts" => value == saw.attempts,
            "runs" => value == saw.runs,
            "outcome" => value == &saw.outcome,
            // Tokio's timers tick in milliseconds.
            "took_s" => (value.as_f64().unwrap() - saw.took.as_secs_f64()).abs() < 0.01,
            // Where the connection is refused, nothing comes as far as the wire: n1, and n2's first retry.
            "identities" => {
                *value == json!(["n1", "n2", "n2 retry", "n2 retry"]) && saw.identities == ["n2", "n2 retry"]
            }
            "note" => true,
            other => panic!("no such expectation: {other}"),
        };
        if !right {
            wrong.push(format!("{key} should be {value}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}; saw {saw:?}", wrong.join(", "))) }
}
