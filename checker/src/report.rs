//! What was found, in the forms in which it is told.

pub(crate) mod check_json;
pub(crate) mod check_text;
mod layout;
pub(crate) mod matrix_text;
mod names;
pub(crate) mod totals;
pub(crate) mod trace_text;

pub(crate) use layout::{Layout, hang};
