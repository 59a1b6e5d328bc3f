//! The claim gate: admissions a second with many claims live, beside a set that only remembers.
//!
//! The limit is one cache line at random: whatever remembers that much must touch at least one that it did not expect.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::collections::{HashMap, HashSet, VecDeque};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use oncemore_benches::object::Object;
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const LIVE: [u64; 3] = [1_024, 131_072, 1_048_576];
/// How many numbers of one caller are unsettled at a time.
const WINDOW: u64 = 32;

/// What people write by hand: a set of identities behind a lock, and a ring that says which is the oldest.
struct Ring {
    seen: Mutex<(HashMap<u128, u64>, VecDeque<u128>)>,
    live: usize,
}

impl Ring {
    fn admit(&self, identity: u128) -> bool {
        let mut seen = self.seen.lock().unwrap();
        let (map, ring) = &mut *seen;
        if map.insert(identity, 1).is_some() {
            return false;
        }
        ring.push_back(identity);
        if ring.len() > self.live
            && let Some(oldest) = ring.pop_front()
        {
            map.remove(&oldest);
        }
        true
    }
}

/// Identities that are scattered as random ones are.
fn identity(index: u64) -> u128 {
    u128::from(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(index)
}

fn admissions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("admission");
    for live in LIVE {
        limit(&mut group, live);
        by_hand(&mut group, live);
        for design in [Design::VolatileOpen, Design::VolatileClock, Design::VolatileIncarnation, Design::Durable] {
            let mut object = Object::with(design, live, WINDOW);
            group.bench_function(BenchmarkId::new(format!("{}-new", design.name()), live), |bencher| {
                bencher.iter(|| assert!(object.admit()));
            });
        }
        for (name, window) in [("", WINDOW), ("-one-call-each", 1)] {
            let mut object = Object::with(Design::VolatileIncarnation, live, window);
            group.bench_function(BenchmarkId::new(format!("D3-duplicate{name}"), live), |bencher| {
                bencher.iter(|| assert!(object.refuse()));
            });
        }
        let mut object = Object::with(Design::VolatileIncarnation, live, 1);
        group.bench_function(BenchmarkId::new("D3-new-one-call-each", live), |bencher| {
            bencher.iter(|| assert!(object.admit()));
        });
    }
    group.finish();
}

type Group<'a> = criterion::BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn limit(group: &mut Group<'_>, live: u64) {
    // As many cache lines as there are claims; each says which comes next, so that no reading can begin before the last.
    let lines = usize::try_from(live.next_power_of_two()).unwrap();
    let memory: Vec<[u64; 8]> =
        (0..lines as u64).map(|index| [index.wrapping_mul(0x5851_f42d_4c95_7f2d) + 0x3039; 8]).collect();
    let mut at = 0u64;
    group.bench_function(BenchmarkId::new("one-cache-line", live), |bencher| {
        bencher.iter(|| {
            at = memory[(at as usize) & (lines - 1)][0].wrapping_add(at >> 17);
            black_box(at)
        });
    });
}

fn by_hand(group: &mut Group<'_>, live: u64) {
    let ring = Ring { seen: Mutex::default(), live: usize::try_from(live).unwrap() };
    let mut next = 0;
    while next < live {
        assert!(ring.admit(identity(next)));
        next += 1;
    }
    group.bench_function(BenchmarkId::new("map-and-ring", live), |bencher| {
        bencher.iter(|| {
            next += 1;
            assert!(ring.admit(identity(next)));
        });
    });
    let mut set: HashSet<u128> = (0..live).map(identity).collect();
    let mut index = 0;
    group.bench_function(BenchmarkId::new("set", live), |bencher| {
        bencher.iter(|| {
            index += 1;
            assert!(set.insert(identity(live + index - 1)));
            assert!(set.remove(&identity(index - 1)));
        });
    });
}

criterion_group! {
    name = gate;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    targets = admissions
}
criterion_main!(gate);
