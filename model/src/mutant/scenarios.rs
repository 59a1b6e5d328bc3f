//! The small worlds in which mutants are caught: each has just the calls and the faults that one mistake needs to show.
//!
//! The unbroken rules keep every promise in each of them. Where nothing depends on time, none passes: no cutoff falls
//! then, and the runs are short.

use oncemore_protocol::design::{Design, Retention};
use oncemore_protocol::rules::FirstRejection;

use crate::scenario::{
    CallKind, CallScript, CallerScript, Expect, Faults, Field, InnerScript, LimitSettings, Scenario, StoreSettings,
    WorldSettings,
};

/// No fault at all.
const NONE: Faults = Faults {
    max: None,
    lose_request: 0,
    lose_reply: 0,
    cut: 0,
    restart: 0,
    drain: 0,
    seize: 0,
    stale: 0,
    overload: 0,
    throw: 0,
    crash: 0,
    give_up: 0,
    abort: 0,
    reuse: 0,
    forget: 0,
    unreachable: 0,
    duplicate: 0,
};

/// The connection drops once, and the request arrives all the same.
const CUT: Faults = Faults { cut: 1, ..NONE };
/// One reply is lost.
const LOST_REPLY: Faults = Faults { lose_reply: 1, ..NONE };
/// One request is lost.
const LOST_REQUEST: Faults = Faults { lose_request: 1, ..NONE };
/// The object is restarted once.
const RESTART: Faults = Faults { restart: 1, ..NONE };
/// The object moves once, and its predecessor drains.
const DRAIN: Faults = Faults { drain: 1, ..NONE };
/// The object moves once, and its predecessor does not know.
const SEIZE: Faults = Faults { seize: 1, ..NONE };

/// A scenario of the default design, with one retry, without a clock.
fn world<const N: usize>(name: &str, about: &str, faults: Faults, callers: [CallerScript; N]) -> Scenario {
    Scenario {
        name: name.to_owned(),
        about: about.to_owned(),
        suite: false,
        store: StoreSettings::default(),
        limits: LimitSettings { retries_max: 1, ..LimitSettings::default() },
        world: WorldSettings { clock: false, ..WorldSettings::default() },
        faults,
        callers: callers.into(),
        expect: Expect::default(),
    }
}

/// The same, with a clock: the cutoff may fall at any moment.
fn timed(scenario: Scenario) -> Scenario {
    Scenario { world: WorldSettings { clock: true, ..scenario.world }, ..scenario }
}

/// The same, with a history: P13 and P14 are asked.
fn remembered(scenario: Scenario) -> Scenario {
    Scenario { world: WorldSettings { history: true, ..scenario.world }, ..scenario }
}

/// The same, with so many retries.
fn retries(retries_max: u8, scenario: Scenario) -> Scenario {
    Scenario { limits: LimitSettings { retries_max, ..scenario.limits }, ..scenario }
}

/// The same, with this store.
fn store(store: StoreSettings, scenario: Scenario) -> Scenario {
    Scenario { store, ..scenario }
}

/// The same, with another design.
fn design(design: Design, scenario: Scenario) -> Scenario {
    store(StoreSettings { design, ..scenario.store }, scenario)
}

/// The same, with room for one claim and its caller.
fn room_for_one(scenario: Scenario) -> Scenario {
    store(StoreSettings { capacity: Some(2), ..scenario.store }, scenario)
}

/// A caller that makes its calls one after the other.
fn caller<const N: usize>(calls: [CallScript; N]) -> CallerScript {
    CallerScript { skew_ms: 0, concurrent: false, calls: calls.into() }
}

/// A caller that makes its calls side by side.
fn side_by_side<const N: usize>(calls: [CallScript; N]) -> CallerScript {
    CallerScript { concurrent: true, ..caller(calls) }
}

/// An unmarked call that reads `x`.
fn read(name: &str) -> CallScript {
    CallScript {
        name: name.to_owned(),
        object: 0,
        marked: false,
        believed_marked: None,
        writes: Vec::new(),
        awaits: false,
        getter: false,
        unknown: false,
        kind: CallKind::Method,
        session_of: None,
        pipelined_on: None,
        inner: Vec::new(),
    }
}

/// An unmarked call that overwrites a field.
fn write(name: &str, field: Field) -> CallScript {
    CallScript { writes: vec![field], ..read(name) }
}

/// A marked call that overwrites `y`.
fn marked(name: &str) -> CallScript {
    CallScript { marked: true, ..write(name, Field::Y) }
}

/// One unmarked call that overwrites `x`.
fn alone() -> [CallerScript; 1] {
    [caller([write("k1", Field::X)])]
}

/// A marked call that overwrites `y`, and another caller's unmarked call that does too.
fn undone(awaits: bool) -> [CallerScript; 2] {
    [caller([CallScript { awaits, ..marked("k1") }]), caller([write("k2", Field::Y)])]
}

// ---- The caller ----

pub(super) fn late_first_attempt() -> Scenario {
    world("late-first-attempt", "The connection drops under a request that arrives all the same.", CUT, alone())
}

