//! What happens at the edges: objects that abort where they should not, hosts that leave while an object begins, settings
//! that are as large or as small as can be, and calls that are dropped wherever they wait.

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

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use fated::Fated;
use futures_util::future::LocalBoxFuture;
use oncemore::{
    AbortController, Cause, ClassOptions, Context, Delivery, Directory, Durability, Executor, Host, HostBuilder,
    InProcess, Listener, Namespace, Network, Remember, RetryOptions, Stream, durable_object,
};
use support::ledger::Ledger;
use support::probe::{Plan, Probe};
use support::{World, on_virtual_time};
use tokio::time::{Instant, sleep, timeout};

/// Does what its callers ask for, and what its name says while it is made.
struct Actor {
    context: Context,
}

#[durable_object]
impl Actor {
    #[construct]
    async fn new(context: Context) -> Self {
        let name = context.id().name().unwrap_or_default().to_owned();
        let lives: u32 = context.storage().get("lives").unwrap().unwrap_or_default();
        context.storage().put("lives", &(lives + 1)).unwrap();
        match (&*name, lives) {
            ("aborts at first", 0) => {
                // What it wrote is lost with it, so another object keeps count.
                let other = context.namespace::<Self>().get_by_name("counter");
                if other.count().await.unwrap() == 1 {
                    context.abort("it does not want to begin").await;
                }
            }
            ("never begins", _) => std::future::pending().await,
            ("asks first", _) => {
                context.namespace::<Self>().get_by_name("counter").count().await.unwrap();
            }
            _ => {}
        }
        Self { context }
    }

    async fn count(&self) -> u32 {
        let count = self.context.storage().get("count").unwrap().unwrap_or(0) + 1;
        self.context.storage().put("count", &count).unwrap();
        count
    }

    #[retryable]
    async fn counted(&self) -> u32 {
        self.context.storage().get("count").unwrap().unwrap_or(0)
    }

    async fn abort_after(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
        self.context.abort("as a test wants it").await;
    }

    async fn panic_after(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
        panic!("as a test wants it");
    }

    async fn dwell(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
    }

    /// Calls itself.
    async fn count_by_itself(&self) -> u32 {
        let name = self.context.id().name().unwrap();
        self.context.namespace::<Self>().get_by_name(name).count().await.unwrap()
    }

    /// Two calls at once.
    async fn count_two_others(&self) -> (u32, u32) {
        let actors = self.context.namespace::<Self>();
        let (one, two) = (actors.get_by_name("one"), actors.get_by_name("two"));
        let (one, two) = tokio::join!(one.count(), two.count());
        (one.unwrap(), two.unwrap())
    }

    /// Gives a call up, and then keeps the turn.
    async fn drop_a_call_then_dwell(&self) -> u32 {
        let slow = self.context.namespace::<Self>().get_by_name("slow");
        tokio::select! {
            _ = slow.dwell(60_000) => unreachable!(),
            () = sleep(Duration::from_millis(100)) => {}
        }
        let before: u32 = self.context.storage().get("count").unwrap().unwrap_or(0);
        sleep(Duration::from_secs(1)).await;
        let after: u32 = self.context.storage().get("count").unwrap().unwrap_or(0);
        after - before
    }

    /// A call from a task of its own.
    async fn count_from_a_task(&self, other: String) -> u32 {
        let other = self.context.namespace::<Self>().get_by_name(&other);
        tokio::task::spawn_local(async move { other.count().await.unwrap() }).await.unwrap()
    }

    /// Leaves a task behind that goes on writing when its object has gone.
    async fn leave_a_writer_behind(&self, ms: u64) {
        let context = self.context.clone();
        drop(tokio::task::spawn_local(async move {
            sleep(Duration::from_millis(ms)).await;
            context.storage().put("from beyond", &1).ok();
            sleep(Duration::from_secs(3600)).await;
        }));
    }
}

