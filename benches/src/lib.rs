//! What the benchmarks drive: the caller's engine and an object's gate, and the limits and hand-written peers beside them.

pub mod engine;
pub mod figures;
pub mod object;
