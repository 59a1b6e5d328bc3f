//! The claim gate with so many claims live, beside what else remembers identities, and one cache line at random.
//!
//! With 32 unsettled for each caller, and with one; new calls, each of which makes the gate forget one claim, and
//! duplicates, which are refused.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

mod measure;

use std::time::Duration;

use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use dashmap::DashMap;
use measure::ThreadTime;
use mimalloc::MiMalloc;
use oncemore_peers::figures::only_tried;
use oncemore_peers::object::{Object, Shape};
use oncemore_peers::peers::{Expiring, Lines, MapAndRing, Memory, Moka, Set, identity, mixed};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const DESIGNS: [Design; 3] = [Design::VolatileOpen, Design::VolatileClock, Design::VolatileIncarnation];

type Group<'a> = BenchmarkGroup<'a, ThreadTime>;

/// 10 Mi last.
fn sizes() -> &'static [u64] {
    if only_tried() { &[1 << 10] } else { &[1 << 10, 1 << 17, 1 << 20, 10 << 20] }
}

fn new(criterion: &mut Criterion<ThreadTime>) {
    let mut group = criterion.benchmark_group("gate-new");
    for live in sizes().iter().copied() {
        limit(&mut group, live);
        for design in DESIGNS {
            if live > 1 << 20 && design == Design::VolatileClock {
                continue;
            }
            for (shape, name) in shapes(design, live) {
                let mut object = Object::full(shape);
                group.bench_function(BenchmarkId::new(name, live), |bencher| bencher.iter(|| object.admit()));
            }
        }
        for_each_peer(live, |name, memory| {
            let mut next = live;
            group.bench_function(BenchmarkId::new(name, live), |bencher| {
                bencher.iter(|| {
                    assert!(memory.admit(identity(next)));
                    next += 1;
                });
            });
        });
    }
    group.finish();
}

fn duplicate(criterion: &mut Criterion<ThreadTime>) {
    let mut group = criterion.benchmark_group("gate-duplicate");
    for live in sizes().iter().copied() {
        limit(&mut group, live);
        for (shape, name) in shapes(Design::VolatileIncarnation, live) {
            let mut object = Object::full(shape);
            group.bench_function(BenchmarkId::new(name, live), |bencher| bencher.iter(|| object.refuse()));
        }
        for_each_peer(live, |name, memory| {
            let mut tried = 0;
            group.bench_function(BenchmarkId::new(name, live), |bencher| {
                bencher.iter(|| {
                    tried += 1;
                    // The younger half: a cache that is full may have given up some of the older.
                    assert!(memory.knows(identity(live - 1 - mixed(tried) % (live / 2))));
                });
            });
        });
    }
    group.finish();
}

/// With the watermark, and 32 unsettled or one; and D1, of which it is the usual retention, with time.
///
/// With 10 Mi live, which take their time, D1 and D2 go without what D3 has as well: their stores are the same.
fn shapes(design: Design, live: u64) -> Vec<(Shape, String)> {
    let name = design.name();
    if live > 1 << 20 && design == Design::VolatileOpen {
        return vec![(Shape::timed(design, 32, live), format!("{name}-time"))];
    }
    let mut shapes = vec![
        (Shape::new(design, 32, live), format!("{name}-32-a-caller")),
        (Shape::new(design, 1, live), format!("{name}-1-a-caller")),
    ];
    if design == Design::VolatileOpen {
        shapes.push((Shape::timed(design, 32, live), format!("{name}-time")));
    }
    shapes
}

fn limit(group: &mut Group<'_>, live: u64) {
    let mut lines = Lines::new(live);
    group.bench_function(BenchmarkId::new("one-cache-line", live), |bencher| bencher.iter(|| lines.next_line()));
}

/// One after the other, each full.
fn for_each_peer(live: u64, mut measure: impl FnMut(&str, &mut dyn Memory)) {
    let filled = |memory: &mut dyn Memory| (0..live).for_each(|index| assert!(memory.admit(identity(index))));
    let mut memory = MapAndRing::new(live);
    filled(&mut memory);
    measure("map-and-ring", &mut memory);
    drop(memory);
    let mut memory = Set::new(live);
    filled(&mut memory);
    measure("hashbrown-set", &mut memory);
    drop(memory);
    let map = DashMap::new();
    let mut memory = Expiring::new(&map, live);
    filled(&mut memory);
    measure("dashmap", &mut memory);
    drop(memory);
    drop(map);
    // It takes longer to fill with 10 Mi than all others together.
    if live > 1 << 20 {
        return;
    }
    let mut memory = Moka::new(live);
    filled(&mut memory);
    measure("moka", &mut memory);
}

criterion_group! {
    name = gate;
    config = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(10)
        .measurement_time(Duration::from_millis(300))
        .warm_up_time(Duration::from_millis(100));
    targets = new, duplicate
}
criterion_main!(gate);