pub(super) fn late_only_attempt() -> Scenario {
    let about = "The connection drops under a request that arrives all the same, and no retry is allowed.";
    retries(0, world("late-only-attempt", about, CUT, alone()))
}

pub(super) fn lost_reply() -> Scenario {
    world("lost-reply", "The method ran, and its answer is lost.", LOST_REPLY, alone())
}

pub(super) fn lost_request() -> Scenario {
    world("lost-request", "The request is lost.", LOST_REQUEST, alone())
}

pub(super) fn restart_under_way() -> Scenario {
    world("restart-under-way", "The object is restarted under a request or a run.", RESTART, alone())
}

pub(super) fn sticky() -> Scenario {
    let faults = Faults { unreachable: 1, ..CUT };
    let about = "An attempt whose fate nobody knows is followed by one that never arrives.";
    retries(2, world("unknown-then-undelivered", about, faults, alone()))
}

pub(super) fn user_error() -> Scenario {
    world("user-error", "User code throws an error dressed as retryable.", Faults { throw: 1, ..NONE }, alone())
}

pub(super) fn full_queue() -> Scenario {
    world("full-queue", "A request finds the queue full.", Faults { overload: 1, ..NONE }, alone())
}

pub(super) fn epoch_lost() -> Scenario {
    world("epoch-lost", "The object moves under a run, and the predecessor does not know.", SEIZE, alone())
}

pub(super) fn no_retries() -> Scenario {
    let faults = Faults { unreachable: 1, ..NONE };
    retries(0, world("no-retries", "Connecting fails, and no retry is allowed.", faults, alone()))
}

pub(super) fn refused_for_ever() -> Scenario {
    let about = "A store that may not forget is full for good, and whom it refuses would try anew if it might.";
    let callers = [caller([write("k1", Field::X)]), caller([write("k2", Field::Y)])];
    let scenario = room_for_one(design(Design::VolatileOpen, world("refused-for-ever", about, NONE, callers)));
    retries(0, store(StoreSettings { first_rejection: FirstRejection::Fresh, ..scenario.store }, scenario))
}

pub(super) fn cutoff_in_backoff() -> Scenario {
    let faults = Faults { unreachable: 1, ..NONE };
    timed(world(
        "cutoff-in-backoff",
        "Connecting fails, and the cutoff falls while the call backs off.",
        faults,
        alone(),
    ))
}

pub(super) fn late_failure() -> Scenario {
    timed(world("late-failure", "The first failure comes late.", LOST_REQUEST, alone()))
}

pub(super) fn slow_first_attempt() -> Scenario {
    timed(world("slow-first-attempt", "Attempt 1 is still under way at the cutoff.", NONE, alone()))
}

pub(super) fn slow_retry() -> Scenario {
    let faults = Faults { unreachable: 1, ..NONE };
    timed(world("slow-retry", "A retry is still under way at the cutoff.", faults, alone()))
}

pub(super) fn two_failures() -> Scenario {
    let faults = Faults { unreachable: 2, ..NONE };
    world("two-failures", "Both attempts fail to connect.", faults, alone())
}

pub(super) fn failure_then_error() -> Scenario {
    let faults = Faults { unreachable: 1, throw: 1, ..NONE };
    world("failure-then-error", "Connecting fails, and then user code throws.", faults, alone())
}

pub(super) fn duplicated() -> Scenario {
    let faults = Faults { duplicate: 1, ..NONE };
    world("duplicated", "The network delivers a request twice.", faults, alone())
}

pub(super) fn duplicated_and_full() -> Scenario {
    let faults = Faults { duplicate: 1, overload: 1, ..NONE };
    let about = "The network delivers a request twice, and one of the two finds the queue full.";
    world("duplicated-and-full", about, faults, alone())
}

pub(super) fn pipelined() -> Scenario {
    let calls = [write("k1", Field::X), CallScript { pipelined_on: Some("k1".to_owned()), ..read("k2") }];
    world("pipelined", "A pending result is used, and a request is lost.", LOST_REQUEST, [caller(calls)])
}

pub(super) fn nested() -> Scenario {
    let inner = InnerScript { object: 1, marked: false, writes: vec![Field::X] };
    let faults = Faults { unreachable: 1, ..NONE };
    let about = "An object calls another object that cannot be reached.";
    let callers = [caller([CallScript { inner: vec![inner], ..write("k1", Field::X) }])];
    retries(0, world("nested", about, faults, callers))
}

pub(super) fn crash() -> Scenario {
    let faults = Faults { crash: 1, ..NONE };
    let callers = [caller([write("k1", Field::X), write("k2", Field::X)])];
    world("crash", "A caller dies, and its next life makes the next call.", faults, callers)
}

// ---- The gate ----

pub(super) fn believed_marked() -> Scenario {
    let call = CallScript { believed_marked: Some(true), ..write("k1", Field::X) };
    let about = "The caller believes that the method is marked, and the answer is lost.";
    world("believed-marked", about, LOST_REPLY, [caller([call])])
}

