//! The exhaustive model of Oncemore.
#![forbid(unsafe_code)]
pub mod action;
pub mod explore;
pub mod judge;
pub mod matrix;
pub mod model;
pub mod mutant;
pub mod narrate;
pub mod property;
pub mod query;
pub mod scenario;
mod script;
pub mod story;
pub mod view;
pub mod world;
