//! The state that was packed last, by its fingerprints: the next one is told by what sets it apart.

use oncemore_protocol::few::Few;
use oncemore_protocol::store::ClaimStore;

use super::{Reader, put_len};
use crate::world::{Budget, World};

/// No part has this fingerprint.
pub(super) const NONE: u64 = 0;

/// Stands for what is as it was in the state before.
pub(super) const SAME: u8 = 0;

#[derive(Debug, Default)]
pub(super) struct Before {
    rest: Option<(Budget, Few<u8, 8>)>,
    pub(super) callers: Vec<u64>,
    pub(super) calls: Vec<u64>,
    pub(super) net: u64,
    pub(super) objects: Vec<ObjectBefore>,
}

#[derive(Debug, Default)]
pub(super) struct ObjectBefore {
    pub(super) record: u64,
    pub(super) incarnations: Vec<u64>,
}

impl Before {
    /// There was none. Then, or else, it gets as many parts as the world has, but for incarnations.
    pub(super) fn fit<S: ClaimStore>(&mut self, first: bool, world: &World<S>) {
        if first {
            self.rest = None;
            self.callers.clear();
            self.calls.clear();
            self.net = NONE;
            self.objects.clear();
        }
        self.callers.resize(world.callers.len(), NONE);
        self.calls.resize(world.calls.len(), NONE);
        self.objects.resize_with(world.objects.len(), ObjectBefore::default);
    }

    /// Appends what is no part of its own: the budget and the history.
    pub(super) fn put_rest<S: ClaimStore>(&mut self, world: &World<S>, bytes: &mut Vec<u8>) {
        if self.rest.as_ref().is_some_and(|(budget, history)| *budget == world.budget && *history == world.history) {
            return bytes.push(SAME);
        }
        bytes.push(!SAME);
        bytes.extend_from_slice(&world.budget.to_bytes());
        put_len(world.history.len(), bytes);
        bytes.extend_from_slice(world.history.as_slice());
        self.rest = Some((world.budget, world.history.clone()));
    }
}

/// Takes what is no part of its own.
pub(super) fn take_rest<S: ClaimStore>(world: &mut World<S>, reader: &mut Reader<'_, '_>) -> Option<()> {
    if *reader.array()? == [SAME] {
        return Some(());
    }
    world.budget = Budget::from_bytes(*reader.array()?);
    let history = reader.len()?;
    world.history = reader.slice(history)?.iter().copied().collect();
    Some(())
}
