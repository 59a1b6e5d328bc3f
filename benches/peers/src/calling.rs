//! One call, as the engine makes it, by hand, and as other crates retry it.
//!
//! All of them retry the same [`Fates`]: an operation that is ready at once, and fails so many times before it succeeds.
//! All of them are polled by the same [`now_or_panic`], and nobody sleeps: the delay is computed as it always is, and what
//! would wait for it is ready. Where that cannot be, the function says so.

use std::cell::Cell;
use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime};

use backoff::backoff::Backoff as _;
use backon::{BackoffBuilder as _, ExponentialBuilder, Retryable as _};
pub use oncemore_benches::engine::{Clock, Generator};
use oncemore_benches::engine::{HERE, answered};
use oncemore_protocol::caller::{Call, Input, Next, Settlement, Terms};
use oncemore_protocol::failure::Failure;
use oncemore_protocol::identity::{CallerId, Header};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::Limits;
use oncemore_protocol::time::WallTime;
use retry_policies::{RetryDecision, RetryPolicy as _};
use tower::retry::budget::{Budget as _, TpsBudget};
use tower::{Service, service_fn};

/// How often a failed call may be retried, wherever there is a limit to set: more than any figure needs.
const RETRIES_MAX: u8 = 10;

/// What an attempt fails with.
pub type Broken = u32;

/// What attempts meet: so many failures, then an answer.
#[derive(Debug)]
pub struct Fates(Cell<u8>);

impl Fates {
    /// This many failures.
    #[must_use]
    pub const fn failing(failures: u8) -> Self {
        Self(Cell::new(failures))
    }

    /// The next attempt.
    pub fn attempt(&self) -> Ready<Result<u64, Broken>> {
        let left = self.0.get();
        if left == 0 {
            return ready(Ok(black_box(1)));
        }
        self.0.set(left - 1);
        ready(Err(black_box(2)))
    }
}

/// Polls a future that has nothing to wait for.
pub fn now_or_panic<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// A caller with the engine: its terms, its lane and its clock.
#[derive(Debug)]
pub struct Engine {
    terms: Terms,
    lane: Lane,
    clock: Clock,
    generator: Generator,
}

impl Engine {
    /// A caller that may retry as often as a figure asks for.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let limits = Limits::new(RETRIES_MAX, 60_000).unwrap();
        let terms = Terms { limits, ..Terms::default() };
        Self { terms, lane: Lane::new(CallerId::from_bits(3)), clock, generator: Generator(1, 2) }
    }

    /// One call: with an identity, its watermark, a deadline, delivery and doubt, the first failure, and a report.
    ///
    /// # Errors
    /// What the rules show of the failures.
    pub async fn call<F: Future<Output = Result<u64, Broken>>>(
        &mut self,
        mut attempt: impl FnMut(&Header) -> F,
    ) -> Result<u64, Broken> {
        let Self { terms, lane, clock, generator } = self;
        let began = clock.now();
        let (mut call, _) = Call::<Broken>::start(terms, true, began);
        let settlement = loop {
            // What is sent is not kept while the attempt is under way.
            let sending = {
                let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
                attempt(&sent.header)
            };
            let failure = match sending.await {
                Ok(value) => {
                    // A first attempt's answer is taken whenever it comes, so nobody need know when.
                    let now = if call.ordinal().0 == 1 { began } else { clock.now() };
                    match call.handle(terms, now, 0, Input::Answered).next {
                        Next::Settle(Settlement::Answered) => {
                            lane.settle(call.identity().unwrap().number);
                            return Ok(value);
                        }
                        next @ (Next::Wait | Next::Resolve(_) | Next::Sleep { .. } | Next::Settle(_)) => break next,
                    }
                }
                Err(failure) => Input::Failed(Failure::dropped(failure)),
            };
            match call.handle(terms, clock.now(), small(generator.draw()), failure).next {
                Next::Sleep { until } => {
                    ready(()).await;
                    match call.handle(terms, until, 0, Input::Timer).next {
                        Next::Resolve(_) => {}
                        next @ (Next::Wait | Next::Sleep { .. } | Next::Settle(_)) => break next,
                    }
                }
                next @ (Next::Wait | Next::Resolve(_) | Next::Settle(_)) => break next,
            }
        };
        lane.settle(call.identity().unwrap().number);
        Err(shown(settlement))
    }

    /// What the engine does for a call that succeeds at once, without a future around it: its number.
    pub fn answered_at_once(&mut self) -> u64 {
        answered(&self.terms, &mut self.lane, self.clock)
    }
}

