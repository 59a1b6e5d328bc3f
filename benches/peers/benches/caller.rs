//! The caller's engine beside a bare future, a loop by hand, and the crates that people take for retries.
//!
//! On success every peer is cheap. The limit is a fresh 128-bit identity and one reading of the clock, which is the least
//! that lets an object see that two attempts are one call, and a caller give up in time. The engine's figure includes the
//! upkeep of the watermark: its lane hands a number out and settles it.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

mod measure;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use measure::ThreadTime;
use mimalloc::MiMalloc;
use oncemore_peers::calling::{
    Clock, DECISIONS, Engine, Fates, Generator, bare, deciders, now_or_panic, peers, stopped_clock,
};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn success(criterion: &mut Criterion<ThreadTime>) {
    let mut group = criterion.benchmark_group("caller-success");
    let (runtime, origin) = (stopped_clock(), Instant::now());
    let _entered = runtime.enter();
    let mut alone: Box<dyn FnMut(u8) -> Result<u64, u32>> =
        Box::new(|failures| now_or_panic(bare(&Fates::failing(failures))));
    group.bench_function("bare-future", |bencher| bencher.iter(|| black_box(alone(black_box(0)).unwrap())));
    for (name, clock) in [("limit-exact", Clock::Exact(origin)), ("limit-coarse", Clock::Coarse)] {
        let mut generator = Generator(1, 2);
        group.bench_function(name, |bencher| {
            // One by one: a value of three words would be copied, which costs more than to make it.
            bencher.iter(|| {
                black_box(generator.draw());
                black_box(generator.draw());
                black_box(clock.now());
            });
        });
    }
    for (name, clock) in [("engine-alone-exact", Clock::Exact(origin)), ("engine-alone-coarse", Clock::Coarse)] {
        let mut engine = Engine::new(clock);
        group.bench_function(name, |bencher| bencher.iter(|| black_box(engine.answered_at_once())));
    }
    for mut peer in peers(origin) {
        assert_eq!((peer.call)(0), Ok(1), "{peer:?}");
        group.bench_function(peer.name, |bencher| bencher.iter(|| black_box((peer.call)(black_box(0)).unwrap())));
    }
    group.finish();
}

fn failures(criterion: &mut Criterion<ThreadTime>) {
    let mut group = criterion.benchmark_group("caller-fails");
    let (runtime, origin) = (stopped_clock(), Instant::now());
    let _entered = runtime.enter();
    for mut peer in peers(origin) {
        for failures in [1, 4, 10] {
            assert_eq!((peer.call)(failures), Ok(1), "{peer:?}");
            group.bench_function(BenchmarkId::new(peer.name, failures), |bencher| {
                bencher.iter(|| black_box((peer.call)(black_box(failures)).unwrap()));
            });
        }
    }
    group.finish();
}

fn decisions(criterion: &mut Criterion<ThreadTime>) {
    let mut group = criterion.benchmark_group("caller-decisions");
    group.throughput(Throughput::Elements(u64::from(DECISIONS)));
    for (name, mut decide) in deciders(Instant::now()) {
        group.bench_function(name, |bencher| bencher.iter(|| black_box(decide())));
    }
    group.finish();
}

criterion_group! {
    name = caller;
    config = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(20)
        .measurement_time(Duration::from_millis(500))
        .warm_up_time(Duration::from_millis(200));
    targets = success, failures, decisions
}
criterion_main!(caller);
