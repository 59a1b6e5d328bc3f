//! The state machines of Oncemore: *once more, never twice*.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod backoff;
pub mod caller;
pub mod design;
pub mod directory;
pub mod eligibility;
pub mod failure;
pub mod few;
pub mod gate;
pub mod identity;
pub mod lane;
pub mod limits;
pub mod marks;
pub mod route;
pub mod rule;
pub mod rules;
pub mod store;
pub mod time;