/// What user code sees of a call that was not answered.
fn shown(next: Next<Broken>) -> Broken {
    match next {
        Next::Settle(Settlement::Failed(failure)) => failure.payload,
        Next::Settle(Settlement::Aborted(reason)) => reason,
        Next::Settle(Settlement::Answered | Settlement::Dropped)
        | Next::Wait
        | Next::Resolve(_)
        | Next::Sleep { .. } => {
            unreachable!("nobody asked for it")
        }
    }
}

/// A draw that makes a short delay, since time passes by no more than what the calls themselves take.
const fn small(bits: u64) -> u32 {
    (bits >> 44) as u32
}

/// The loop that people write: a number for each call, a deadline, a cap, full jitter, and the first failure kept.
///
/// It knows nothing of delivery, fences, commitment, reports, or what an object may forget.
#[derive(Debug)]
pub struct ByHand {
    number: u64,
    clock: Clock,
    generator: Generator,
}

impl ByHand {
    /// A caller that retries as the engine does.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { number: 0, clock, generator: Generator(1, 2) }
    }

    /// One call.
    ///
    /// # Errors
    /// The first failure, if there were too many.
    pub async fn call<F: Future<Output = Result<u64, Broken>>>(
        &mut self,
        mut attempt: impl FnMut(&(u64, u8)) -> F,
    ) -> Result<u64, Broken> {
        let cutoff = self.clock.now().after(Duration::from_secs(60));
        self.number += 1;
        let mut first = None;
        for ordinal in 1..=RETRIES_MAX + 1 {
            match attempt(&(self.number, ordinal)).await {
                Ok(value) => return Ok(value),
                Err(failure) => first = first.or(Some(failure)),
            }
            let cap = [500, 1000, 3000, 4000][usize::from(ordinal.min(4)) - 1] * 1_000_000u64;
            let delay = Duration::from_nanos(cap * u64::from(small(self.generator.draw())) / u64::from(u32::MAX));
            if self.clock.now().after(delay) >= cutoff {
                break;
            }
            ready(()).await;
        }
        Err(first.unwrap_or_default())
    }
}

/// A policy for [`tower::retry`]. Tower leaves delays to its users, and this one has none: it counts, and asks its budget.
#[derive(Clone, Debug)]
pub struct Attempts {
    left: u8,
    budget: Option<Arc<TpsBudget>>,
}

impl tower::retry::Policy<(), u64, Broken> for Attempts {
    type Future = Ready<()>;

