//! The exhaustive model of Oncemore.
#![forbid(unsafe_code)]
pub mod explore;
pub mod mutant;
