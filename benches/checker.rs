//! The checker: unique states a second, beside Stateright on the very same transition system.
//!
//! The command shows generated states and bytes a state as well: `oncemore check two-callers limits limits-duplicates`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

#[allow(dead_code, reason = "the tests of the model use more of it")]
#[path = "../model/tests/two_phase_commit/mod.rs"]
mod two_phase_commit;

use std::num::NonZeroUsize;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use oncemore_model::explore::stateright::{StaterightSearch, count_with_stateright};
use oncemore_model::explore::{BreadthFirst, Engine, Limits, System};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::scenario;
use two_phase_commit::TwoPhaseCommit;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The three largest of the default suite.
const SCENARIOS: [&str; 3] = ["two-callers", "limits", "limits-duplicates"];

fn states<S: System>(system: &S, threads: usize) -> u64 {
    let limits = Limits { threads: NonZeroUsize::new(threads).unwrap(), ..Limits::default() };
    BreadthFirst.explore(system, &limits, &mut |_| {}).unwrap().counts.states
}

fn beside_stateright<S: System + Send + 'static>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    system: impl Fn() -> S,
) {
    let expected = states(&system(), 2);
    group.throughput(Throughput::Elements(expected));
    for (search, word) in [(StaterightSearch::DepthFirst, "depth"), (StaterightSearch::BreadthFirst, "breadth")] {
        group.bench_function(format!("stateright-{word}-first-1-thread/{name}"), |bencher| {
            bencher.iter(|| assert_eq!(count_with_stateright(system(), search, 1).states, expected));
        });
    }
    for threads in [1, 2] {
        let system = system();
        group.bench_function(format!("oncemore-{threads}-thread/{name}"), |bencher| {
            bencher.iter(|| assert_eq!(states(&system, threads), expected));
        });
    }
}

fn exploration(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exploration");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
    group.warm_up_time(Duration::from_millis(1));
    for name in SCENARIOS {
        let scenario = &scenario::find(name).unwrap().scenario;
        beside_stateright(&mut group, name, || Model::new(scenario, Broken::default()).unwrap());
    }
    beside_stateright(&mut group, "two-phase-commit-8", || TwoPhaseCommit::<8>);
    group.finish();
}

criterion_group!(checker, exploration);
criterion_main!(checker);
