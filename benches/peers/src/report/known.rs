//! What is known of criterion's groups: what they are compared with, what was aimed at, and what is drawn.

use std::collections::BTreeSet;

use super::criterion::{Figure, Group, Groups, Parameter};
use crate::figures::{Aim, Figures, Plot, Series, Table, count, time};

/// A group that this repository's benchmarks make.
struct Known {
    group: &'static str,
    order: u32,
    title: &'static str,
    note: &'static str,
    /// What the others are compared with: a name, to which `-exact` or `-coarse` may be added. Otherwise it is the least.
    beside: &'static str,
    drawn: Option<Drawn>,
}

/// How a group is drawn, over its parameter.
struct Drawn {
    x: &'static str,
    y: &'static str,
    logarithmic: bool,
    /// Things a second instead of nanoseconds.
    rates: bool,
}

const RATES: Option<Drawn> = Some(Drawn { x: "live claims", y: "admissions a second", logarithmic: true, rates: true });

const GROUPS: &[Known] = &[
    Known {
        group: "caller-success",
        order: 10,
        title: "A call that succeeds at once",
        note: "All are polled by the same loop, through one pointer each, and their attempts are ready at once. The limit is a \
fresh 128-bit identity and one reading of the clock. What succeeds at once costs every peer little, for it has nothing to \
remember: none of them gives the call an identity, by which an object could refuse its duplicate. The engine's figure includes \
that, and the upkeep of the watermark by which the object may forget it. `engine-alone` is the machine, driven by hand, by \
code that lets the compiler see how the attempt ends; `engine` is a future around it, as a driver has one: it keeps the call in memory \
while the attempt is under way, and is ready to try again.",
        beside: "limit",
        drawn: None,
    },
    Known {
        group: "caller-fails",
        order: 11,
        title: "A call that fails n times, then succeeds",
        note: "Nobody sleeps: delays are computed with jitter, and what would wait for them is ready. `tower`'s policy here counts \
and computes no delay. `tokio-retry2` knows only tokio's timer, so its figure includes arming it, on a clock that stands still. \
The loop by hand has a number for each call, a deadline, a cap, jitter and the first failure; it has no delivery, no identities \
that follow it, no commitment and no report. The others have less: `tower`, `backon` and `tokio-retry2` no deadline here.",
        beside: "by-hand",
        drawn: Some(Drawn {
            x: "failures before the answer",
            y: "nanoseconds a call",
            logarithmic: false,
            rates: false,
        }),
    },
    Known {
        group: "caller-decisions",
        order: 12,
        title: "Decisions",
        note: "Again, and when? Without an attempt or a future; ten in a row, and the figures are for one. The engine is told of the \
failure and of the end of the sleep, and hands out what the next attempt carries; the others are asked for the next delay. \
`backoff` and `retry-policies` read a clock.",
        beside: "engine-exact",
        drawn: None,
    },
    Known {
        group: "call-answered-at-once",
        order: 15,
        title: "The engine alone: a call that is answered at once",
        note: "The machine driven by hand, without a future.",
        beside: "limit",
        drawn: None,
    },
    Known {
        group: "call-that-fails-exact-clock",
        order: 16,
        title: "The engine alone: a call that fails n times, with an exact clock",
        note: "",
        beside: "by-hand",
        drawn: None,
    },
    Known {
        group: "call-that-fails-coarse-clock",
        order: 17,
        title: "The engine alone: a call that fails n times, with a coarse clock",
        note: "",
        beside: "by-hand",
        drawn: None,
    },
    Known {
        group: "gate-new",
        order: 20,
        title: "Admission of new calls",
        note: "So many claims are live; each new call is queued, judged, claimed, run and answered, and lets the gate forget one \
claim of its caller, who has 32 unsettled, or one. `D1-time` forgets by the clock instead. The peers only remember an identity and \
forget another. `map-and-ring` is a `HashMap` and a `VecDeque` behind a `Mutex`, `dashmap` has an expiry and a ring, and `moka` a \
time to live and a capacity, beyond which it forgets silently, which no claim gate may. The limit is one cache line at random, of \
as many as there are claims. With 10 Mi live, D1 with the watermark and D2 are left out, whose stores are D3's, and `moka`, \
which takes too long to fill.",
        beside: "one-cache-line",
        drawn: RATES,
    },
    Known {
        group: "gate-duplicate",
        order: 21,
        title: "Refusal of duplicates",
        note: "The last call of a caller at random comes once more, and is refused. The peers are asked whether they know an \
identity.",
        beside: "one-cache-line",
        drawn: RATES,
    },
    Known {
        group: "gate-shared",
        order: 22,
        title: "One thread for each core",
        note: "A million claims live in all, new calls only. A gate belongs to one object, and an object to one thread: each its own \
is how the runtime does it.",
        beside: "D3-a-gate-each",
        drawn: None,
    },
    Known {
        group: "gate-storage",
        order: 24,
        title: "Claims in SQLite",
        note: "D4 and D5 as the reference runtime stores them: its tables, its statements, a write-ahead log and `synchronous = \
FULL`. D5 commits a second time, for a result of 64 bytes. The limit is one page of 4 KiB written to a log, and the disk's word \
for it. The runtime commits for each claim; 64 that wait for one commit are what a busy object could have.",
        beside: "one-page-to-disk",
        drawn: None,
    },
    Known {
        group: "admission",
        order: 29,
        title: "The gate without its peers' crates",
        note: "What `cargo bench` in the workspace takes; 32 unsettled for each caller.",
        beside: "one-cache-line",
        drawn: None,
    },
    Known {
        group: "exploration",
        order: 51,
        title: "Exploration, beside Stateright",
        note: "Unique states a second.",
        beside: "",
        drawn: None,
    },
];

