//! Public reports of automatic retries that went wrong, each under its number: what this runtime does in its place.
//!
//! Case 29 is about checkers that pass for the wrong reason, and belongs to the checker alone. Where a report also speaks of
//! what a broken rule would do (mutants, thresholds such as the least safe retention in case 11), the model shows that part;
//! here are the rules as they are, through the public interface.

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

use std::collections::BTreeSet;
use std::time::Duration;

use fated::{Fate, Fated};
use oncemore::{
    CallError, Caller, Cause, ClassOptions, Context, Delivery, Durability, Executor, Host, HostBuilder, Kind,
    Namespace, Never, Refusal, Remember, RetryOptions, durable_object,
};
use support::ledger::{Ledger, LedgerStub};
use support::probe::{Plan, Probe, ProbeError, ProbeStub};
use support::{World, on_virtual_time};
use tokio::time::{Instant, sleep};

use Fate::{Held, LostAfter, LostBefore, Passes};

const REFUSED: Fate = Fate::Refused(Duration::ZERO);

/// The designs that do not look at clocks.
const DESIGNS: [Remember; 3] = [Remember::ByIncarnation, Remember::Durably, Remember::WithResults];

fn builder(world: &World, name: &str) -> HostBuilder {
    let builder = Host::builder(&world.directory).name(name).storage(world.data.path()).durability(Durability::Off);
    let builder = builder.network(world.network.clone()).listen(name).executor(Executor::local());
    builder.drain_time(Duration::from_secs(30))
}

async fn ledger_host(world: &World, name: &str, options: ClassOptions) -> Host {
    builder(world, name).class_with::<Ledger>(options).start().await.unwrap()
}

fn ledger(caller: &Caller) -> LedgerStub {
    caller.namespace::<Ledger>().get_by_name("ledger")
}

fn probe(caller: &Caller) -> ProbeStub {
    caller.namespace::<Probe>().get_by_name("probe")
}

fn takes(ms: u64) -> Plan {
    Plan { takes_ms: ms, ..Plan::default() }
}

/// How often the object's code ran, all told, once everything has come to rest.
async fn runs(world: &World) -> u32 {
    sleep(Duration::from_secs(60)).await;
    probe(&world.caller()).runs().await.unwrap()
}

/// A caller gets a lost connection to see, and is not told that the call did not run.
#[track_caller]
fn assert_unknown<E: std::fmt::Debug>(error: &CallError<E>) {
    assert_eq!((error.kind(), error.delivery()), (Kind::Disconnected, Delivery::Unknown), "{error:?}");
}

/// The dead connection: the request was handled, and its answer was lost.
#[test]
fn case_01() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let network = Fated::new(&world.network, [LostAfter]);
        let error = probe(&world.caller_over(network.clone())).run(Plan::default()).await.unwrap_err();
        assert_unknown(&error);
        assert!(matches!(error.cause(), Cause::Dropped(_)), "A3: the drop, not the rejection: {error:?}");
        assert_eq!((error.attempts(), network.met()), (2, 1));
        assert_eq!(runs(&world).await, 1, "A1");
    });
}

/// A later write is not undone by a copy of an earlier one that comes late.
#[test]
fn case_03() {
    on_virtual_time(async {
        for restarts in [false, true] {
            let world = World::new();
            let first = ledger_host(&world, "first", ClassOptions::new()).await;
            // The first attempt is on its way when its connection is given up; the second one is answered.
            let network = Fated::new(&world.network, [Held, Passes]);
            let ledger = ledger(&world.caller_over(network.clone()));
            let place = ledger.append_marked("4".into(), 0).await.unwrap();
            assert_eq!(place, 0);
            assert_eq!(ledger.append_marked("1".into(), 0).await.unwrap(), 1);
            let _second = if restarts {
                let second = ledger_host(&world, "second", ClassOptions::new()).await;
                drop(first);
                second
            } else {
                first
            };
            // What the network kept back arrives now.
            let late = network.release().await;
            assert_eq!(late, 1);
            sleep(Duration::from_secs(60)).await;
            assert_eq!(ledger.entries().await.unwrap(), ["4", "1"], "A5");
        }
    });
}

/// The refusal of the caller's own retry is not what it gets to see; whether the first attempt has ended or still runs.
#[test]
fn case_05() {
    on_virtual_time(async {
        for still_runs in [false, true] {
            let world = World::new();
            let _host = world.host("only").await;
            let network = Fated::new(&world.network, [if still_runs { Passes } else { LostAfter }]);
            let stub = probe(&world.caller_over(network.clone()));
            let cuts = async {
                sleep(Duration::from_secs(1)).await;
                if still_runs {
                    network.cut();
                }
            };
            let (told, ()) = tokio::join!(stub.run(takes(if still_runs { 8000 } else { 0 })), cuts);
            let error = told.unwrap_err();
            assert_unknown(&error);
            assert!(matches!(error.cause(), Cause::Dropped(_)) && error.attempts() == 2, "A3: {error:?}");
            assert_eq!(runs(&world).await, 1);
        }
    });
}

