//! What a search has found: for each property, goal and tag where it was seen first.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::engine::Firing;
use super::super::fingerprint::Fingerprint;
use super::super::visited::VisitedSet;
use super::super::{ExploreError, Tags};

/// What need not be looked for any more, since an earlier level has shown it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) violated: u64,
    pub(super) stuck: u64,
    pub(super) fired: Tags,
}

/// First sightings. Within a level the least fingerprint counts as first, so that the order in
/// which threads come by does not matter.
#[derive(Debug, Default)]
pub(super) struct Findings {
    violated: BTreeMap<u32, Fingerprint>,
    stuck: BTreeMap<u32, Fingerprint>,
    /// The state where the transition begins, and which of its transitions it is.
    fired: BTreeMap<u8, (Fingerprint, u32)>,
}

impl Findings {
    /// Notes that `state` violates these properties.
    #[inline]
    pub(super) fn note_violation(&mut self, properties: u64, state: Fingerprint) {
        for property in bits(properties) {
            keep_least(&mut self.violated, property, state);
        }
    }

    /// Notes that runs get stuck in `state` with these goals pending.
    #[inline]
    pub(super) fn note_stuck(&mut self, goals: u64, state: Fingerprint) {
        for goal in bits(goals) {
            keep_least(&mut self.stuck, goal, state);
        }
    }

    /// Notes that a transition of `state` fired these tags.
    #[cold]
    pub(super) fn note_firing(&mut self, tags: Tags, state: Fingerprint, ordinal: u32) {
        for tag in tags.iter() {
            keep_least(&mut self.fired, tag, (state, ordinal));
        }
    }

    /// Adds what another thread found in the same level.
    pub(super) fn merge(&mut self, other: Self) {
        for (property, state) in other.violated {
            keep_least(&mut self.violated, property, state);
        }
        for (goal, state) in other.stuck {
            keep_least(&mut self.stuck, goal, state);
        }
        for (tag, transition) in other.fired {
            keep_least(&mut self.fired, tag, transition);
        }
    }

    /// Adds what a later level found, where it is news.
    pub(super) fn add_level(&mut self, level: Self) {
        for (property, state) in level.violated {
            self.violated.entry(property).or_insert(state);
        }
        for (goal, state) in level.stuck {
            self.stuck.entry(goal).or_insert(state);
        }
        for (tag, transition) in level.fired {
            self.fired.entry(tag).or_insert(transition);
        }
    }

    /// What has been found.
    pub(super) fn known(&self) -> Known {
        Known {
            violated: self.violated.keys().fold(0, |mask, property| mask | 1 << property),
            stuck: self.stuck.keys().fold(0, |mask, goal| mask | 1 << goal),
            fired: self.fired.keys().copied().collect(),
        }
    }

    /// Each violated property with the state that shows it.
    pub(super) fn violations(&self) -> impl Iterator<Item = (u32, Fingerprint)> {
        self.violated.iter().map(|(&property, &state)| (property, state))
    }

    /// Each goal at which runs get stuck with the state that shows it.
    pub(super) fn stuck(&self) -> impl Iterator<Item = (u32, Fingerprint)> {
        self.stuck.iter().map(|(&goal, &state)| (goal, state))
    }

    /// Each fired tag with the path to the transition that shows it.
    pub(super) fn firings(&self, visited: &VisitedSet) -> Result<BTreeMap<u8, Firing>, ExploreError> {
        let firing = |(&tag, &(state, ordinal))| {
            let path = visited.path_to(state).ok_or(ExploreError::TraceLost { step: 0 })?;
            Ok((tag, Firing { path, ordinal }))
        };
        self.fired.iter().map(firing).collect()
    }
}

fn keep_least<K: Ord, V: Ord>(first: &mut BTreeMap<K, V>, key: K, value: V) {
    match first.entry(key) {
        Entry::Vacant(vacant) => {
            vacant.insert(value);
        }
        Entry::Occupied(mut occupied) if value < *occupied.get() => {
            occupied.insert(value);
        }
        Entry::Occupied(_) => {}
    }
}

/// The numbers of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.checked_ilog2()?;
        mask ^= 1 << bit;
        Some(bit)
    })
}