fn builder(world: &World, name: &str) -> HostBuilder {
    let builder = Host::builder(&world.directory).name(name).storage(world.data.path()).durability(Durability::Off);
    builder.network(world.network.clone()).listen(name).executor(Executor::local())
}

async fn host(world: &World, name: &str) -> Host {
    builder(world, name).class::<Actor>().start().await.unwrap()
}

fn actors(world: &World) -> Namespace<Actor> {
    world.caller().namespace()
}

/// On virtual time it costs nothing to wait for long.
async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match timeout(Duration::from_secs(600), future).await {
        Ok(output) => output,
        Err(_) => panic!("never: {what}"),
    }
}

#[test]
fn an_object_that_ends_while_it_is_handed_over_goes_where_it_should() {
    on_virtual_time(async {
        for panics in [false, true] {
            let world = World::new();
            let left = host(&world, "left").await;
            let actor = actors(&world).get_by_name("a");
            actor.count().await.unwrap();
            let right = host(&world, "right").await;
            let ends = async { if panics { actor.panic_after(500).await } else { actor.abort_after(500).await } };
            let moves = async {
                sleep(Duration::from_millis(100)).await;
                left.move_object(actor.as_stub().id(), "right").await.unwrap();
            };
            let (ended, ()) = soon("the move", async { tokio::join!(ends, moves) }).await;
            ended.unwrap_err();
            assert_eq!(soon("an answer", actor.count()).await.unwrap(), 2, "P16");
            // It did go there.
            drop(left);
            let began = Instant::now();
            assert_eq!(soon("an answer", actor.count()).await.unwrap(), 3);
            assert_eq!(began.elapsed(), Duration::ZERO, "nobody had to wait for a lease to run out");
            drop(right);
        }
    });
}

#[test]
fn an_object_that_aborts_while_it_is_made_fails_the_call_and_is_made_anew() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actor = actors(&world).get_by_name("aborts at first");
        let error = soon("the abort", actor.count()).await.unwrap_err();
        assert!(error.to_string().contains("it does not want to begin"), "{error}");
        assert_eq!(soon("the next life", actor.count()).await.unwrap(), 1);
    });
}

#[test]
fn a_host_shuts_down_in_time_although_an_object_never_begins() {
    on_virtual_time(async {
        let world = World::new();
        let first = host(&world, "first").await;
        let actor = actors(&world).get_by_name("never begins");
        let begins = tokio::task::spawn_local(async move { actor.count().await });
        sleep(Duration::from_millis(100)).await;
        soon("the end", first.shut_down()).await.unwrap();
        begins.abort();
    });
}

#[test]
fn an_object_that_never_begins_can_be_moved() {
    on_virtual_time(async {
        let world = World::new();
        let left = host(&world, "left").await;
        let actor = actors(&world).get_by_name("never begins");
        let object = actor.as_stub().id().clone();
        let begins = tokio::task::spawn_local(async move { actor.count().await });
        sleep(Duration::from_millis(100)).await;
        let _right = host(&world, "right").await;
        soon("the move", left.move_object(&object, "right")).await.unwrap();
        begins.abort();
    });
}

#[test]
fn an_object_may_call_another_one_while_it_is_made() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actors = actors(&world);
        assert_eq!(actors.get_by_name("asks first").count().await.unwrap(), 1);
        assert_eq!(actors.get_by_name("counter").counted().await.unwrap(), 1);
    });
}

#[test]
fn an_object_may_call_itself() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actor = actors(&world).get_by_name("a");
        assert_eq!(soon("an answer", actor.count_by_itself()).await.unwrap(), 1);
    });
}

#[test]
fn a_run_may_make_two_calls_at_once() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actor = actors(&world).get_by_name("a");
        assert_eq!(soon("an answer", actor.count_two_others()).await.unwrap(), (1, 1));
    });
}

#[test]
fn a_run_that_gave_a_call_up_has_the_turn_for_itself() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actor = actors(&world).get_by_name("a");
        let counts = async {
            sleep(Duration::from_millis(500)).await;
            actor.count().await
        };
        let (during, counted) = soon("answers", async { tokio::join!(actor.drop_a_call_then_dwell(), counts) }).await;
        assert_eq!((during.unwrap(), counted.unwrap()), (0, 1));
    });
}

