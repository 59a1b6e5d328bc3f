//! What the benchmarks of this package share: calls and gates that are driven in step with their peers, and figures that
//! are taken without criterion.

// A benchmark that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a benchmark that cannot go on has failed")]

pub mod calling;
pub mod durable;
pub mod figures;
pub mod object;
pub mod peers;
pub mod report;
