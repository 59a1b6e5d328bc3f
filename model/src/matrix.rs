//! The matrix: every design of the claim store against every world, for the promises that depend on it.
//!
//! A [`Cell`] is a small scenario, explored once for all five [`PROPERTIES`]. What came of all of them is a [`Matrix`];
//! what is expected of them is data in the repository, and [`Matrix::differences`] tells where the two part.

mod cell;
mod expected;
mod run;
mod still;
mod summary;
mod theory;

pub use cell::{Cell, PROPERTIES, Setting, Trouble};
pub use expected::{Difference, Expected, ExpectedError};
pub use oncemore_protocol::design::Design;
pub use run::{Build, MatrixError, Progress, run, run_with};
pub use summary::{Exception, Group, Place, Summary};

use std::collections::BTreeMap;

use crate::explore::CutReason;

/// What came of all cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// By cell.
    pub outcomes: BTreeMap<Cell, Outcome>,
    /// Distinct states explored in all.
    pub states: u64,
}

/// What came of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The cell asks nothing, and why.
    DoesNotApply(&'static str),
    /// It was explored.
    Explored {
        /// One for each of [`PROPERTIES`].
        verdicts: [Verdict; PROPERTIES.len()],
        /// Distinct states.
        states: u64,
        /// Why not all of them were seen, if so.
        cut: Option<CutReason>,
        /// Whether the states are those of another cell, whose settings differ in what was never looked at.
        shared: bool,
    },
}

impl Outcome {
    const fn shared(self) -> Self {
        match self {
            Self::DoesNotApply(why) => Self::DoesNotApply(why),
            Self::Explored { verdicts, states, cut, .. } => Self::Explored { verdicts, states, cut, shared: true },
        }
    }
}

/// What may be said of one promise in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All states were seen, and none violates it.
    Holds,
    /// A run violates it.
    Violated {
        /// How long the shortest one is.
        steps: u32,
    },
    /// Nothing was found, and not everything was seen.
    Inconclusive,
}