#[test]
fn a_call_from_a_task_inside_a_run() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actor = actors(&world).get_by_name("a");
        assert_eq!(soon("an answer", actor.count_from_a_task("b".into())).await.unwrap(), 1);
    });
}

#[test]
fn what_an_object_left_behind_writes_nothing_and_keeps_nobody_out() {
    on_virtual_time(async {
        let world = World::new();
        let left = host(&world, "left").await;
        let actor = actors(&world).get_by_name("a");
        actor.leave_a_writer_behind(1000).await.unwrap();
        let _right = host(&world, "right").await;
        left.move_object(actor.as_stub().id(), "right").await.unwrap();
        // It writes before anybody has opened the storage under the next number.
        sleep(Duration::from_secs(10)).await;
        let told = soon("an answer", actor.count()).await;
        assert_eq!(told.map_err(|error| error.to_string()), Ok(1));
    });
}

#[test]
fn settings_as_large_or_as_small_as_can_be() {
    on_virtual_time(async {
        let extremes = [
            ClassOptions::new().queue_max(usize::MAX),
            ClassOptions::new().queue_max(1),
            ClassOptions::new().queue_max(0),
            ClassOptions::new().claims_max(u32::MAX),
            ClassOptions::new().claims_max(2),
            ClassOptions::new().claims_max(2).remember(Remember::Durably),
        ];
        for options in extremes {
            let world = World::new();
            let left = builder(&world, "left").class_with::<Actor>(options).drain_time(Duration::MAX);
            let left = left.lease(Duration::MAX).start().await.unwrap();
            let actor = actors(&world).get_by_name("a");
            sleep(Duration::from_secs(1)).await;
            for count in 1..=3 {
                assert_eq!(soon("an answer", actor.count()).await.unwrap(), count, "{options:?}");
            }
            let _right = builder(&world, "right").class_with::<Actor>(options).workers(0).start().await.unwrap();
            soon("the move", left.move_object(actor.as_stub().id(), "right")).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            assert_eq!(soon("an answer", actor.count()).await.unwrap(), 4, "{options:?}");
        }
    });
}

/// An object that does not like to go.
struct Clinging;

impl Drop for Clinging {
    fn drop(&mut self) {
        panic!("as a test wants it");
    }
}

#[durable_object]
impl Clinging {
    #[construct]
    fn new(_context: Context) -> Self {
        Self
    }

    async fn touch(&self) {}
}

#[test]
fn an_object_whose_handing_over_came_to_nothing_is_served_again() {
    on_virtual_time(async {
        let world = World::new();
        let left = builder(&world, "left").class::<Clinging>().start().await.unwrap();
        let _right = builder(&world, "right").class::<Clinging>().start().await.unwrap();
        let clinging = world.caller().namespace::<Clinging>();
        for name in 0..4 {
            let clinging = clinging.get_by_name(&name.to_string());
            clinging.touch().await.unwrap();
            // It drains, and its end is a panic before its successor is named.
            left.move_object(clinging.as_stub().id(), "right").await.unwrap();
            soon("an answer", clinging.touch()).await.unwrap();
        }
    });
}

#[test]
fn a_call_may_be_dropped_wherever_it_waits() {
    on_virtual_time(async {
        for polls in 0..40 {
            let world = World::new();
            let _host = builder(&world, "only").class::<Ledger>().start().await.unwrap();
            let ledger = world.caller().namespace::<Ledger>().get_by_name("a");
            {
                let mut call = pin!(ledger.append("dropped".into(), 20));
                let mut left = polls;
                let poll_some = poll_fn(|cx| {
                    if left == 0 {
                        return Poll::Ready(false);
                    }
                    left -= 1;
                    match call.as_mut().poll(cx) {
                        Poll::Ready(_) => Poll::Ready(true),
                        Poll::Pending => {
                            cx.waker().wake_by_ref();
                            Poll::Pending
                        }
                    }
                });
                poll_some.await;
            }
            sleep(Duration::from_secs(1)).await;
            // Whatever became of it, it is settled, and the next one is served.
            ledger.append("next".into(), 0).await.unwrap();
            let entries = ledger.entries().await.unwrap();
            assert!(entries.iter().filter(|entry| *entry == "dropped").count() <= 1, "{polls}: {entries:?}");
            assert_eq!(entries.last().unwrap(), "next");
        }
    });
}