const UNKNOWN: Known = Known { group: "", order: 90, title: "", note: "", beside: "", drawn: None };

/// A group as a section of the page.
pub(super) fn section(name: &str, group: &Group) -> Figures {
    let known = GROUPS.iter().find(|known| known.group == name).unwrap_or(&UNKNOWN);
    let title = if known.title.is_empty() { name } else { known.title };
    Figures {
        order: known.order,
        title: title.to_owned(),
        note: known.note.to_owned(),
        tables: vec![table(known, group)],
        plots: plot(known, group).into_iter().collect(),
        ..Figures::default()
    }
}

/// A row for each name, a column for each parameter.
fn table(known: &Known, group: &Group) -> Table {
    let parameters: BTreeSet<&Parameter> = group.keys().map(|(_, parameter)| parameter).collect();
    let alone = parameters.iter().all(|parameter| **parameter == Parameter::None);
    let mut columns = vec![String::new()];
    columns.extend(parameters.iter().map(|parameter| if alone { "time".to_owned() } else { parameter.show() }));
    let rows = names(known, group).into_iter().map(|name| {
        let cell = |parameter: &&Parameter| cell(known, group, name, parameter);
        std::iter::once(name.to_owned()).chain(parameters.iter().map(cell)).collect()
    });
    let caption = match known.beside {
        "" => "× is beside the least in the column.".to_owned(),
        beside if names(known, group).iter().any(|name| name.ends_with("-coarse")) => {
            format!("× is beside `{beside}`, with the same clock.")
        }
        beside => format!("× is beside `{beside}`."),
    };
    Table { caption, columns, rows: rows.collect() }
}

/// What things are compared with first, then ours, then the others.
fn names<'a>(known: &Known, group: &'a Group) -> Vec<&'a str> {
    let ours =
        |name: &str| ["D1", "D2", "D3", "D4", "D5", "engine", "oncemore"].iter().any(|our| name.starts_with(our));
    let mut names: Vec<&str> = group.keys().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names.sort_by_key(|name| (known.beside.is_empty() || !name.starts_with(known.beside), !ours(name), *name));
    names
}

fn cell(known: &Known, group: &Group, name: &str, parameter: &Parameter) -> String {
    let Some(figure) = group.get(&(name.to_owned(), parameter.clone())) else { return String::new() };
    let rate = figure.elements.map(|_| format!(", {}/s", count(figure.a_second()))).unwrap_or_default();
    // Of a handful that are done together, one is of interest; of a large number, all.
    let nanos = if known.group == "exploration" { figure.nanos } else { figure.each() };
    let ratio = ratio(known, group, name, parameter).map(|ratio| format!(" ({ratio:.2}×)")).unwrap_or_default();
    format!("{}{rate}{ratio}", time(nanos))
}

