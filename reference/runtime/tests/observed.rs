//! What there is to see of calls from outside (C10): counters, a histogram, spans and events, by the names that
//! `docs/reference.md` gives them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

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

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fated::{Fate, Fated};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use oncemore::RetryOptions;
use support::probe::{Plan, Probe, ProbeStub};
use support::{World, on_virtual_time};
use tokio::time::timeout;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

use Fate::{LostAfter, LostBefore, Passes, Silent};

const REFUSED: Fate = Fate::Refused(Duration::ZERO);

/// Counters and how many values the histogram has, by name and ending.
type Counted = BTreeMap<(String, Option<String>), u64>;

/// Makes one call in a world with these fates, and returns what was counted.
fn counted(retries: u8, fates: Vec<Fate>, call: impl AsyncFnOnce(ProbeStub)) -> Counted {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        on_virtual_time(async {
            let world = World::new();
            let _host = world.host("only").await;
            let network = Fated::new(&world.network, fates);
            let options = RetryOptions::new().max_retries(retries).unwrap();
            call(world.caller_over(network).namespace::<Probe>().get_by_name_with("probe", options)).await;
        });
    });
    let read = |(key, _, _, value): (metrics_util::CompositeKey, _, _, _)| {
        let ending = key.key().labels().find(|label| label.key() == "ending").map(|label| label.value().to_owned());
        let count = match value {
            DebugValue::Counter(count) => count,
            DebugValue::Histogram(values) => values.len() as u64,
            DebugValue::Gauge(_) => panic!("there are no gauges"),
        };
        ((key.key().name().to_owned(), ending), count)
    };
    snapshotter.snapshot().into_vec().into_iter().map(read).collect()
}

fn expected(ending: &str, retries: u64) -> Counted {
    let named = |name: &str, ending: Option<&str>, count| ((name.to_owned(), ending.map(str::to_owned)), count);
    [
        named("oncemore_retries_total", None, retries),
        named("oncemore_retried_calls_total", Some(ending), 1),
        named("oncemore_retried_call_added_seconds", Some(ending), 1),
    ]
    .into()
}

#[test]
fn each_of_the_six_endings_is_counted() {
    let run = async |stub: ProbeStub| drop(stub.run(Plan::default()).await);
    assert_eq!(counted(4, vec![REFUSED, LostBefore], run), expected("recovered", 2));
    assert_eq!(counted(2, vec![REFUSED; 3], run), expected("attempts_exhausted", 2));
    assert_eq!(counted(1, vec![LostBefore, Silent], run), expected("deadline", 1));
    assert_eq!(counted(4, vec![LostAfter], run), expected("claim_rejected", 1));
    let throw = async |stub: ProbeStub| drop(stub.throw_dressed().await);
    assert_eq!(counted(4, vec![REFUSED], throw), expected("not_retryable", 1));
    let give_up = async |stub: ProbeStub| {
        let plan = Plan { takes_ms: 60_000, ..Plan::default() };
        timeout(Duration::from_secs(5), stub.run(plan)).await.unwrap_err();
    };
    assert_eq!(counted(4, vec![REFUSED], give_up), expected("cancelled", 1));
}

#[test]
fn a_call_that_does_not_retry_is_not_counted() {
    let run = async |stub: ProbeStub| drop(stub.run(Plan::default()).await);
    assert_eq!(counted(4, vec![], run), Counted::new());
    assert_eq!(counted(0, vec![REFUSED], run), Counted::new());
}

/// Keeps every span and event, in the order in which they began.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    spans: Vec<Span>,
    by_id: HashMap<u64, usize>,
    entered: Vec<u64>,
    events: Vec<Fields>,
}

#[derive(Clone, Debug, Default)]
struct Span {
    name: String,
    parent: Option<String>,
    fields: Fields,
}

#[derive(Clone, Debug, Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Subscriber for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("oncemore")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut log = self.0.lock().unwrap();
        let parent = log.entered.last().and_then(|id| log.by_id.get(id)).map(|at| log.spans[*at].name.clone());
        let mut span = Span { name: attributes.metadata().name().to_owned(), parent, fields: Fields::default() };
        attributes.record(&mut span.fields);
        let at = log.spans.len();
        log.by_id.insert(id, at);
        log.spans.push(span);
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut log = self.0.lock().unwrap();
        let at = log.by_id[&id.into_u64()];
        values.record(&mut log.spans[at].fields);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().unwrap().events.push(fields);
    }

    fn enter(&self, id: &Id) {
        self.0.lock().unwrap().entered.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        let mut log = self.0.lock().unwrap();
        let at = log.entered.iter().rposition(|entered| *entered == id.into_u64());
        at.map(|at| log.entered.remove(at));
    }
}

#[test]
fn calls_and_attempts_are_spans() {
    let kept = Kept::default();
    let _guard: DefaultGuard = tracing::subscriber::set_default(kept.clone());
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let network = Fated::new(&world.network, [LostAfter, Passes]);
        let stub: ProbeStub = world.caller_over(network).namespace::<Probe>().get_by_name("probe");
        stub.run(Plan::default()).await.unwrap_err();
    });
    let log = kept.0.lock().unwrap();
    let named = |name: &str| log.spans.iter().filter(|span| span.name == name).cloned().collect::<Vec<_>>();
    let (calls, attempts) = (named("call"), named("attempt"));
    assert_eq!((calls.len(), attempts.len()), (1, 2));
    let call = &calls[0].fields.0;
    assert_eq!((&*call["class"], &*call["method"], call["object"].len()), ("Probe", "run", 64));
    for (ordinal, attempt) in (1..).zip(&attempts) {
        assert_eq!(attempt.parent.as_deref(), Some("call"));
        let fields = &attempt.fields.0;
        assert_eq!(fields["ordinal"], ordinal.to_string());
        assert_eq!(fields["retry"], (ordinal > 1).to_string());
        assert_eq!((&*fields["number"], fields["caller"].len()), ("0", 32), "I2");
        assert!(fields.contains_key("born") && fields.contains_key("address"));
    }
    assert_eq!(attempts[0].fields.0["caller"], attempts[1].fields.0["caller"], "I2");
    let gate: Vec<_> = log.events.iter().filter(|event| event.0.get("message").is_some_and(|m| m == "gate")).collect();
    assert!(gate.iter().any(|event| event.0["fired"].contains("AdmittedNew")), "{gate:?}");
    assert!(gate.iter().any(|event| event.0["fired"].contains("RejectedClaimed")), "{gate:?}");
}
