//! How many bytes a claim takes, by what a process grows by while so many are let in.
//!
//! Each figure is taken in a process of its own, so that nothing lies in memory that another has left there.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::env;
use std::hint::black_box;
use std::process::Command;

use dashmap::DashMap;
use mimalloc::MiMalloc;
use oncemore_peers::figures::{Aim, Figures, Plot, Series, Table, only_tried, resident_bytes, write};
use oncemore_peers::object::{Object, Shape};
use oncemore_peers::peers::{Expiring, MapAndRing, Memory, Moka, Set, identity};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const NOTE: &str = "By how much a process of its own grows while the claims are let in, over the claims; what a table left \
behind when it grew is in it, and so is each caller's share. Where fewer than 1 Mi claims are live, there are as many objects \
as make 1 Mi in all. The peers keep each identity, 16 bytes; the gate keeps each caller, and of what it let in at a first \
attempt one bit. In D1 to D3 the store keeps the same, so 10 Mi are let in by D3 alone; and not by `moka`, which takes long. \
Aimed at: D3 with a million claims live, 32 for each caller, takes at most 40 bytes a claim.";

/// What the others are compared with.
const BESIDE: &str = "hashbrown-set";

/// What makes something that remembers so many identities.
type Make = fn(u64) -> Box<dyn Send>;

/// Each with its name, and whether 10 Mi are worth its time.
const ALL: [(&str, Make, bool); 11] = [
    ("D1-32-a-caller", |live| object(Shape::new(Design::VolatileOpen, 32, live)), false),
    ("D1-1-a-caller", |live| object(Shape::new(Design::VolatileOpen, 1, live)), false),
    ("D1-time", |live| object(Shape::timed(Design::VolatileOpen, 32, live)), false),
    ("D2-32-a-caller", |live| object(Shape::new(Design::VolatileClock, 32, live)), false),
    ("D2-1-a-caller", |live| object(Shape::new(Design::VolatileClock, 1, live)), false),
    ("D3-32-a-caller", |live| object(Shape::new(Design::VolatileIncarnation, 32, live)), true),
    ("D3-1-a-caller", |live| object(Shape::new(Design::VolatileIncarnation, 1, live)), true),
    ("hashbrown-set", |live| filled(Set::new(live), live), true),
    ("map-and-ring", |live| filled(MapAndRing::new(live), live), true),
    ("dashmap", |live| filled(Expiring::new(Box::leak(Box::new(DashMap::new())), live), live), true),
    ("moka", |live| filled(Moka::new(live), live), false),
];

fn object(shape: Shape) -> Box<dyn Send> {
    Box::new(Object::full(shape))
}

fn filled(mut memory: impl Memory + Send + 'static, live: u64) -> Box<dyn Send> {
    (0..live).for_each(|index| assert!(memory.admit(identity(index))));
    Box::new(memory)
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, word, name, live] = &arguments[..]
        && word == "measure"
    {
        return measure(name, live.parse().unwrap());
    }
    let sizes: &[u64] = if only_tried() { &[1 << 10] } else { &[1 << 10, 1 << 17, 1 << 20, 10 << 20] };
    let names = ["1 Ki", "128 Ki", "1 Mi", "10 Mi"];
    let columns = ["bytes a claim"].iter().chain(&names[..sizes.len()]).map(|name| (*name).to_owned()).collect();
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    let beside: Vec<f64> = sizes.iter().map(|live| in_a_process(BESIDE, *live)).collect();
    let mut aims = Vec::new();
    for (name, _, largest) in ALL {
        let (mut row, mut points) = (vec![name.to_owned()], Vec::new());
        for (live, beside) in sizes.iter().copied().zip(&beside) {
            if live > 1 << 20 && !largest {
                row.push(String::new());
                continue;
            }
            let bytes = in_a_process(name, live);
            row.push(format!("{bytes:.1} ({:.2}×)", bytes / beside));
            if name == "D3-32-a-caller" && live == 1 << 20 {
                let what = "bytes a claim in D3 with 1 Mi live, 32 for each caller";
                aims.push(Aim::at_most(what, bytes, 40.0, |bytes| format!("{bytes:.1}")));
            }
            points.push((live as f64, bytes));
        }
        rows.push(row);
        series.push(Series { name: name.to_owned(), points });
    }
    // D2 is D1 and D3 over again.
    series.retain(|line| !line.name.starts_with("D2"));
    let plot = Plot {
        file: "gate-bytes".into(),
        title: "What one claim takes".into(),
        x: "live claims".into(),
        y: "bytes a claim".into(),
        log_x: true,
        log_y: true,
        series,
    };
    let table = Table { caption: format!("× is beside `{BESIDE}`."), columns, rows };
    let section = Figures::here(26, "Bytes a claim", NOTE);
    let section = Figures { tables: vec![table], plots: vec![plot], aims, ..section };
    write(&section, "gate-bytes").unwrap();
}

fn in_a_process(name: &str, live: u64) -> f64 {
    let output = Command::new(env::current_exe().unwrap()).args(["measure", name, &live.to_string()]).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

fn measure(name: &str, live: u64) {
    let (_, make, _) = ALL.iter().find(|(other, ..)| *other == name).unwrap();
    // A process grows by pages, which are large beside a thousand claims.
    let objects = usize::try_from(((1 << 20) / live).max(1)).unwrap();
    let mut kept = Vec::with_capacity(objects);
    let before = resident_bytes();
    for _ in 0..objects {
        kept.push(make(live));
    }
    let grown = resident_bytes() - before;
    black_box(kept);
    println!("{}", grown as f64 / (live as f64 * objects as f64));
}
