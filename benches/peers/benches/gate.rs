//! The claim gate with so many claims live, beside what else remembers identities, and one cache line at random.
//!
//! With 32 unsettled for each caller, and with one; new calls, each of which makes the gate forget one claim, and
//! duplicates, which are refused.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

mod measure;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dashmap::DashMap;
use measure::ThreadTime;
use mimalloc::MiMalloc;
use oncemore_peers::figures::only_tried;
use oncemore_peers::object::{Object, Shape};
use oncemore_peers::peers::{Expiring, Lines, MapAndRing, Memory, Moka, Set, identity, mixed};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// 10 Mi last.
fn sizes() -> &'static [u64] {
    if only_tried() { &[1 << 10] } else { &[1 << 10, 1 << 17, 1 << 20, LARGEST] }
}

/// Takes its time to fill. So D1 and D2 go without what D3 has as well, for their stores are the same; and `moka`, which
/// takes longer than all others together.
const LARGEST: u64 = 10 << 20;

fn gates(criterion: &mut Criterion<ThreadTime>) {
    for live in sizes().iter().copied() {
        let mut lines = Lines::new(live);
        for group in [NEW, DUPLICATE] {
            measure(criterion, group, "one-cache-line", live, || {
                lines.next_line();
            });
        }
        drop(lines);
        for design in [Design::VolatileOpen, Design::VolatileClock, Design::VolatileIncarnation] {
            for (shape, name) in shapes(design, live) {
                let mut object = Object::full(shape);
                measure(criterion, NEW, &name, live, || object.admit());
                if design == Design::VolatileIncarnation {
                    measure(criterion, DUPLICATE, &name, live, || object.refuse());
                }
            }
        }
        peer(criterion, "map-and-ring", live, MapAndRing::new(live));
        peer(criterion, "hashbrown-set", live, Set::new(live));
        let map = DashMap::new();
        peer(criterion, "dashmap", live, Expiring::new(&map, live));
        drop(map);
        if live < LARGEST {
            peer(criterion, "moka", live, Moka::new(live));
        }
    }
}

const NEW: &str = "gate-new";
const DUPLICATE: &str = "gate-duplicate";

fn measure(criterion: &mut Criterion<ThreadTime>, group: &str, name: &str, live: u64, mut pass: impl FnMut()) {
    let mut group = criterion.benchmark_group(group);
    group.bench_function(BenchmarkId::new(name, live), |bencher| bencher.iter(&mut pass));
    group.finish();
}

/// With the watermark, and 32 unsettled or one; and D1, of which it is the usual retention, with time.
fn shapes(design: Design, live: u64) -> Vec<(Shape, String)> {
    let name = design.name();
    let timed = (Shape::timed(design, 32, live), format!("{name}-time"));
    let told = [32, 1].map(|window| (Shape::new(design, window, live), format!("{name}-{window}-a-caller")));
    match design {
        Design::VolatileOpen if live == LARGEST => vec![timed],
        Design::VolatileClock if live == LARGEST => Vec::new(),
        Design::VolatileOpen => told.into_iter().chain([timed]).collect(),
        Design::None
        | Design::VolatileClock
        | Design::VolatileIncarnation
        | Design::Durable
        | Design::DurableResults => told.to_vec(),
    }
}

fn peer<M: Memory>(criterion: &mut Criterion<ThreadTime>, name: &str, live: u64, mut memory: M) {
    let mut next = 0;
    let mut admit = |memory: &mut M| {
        assert!(memory.admit(identity(next)));
        next += 1;
    };
    (0..live).for_each(|_| admit(&mut memory));
    measure(criterion, NEW, name, live, || admit(&mut memory));
    let mut tried = 0;
    measure(criterion, DUPLICATE, name, live, || {
        tried += 1;
        // The younger half: a cache that is full may have given up some of the older.
        assert!(memory.knows(identity(next - 1 - mixed(tried) % (live / 2))));
    });
}

criterion_group! {
    name = gate;
    config = Criterion::default()
        .with_measurement(ThreadTime)
        .sample_size(10)
        .measurement_time(Duration::from_millis(300))
        .warm_up_time(Duration::from_millis(100));
    targets = gates
}
criterion_main!(gate);
