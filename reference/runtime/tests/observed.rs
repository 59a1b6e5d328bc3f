//! What is counted of calls (C10): counters and a histogram, by the names that `docs/reference.md` gives them.

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

use std::collections::BTreeMap;
use std::time::Duration;

use fated::{Fate, Fated};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use oncemore::RetryOptions;
use support::probe::{Plan, Probe, ProbeStub};
use support::{World, on_virtual_time};
use tokio::time::timeout;

use Fate::{LostAfter, LostBefore, Silent};

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