/// A figure beside what it is compared with.
fn ratio(known: &Known, group: &Group, name: &str, parameter: &Parameter) -> Option<f64> {
    let figure = group.get(&(name.to_owned(), parameter.clone()))?;
    let of = |name: &str| group.get(&(name.to_owned(), parameter.clone())).copied();
    let clock = if name.ends_with("-coarse") { "-coarse" } else { "-exact" };
    let beside = match known.beside {
        "" => least(group, parameter),
        beside => of(&format!("{beside}{clock}")).or_else(|| of(beside)),
    }?;
    Some(figure.each() / beside.each())
}

fn least(group: &Group, parameter: &Parameter) -> Option<Figure> {
    let rivals = group.iter().filter(|((_, other), _)| other == parameter).map(|(_, figure)| *figure);
    rivals.min_by(|one, other| one.each().total_cmp(&other.each()))
}

fn plot(known: &Known, group: &Group) -> Option<Plot> {
    let Drawn { x, y, logarithmic, rates } = known.drawn.as_ref()?;
    let value = |figure: Figure| if *rates { figure.a_second() } else { figure.each() };
    let line = |name: &str| {
        let points = group.iter().filter_map(|((of, parameter), figure)| match parameter {
            Parameter::Number(number) if of == name => Some((*number as f64, value(*figure))),
            Parameter::None | Parameter::Number(_) | Parameter::Word(_) => None,
        });
        Series { name: name.to_owned(), points: points.collect() }
    };
    let series: Vec<Series> = names(known, group).into_iter().map(line).collect();
    // One size is no line.
    if series.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    Some(Plot {
        file: known.group.to_owned(),
        title: known.title.to_owned(),
        x: (*x).to_owned(),
        y: (*y).to_owned(),
        log_x: *logarithmic,
        log_y: *logarithmic,
        series,
    })
}

/// What was aimed at, and what became of it, as far as criterion measured it.
pub(super) fn aims(groups: &Groups) -> Vec<Aim> {
    let mut aims = Vec::new();
    let figure = |group: &str, name: &str, parameter: &Parameter| {
        groups.get(group)?.get(&(name.to_owned(), parameter.clone())).map(|figure| figure.each())
    };
    let mut beside = |what: &str, of: Option<f64>, limit: Option<f64>, bound: f64| {
        if let (Some(of), Some(limit)) = (of, limit) {
            aims.push(Aim::at_most(what, of / limit, bound, |ratio| format!("{ratio:.2}×")));
        }
    };
    let success = |name: &str| figure("caller-success", name, &Parameter::None);
    for (name, driven) in [("engine-alone", "driven by hand"), ("engine", "as a future")] {
        let what =
            format!("a call that succeeds at once, {driven}, beside an identity and one reading of an exact clock");
        beside(&what, success(&format!("{name}-exact")), success("limit-exact"), 1.3);
    }
    for clock in ["exact", "coarse"] {
        // The tenth failure less the first, over nine.
        let attempt = |name: &str| {
            let after = |failures| figure("caller-fails", &format!("{name}-{clock}"), &Parameter::Number(failures));
            Some((after(10)? - after(1)?) / 9.0)
        };
        let what = format!("a failed attempt, beside the loop by hand, with an {clock} clock").replace("an c", "a c");
        beside(&what, attempt("engine"), attempt("by-hand"), 1.5);
    }
    let million = |name| figure("gate-new", name, &Parameter::Number(1 << 20));
    let what = "a new call in D3 with 1 Mi claims live, beside one cache line at random";
    beside(what, million("D3-32-a-caller"), million("one-cache-line"), 3.0);
    for (name, driven) in [("engine-alone", "driven by hand"), ("engine", "as a future")] {
        if let Some(nanos) = success(&format!("{name}-coarse")) {
            let what = format!("a call that succeeds at once, {driven}, with a coarse clock");
            aims.push(Aim::at_most(&what, nanos, 10.0, time));
        }
    }
    aims
}
