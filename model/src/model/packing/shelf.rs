//! The parts of one kind that a thread saw lately.

use std::hash::Hash;
use std::sync::Arc;

use oncemore_protocol::store::ClaimStore;

use super::{Form, Reader, SAME, put_len};
use crate::script::Script;
use crate::world::{Known, Part, Show};

/// How many parts a shelf has room for: a power of two.
const PLACES: usize = 1 << 12;

/// Each part has one place where it may lie, and the one that came last lies there. So a shelf never grows, whatever the
/// number of states.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    places: Vec<Option<Arc<Known<T>>>>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { places: Vec::new() }
    }
}

/// What has to be known of a part to write it down or to read it.
pub(super) struct Spot<'a, S: ClaimStore, T> {
    pub(super) script: &'a Script<S>,
    /// Where the part stands among its like.
    pub(super) place: usize,
    pub(super) form: Form<T>,
}

/// What was read.
pub(super) enum Taken<'a, T> {
    /// The part is as it was in the state before.
    Same,
    Other(&'a Arc<Known<T>>),
}

/// The bits of a fingerprint that are written down.
const fn hint(fingerprint: u64) -> u32 {
    (fingerprint >> 32) as u32
}

impl<T: Clone + Hash> Shelf<T> {
    /// Where a part may lie.
    #[inline]
    fn at(&mut self, hint: u32, place: usize) -> &mut Option<Arc<Known<T>>> {
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let index = (hint ^ (place as u32).wrapping_mul(0x9e37_79b9)) as usize % PLACES;
        &mut self.places[index]
    }

    /// Appends a part. `before` is the fingerprint of the one that stood there in the state before, and then of this one.
    #[inline]
    pub(super) fn put<S: ClaimStore>(
        &mut self,
        spot: &Spot<'_, S, T>,
        part: &Part<T>,
        before: &mut u64,
        bytes: &mut Vec<u8>,
    ) where
        T: Show<S>,
    {
        let fingerprint = part.fingerprint();
        if std::mem::replace(before, fingerprint) == fingerprint {
            return bytes.push(SAME);
        }
        if let Some(known) = part.shared().filter(|known| !known.bytes.is_empty()) {
            return put_known(known, bytes);
        }
        let lying = self.at(hint(fingerprint), spot.place);
        if let Some(known) =
            lying.as_ref().filter(|known| known.fingerprint == fingerprint && known.place == spot.place)
        {
            return put_known(known, bytes);
        }
        let mut written = Vec::new();
        (spot.form.write)(part, &mut written);
        let known = Known::new((**part).clone(), fingerprint, spot.script, spot.place, written.into());
        put_known(lying.insert(Arc::new(known)), bytes);
    }

    /// Takes a part off the front of what is to be read.
    #[inline]
    pub(super) fn take<S: ClaimStore>(
        &mut self,
        spot: &Spot<'_, S, T>,
        reader: &mut Reader<'_, '_>,
    ) -> Option<Taken<'_, T>>
    where
        T: Show<S>,
    {
        let len = reader.len()?;
        if len == usize::from(SAME) {
            return Some(Taken::Same);
        }
        let told = u32::from_le_bytes(*reader.array()?);
        let written = reader.slice(len)?;
        let lying = self.at(told, spot.place);
        if !lying.as_ref().is_some_and(|known| known.place == spot.place && *known.bytes == *written) {
            let value = (spot.form.read)(written)?;
            let fingerprint = reader.fingerprinter.of(&value).get();
            *lying = Some(Arc::new(Known::new(value, fingerprint, spot.script, spot.place, written.into())));
        }
        lying.as_ref().map(Taken::Other)
    }
}

impl<T> Taken<'_, T> {
    /// Makes it this part.
    #[inline]
    pub(super) fn put_in(self, part: &mut Part<T>) {
        if let Taken::Other(known) = self {
            part.share_in(known);
        }
    }

    /// Makes it the part with this index, of those that there are or the next one.
    #[inline]
    pub(super) fn put_among(self, parts: &mut Vec<Part<T>>, index: usize) {
        if let Taken::Other(known) = self {
            match parts.get_mut(index) {
                Some(part) => part.share_in(known),
                None => parts.push(Part::of_shared(Arc::clone(known))),
            }
        }
    }
}

/// No part is written down in no bytes at all, so that length can stand for one that is the same.
#[inline]
fn put_known<T>(known: &Known<T>, bytes: &mut Vec<u8>) {
    debug_assert!(!known.bytes.is_empty(), "a part takes at least a byte");
    put_len(known.bytes.len(), bytes);
    bytes.extend_from_slice(&hint(known.fingerprint).to_le_bytes());
    bytes.extend_from_slice(&known.bytes);
}
