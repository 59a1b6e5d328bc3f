//! The caller's engine: what one call costs beside the least that any such engine must do, and beside a loop by hand.
//!
//! The limit for a call that is answered at once is a fresh 128-bit identity and one reading of the clock. The engine's
//! figure includes the upkeep of the watermark: its lane hands a number out and settles it.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use oncemore_protocol::caller::{Call, Input, Next, Settlement, Terms};
use oncemore_protocol::failure::Failure;
use oncemore_protocol::identity::{CallerId, Incarnation};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::Limits;
use oncemore_protocol::time::{Time, WallTime};

const HERE: Incarnation = Incarnation(7);

/// How a figure's clock is read.
#[derive(Clone, Copy)]
enum Clock {
    /// The operating system's monotonic clock.
    Exact(Instant),
    /// A number that somebody else keeps up to date.
    Coarse,
}

impl Clock {
    fn now(self) -> Time {
        match self {
            Self::Exact(origin) => Time::from_nanos(u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX)),
            Self::Coarse => black_box(Time::from_nanos(1_000_000)),
        }
    }
}

/// Xorshift128+ (Vigna 2017): the cheapest generator that anybody would take identities from.
struct Generator(u64, u64);

impl Generator {
    fn next(&mut self) -> u64 {
        let (mut s1, s0) = (self.0, self.1);
        let result = s0.wrapping_add(s1);
        s1 ^= s1 << 23;
        (self.0, self.1) = (s0, s1 ^ s0 ^ (s1 >> 18) ^ (s0 >> 5));
        result
    }
}

/// One call that is answered at once. Success does not look at the clock again: its reading is the one that began it.
fn answered(terms: &Terms, lane: &mut Lane, clock: Clock) -> u64 {
    let now = clock.now();
    let (mut call, _) = Call::<u32>::start(terms, true, now);
    let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
    black_box(&sent.header);
    let step = call.handle(terms, now, 0, Input::Answered);
    assert!(matches!(step.next, Next::Settle(Settlement::Answered)));
    let number = sent.header.identity.unwrap().number;
    lane.settle(number);
    number.0
}

/// One call that fails `failures` times before it is answered; it does not sleep, time is told to have passed.
fn fails(terms: &Terms, lane: &mut Lane, clock: Clock, failures: u8, draw: u32) -> u64 {
    let (mut call, _) = Call::<u32>::start(terms, true, clock.now());
    for _ in 0..failures {
        let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
        black_box(&sent.header);
        let step = call.handle(terms, clock.now(), draw, Input::Failed(Failure::dropped(1)));
        let Next::Sleep { until } = step.next else { panic!("{step:?}") };
        let step = call.handle(terms, until, 0, Input::Timer);
        assert!(matches!(step.next, Next::Resolve(_)));
    }
    let sent = call.resolved(terms, lane, HERE, WallTime::default()).unwrap();
    black_box(&sent.header);
    let step = call.handle(terms, clock.now(), 0, Input::Answered);
    assert!(matches!(step.next, Next::Settle(Settlement::Answered)));
    let number = sent.header.identity.unwrap().number;
    lane.settle(number);
    number.0
}

/// The same by hand: an identity, a deadline, a cap, full jitter, and the first failure kept. It knows no fences, no
/// delivery and no reports.
struct ByHand {
    deadline: Duration,
    attempts_max: u8,
}

impl ByHand {
    fn call(&self, numbers: &mut u64, clock: Clock, failures: u8, draw: u32) -> Result<u64, u32> {
        let now = clock.now();
        let cutoff = now.after(self.deadline);
        *numbers += 1;
        let identity = *numbers;
        let mut first = None;
        for attempt in 1..=self.attempts_max {
            black_box((identity, attempt));
            if attempt > failures {
                return Ok(identity);
            }
            let failure = *first.get_or_insert(1);
            let cap = u64::from([500, 1000, 3000, 4000][usize::from(attempt.min(4)) - 1] as u32) * 1_000_000;
            let delay = Duration::from_nanos(cap * u64::from(draw) / u64::from(u32::MAX));
            if clock.now().after(delay) >= cutoff {
                return Err(failure);
            }
        }
        Err(first.unwrap_or_default())
    }
}

fn at_once(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call-answered-at-once");
    let (terms, origin) = (Terms::default(), Instant::now());
    for (name, clock) in [("exact", Clock::Exact(origin)), ("coarse", Clock::Coarse)] {
        let mut generator = Generator(1, 2);
        group.bench_function(BenchmarkId::new("limit", name), |bencher| {
            bencher.iter(|| black_box((generator.next(), generator.next(), clock.now())));
        });
        let mut lane = Lane::new(CallerId::from_bits(3));
        group.bench_function(BenchmarkId::new("engine", name), |bencher| {
            bencher.iter(|| black_box(answered(black_box(&terms), &mut lane, clock)));
        });
    }
    group.finish();
}

fn after_failures(criterion: &mut Criterion) {
    let limits = Limits::new(10, 60_000).unwrap();
    let terms = Terms { limits, ..Terms::default() };
    let by_hand = ByHand { deadline: Duration::from_secs(60), attempts_max: limits.attempts_max() };
    let origin = Instant::now();
    for (name, clock) in [("exact", Clock::Exact(origin)), ("coarse", Clock::Coarse)] {
        let mut group = criterion.benchmark_group(format!("call-that-fails-{name}-clock"));
        for failures in [1, 4, 10] {
            let mut numbers = 0;
            group.bench_function(BenchmarkId::new("by-hand", failures), |bencher| {
                bencher.iter(|| black_box(by_hand.call(&mut numbers, clock, black_box(failures), black_box(1 << 20))));
            });
            let mut lane = Lane::new(CallerId::from_bits(3));
            group.bench_function(BenchmarkId::new("engine", failures), |bencher| {
                bencher.iter(|| {
                    black_box(fails(black_box(&terms), &mut lane, clock, black_box(failures), black_box(1 << 20)))
                });
            });
        }
        group.finish();
    }
}

fn sizes(_: &mut Criterion) {
    println!("a call under way: {} bytes; a lane: {} bytes", size_of::<Call<u32>>(), size_of::<Lane>());
}

criterion_group! {
    name = caller;
    config = Criterion::default().sample_size(50).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    targets = at_once, after_failures, sizes
}
criterion_main!(caller);
