//! Scenarios as people meet them: read from text, refused with a reason, written out, and those that come with Oncemore.

mod errors;
mod fields;
mod library;
mod round_trip;
mod verdicts;
