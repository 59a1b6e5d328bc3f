//! What is counted: so many calls or admissions, without what it takes to set them up.
//!
//! Wall time on a shared machine says nothing, and a new machine has no baseline. Instructions are the same everywhere for
//! one binary, so that the committed counts are limits for the compiler that they were taken with.

use oncemore_benches::engine::{Clock, answered, fails};
use oncemore_benches::object::Object;
use oncemore_protocol::caller::Terms;
use oncemore_protocol::lane::Lane;

/// How often each thing is done.
pub const TIMES: u64 = 1_000;

/// Calls that are answered at once.
#[must_use]
pub fn calls(terms: &Terms, mut lane: Lane) -> u64 {
    (0..TIMES).fold(0, |sum, _| sum.wrapping_add(answered(terms, &mut lane, Clock::Coarse)))
}

/// Calls that fail four times each before they are answered.
#[must_use]
pub fn failing_calls(terms: &Terms, mut lane: Lane) -> u64 {
    (0..TIMES).fold(0, |sum, _| sum.wrapping_add(fails(terms, &mut lane, Clock::Coarse, 4, 1 << 20)))
}

/// Admissions of new calls. Gives the object back, so that dropping it is not counted.
#[must_use]
pub fn admissions(mut object: Object) -> Object {
    assert!((0..TIMES).all(|_| object.admit()));
    object
}

/// Refusals of duplicates.
#[must_use]
pub fn refusals(mut object: Object) -> Object {
    assert!((0..TIMES).all(|_| object.refuse()));
    object
}