    fn retry(&mut self, (): &mut (), result: &mut Result<u64, Broken>) -> Option<Self::Future> {
        if result.is_ok() {
            if let Some(budget) = &self.budget {
                budget.deposit();
            }
            return None;
        }
        let afforded = self.budget.as_ref().is_none_or(|budget| budget.withdraw());
        self.left = self.left.checked_sub(1).filter(|_| afforded)?;
        Some(ready(()))
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

impl Attempts {
    /// Ten retries, with a budget that never runs out, or without one.
    #[must_use]
    pub fn new(with_budget: bool) -> Self {
        let budget = with_budget.then(|| Arc::new(TpsBudget::new(Duration::from_secs(10), 10_000_000, 1.0)));
        Self { left: RETRIES_MAX, budget }
    }
}

/// [`tower::retry`], made as its `Layer` would make it for each call.
pub fn tower_retry(policy: &Attempts, fates: &Fates) -> impl Future<Output = Result<u64, Broken>> {
    tower::retry::Retry::new(policy.clone(), service_fn(|()| fates.attempt())).call(())
}

/// `backon`, exponential with jitter.
pub fn backon(fates: &Fates) -> impl Future<Output = Result<u64, Broken>> {
    (|| fates.attempt()).retry(backon_delays()).sleep(|_| ready(()))
}

fn backon_delays() -> ExponentialBuilder {
    ExponentialBuilder::default().with_jitter().with_max_times(usize::from(RETRIES_MAX))
}

/// `tokio-retry2`, exponential with jitter. It sleeps on tokio's timer and nowhere else: each delay is cut to nothing
/// after it has been computed, and tokio's clock stands still ([`stopped_clock`]), so that the timer has fired already.
/// What arming it costs stays in the figure.
pub fn tokio_retry2(fates: &Fates) -> impl Future<Output = Result<u64, Broken>> {
    use tokio_retry2::{Retry, RetryError};
    let attempt = || async { fates.attempt().await.map_err(RetryError::transient) };
    Retry::spawn(tokio_retry2_delays().map(|_| Duration::ZERO), attempt)
}

fn tokio_retry2_delays() -> impl Iterator<Item = Duration> {
    use tokio_retry2::strategy::{ExponentialBackoff, jitter};
    ExponentialBackoff::from_millis(10).max_delay(Duration::from_secs(60)).map(jitter).take(usize::from(RETRIES_MAX))
}

/// A runtime whose clock stands still.
#[must_use]
pub fn stopped_clock() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

struct Sleepless;

impl backoff::future::Sleeper for Sleepless {
    type Sleep = Ready<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        ready(())
    }
}

/// `backoff`, with its defaults: exponential with jitter, a quarter of an hour in all. Nobody maintains it any more.
pub fn backoff(fates: &Fates) -> impl Future<Output = Result<u64, Broken>> {
    let attempt = || async { fates.attempt().await.map_err(backoff::Error::transient) };
    let ignore = |_: Broken, _: Duration| {};
    backoff::future::Retry::new(Sleepless, backoff::ExponentialBackoff::default(), ignore, attempt)
}

fn retry_policy() -> retry_policies::policies::ExponentialBackoff {
    retry_policies::policies::ExponentialBackoff::builder().build_with_max_retries(u32::from(RETRIES_MAX))
}

/// `retry-policies`, which only decides: the loop around it is as short as can be.
///
/// # Errors
/// The last failure, if there were too many.
pub async fn retry_policies(fates: &Fates) -> Result<u64, Broken> {
    let (policy, began) = (retry_policy(), SystemTime::now());
    let mut retries = 0;
    loop {
        let failure = match fates.attempt().await {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        let RetryDecision::Retry { execute_after } = policy.should_retry(began, retries) else { return Err(failure) };
        black_box(execute_after);
        ready(()).await;
        retries += 1;
    }
}

/// No engine at all.
///
/// # Errors
/// The attempt's failure.
pub async fn bare(fates: &Fates) -> Result<u64, Broken> {
    fates.attempt().await
}

/// A peer's calls, from their start to their end, and what its future takes.
pub struct Peer<'a> {
    /// Its name.
    pub name: &'static str,
    /// Makes one call that fails so many times first.
    pub call: Box<dyn FnMut(u8) -> Result<u64, Broken> + 'a>,
    /// How many bytes a call under way takes.
    pub bytes: usize,
}

impl std::fmt::Debug for Peer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("name", &self.name).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// All that retry, the engine and the loop by hand first. Each is one call through a pointer, which costs all the same.
#[must_use]
pub fn peers(origin: Instant) -> Vec<Peer<'static>> {
    let mut all = Vec::new();
    for (name, clock) in [("engine-exact", Clock::Exact(origin)), ("engine-coarse", Clock::Coarse)] {
        let mut engine = Engine::new(clock);
        let bytes = size_of_val(&Engine::new(clock).call(|_| ready(Ok(0))));
        let call = move |failures| {
            let fates = Fates::failing(failures);
            now_or_panic(engine.call(|header| {
                black_box(header);
                fates.attempt()
            }))
        };
        all.push(Peer { name, call: Box::new(call), bytes });
    }
    for (name, clock) in [("by-hand-exact", Clock::Exact(origin)), ("by-hand-coarse", Clock::Coarse)] {
        let mut by_hand = ByHand::new(clock);
        let bytes = size_of_val(&ByHand::new(clock).call(|_| ready(Ok(0))));
        let call = move |failures| {
            let fates = Fates::failing(failures);
            now_or_panic(by_hand.call(|carried| {
                black_box(carried);
                fates.attempt()
            }))
        };
        all.push(Peer { name, call: Box::new(call), bytes });
    }
    for (name, with_budget) in [("tower", false), ("tower-with-budget", true)] {
        let policy = Attempts::new(with_budget);
        let bytes = size_of_val(&tower_retry(&policy, &Fates::failing(0)));
        let call = move |failures| now_or_panic(tower_retry(&policy, &Fates::failing(failures)));
        all.push(Peer { name, call: Box::new(call), bytes });
    }
    all.extend(crates());
    all
}

