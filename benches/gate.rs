//! The claim gate: admissions a second and bytes a claim, with many claims live, beside a set that only remembers.
//!
//! The limit is one cache line at random: whatever remembers that much must touch at least one that it did not expect.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::collections::{HashMap, HashSet, VecDeque};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use oncemore_protocol::design::{Design, Plan};
use oncemore_protocol::gate::{Answer, Decision, Gate, GateTerms, Request};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::rules::Spec;
use oncemore_protocol::store::Birth;
use oncemore_protocol::time::{Time, WallTime};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const HERE: Incarnation = Incarnation(1);
const LIVE: [u64; 3] = [1_024, 131_072, 1_048_576];
/// How many numbers of one caller are unsettled at a time.
const WINDOW: u64 = 32;

/// A sequence that visits callers as if at random (a Weyl sequence: odd increment, power of two).
fn scattered(index: u64, callers: u64) -> u64 {
    index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % callers
}

/// The bits of a caller's id, as random ones are (the finalizer of SplitMix64, Steele et al. 2014).
fn mixed(caller: u64) -> u64 {
    let mut bits = caller.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// An attempt of a caller that has `WINDOW` calls unsettled.
fn header(caller: u64, number: u64) -> Header {
    Header {
        identity: Some(Identity {
            caller: CallerId::from_bits(u128::from(mixed(caller)) << 64 | u128::from(caller)),
            number: Number(number),
            born: HERE,
            created: WallTime::default(),
        }),
        ordinal: Ordinal(1),
        retry: false,
        address: HERE,
        unsettled: Unsettled((1 << (WINDOW - 1)) - 1),
    }
}

struct Object {
    gate: Gate<u64>,
    terms: GateTerms,
    callers: u64,
    next: u64,
    refused: u64,
}

impl Object {
    /// A gate that has let `live` claims in, `WINDOW` for each caller.
    fn with(design: Design, live: u64) -> Self {
        let plan = Plan { design, capacity: u32::MAX, ..Plan::default() };
        let terms = GateTerms { store: plan, queue_max: 16, rules: Spec };
        let birth = Birth { incarnation: HERE, wall: WallTime::from_nanos(i64::MIN) };
        let gate = Gate::open(&terms, birth, std::iter::empty());
        let callers = (live / WINDOW).next_power_of_two();
        let mut object = Self { gate, terms, callers, next: 0, refused: 0 };
        for _ in 0..callers * WINDOW {
            assert!(object.admit());
        }
        object
    }

    /// Lets one new call in, and with it forgets the oldest of its caller; lets its answer out.
    fn admit(&mut self) -> bool {
        let (caller, number) = (scattered(self.next, self.callers), self.next / self.callers);
        self.next += 1;
        self.offer(header(caller, number))
    }

    /// Refuses one that was let in before: the last but one of some caller.
    fn refuse(&mut self) -> bool {
        self.refused += 1;
        let caller = scattered(self.refused, self.callers);
        !self.offer(header(caller, self.next / self.callers - 2))
    }

    fn offer(&mut self, header: Header) -> bool {
        let now = Time::ORIGIN;
        let request = Request { ticket: self.next, header, ..Request::default() };
        self.gate.arrive(&self.terms, request, now);
        let turn = self.gate.next(&self.terms, now).unwrap();
        match turn.decision {
            Decision::Start => {}
            Decision::Store(_) => drop(self.gate.stored(self.next, true)),
            Decision::Refuse(_) | Decision::AnswerRecorded | Decision::NewEpoch => return false,
        }
        black_box(self.gate.finished(&self.terms, self.next, now));
        matches!(self.gate.confirmed(&self.terms, self.next, true), Some((Answer::Run, _)))
    }
}

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
            let mut object = Object::with(design, live);
            group.bench_function(BenchmarkId::new(format!("{}-new", design.name()), live), |bencher| {
                bencher.iter(|| assert!(object.admit()));
            });
        }
        let mut object = Object::with(Design::VolatileIncarnation, live);
        group.bench_function(BenchmarkId::new("D3-duplicate", live), |bencher| {
            bencher.iter(|| assert!(object.refuse()));
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

/// What one claim takes, by what the process takes more once they are all live.
fn bytes(_: &mut Criterion) {
    for live in LIVE {
        let before = resident_bytes();
        let object = Object::with(Design::VolatileIncarnation, live);
        let after = resident_bytes();
        let claims = object.gate.runs().len() as u64 + object.callers * WINDOW;
        println!(
            "D3 with {claims} claims: {} bytes a claim, its share of the caller's window included",
            after.saturating_sub(before) / claims
        );
        black_box(object);
    }
}

/// Linux: the second number of `statm` is in pages of 4 KiB.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default() * 4096
}

criterion_group! {
    name = gate;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    targets = bytes, admissions
}
criterion_main!(gate);
