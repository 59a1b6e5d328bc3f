use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, btree_map, btree_set};
use core::hash::{Hash, Hasher};

use super::heard::Heard;
use super::{Claim, Key};
use crate::identity::CallerId;
use crate::time::Time;

/// What a claim epoch has forgotten and nobody has freed yet.
///
/// Freeing a million entries at once would hold up the one admission that began the epoch. So each admission after it frees
/// a few: more than it can add, so nothing is left by the time the next epoch begins. Until then a store takes up to twice
/// its room. It is no part of what a store knows.
#[derive(Default)]
pub(super) struct Doomed(Option<Box<Entries>>);

struct Entries {
    callers: btree_map::IntoIter<CallerId, Heard>,
    claims: btree_map::IntoIter<Key, Claim>,
    expiry: btree_set::IntoIter<(Time, Key)>,
}

impl Doomed {
    /// How many entries an admission frees.
    const AT_ONCE: usize = 4;

    pub(super) fn add(
        &mut self,
        callers: BTreeMap<CallerId, Heard>,
        claims: BTreeMap<Key, Claim>,
        expiry: BTreeSet<(Time, Key)>,
    ) {
        if !callers.is_empty() || !claims.is_empty() {
            let (callers, claims, expiry) = (callers.into_iter(), claims.into_iter(), expiry.into_iter());
            self.0 = Some(Box::new(Entries { callers, claims, expiry }));
        }
    }

    #[inline]
    pub(super) fn free_some(&mut self) {
        if let Some(entries) = &mut self.0 {
            let (callers, claims) = (entries.callers.by_ref().map(drop), entries.claims.by_ref().map(drop));
            let freed = callers.chain(claims).chain(entries.expiry.by_ref().map(drop));
            if freed.take(Self::AT_ONCE).count() < Self::AT_ONCE {
                self.0 = None;
            }
        }
    }
}

/// A copy forgets no more than its original has.
impl Clone for Doomed {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl core::fmt::Debug for Doomed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Doomed")
    }
}

impl PartialEq for Doomed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Doomed {}

impl Hash for Doomed {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