#[test]
fn claims_are_forgotten_once_their_calls_are_over() {
    on_virtual_time(async {
        // One caller, and the claims of the calls that are under way; more would begin a new epoch.
        let world = World::new();
        let options = ClassOptions::new().claims_max(4);
        let _host = builder(&world, "only").class_with::<Ledger>(options).start().await.unwrap();
        let network = Fated::new(&world.network, []);
        let ledger = world.caller_over(network.clone()).namespace::<Ledger>().get_by_name("a");
        for round in 0..50_u32 {
            if round % 3 == 0 {
                timeout(Duration::from_millis(10), ledger.append("given up".into(), 50)).await.unwrap_err();
            }
            ledger.append("kept".into(), 0).await.unwrap();
        }
        // A new epoch would have turned those away that were addressed to the old one.
        assert_eq!(network.seen().len(), 67, "the store never was full");
    });
}

/// Counts the connections that are made.
#[derive(Clone, Debug)]
struct Counted {
    inner: InProcess,
    connections: Arc<AtomicUsize>,
}

impl Network for Counted {
    fn connect<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Stream>> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.inner.connect(address)
    }

    fn listen<'a>(&'a self, address: &'a str) -> LocalBoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.inner.listen(address)
    }
}

#[test]
fn a_signal_that_has_fired_before_sends_nothing() {
    on_virtual_time(async {
        let world = World::new();
        let _host = builder(&world, "only").class::<Ledger>().start().await.unwrap();
        let network = Counted { inner: world.network.clone(), connections: Arc::default() };
        let ledger = world.caller_over(network.clone()).namespace::<Ledger>().get_by_name("a");
        let controller = AbortController::new();
        controller.abort("too late");
        let aborted = support::ledger::LedgerStub::from(ledger.as_stub().with_signal(&controller.signal()));
        let error = aborted.append("1".into(), 0).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Aborted(_)), "{error:?}");
        sleep(Duration::from_secs(60)).await;
        assert_eq!(network.connections.load(Ordering::Relaxed), 0, "C7");
    });
}

#[test]
fn a_full_claim_store_begins_a_new_epoch_while_runs_go_on() {
    on_virtual_time(async {
        for remember in [Remember::ByIncarnation, Remember::Durably, Remember::WithResults] {
            let world = World::new();
            let options = ClassOptions::new().claims_max(6).remember(remember);
            let _host = builder(&world, "only").class_with::<Actor>(options).start().await.unwrap();
            // Each is a caller of its own, of whom the object remembers one.
            let calls = (0..40)
                .map(|_| actors(&world).get_by_name("a"))
                .map(|actor| async move { soon("an answer", actor.count_two_others()).await });
            let outcomes = futures_util::future::join_all(calls).await;
            let good = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            let unsure = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
            let unsure = unsure.filter(|error| error.delivery() != Delivery::NotDelivered).count();
            let one = actors(&world).get_by_name("one").counted().await;
            let one = one.unwrap() as usize;
            assert!(one >= good && one <= good + unsure, "{remember:?}: {one} of {good} and {unsure}");
        }
    });
}

