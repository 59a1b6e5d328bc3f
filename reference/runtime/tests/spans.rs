//! The spans and events that there are to see of a call, by the names that `docs/reference.md` gives them.
//!
//! Alone in its file: whether anybody listens to a span is remembered for the whole process, so that another test on
//! another thread could make this one deaf.

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

use fated::Fate::{LostAfter, Passes};
use fated::Fated;
use support::probe::{Plan, Probe, ProbeStub};
use support::{World, on_virtual_time};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

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
