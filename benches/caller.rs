//! The caller's engine: what one call costs beside the least that any such engine must do, and beside a loop by hand.
//!
//! The limit for a call that is answered at once is a fresh 128-bit identity and one reading of the clock. The engine's
//! figure includes the upkeep of the watermark: its lane hands a number out and settles it.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use oncemore_benches::engine::{ByHand, Clock, Generator, answered, fails};
use oncemore_protocol::caller::{Call, Terms};
use oncemore_protocol::identity::CallerId;
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::Limits;

fn at_once(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call-answered-at-once");
    let (terms, origin) = (Terms::default(), Instant::now());
    for (name, clock) in [("exact", Clock::Exact(origin)), ("coarse", Clock::Coarse)] {
        let mut generator = Generator(1, 2);
        group.bench_function(BenchmarkId::new("limit", name), |bencher| {
            bencher.iter(|| black_box((generator.draw(), generator.draw(), clock.now())));
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
