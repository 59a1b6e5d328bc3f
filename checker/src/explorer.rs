//! The explorer: a page on this machine in which a person walks through the states of a scenario.
//!
//! The server keeps nothing about where somebody is: every request names a scenario and the choices made so far, and is
//! answered from those alone. It listens on the loopback interface only, and no request reads or writes a file.

mod api;
mod around;
mod assets;
mod body;
mod compare;
mod error;
mod export;
mod guard;
mod jobs;
mod matrix;
mod server;
mod subject;
mod views;

#[cfg(test)]
mod tests;

pub(crate) use api::begin_at;
pub(crate) use server::{JobLimits, Settings, serve};
pub(crate) use views::Start;
