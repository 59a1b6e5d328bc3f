//! The slowest admissions: those on which a table grows, something is forgotten, or a claim epoch begins.
//!
//! Each admission is timed by what its thread has used of the processor, so that nobody else's work counts. What is shown
//! includes the reading of that clock, which is a call of the operating system.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use dashmap::DashMap;
use mimalloc::MiMalloc;
use oncemore_peers::figures::{Plot, Section, Series, Table, only_tried, thread_time, time};
use oncemore_peers::object::{Object, Shape};
use oncemore_peers::peers::{Expiring, MapAndRing, Memory, Moka, Set, clock_cost, identity};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const NOTE: &str = "As many claims are let in as are to be live, and then as many again, each of which makes the oldest be \
forgotten. Each admission is timed by what its thread uses of the processor. The same is done PASSES times, and each admission \
counts with the shortest of its times, since what else the machine does falls on other admissions each time; the last column is \
the longest of all without that. An epoch is what the last claim begins where there is no room for it; D1 forgets everything instead. Reading that clock costs \
CLOCK, which is in every figure. Aimed at: no admission takes more than 1 ms for growth or for forgetting.";

const PASSES: usize = 3;

/// Something that lets identities in, one after the other, and whether the last of them may begin a claim epoch.
type Make = fn(u64) -> Box<dyn FnMut()>;

const ALL: [(&str, Make); 9] = [
    ("D1-32-a-caller", |live| object(Shape::new(Design::VolatileOpen, 32, live))),
    ("D1-time", |live| object(Shape::timed(Design::VolatileOpen, 32, live))),
    ("D2-32-a-caller", |live| object(Shape::new(Design::VolatileClock, 32, live))),
    ("D3-32-a-caller", |live| object(Shape::new(Design::VolatileIncarnation, 32, live))),
    ("D3-1-a-caller", |live| object(Shape::new(Design::VolatileIncarnation, 1, live))),
    ("hashbrown-set", |live| memory(Set::new(live))),
    ("map-and-ring", |live| memory(MapAndRing::new(live))),
    ("dashmap", |live| memory(Expiring::new(Box::leak(Box::new(DashMap::new())), live))),
    ("moka", |live| memory(Moka::new(live))),
];

fn object(shape: Shape) -> Box<dyn FnMut()> {
    let mut object = Object::empty(shape);
    Box::new(move || object.admit())
}

fn memory(mut memory: impl Memory + 'static) -> Box<dyn FnMut()> {
    let mut next = 0;
    Box::new(move || {
        assert!(memory.admit(identity(next)));
        next += 1;
    })
}

fn main() {
    let live: u64 = if only_tried() { 1 << 10 } else { 1 << 20 };
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    for (name, make) in ALL {
        let passes: Vec<Vec<u32>> = (0..PASSES).map(|_| admissions(live, make)).collect();
        let epochs = epoch(name, live);
        let longest = passes.iter().flatten().copied().max().unwrap_or_default();
        let least = shortest(passes);
        let (filling, steady) = least.split_at(usize::try_from(live).unwrap());
        rows.push(row(name, filling, steady, epochs, longest));
        if ["D1-time", "D3-32-a-caller", "hashbrown-set", "dashmap", "moka"].contains(&name) {
            series.push(Series { name: name.to_owned(), points: slowest(&least) });
        }
    }
    let columns = [
        "",
        "median",
        "of 10 000 the slowest",
        "slowest, filling",
        "slowest, forgetting",
        "an epoch",
        "longest of all",
    ];
    let caption = format!("{live} live");
    let table = Table { caption, columns: columns.map(str::to_owned).to_vec(), rows };
    let plot = Plot {
        file: "gate-worst".into(),
        title: "The slowest admission, by when it came".into(),
        x: "claims let in before".into(),
        y: "nanoseconds of the thread".into(),
        log_x: false,
        log_y: true,
        series,
    };
    let note = NOTE.replace("PASSES", "three").replace("CLOCK", &time(clock_cost().as_nanos() as f64));
    let section = Section::taken_now(28, "The slowest admission", &note);
    Section { tables: vec![table], plots: vec![plot], ..section }.write("gate-worst").unwrap();
}

/// What each admission took, in nanoseconds: first those that fill it, then as many that make something be forgotten.
fn admissions(live: u64, make: Make) -> Vec<u32> {
    let mut admit = make(live);
    // What is written to for the first time costs a page, which is not the admission's.
    let mut took = vec![1; usize::try_from(2 * live).unwrap()];
    let mut before = thread_time();
    for place in &mut took {
        admit();
        let after = thread_time();
        *place = u32::try_from((after - before).as_nanos()).unwrap_or(u32::MAX);
        before = after;
    }
    took
}

/// What it takes to begin a claim epoch with the last claim there is no room for; nothing, for what knows none.
fn epoch(name: &str, live: u64) -> Option<u32> {
    let (design, window) = match name {
        "D1-32-a-caller" => (Design::VolatileOpen, 32),
        "D2-32-a-caller" => (Design::VolatileClock, 32),
        "D3-32-a-caller" => (Design::VolatileIncarnation, 32),
        "D3-1-a-caller" => (Design::VolatileIncarnation, 1),
        _ => return None,
    };
    let once = || {
        // Claims and callers, less one.
        let capacity = u32::try_from(live + live / window - 1).unwrap();
        let mut object = Object::bounded(Shape::new(design, window, live), capacity);
        (1..live).for_each(|_| assert!(!object.admit_or_begin_epoch()));
        let before = thread_time();
        let begun = object.admit_or_begin_epoch();
        let took = u32::try_from((thread_time() - before).as_nanos()).unwrap_or(u32::MAX);
        // D1 forgets without a word.
        assert_eq!(begun, design != Design::VolatileOpen);
        took
    };
    (0..PASSES).map(|_| once()).min()
}

/// Each admission with the shortest of its times.
fn shortest(passes: Vec<Vec<u32>>) -> Vec<u32> {
    let least = |mut least: Vec<u32>, pass: Vec<u32>| {
        least.iter_mut().zip(pass).for_each(|(least, time)| *least = time.min(*least));
        least
    };
    passes.into_iter().reduce(least).unwrap_or_default()
}

fn row(name: &str, filling: &[u32], steady: &[u32], epoch: Option<u32>, longest: u32) -> Vec<String> {
    let mut sorted = [filling, steady].concat();
    sorted.sort_unstable();
    let part = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize];
    let slowest = |times: &[u32]| times.iter().copied().max().unwrap_or_default();
    let times = [part(0.5), part(0.9999), slowest(filling), slowest(steady)];
    let mut row = vec![name.to_owned()];
    row.extend(times.map(|nanos| time(f64::from(nanos))));
    row.push(epoch.map(|nanos| time(f64::from(nanos))).unwrap_or_default());
    row.push(time(f64::from(longest)));
    row
}

/// The slowest of each hundredth, and how many came before it.
fn slowest(times: &[u32]) -> Vec<(f64, f64)> {
    let part = times.len().div_ceil(100);
    let point = |(index, part_of): (usize, &[u32])| {
        ((index * part) as f64, part_of.iter().copied().max().map_or(1.0, f64::from))
    };
    times.chunks(part).enumerate().map(point).collect()
}