fn crates() -> [Peer<'static>; 4] {
    let none = Fates::failing(0);
    [
        Peer {
            name: "backon",
            call: Box::new(|failures| now_or_panic(backon(&Fates::failing(failures)))),
            bytes: size_of_val(&backon(&none)),
        },
        Peer {
            name: "backoff",
            call: Box::new(|failures| now_or_panic(backoff(&Fates::failing(failures)))),
            bytes: size_of_val(&backoff(&none)),
        },
        Peer {
            name: "retry-policies",
            call: Box::new(|failures| now_or_panic(retry_policies(&Fates::failing(failures)))),
            bytes: size_of_val(&retry_policies(&none)),
        },
        Peer {
            name: "tokio-retry2",
            call: Box::new(|failures| now_or_panic(tokio_retry2(&Fates::failing(failures)))),
            bytes: size_of_val(&tokio_retry2(&none)),
        },
    ]
}

/// How many decisions one pass of [`deciders`] takes.
pub const DECISIONS: u8 = RETRIES_MAX;

/// A name, and ten decisions one after the other: try again, and when?
pub type Decider = (&'static str, Box<dyn FnMut() -> u64>);

/// What only decides, without an attempt. The engine is told of each failure and of the end of each sleep, and is given
/// each attempt's identity anew; so are its peers' deadlines and clocks part of what they decide by.
#[must_use]
pub fn deciders(origin: Instant) -> Vec<Decider> {
    let mut all: Vec<Decider> = Vec::new();
    for (name, clock) in [("engine-exact", Clock::Exact(origin)), ("engine-coarse", Clock::Coarse)] {
        let mut engine = Engine::new(clock);
        all.push((name, Box::new(move || decisions(&mut engine))));
    }
    let passed = |delay: Duration| u64::from(delay.subsec_nanos());
    all.push(("backon", Box::new(move || backon_delays().build().map(passed).sum())));
    all.push(("tokio-retry2", Box::new(move || tokio_retry2_delays().map(passed).sum())));
    let mut endless = backoff::ExponentialBackoff::default();
    let decide = move || {
        endless.reset();
        (0..DECISIONS).filter_map(|_| endless.next_backoff()).map(passed).sum()
    };
    all.push(("backoff", Box::new(decide)));
    let began = SystemTime::now();
    let decide = move || {
        let policy = retry_policy();
        let decided = (0..u32::from(DECISIONS)).map(|retries| policy.should_retry(began, retries));
        decided.filter(|decision| matches!(decision, RetryDecision::Retry { .. })).count() as u64
    };
    all.push(("retry-policies", Box::new(decide)));
    all
}

fn decisions(engine: &mut Engine) -> u64 {
    let Engine { terms, lane, clock, generator } = engine;
    let (mut call, _) = Call::<Broken>::start(terms, true, clock.now());
    let mut passed = 0;
    for _ in 0..DECISIONS {
        black_box(call.resolved(terms, lane, HERE, WallTime::default()).unwrap());
        let failure = Input::Failed(Failure::dropped(2));
        let Next::Sleep { until } = call.handle(terms, clock.now(), small(generator.draw()), failure).next else {
            panic!("the engine gave up");
        };
        passed += until.as_nanos();
        black_box(call.handle(terms, until, 0, Input::Timer).next);
    }
    lane.settle(call.identity().unwrap().number);
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_make_as_many_attempts_as_there_are_failures() {
        let runtime = stopped_clock();
        let _entered = runtime.enter();
        for mut peer in peers(Instant::now()) {
            for failures in [0, 1, RETRIES_MAX] {
                assert_eq!((peer.call)(failures), Ok(1), "{peer:?}");
            }
        }
    }

    #[test]
    fn the_engine_and_the_loop_by_hand_give_up_with_the_first_failure() {
        let tries = Cell::new(0);
        let attempt = || {
            tries.set(tries.get() + 1);
            ready(Err(tries.get()))
        };
        assert_eq!(now_or_panic(Engine::new(Clock::Coarse).call(|_| attempt())), Err(1));
        assert_eq!(tries.replace(0), u32::from(RETRIES_MAX) + 1);
        assert_eq!(now_or_panic(ByHand::new(Clock::Coarse).call(|_| attempt())), Err(1));
        assert_eq!(tries.get(), u32::from(RETRIES_MAX) + 1);
    }
}