#[test]
fn a_move_to_a_host_that_died_or_never_was() {
    on_virtual_time(async {
        let world = World::new();
        let left = host(&world, "left").await;
        let actor = actors(&world).get_by_name("a");
        actor.count().await.unwrap();
        let error = left.move_object(actor.as_stub().id(), "nowhere").await.unwrap_err();
        assert!(error.to_string().contains("no living host with the name nowhere serves the class Actor"), "{error}");
        // Dead, and the directory does not know it yet.
        let right = host(&world, "right").await;
        drop(right);
        left.move_object(actor.as_stub().id(), "right").await.unwrap();
        let stub = actors(&world).get_by_name_with("a", RetryOptions::new().timeout_ms(60_000).unwrap());
        assert_eq!(stub.count().await.unwrap(), 2);
    });
}

#[test]
fn what_still_runs_when_the_time_is_up_is_cut_off() {
    on_virtual_time(async {
        let world = World::new();
        let left = builder(&world, "left").class::<Actor>().drain_time(Duration::from_secs(2)).start().await.unwrap();
        let actor = actors(&world).get_by_name("a");
        let runs = actor.dwell(3_600_000);
        let moves = async {
            sleep(Duration::from_millis(100)).await;
            let right = host(&world, "right").await;
            left.move_object(actor.as_stub().id(), "right").await.unwrap();
            right
        };
        let began = Instant::now();
        let (ran, _right) = soon("the move", async { tokio::join!(runs, moves) }).await;
        let error = ran.unwrap_err();
        assert_eq!(error.delivery(), Delivery::Unknown, "{error:?}");
        assert!(began.elapsed() < Duration::from_secs(15));
        assert_eq!(actor.count().await.unwrap(), 1);
    });
}

#[test]
fn a_thousand_objects_are_served_at_once() {
    on_virtual_time(async {
        let world = World::new();
        let _host = host(&world, "only").await;
        let actors = actors(&world);
        let calls = (0..1000).map(|name| actors.get_by_name(&name.to_string()));
        let calls = calls.map(|actor| async move { actor.count().await.unwrap() });
        let counts = futures_util::future::join_all(calls).await;
        assert!(counts.iter().all(|count| *count == 1));
    });
}

/// How many threads this process has.
#[cfg(target_os = "linux")]
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("oncemore-host") || name.starts_with("oncemore-object")).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_host_leaves_no_thread_behind() {
    let data = tempfile::tempdir().unwrap();
    let directory = Directory::in_memory();
    let network = InProcess::new();
    for round in 0..3 {
        let host = Host::builder(&directory).class::<Actor>().storage(data.path()).durability(Durability::Off);
        let host = host.name("only").network(network.clone()).listen(format!("only-{round}")).start().await.unwrap();
        let caller = oncemore::Caller::builder(&directory).network(network.clone()).build();
        let actors: Namespace<Actor> = caller.namespace();
        actors.get_by_name("a").count_two_others().await.unwrap();
        let runs = tokio::spawn(async move { actors.get_by_name("b").dwell(3_600_000).await.unwrap_err() });
        actors_wait(&caller).await;
        drop(host);
        runs.abort();
    }
    // They end by themselves; this only gives them the time.
    let mut left = threads();
    for _ in 0..10_000 {
        if left.is_empty() {
            return;
        }
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(1));
        left = threads();
    }
    panic!("{left:?}");
}

/// Returns when the object has been asked once more, so that what was sent before has arrived.
#[cfg(target_os = "linux")]
async fn actors_wait(caller: &oncemore::Caller) {
    caller.namespace::<Actor>().get_by_name("c").count().await.unwrap();
}

#[test]
fn an_object_that_remembers_by_clock_takes_the_call_that_makes_it() {
    on_virtual_time(async {
        let world = World::new();
        let margin = Duration::from_secs(60);
        let options = ClassOptions::new().remember(Remember::ByClock { margin });
        let _host = world.host_with("only", options).await;
        let probes: Namespace<Probe> = world.caller().namespace();
        for object in ["a", "b"] {
            let first = probes.get_by_name(object).run(Plan::default()).await;
            assert_eq!(first.unwrap(), 1, "G10: a first-time call is never refused as a duplicate");
        }
    });
}
