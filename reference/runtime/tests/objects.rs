//! What an object's code may rely on: one thing at a time, no deadlock where objects call each other, and a memory that is
//! never ahead of its storage.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::cell::RefCell;
use std::time::Duration;

use futures_util::future::join_all;
use oncemore::{
    AbortController, CallError, Caller, Cause, ClassOptions, Context, Delivery, Directory, Durability, Executor, Host,
    InProcess, Kind, Namespace, Never, Reason, Remember, RetryOptions, durable_object,
};
use support::on_virtual_time;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// Two of these call each other.
struct Talker {
    context: Context,
    log: RefCell<Vec<String>>,
}

#[durable_object]
impl Talker {
    #[construct]
    fn new(context: Context) -> Self {
        Self { context, log: RefCell::default() }
    }

    /// Calls `other`, which calls this one again, until `depth` is used up.
    async fn bounce(&self, other: String, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let own = self.context.id().name().unwrap_or_default().to_owned();
        let other_stub = self.context.namespace::<Self>().get_by_name(&other);
        1 + other_stub.bounce(own, depth - 1).await.unwrap()
    }

    /// Takes time without waiting for another object: nothing else starts meanwhile.
    async fn dwell(&self, name: String) {
        self.log.borrow_mut().push(format!("{name} begins"));
        sleep(Duration::from_secs(1)).await;
        self.log.borrow_mut().push(format!("{name} ends"));
    }

    /// Waits for another object: others may start meanwhile.
    async fn ask(&self, other: String, name: String) {
        self.log.borrow_mut().push(format!("{name} begins"));
        let other = self.context.namespace::<Self>().get_by_name(&other);
        other.dwell(name.clone()).await.unwrap();
        self.log.borrow_mut().push(format!("{name} ends"));
    }

    async fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    async fn write_then_abort(&self) {
        self.context.storage().put("lost", &1).unwrap();
        self.context.abort("as a test wants it").await;
    }

    async fn write_then_panic(&self) {
        self.context.storage().put("lost", &1).unwrap();
        panic!("as a test wants it");
    }

    async fn lost(&self) -> Option<u32> {
        self.context.storage().get("lost").unwrap()
    }
}

struct World {
    directory: Directory,
    network: InProcess,
    data: TempDir,
}

impl World {
    fn new() -> Self {
        Self { directory: Directory::in_memory(), network: InProcess::new(), data: tempfile::tempdir().unwrap() }
    }

    async fn host(&self, name: &str) -> Host {
        self.host_with(name, ClassOptions::new()).await
    }

    async fn host_with(&self, name: &str, options: ClassOptions) -> Host {
        let builder = Host::builder(&self.directory).name(name).class_with::<Talker>(options);
        let builder = builder.storage(self.data.path()).durability(Durability::Off);
        builder.network(self.network.clone()).listen(name).executor(Executor::local()).start().await.unwrap()
    }

    fn caller(&self) -> Caller {
        Caller::builder(&self.directory).network(self.network.clone()).executor(Executor::local()).build()
    }

    fn talkers(&self) -> Namespace<Talker> {
        self.caller().namespace()
    }
}

#[test]
fn objects_may_call_each_other_in_a_circle() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let answered = world.talkers().get_by_name("a").bounce("b".into(), 7).await;
        assert_eq!(answered.unwrap(), 7);
    });
}

#[test]
fn one_run_begins_when_the_one_before_has_ended() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let talker = world.talkers().get_by_name("a");
        let (first, second) = tokio::join!(talker.dwell("1".into()), talker.dwell("2".into()));
        first.and(second).unwrap();
        assert_eq!(talker.log().await.unwrap(), ["1 begins", "1 ends", "2 begins", "2 ends"]);
    });
}

#[test]
fn others_run_while_one_waits_for_another_object() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let talker = world.talkers().get_by_name("a");
        let (asked, dwelt) = tokio::join!(talker.ask("b".into(), "1".into()), talker.dwell("2".into()));
        asked.and(dwelt).unwrap();
        let log = talker.log().await.unwrap();
        assert_eq!(log[..2], ["1 begins", "2 begins"]);
        // The answer that came first still waits for the turn.
        assert_eq!(log[2..], ["2 ends", "1 ends"]);
    });
}

#[test]
fn an_aborted_object_begins_anew_and_its_uncommitted_writes_are_undone() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let talker = world.talkers().get_by_name("a");
        let error = talker.write_then_abort().await.unwrap_err();
        assert_eq!((error.kind(), error.delivery()), (Kind::Disconnected, Delivery::Unknown), "{error:?}");
        assert_eq!(talker.lost().await.unwrap(), None);
        assert!(talker.log().await.unwrap().is_empty());
    });
}

#[test]
fn a_panic_fails_its_call_and_the_object_begins_anew() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let talker = world.talkers().get_by_name("a");
        let error = talker.write_then_panic().await.unwrap_err();
        assert_eq!((error.kind(), error.delivery(), error.attempts()), (Kind::Failed, Delivery::Delivered, 1));
        let Cause::Host(failure) = error.cause() else { panic!("{error:?}") };
        assert_eq!(failure.reason(), Reason::Panicked);
        assert_eq!(talker.lost().await.unwrap(), None);
    });
}

#[test]
fn a_moved_object_is_found_at_its_new_host() {
    on_virtual_time(async {
        for remember in [Remember::ByIncarnation, Remember::Durably, Remember::WithResults] {
            let world = World::new();
            let options = ClassOptions::new().remember(remember);
            let (left, right) = (world.host_with("left", options).await, world.host_with("right", options).await);
            let talkers = world.talkers();
            let talker = talkers.get_by_name("a");
            talker.dwell("1".into()).await.unwrap();
            let object = talkers.id_from_name("a");
            left.move_object(&object, "right").await.unwrap();
            right.move_object(&object, "left").await.unwrap();
            assert_eq!(talker.log().await.unwrap(), [""; 0], "the memory did not move");
        }
    });
}