/// What the object's code throws ends the call, however it is dressed, and wherever the caller is.
#[test]
fn case_07() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let network = Fated::new(&world.network, [Passes, Passes]);
        let error = probe(&world.caller_over(network.clone())).throw_dressed().await.unwrap_err();
        assert_eq!((error.kind(), error.delivery()), (Kind::Disconnected, Delivery::Delivered), "F3");
        assert!(error.remote() && error.retryable() && matches!(error.thrown(), Some(ProbeError::Dressed)));
        assert_eq!((error.attempts(), network.seen().len()), (1, 1), "A4");
        assert_eq!(runs(&world).await, 1);
    });
    for apart in [false, true] {
        on_virtual_time(throws_dressed_at_an_object(apart));
    }
}

/// The caller is an object on the same host, or on another one.
async fn throws_dressed_at_an_object(apart: bool) {
    let world = World::new();
    let _both = if apart {
        (world.host("probes").await, builder(&world, "relays").class::<Relay>().start().await.unwrap())
    } else {
        let both = builder(&world, "both").class::<Probe>().class::<Relay>().start().await.unwrap();
        (both, builder(&world, "unneeded").class::<Ledger>().start().await.unwrap())
    };
    let relay = world.caller().namespace::<Relay>().get_by_name("relay");
    assert_eq!(relay.relay().await.unwrap(), 1, "A4: attempts of the inner call");
    assert_eq!(runs(&world).await, 1);
}

/// Calls the probe, and says in how many attempts that failed.
struct Relay {
    context: Context,
}

#[durable_object]
impl Relay {
    #[construct]
    fn new(context: Context) -> Self {
        Self { context }
    }

    async fn relay(&self) -> u8 {
        self.context.namespace::<Probe>().get_by_name("probe").throw_dressed().await.unwrap_err().attempts()
    }

    /// A call that does not reach its object, within one that has reached this one.
    async fn fail(&self) -> Result<(), ProbeError> {
        let nobody = self.context.namespace::<Ledger>().get_by_name("nobody");
        let inner = nobody.entries().await.unwrap_err();
        assert_eq!(inner.delivery(), Delivery::NotDelivered);
        Err(ProbeError::Inner(inner.to_string()))
    }

    async fn touch(&self) -> Result<(), Never> {
        Ok(())
    }
}

/// Attempts that queue behind a busy object are let in once; and what still waits when the caller gives up may run later.
#[test]
fn case_09() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host_with("only", ClassOptions::new().queue_max(10)).await;
        let busy = probe(&world.caller());
        let long = tokio::task::spawn_local(async move { busy.run(takes(30_000)).await });
        sleep(Duration::from_millis(10)).await;
        // Each is lost on its way back, as far as the caller can see: the connection drops while it waits.
        let network = Fated::new(&world.network, [Passes, Passes, Passes]);
        let cut = network.clone();
        let queued = probe(&world.caller_over(network.clone()));
        let options = RetryOptions::new().max_retries(2).unwrap();
        let queued = ProbeStub::from(queued.as_stub().with_options(options));
        let call = queued.run(Plan::default());
        let cuts = async move {
            for _ in 0..3 {
                sleep(Duration::from_secs(2)).await;
                cut.cut();
            }
        };
        let (told, ()) = tokio::join!(call, cuts);
        assert_unknown(&told.unwrap_err());
        assert!(network.seen().len() <= 3, "L4: {:?}", network.seen());
        long.await.unwrap().unwrap();
        assert_eq!(runs(&world).await, 2, "A1: the long one, and one of the copies, after its caller had been told");
    });
}

/// The record outlives every copy of the request: no time passes after which a retry is taken for new.
#[test]
fn case_11() {
    on_virtual_time(async {
        for remember in DESIGNS {
            let world = World::new();
            let _host = ledger_host(&world, "only", ClassOptions::new().remember(remember)).await;
            let network = Fated::new(&world.network, [Held, LostAfter]);
            let caller = world.caller_over(network.clone());
            let told = ledger(&caller).append("98".into(), 0).await;
            // An hour later its copy arrives, after others of the same caller and of another one.
            ledger(&caller).append("99".into(), 0).await.unwrap();
            ledger(&world.caller()).append("100".into(), 0).await.unwrap();
            sleep(Duration::from_secs(60 * 60)).await;
            assert_eq!(network.release().await, 1);
            sleep(Duration::from_secs(60)).await;
            let entries = ledger(&caller).entries().await.unwrap();
            assert_eq!(entries, ["98", "99", "100"], "A8, {remember:?}: {told:?}");
        }
    });
}

