//! The `oncemore` command.
#![forbid(unsafe_code)]
fn main() {}
