//! The checker beside Stateright: the suite's largest scenarios, which both search as the very same transition system, and
//! two-phase commit with eight participants, which is also written for Stateright alone.
//!
//! Each search is made three times, in turns, and written down with its generated states and its memory. Criterion repeats
//! the quick ones: what it needs at least, ten runs, would take the slow ones a quarter of an hour.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

#[path = "checker/plain.rs"]
mod plain;
#[allow(dead_code, reason = "the tests of the model use more of it")]
#[path = "../model/tests/two_phase_commit/mod.rs"]
mod two_phase_commit;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use oncemore_benches::figures::{Figures, Table, only_tried};
use oncemore_model::explore::stateright::{StaterightSearch, count_with_stateright};
use oncemore_model::explore::{BreadthFirst, Engine, Limits, System};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::scenario;
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};
use plain::Plain;
use stateright::{Checker, Model as _};
use two_phase_commit::TwoPhaseCommit;

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<MiMalloc> = PeakMemAlloc::new(MiMalloc);

/// The three largest of the default suite.
const SCENARIOS: [&str; 3] = ["two-callers", "limits", "limits-duplicates"];

/// The quickest of them, which criterion repeats.
const REPEATED: &str = "limits-duplicates";

const PARTICIPANTS: usize = 8;
const TWO_PHASE_COMMIT: &str = "two-phase-commit-8";

/// Unique and generated states.
type Counts = (u64, u64);

/// One way to search one system.
struct Search<'a> {
    name: String,
    system: &'a str,
    run: Box<dyn Fn() -> Counts + 'a>,
}

impl Search<'_> {
    /// Whether criterion repeats it.
    fn is_repeated(&self) -> bool {
        self.system == REPEATED
            || self.system == TWO_PHASE_COMMIT
                && !self.name.contains("breadth")
                && !self.name.ends_with("depth-first-2-thread")
    }
}

/// What the turns of one search said.
struct Runs {
    counts: Counts,
    /// The most that was allocated at once, the first time.
    peak_bytes: u64,
    /// Of each turn.
    seconds: Vec<f64>,
}

impl Runs {
    fn median_seconds(&self) -> f64 {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    }
}

const TURNS: usize = 3;

fn explore<S: System>(system: &S, threads: usize) -> Counts {
    let limits = Limits { threads: NonZeroUsize::new(threads).unwrap(), ..Limits::default() };
    let counts = BreadthFirst.explore(system, &limits, &mut |_| {}).unwrap().counts;
    (counts.states, counts.generated)
}

/// Ours and Stateright's, on the same system.
fn searches<'a, S: System + Send + 'static>(name: &'a str, system: impl Fn() -> S + Copy + 'a) -> Vec<Search<'a>> {
    let mut searches = Vec::new();
    for threads in [1, 2] {
        let ours = system();
        searches.push(Search {
            name: format!("oncemore-{threads}-thread"),
            system: name,
            run: Box::new(move || explore(&ours, threads)),
        });
    }
    for (search, word) in [(StaterightSearch::DepthFirst, "depth"), (StaterightSearch::BreadthFirst, "breadth")] {
        searches.push(Search {
            name: format!("stateright-{word}-first-1-thread"),
            system: name,
            run: Box::new(move || {
                let counts = count_with_stateright(system(), search, 1);
                (counts.states, counts.generated)
            }),
        });
    }
    searches
}

/// Two-phase commit as Stateright's users write it.
fn plain_searches() -> Vec<Search<'static>> {
    let plain = |threads| Plain { managers: PARTICIPANTS }.checker().threads(threads);
    let mut searches = Vec::new();
    for threads in [1, 2] {
        let mut add = |word: &str, run: Box<dyn Fn() -> Counts>| {
            let name = format!("plain-stateright-{word}-first-{threads}-thread");
            searches.push(Search { name, system: TWO_PHASE_COMMIT, run });
        };
        add("depth", Box::new(move || counted(&plain(threads).spawn_dfs().join())));
        add("breadth", Box::new(move || counted(&plain(threads).spawn_bfs().join())));
    }
    searches
}