/// What is remembered does not depend on whether the object has restarted.
#[test]
fn case_13() {
    on_virtual_time(async {
        for remember in DESIGNS {
            let world = World::new();
            let options = ClassOptions::new().remember(remember);
            let first = ledger_host(&world, "only", options).await;
            let network = Fated::new(&world.network, [LostAfter]);
            let ledger = ledger(&world.caller_over(network.clone()));
            let call = ledger.append("1".into(), 0);
            let restarts = async {
                // Between the first attempt and the retry.
                while network.met() == 0 {
                    sleep(Duration::from_millis(1)).await;
                }
                drop(first);
                ledger_host(&world, "only", options).await
            };
            let (told, _second) = tokio::join!(call, restarts);
            if remember == Remember::WithResults {
                assert_eq!(told.unwrap(), 0, "what the first run returned");
            } else {
                assert_unknown(&told.unwrap_err());
            }
            assert_eq!(ledger.entries().await.unwrap(), ["1"], "A1, {remember:?}");
        }
    });
}

/// More callers than the object remembers: an old copy makes nothing new, and everybody is told something.
#[test]
fn case_15() {
    on_virtual_time(async {
        for remember in DESIGNS {
            let world = World::new();
            let options = ClassOptions::new().claims_max(4).remember(remember);
            let _host = ledger_host(&world, "only", options).await;
            let network = Fated::new(&world.network, [Held]);
            let first = world.caller_over(network.clone());
            let began = Instant::now();
            let mut told = vec![(0, ledger(&first).append("0".into(), 0).await)];
            for number in 1..8 {
                told.push((number, ledger(&world.caller()).append(number.to_string(), 0).await));
            }
            assert_eq!(network.release().await, 1);
            told.push((8, ledger(&first).append("8".into(), 0).await));
            assert!(began.elapsed() < Duration::from_secs(120), "L5");
            sleep(Duration::from_secs(60)).await;
            let entries = ledger(&world.caller()).entries().await.unwrap();
            for (number, told) in told {
                let times = entries.iter().filter(|entry| **entry == number.to_string()).count();
                match told {
                    Ok(_) => assert_eq!(times, 1, "{remember:?}: {number}"),
                    Err(error) if error.delivery() == Delivery::NotDelivered => assert_eq!(times, 0, "{error:?}"),
                    Err(_) => assert!(times <= 1, "{remember:?}: {number}"),
                }
            }
        }
    });
}

/// A duplicate arrives while the original runs, and the object could run it: the claim was made before the start.
#[test]
fn case_17() {
    on_virtual_time(async {
        for remember in DESIGNS {
            let world = World::new();
            let _host = world.host_with("only", ClassOptions::new().remember(remember)).await;
            let network = Fated::new(&world.network, [Passes]);
            let caller = world.caller_over(network.clone());
            let stub = probe(&caller);
            let cuts = async {
                sleep(Duration::from_secs(1)).await;
                network.cut();
            };
            let (told, ()) = tokio::join!(stub.run(takes(8000)), cuts);
            match told {
                // The retry waited until the object was free, and by then there was a result.
                Ok(run) => assert_eq!((run, remember), (1, Remember::WithResults)),
                Err(error) => assert_unknown(&error),
            }
            assert_eq!(runs(&world).await, 1, "A1, {remember:?}");
        }
    });
}

/// All words of up to four failures: a fresh identity only as long as every attempt surely did not arrive.
#[test]
fn case_19() {
    for length in 1..=4_usize {
        for word in 0..1_u32 << length {
            let fates: Vec<Fate> =
                (0..length).map(|at| if word >> at & 1 == 0 { REFUSED } else { LostBefore }).collect();
            on_virtual_time(sends_identities_by_the_rule(fates));
        }
    }
}

async fn sends_identities_by_the_rule(fates: Vec<Fate>) {
    let world = World::new();
    let _host = world.host("only").await;
    let network = Fated::new(&world.network, fates.clone());
    let options = RetryOptions::new().timeout_ms(60_000).unwrap();
    let stub = world.caller_over(network.clone()).namespace::<Probe>().get_by_name_with("probe", options);
    assert_eq!(stub.run(Plan::default()).await.unwrap(), 1, "{fates:?}");
    let first_unknown = fates.iter().position(|fate| *fate == LostBefore);
    // What is refused does not come as far as the wire.
    let sent = (0..=fates.len()).filter(|at| fates.get(*at) != Some(&REFUSED));
    let expected: Vec<bool> = sent.map(|at| first_unknown.is_some_and(|first| at > first)).collect();
    let seen = network.seen();
    assert_eq!(seen.iter().map(|seen| seen.retry).collect::<Vec<_>>(), expected, "A6 {fates:?}");
    let identities: BTreeSet<_> = seen.iter().map(|seen| (seen.caller, seen.number)).collect();
    assert_eq!(identities.len(), 1, "one identity from the first doubt on: {fates:?} {seen:?}");
    assert_eq!(runs(&world).await, 1, "A1");
}