#[test]
fn a_host_that_shuts_down_finishes_what_runs_and_sends_on_what_waits() {
    on_virtual_time(async {
        let world = World::new();
        let first = world.host("first").await;
        let talker = world.talkers().get_by_name("a");
        let (running, waiting) = (talker.dwell("1".into()), talker.dwell("2".into()));
        let shut_down = async {
            sleep(Duration::from_millis(500)).await;
            let second = world.host("second").await;
            first.shut_down().await.unwrap();
            second
        };
        let (running, waiting, _second) = tokio::join!(running, waiting, shut_down);
        running.unwrap();
        waiting.unwrap();
        assert_eq!(talker.log().await.unwrap(), ["2 begins", "2 ends"]);
    });
}

#[test]
fn what_waits_for_its_turn_is_not_claimed_and_goes_on_after_a_kill() {
    on_virtual_time(async {
        for remember in [Remember::Durably, Remember::WithResults] {
            let world = World::new();
            let options = ClassOptions::new().remember(remember);
            let host = world.host_with("only", options).await;
            let talker = world.talkers().get_by_name("a");
            talker.log().await.unwrap();
            let calls = join_all((0..4).map(|name| talker.dwell(name.to_string())));
            let kill = async {
                // When the second has begun: that was let in while two others waited.
                sleep(Duration::from_millis(1500)).await;
                drop(host);
                world.host_with("only", options).await
            };
            let (outcomes, _host) = tokio::join!(calls, kill);
            let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
            assert_eq!(failed.len(), 1, "only the one that ran may have run: {failed:?}");
            assert_eq!(failed[0].delivery(), Delivery::Unknown);
            assert_eq!(talker.log().await.unwrap().len(), 4, "the two that waited ran after the kill");
        }
    });
}

#[test]
fn a_queue_that_is_full_says_so_and_nothing_ran() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host_with("only", ClassOptions::new().queue_max(1)).await;
        let talker = world.talkers().get_by_name("a");
        talker.log().await.unwrap();
        let calls = (0..6).map(|name| talker.dwell(name.to_string()));
        let outcomes = join_all(calls).await;
        let refused: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert!(!refused.is_empty());
        for error in &refused {
            assert!(error.overloaded() && error.delivery() == Delivery::NotDelivered, "{error:?}");
            assert_eq!(error.attempts(), 1, "P8: nothing is retried after an overload");
        }
        let ran = talker.log().await.unwrap().len() / 2;
        assert_eq!(ran + refused.len(), 6);
    });
}

#[test]
fn an_abort_signal_ends_a_call_with_its_reason() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let controller = AbortController::new();
        let talker = world.talkers().get_by_name("a");
        let stub = talker.as_stub().with_signal(&controller.signal());
        let abort = async {
            sleep(Duration::from_millis(100)).await;
            controller.abort("had enough");
        };
        let began = Instant::now();
        let (outcome, ()) = tokio::join!(stub.call::<_, (), Never>("dwell", &("1",)), abort);
        let error: CallError = outcome.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(1));
        assert!(matches!(error.cause(), Cause::Aborted(reason) if &**reason == "had enough"), "{error:?}");
        assert_eq!(error.delivery(), Delivery::Unknown, "C9");
    });
}

#[test]
fn nobody_serves_the_class_until_a_host_starts() {
    on_virtual_time(async {
        let world = World::new();
        let talker = world.talkers().get_by_name_with("a", RetryOptions::new().max_retries(0).unwrap());
        let error = talker.log().await.unwrap_err();
        assert_eq!(error.delivery(), Delivery::NotDelivered);
        assert!(error.to_string().contains("no living host serves the class Talker"), "{error}");
        let _host = world.host("late").await;
        assert!(talker.log().await.unwrap().is_empty(), "P16");
    });
}

#[test]
fn subrequests_count_calls_and_not_retries() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let talkers: Namespace<Talker> = world.caller().with_subrequests(2).namespace();
        let talker = talkers.get_by_name("a");
        talker.log().await.unwrap();
        talker.log().await.unwrap();
        let error = talker.log().await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Subrequests(_)), "{error:?}");
        assert_eq!((error.attempts(), error.delivery()), (0, Delivery::NotDelivered));
    });
}

#[test]
fn an_object_that_nobody_calls_rests_and_is_found_again_at_once() {
    on_virtual_time(async {
        let world = World::new();
        let _host = world.host("only").await;
        let talker = world.talkers().get_by_name("a");
        talker.dwell("1".into()).await.unwrap();
        sleep(Duration::from_secs(100)).await;
        assert_eq!(talker.log().await.unwrap().len(), 2, "it was called again before it would rest");
        sleep(Duration::from_secs(121)).await;
        let began = Instant::now();
        assert!(talker.log().await.unwrap().is_empty(), "its memory was given back");
        assert_eq!(began.elapsed(), Duration::ZERO, "nobody had to send it on");
    });
}

#[test]
fn an_object_that_remembers_by_clock_does_not_rest() {
    on_virtual_time(async {
        let world = World::new();
        let options = ClassOptions::new().remember(Remember::ByClock { margin: Duration::ZERO });
        let _host = world.host_with("only", options).await;
        let talker = world.talkers().get_by_name("a");
        talker.dwell("1".into()).await.unwrap();
        sleep(Duration::from_secs(1000)).await;
        assert_eq!(talker.log().await.unwrap().len(), 2);
    });
}
