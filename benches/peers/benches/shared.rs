//! Admissions with one thread for each core: each with a gate of its own, or all with one gate behind a lock, or with one
//! map that is made to be shared.
//!
//! A million claims are live in all. A gate belongs to one object, and an object to one thread, so the first is how the
//! runtime does it; the second is what it would cost not to.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use dashmap::DashMap;
use mimalloc::MiMalloc;
use oncemore_peers::figures::only_tried;
use oncemore_peers::object::{Object, Shape};
use oncemore_peers::peers::{Expiring, MapAndRing, Memory, Moka, Set, identity};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many admissions of each thread one sample is made of, so that starting threads does not count.
const EACH: u64 = 20_000;

fn live() -> u64 {
    if only_tried() { 1 << 12 } else { 1 << 20 }
}

fn shared(criterion: &mut Criterion) {
    let threads = thread::available_parallelism().unwrap().get() as u64;
    let mut group = criterion.benchmark_group("gate-shared");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(threads * EACH));
    let shape = |live| Shape::new(Design::VolatileIncarnation, 32, live);
    let mut own: Vec<Object> = (0..threads).map(|_| Object::full(shape(live() / threads))).collect();
    measure(&mut group, "D3-a-gate-each", &mut own, Object::admit);
    drop(own);

    let one = Mutex::new(Object::full(shape(live())));
    let mut handles: Vec<&Mutex<Object>> = (0..threads).map(|_| &one).collect();
    measure(&mut group, "D3-one-gate-behind-a-lock", &mut handles, |object| object.lock().unwrap().admit());

    let mut own: Vec<_> =
        (0..threads).map(|thread| filled(Set::new(live() / threads), thread, live() / threads)).collect();
    measure(&mut group, "hashbrown-set-each", &mut own, Numbered::admit);

    let one = MapAndRing::new(live());
    let mut handles: Vec<_> = (0..threads).map(|thread| filled(&one, thread, live() / threads)).collect();
    measure(&mut group, "map-and-ring-behind-a-lock", &mut handles, Numbered::admit);

    let map = DashMap::new();
    let part = |thread| filled(Expiring::new(&map, live() / threads), thread, live() / threads);
    let mut handles: Vec<_> = (0..threads).map(part).collect();
    measure(&mut group, "dashmap-shared", &mut handles, Numbered::admit);

    let cache = Moka::new(live());
    let mut handles: Vec<_> = (0..threads).map(|thread| filled(cache.clone(), thread, live() / threads)).collect();
    measure(&mut group, "moka-shared", &mut handles, Numbered::admit);
    group.finish();
}

/// A memory, and the identities that its thread is given.
struct Numbered<M> {
    memory: M,
    next: u64,
}

/// Each thread's identities are its own.
fn filled<M: Memory>(memory: M, thread: u64, live: u64) -> Numbered<M> {
    let mut numbered = Numbered { memory, next: thread << 40 };
    (0..live).for_each(|_| numbered.admit());
    numbered
}

impl<M: Memory> Numbered<M> {
    fn admit(&mut self) {
        assert!(self.memory.admit(identity(self.next)));
        self.next += 1;
    }
}

/// All threads admit at once; what counts is how long the last one takes.
fn measure<T: Send>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    handles: &mut [T],
    admit: impl Fn(&mut T) + Sync,
) {
    let once = |handles: &mut [T]| {
        let start = Barrier::new(handles.len());
        let run = |handle: &mut T| {
            start.wait();
            let began = Instant::now();
            for _ in 0..EACH {
                admit(handle);
            }
            began.elapsed()
        };
        thread::scope(|scope| {
            let threads: Vec<_> = handles.iter_mut().map(|handle| scope.spawn(|| run(handle))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap_or_default()
        })
    };
    group.bench_function(name, |bencher| bencher.iter_custom(|passes| (0..passes).map(|_| once(handles)).sum()));
}

criterion_group! {
    name = gates;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_millis(700))
        .warm_up_time(Duration::from_millis(200));
    targets = shared
}
criterion_main!(gates);