/// No two calls ever have one identity, whoever makes them, at the same time or one after the other.
#[test]
fn case_21() {
    on_virtual_time(async {
        let world = World::new();
        let _host = ledger_host(&world, "only", ClassOptions::new()).await;
        let mut identities = BTreeSet::new();
        let mut calls = 0;
        for _ in 0..5 {
            let network = Fated::new(&world.network, []);
            let caller = world.caller_over(network.clone());
            // More at once than one sequence of numbers can name.
            let stubs: Vec<LedgerStub> = (0..80).map(|_| ledger(&caller)).collect();
            let made = stubs.iter().map(|stub| stub.append("x".into(), 0));
            assert!(futures_util::future::join_all(made).await.iter().all(Result::is_ok), "A7");
            calls += 80;
            identities.extend(network.seen().iter().map(|seen| (seen.caller, seen.number)));
        }
        assert_eq!(identities.len(), calls);
    });
}

/// A predecessor that drains starts nothing that it had queued, and the caller goes to the successor.
#[test]
fn case_23() {
    on_virtual_time(async {
        let world = World::new();
        let left = world.host("left").await;
        let stub = probe(&world.caller());
        let running = stub.run(takes(5000));
        let queued = async {
            sleep(Duration::from_millis(100)).await;
            stub.run(takes(1)).await
        };
        let moves = async {
            sleep(Duration::from_millis(500)).await;
            let right = world.host("right").await;
            left.move_object(stub.as_stub().id(), "right").await.unwrap();
            right
        };
        let (running, queued, _right) = tokio::join!(running, queued, moves);
        assert_eq!((running.unwrap(), queued.unwrap()), (1, 2), "A11: after the predecessor's last run");
        assert_eq!((stub.runs().await.unwrap(), stub.lives().await.unwrap()), (2, 2));
    });
}

/// A stub works again after its object's host has died, with and without retries.
#[test]
fn case_25() {
    on_virtual_time(async {
        for retries in [0, 4] {
            let world = World::new();
            let first = world.host("first").await;
            let options = RetryOptions::new().max_retries(retries).unwrap();
            let stub = world.caller().namespace::<Probe>().get_by_name_with("probe", options);
            let (lost, concurrent, second) = tokio::join!(stub.run(takes(5000)), stub.run(takes(5000)), async {
                sleep(Duration::from_secs(1)).await;
                drop(first);
                world.host("first").await
            });
            assert_unknown(&lost.unwrap_err());
            // It waited behind the other one, which nobody could tell from outside; with retries it reaches the next life.
            if let Err(error) = concurrent {
                assert_unknown(&error);
            }
            assert!(stub.run(Plan::default()).await.unwrap() <= 3, "L6");
            drop(second);
        }
    });
}

/// Attempts are counted one way: as many as the object was away for and one more, and never more than the limit.
#[test]
fn case_27() {
    on_virtual_time(async {
        for retries in [0, 1, 2, 10_u8] {
            for away in 0..=12_u8 {
                let world = World::new();
                let _host = world.host("only").await;
                let network = Fated::new(&world.network, vec![REFUSED; away.into()]);
                // One call is all that this caller may make, however often it is retried.
                let caller = world.caller_over(network.clone()).with_subrequests(1);
                let options = RetryOptions::new().max_retries(retries).unwrap().timeout_ms(60_000).unwrap();
                let stub = caller.namespace::<Probe>().get_by_name_with("probe", options);
                let told = stub.run(Plan::default()).await;
                let refused = usize::from(away.min(retries + 1));
                assert_eq!((network.met(), told.is_ok()), (refused, away <= retries), "L1: {away} of {retries}");
                if let Err(error) = told {
                    assert_eq!((error.attempts(), error.delivery()), (retries + 1, Delivery::NotDelivered));
                }
                let again = stub.run(Plan::default()).await.unwrap_err();
                assert!(matches!(again.cause(), Cause::Subrequests(_)), "L3: {again:?}");
            }
        }
    });
}

/// An object that was reached does not pass on that another one was not (F2).
#[test]
fn an_inner_failure_says_nothing_of_the_outer_call() {
    on_virtual_time(async {
        let world = World::new();
        let _host = builder(&world, "only").class::<Relay>().start().await.unwrap();
        let relays: Namespace<Relay> = world.caller().namespace();
        let relay = relays.get_by_name("relay");
        relay.touch().await.unwrap();
        let error = relay.fail().await.unwrap_err();
        assert_eq!((error.delivery(), error.attempts()), (Delivery::Delivered, 1), "{error:?}");
        assert!(!matches!(error.cause(), Cause::Refused(Refusal::Draining)));
    });
}
