//! A caller's sequences of identities, one for each object (section 8, watermark).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oncemore_protocol::caller::{Call, Terms, Transmission, Unsent};
use oncemore_protocol::identity::{CallerId, Identity, Incarnation, Unsettled};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::time::WallTime;

use crate::entropy::Entropy;
use crate::id::ObjectId;

/// From how many objects on idle sequences are forgotten. To the object, a new sequence is simply another caller.
const OBJECTS_MAX: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<HashMap<ObjectId, Vec<Lane>>>);

impl Lanes {
    /// Gives an attempt that has found its object its identity (I1–I4); from another lane if this one is full.
    pub(super) fn transmit<P>(
        &self,
        object: &ObjectId,
        call: &mut Call<P>,
        terms: &Terms,
        address: Incarnation,
        wall: WallTime,
        entropy: &Entropy,
    ) -> Result<Transmission, Unsent> {
        let mut all = self.lock();
        if all.len() >= OBJECTS_MAX && !all.contains_key(object) {
            all.retain(|_, lanes| !lanes.iter().all(idle));
        }
        let lanes = all.entry(object.clone()).or_default();
        if lanes.is_empty() {
            lanes.push(fresh(entropy));
        }
        let own = call.identity().and_then(|identity| lanes.iter().position(|lane| lane.caller() == identity.caller));
        let index = own.unwrap_or(lanes.len() - 1);
        match call.resolved(terms, &mut lanes[index], address, wall) {
            Err(Unsent::LaneFull) => {
                lanes.push(fresh(entropy));
                let last = lanes.len() - 1;
                call.resolved(terms, &mut lanes[last], address, wall)
            }
            sent => sent,
        }
    }

    /// The caller will send nothing under this identity any more.
    pub(super) fn settle(&self, object: &ObjectId, identity: Identity) {
        let mut all = self.lock();
        let Some(lanes) = all.get_mut(object) else { return };
        if let Some(lane) = lanes.iter_mut().find(|lane| lane.caller() == identity.caller) {
            lane.settle(identity.number);
        }
        // One is kept: a new one would be one more caller for the object to remember.
        while lanes.len() > 1 && idle(&lanes[0]) {
            lanes.remove(0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectId, Vec<Lane>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fresh(entropy: &Entropy) -> Lane {
    Lane::new(CallerId::from_bits(u128::from_le_bytes(entropy.bytes())))
}

fn idle(lane: &Lane) -> bool {
    lane.unsettled_below(lane.next()) == Unsettled(0)
}
