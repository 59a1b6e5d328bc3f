//! The counts, each a hard limit that may be exceeded by a twentieth: of a thousand calls or admissions, with rustc 1.95.0.
//!
//! After a change that is meant to cost or save something, or with another compiler, run `cargo bench --manifest-path
//! benches/instructions/Cargo.toml` and put what it prints here.

#![allow(missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use oncemore_benches::object::Object;
use oncemore_instructions::{admissions, calls, failing_calls, refusals};
use oncemore_protocol::caller::Terms;
use oncemore_protocol::design::Design;
use oncemore_protocol::identity::CallerId;
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::Limits;

fn at_most(counted: u64) -> LibraryBenchmarkConfig {
    let limit = counted + counted / 20;
    LibraryBenchmarkConfig::default().tool(Callgrind::default().hard_limits([(EventKind::Ir, limit)])).clone()
}

fn caller() -> (Terms, Lane) {
    let terms = Terms { limits: Limits::new(10, 60_000).unwrap_or_default(), ..Terms::default() };
    (terms, Lane::new(CallerId::from_bits(3)))
}

fn object(design: Design, window: u64) -> Object {
    Object::with(design, 8_192, window)
}

#[library_benchmark(setup = caller)]
#[bench::answered(config = at_most(47_040))]
fn call((terms, lane): (Terms, Lane)) -> u64 {
    black_box(calls(black_box(&terms), black_box(lane)))
}

#[library_benchmark(setup = caller)]
#[bench::fails_four_times(config = at_most(801_046))]
fn failing_call((terms, lane): (Terms, Lane)) -> u64 {
    black_box(failing_calls(black_box(&terms), black_box(lane)))
}

#[library_benchmark(setup = object)]
#[bench::d1(args = (Design::VolatileOpen, 32), config = at_most(1_325_789))]
#[bench::d2(args = (Design::VolatileClock, 32), config = at_most(1_342_789))]
#[bench::d3(args = (Design::VolatileIncarnation, 32), config = at_most(1_330_789))]
#[bench::d3_one_call_each(args = (Design::VolatileIncarnation, 1), config = at_most(1_590_617))]
#[bench::d4(args = (Design::Durable, 32), config = at_most(1_369_789))]
#[bench::d5(args = (Design::DurableResults, 32), config = at_most(6_295_324))]
fn admission(object: Object) -> Object {
    black_box(admissions(black_box(object)))
}

#[library_benchmark(setup = object)]
#[bench::d3(args = (Design::VolatileIncarnation, 32), config = at_most(728_869))]
fn refusal(object: Object) -> Object {
    black_box(refusals(black_box(object)))
}

library_benchmark_group!(name = counts, benchmarks = [call, failing_call, admission, refusal]);
main!(library_benchmark_groups = counts);