fn counted(checker: &impl Checker<Plain>) -> Counts {
    (checker.unique_state_count() as u64, checker.state_count() as u64)
}

fn all_searches() -> Vec<Search<'static>> {
    let mut all: Vec<Search<'_>> = SCENARIOS
        .into_iter()
        .flat_map(|name| {
            searches(name, move || Model::new(&scenario::find(name).unwrap().scenario, Broken::default()).unwrap())
        })
        .collect();
    all.extend(searches(TWO_PHASE_COMMIT, || TwoPhaseCommit::<PARTICIPANTS>));
    all.extend(plain_searches());
    all
}

/// Every search so many times, in turns, so that what else the machine does falls on all of them.
fn in_turns(searches: &[Search<'_>]) -> Vec<Runs> {
    let mut all = Vec::new();
    for turn in 0..if only_tried() { 1 } else { TURNS } {
        for (index, search) in searches.iter().enumerate() {
            ALLOCATOR.reset_peak_memory();
            let begun = Instant::now();
            let counts = (search.run)();
            let seconds = begun.elapsed().as_secs_f64();
            if turn == 0 {
                let peak_bytes = ALLOCATOR.get_peak_memory() as u64;
                all.push(Runs { counts, peak_bytes, seconds: Vec::new() });
            }
            let runs: &mut Runs = &mut all[index];
            assert_eq!(counts.0, runs.counts.0, "{} of {} counts other states each time", search.name, search.system);
            runs.seconds.push(seconds);
        }
    }
    all
}

fn write_down(searches: &[Search<'_>], all: &[Runs]) {
    let columns = ["system", "search", "unique", "generated", "seconds", "unique/s", "generated/s", "bytes a state"];
    let mut table = Table::new(format!("Each search, the median of {TURNS} runs"), &columns);
    for (search, runs) in searches.iter().zip(all) {
        let (seconds, (unique, generated)) = (runs.median_seconds(), runs.counts);
        let millions = |count: u64| format!("{:.2} M", count as f64 / seconds / 1e6);
        let cells = [unique.to_string(), generated.to_string(), format!("{seconds:.2}")];
        let row = [search.system.to_owned(), search.name.clone()].into_iter().chain(cells);
        let bytes = (runs.peak_bytes / unique).to_string();
        table.row(row.chain([millions(unique), millions(generated), bytes]));
    }
    let note = "Unique and generated states, and the most memory that was allocated at once. The runs were taken in turns, one \
                of each search and then the next of each. All searches of a system must count the same states, or the \
                benchmark fails.";
    let figures = Figures { tables: vec![table], ..Figures::here(50, "The checker", note) };
    println!("written to {}", figures.write("checker").unwrap().display());
}

fn exploration(criterion: &mut Criterion) {
    let searches = all_searches();
    let all = in_turns(&searches);
    for (search, runs) in searches.iter().zip(&all) {
        let first = searches.iter().position(|other| other.system == search.system).unwrap();
        assert_eq!(runs.counts.0, all[first].counts.0, "{} of {} counts other states", search.name, search.system);
    }
    if !only_tried() {
        write_down(&searches, &all);
    }
    let mut group = criterion.benchmark_group("exploration");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
    group.warm_up_time(Duration::from_millis(1));
    for (search, runs) in searches.iter().zip(&all).filter(|(search, _)| search.is_repeated()) {
        group.throughput(Throughput::Elements(runs.counts.0));
        group.bench_function(format!("{}/{}", search.name, search.system), |bencher| {
            bencher.iter(|| assert_eq!((search.run)().0, runs.counts.0));
        });
    }
    group.finish();
}

criterion_group!(checker, exploration);
criterion_main!(checker);