pub(super) fn late_after_restart() -> Scenario {
    let faults = Faults { cut: 1, restart: 1, ..NONE };
    let about = "D2: a first attempt arrives after its own retry, and after a restart.";
    timed(design(Design::VolatileClock, world("late-after-restart", about, faults, alone())))
}

pub(super) fn full_and_lost() -> Scenario {
    let faults = Faults { overload: 1, lose_reply: 1, ..NONE };
    world("full-and-lost", "A request finds the queue full, and the caller does not learn it.", faults, alone())
}

pub(super) fn getter() -> Scenario {
    let call = CallScript { getter: true, ..write("k1", Field::X) };
    world("getter", "Looking the method up runs user code, and the answer is lost.", LOST_REPLY, [caller([call])])
}

pub(super) fn overlapping() -> Scenario {
    let about = "A marked call is retried while its first run goes on, and another call overwrites what it wrote.";
    remembered(world("overlapping", about, CUT, undone(true)))
}

pub(super) fn overtaken() -> Scenario {
    let about = "A marked call's first attempt arrives after its retry, and another call overwrites what it wrote.";
    remembered(world("overtaken", about, CUT, undone(false)))
}

pub(super) fn settled_and_late() -> Scenario {
    let about = "A marked call's first attempt arrives after its caller's next call.";
    let callers = [caller([marked("k1"), write("k2", Field::Y)])];
    remembered(world("settled-and-late", about, CUT, callers))
}

pub(super) fn overtaken_by_restart() -> Scenario {
    let faults = Faults { cut: 1, restart: 1, ..NONE };
    let about = "A marked call's first attempt arrives after a restart, and after another call.";
    remembered(world("overtaken-by-restart", about, faults, undone(false)))
}

pub(super) fn draining() -> Scenario {
    world("draining", "The object moves, and its predecessor drains.", DRAIN, alone())
}

pub(super) fn stale_writer() -> Scenario {
    let about = "The object moves under a run, and somebody reads what it wrote.";
    let callers = [caller([write("k1", Field::X)]), caller([read("k2")])];
    remembered(world("stale-writer", about, SEIZE, callers))
}

pub(super) fn marked_session() -> Scenario {
    let later = CallScript { session_of: Some("k1".to_owned()), ..write("k2", Field::X) };
    world(
        "marked-session",
        "A session is opened by a marked call; an unmarked one follows.",
        NONE,
        [caller([marked("k1"), later])],
    )
}

pub(super) fn rejected_session() -> Scenario {
    let later = CallScript { session_of: Some("k1".to_owned()), ..write("k2", Field::X) };
    let about = "A session's first call is rejected, since its first attempt ran; another call follows.";
    world("rejected-session", about, LOST_REPLY, [caller([write("k1", Field::X), later])])
}

pub(super) fn unmarked_session() -> Scenario {
    let later = CallScript { session_of: Some("k1".to_owned()), ..write("k2", Field::X) };
    let about = "A session is opened by an unmarked call; another one follows.";
    world("unmarked-session", about, NONE, [caller([write("k1", Field::X), later])])
}

// ---- The store ----

pub(super) fn window() -> Scenario {
    let scenario = timed(world("window", "Claims are kept for a window of time.", LOST_REPLY, alone()));
    let settings = StoreSettings { retention: Retention::Time, window_ms: 700, ..scenario.store };
    let world = WorldSettings { lifetime_ms: Some(100), waiting_ms: Some(1), ..scenario.world };
    store(settings, Scenario { world, ..scenario })
}

pub(super) fn skew() -> Scenario {
    let callers = [CallerScript { skew_ms: 100, ..caller([write("k1", Field::X)]) }];
    let about = "D2: the caller's clock is ahead by as much as the margin allows for.";
    let scenario = timed(design(Design::VolatileClock, world("skew", about, RESTART, callers)));
    store(StoreSettings { margin_ms: 100, ..scenario.store }, scenario)
}

pub(super) fn settled_out_of_order() -> Scenario {
    let callers = [side_by_side([read("k1"), read("k2"), read("k3")])];
    world("settled-out-of-order", "A caller's calls run side by side.", NONE, callers)
}

pub(super) fn late_after_settling() -> Scenario {
    let about = "A first attempt arrives after its caller's next call.";
    world("late-after-settling", about, CUT, [caller([write("k1", Field::X), write("k2", Field::X)])])
}

pub(super) fn full_store() -> Scenario {
    let callers = [caller([write("k1", Field::X)]), caller([write("k2", Field::X)])];
    room_for_one(world("full-store", "The store is full, and a first attempt arrives late.", CUT, callers))
}

pub(super) fn recorded() -> Scenario {
    let callers = [side_by_side([write("k1", Field::X), write("k2", Field::X)])];
    design(Design::DurableResults, world("recorded", "D5: one caller makes two calls.", NONE, callers))
}

pub(super) fn restart_after_effect() -> Scenario {
    let about = "D5: the object is restarted after the effect of a marked call.";
    design(Design::DurableResults, world("restart-after-effect", about, RESTART, [caller([marked("k1")])]))
}
