//! D4 and D5 with their claims in SQLite, as the reference runtime stores them: a commit for each claim, or for 64 at once.
//!
//! D5 commits twice: the claim before user code runs, and the result (64 bytes) with its effect. The limit is one page
//! written behind the last and the disk's word for it, in the same folder. The runtime commits each claim alone; that 64
//! wait for one commit is what a busy object could have.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use oncemore_peers::durable::{Database, Log};
use oncemore_peers::figures::only_tried;
use oncemore_peers::object::{Object, Shape};
use oncemore_protocol::design::Design;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn sizes() -> &'static [u64] {
    if only_tried() { &[1 << 10] } else { &[1 << 10, 100 << 10] }
}

fn storage(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gate-storage");
    group.sampling_mode(SamplingMode::Flat);
    for live in sizes().iter().copied() {
        // In the target folder, since a folder for temporary files may be memory.
        let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        let mut log = Log::new(folder.path());
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("one-page-to-disk", live), |bencher| bencher.iter(|| log.append()));
        for design in [Design::Durable, Design::DurableResults] {
            let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
            let mut database = Database::new(folder.path());
            let mut object = Object::empty(Shape::new(design, 32, live));
            for _ in 0..live / 256 {
                object.admit_batch(256, &mut database);
            }
            database.wait_for_disk();
            for (calls, name) in [(1, "commit-each"), (64, "commit-64")] {
                group.throughput(Throughput::Elements(calls));
                let id = BenchmarkId::new(format!("{}-{name}", design.name()), live);
                group.bench_function(id, |bencher| bencher.iter(|| object.admit_batch(calls, &mut database)));
            }
        }
    }
    group.finish();
}

criterion_group! {
    name = gates;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_millis(1000))
        .warm_up_time(Duration::from_millis(300));
    targets = storage
}
criterion_main!(gates);
