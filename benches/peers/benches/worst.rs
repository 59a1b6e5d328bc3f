//! The slowest admissions: those on which a table grows, something is forgotten, or a claim epoch begins.
//!
//! Each admission is timed by what its thread has used of the processor, so that nobody else's work counts. What is shown
//! includes the reading of that clock, which is a call of the operating system.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::env;

use dashmap::DashMap;
use mimalloc::MiMalloc;
use oncemore_peers::figures::{Aim, Figures, Plot, Series, Table, only_tried, thread_time, time, write};
use oncemore_peers::object::{Object, Shape};
use oncemore_peers::peers::{Expiring, MapAndRing, Memory, Moka, Set, clock_cost, identity};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const NOTE: &str = "As many claims are let in as are to be live, and then as many again, each of which makes the oldest be \
forgotten. Each admission is timed by what its thread uses of the processor. The same is done three times, and each admission \
counts with the shortest of its times, since what else the machine does falls on other admissions each time; that flatters \
`dashmap` and `moka`, whose growth does too. The last column is the longest of all without that. An epoch is what the last claim \
begins where there is no room for it, and what is forgotten with it: the slowest of all admissions from there on; D1 forgets \
without an epoch. Reading that clock costs CLOCK, which is in every figure. Aimed at: no admission takes more than 1 ms for growth \
or for forgetting. `cargo bench --bench worst -- --large` does it with 10 Mi claims.";

const PASSES: usize = 3;

/// What the others are compared with.
const BESIDE: &str = "hashbrown-set";

/// Makes what lets identities in, one after the other.
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
    let large = env::args().any(|argument| argument == "--large");
    let live: u64 = match (only_tried(), large) {
        (true, _) => 1 << 10,
        (false, false) => 1 << 20,
        (false, true) => 10 << 20,
    };
    let all = ALL.iter().filter(|(name, _)| !large || ["D3-32-a-caller", BESIDE, "dashmap"].contains(name));
    let measured: Vec<Times> = all.map(|(name, make)| Times::of(name, live, *make)).collect();
    let beside = measured.iter().find(|times| times.name == BESIDE).unwrap().slowest();
    let columns =
        ["", "median", "of 10 000 the slowest", "slowest, filling", "forgetting", "an epoch", "longest of all"];
    let caption = format!("{} Mi live; × is the slowest, beside that of `{BESIDE}`.", live >> 20);
    let rows = measured.iter().map(|times| times.row(beside)).collect();
    let table = Table { caption, columns: columns.map(str::to_owned).to_vec(), rows };
    let drawn = ["D1-time", "D3-32-a-caller", BESIDE, "dashmap", "moka"];
    let drawn = measured.iter().filter(|times| drawn.contains(&times.name));
    let suffix = if large { "-large" } else { "" };
    let plot = Plot {
        file: format!("gate-worst{suffix}"),
        title: format!("The slowest admission in each hundredth of {} M", (2 * live) >> 20),
        x: "claims let in before".into(),
        y: "nanoseconds of the thread".into(),
        log_x: false,
        log_y: true,
        series: drawn.map(|times| Series { name: times.name.to_owned(), points: times.course() }).collect(),
    };
    let aims = measured.iter().filter(|times| times.name == "D3-32-a-caller").map(|times| {
        let what = format!("the slowest admission of D3 with {} Mi live, an epoch included", live >> 20);
        Aim::at_most(&what, times.slowest(), 1e6, time)
    });
    let note = if large { String::new() } else { NOTE.replace("CLOCK", &time(clock_cost().as_nanos() as f64)) };
    let title = if large { "The slowest admission of ten million" } else { "The slowest admission" };
    let section = Figures::here(28, title, &note);
    let section = Figures { aims: aims.collect(), tables: vec![table], plots: vec![plot], ..section };
    write(&section, &format!("gate-worst{suffix}")).unwrap();
}

/// What each admission took, in nanoseconds.
struct Times {
    name: &'static str,
    /// Those that fill it, and then as many that make something be forgotten.
    least: Vec<u32>,
    /// The slowest from where a claim epoch begins; none, for what knows none.
    epoch: Option<u32>,
    longest: u32,
}

impl Times {
    fn of(name: &'static str, live: u64, make: Make) -> Self {
        let passes: Vec<Vec<u32>> = (0..PASSES).map(|_| admissions(live, make)).collect();
        let longest = passes.iter().flatten().copied().max().unwrap_or_default();
        Self { name, least: shortest(passes), epoch: epoch(name, live), longest }
    }

    fn slowest(&self) -> f64 {
        f64::from(self.least.iter().copied().chain(self.epoch).max().unwrap_or_default())
    }

    fn row(&self, beside: f64) -> Vec<String> {
        let mut sorted = self.least.clone();
        sorted.sort_unstable();
        let part = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize];
        let (filling, steady) = self.least.split_at(self.least.len() / 2);
        let slowest = |times: &[u32]| times.iter().copied().max().unwrap_or_default();
        let times = [part(0.5), part(0.9999), slowest(filling), slowest(steady)];
        let mut row = vec![format!("{} ({:.4}×)", self.name, self.slowest() / beside)];
        row.extend(times.map(|nanos| time(f64::from(nanos))));
        row.push(self.epoch.map(|nanos| time(f64::from(nanos))).unwrap_or_default());
        row.push(time(f64::from(self.longest)));
        row
    }

    /// The slowest of each hundredth, and how many came before it.
    fn course(&self) -> Vec<(f64, f64)> {
        let part = self.least.len().div_ceil(100);
        let slowest = |times: &[u32]| times.iter().copied().max().map_or(1.0, f64::from);
        self.least.chunks(part).enumerate().map(|(index, times)| ((index * part) as f64, slowest(times))).collect()
    }
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

/// The slowest admission from where the last claim finds no room; nothing, for what never says so.
fn epoch(name: &str, live: u64) -> Option<u32> {
    let (design, window) = match name {
        "D1-32-a-caller" => (Design::VolatileOpen, 32),
        "D2-32-a-caller" => (Design::VolatileClock, 32),
        "D3-32-a-caller" => (Design::VolatileIncarnation, 32),
        "D3-1-a-caller" => (Design::VolatileIncarnation, 1),
        _ => return None,
    };
    let once = |_| {
        // Claims and callers, less one.
        let capacity = u32::try_from(live + live / window - 1).unwrap();
        let mut object = Object::bounded(Shape::new(design, window, live), capacity);
        (1..live).for_each(|_| assert!(!object.admit_or_begin_epoch()));
        let mut times = vec![0; usize::try_from(live / 2).unwrap()];
        for (index, place) in times.iter_mut().enumerate() {
            let before = thread_time();
            let begun = object.admit_or_begin_epoch();
            *place = u32::try_from((thread_time() - before).as_nanos()).unwrap_or(u32::MAX);
            // D1 forgets without a word.
            assert_eq!(begun, index == 0 && design != Design::VolatileOpen);
        }
        times
    };
    shortest((0..PASSES).map(once).collect()).into_iter().max()
}

/// Each admission with the shortest of its times.
fn shortest(passes: Vec<Vec<u32>>) -> Vec<u32> {
    let least = |mut least: Vec<u32>, pass: Vec<u32>| {
        least.iter_mut().zip(pass).for_each(|(least, time)| *least = time.min(*least));
        least
    };
    passes.into_iter().reduce(least).unwrap_or_default()
}
