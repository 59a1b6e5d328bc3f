//! The counts that are expected of the library's scenarios, to the last state.
//!
//! A change that should not touch the space leaves them as they are, and one that should says by how much.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::explore::Counts;

/// The size of one scenario's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// Distinct states.
    pub unique: u64,
    /// States produced: the initial ones and one for each transition, duplicates included.
    pub generated: u64,
    /// How many transitions the farthest state is from the nearest initial state.
    pub depth: u32,
}

impl From<Counts> for Pinned {
    fn from(counts: Counts) -> Self {
        Self { unique: counts.states, generated: counts.generated, depth: counts.depth }
    }
}

/// What is expected, by scenario; the file is `model/expected/counts.json`.
///
/// # Panics
///
/// If the file is not of the right form: it is part of the program.
#[must_use]
pub fn pinned() -> &'static BTreeMap<String, Pinned> {
    static PINNED: LazyLock<BTreeMap<String, Pinned>> = LazyLock::new(|| {
        let text = include_str!("../../expected/counts.json");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("expected/counts.json: {error}"))
    });
    &PINNED
}
