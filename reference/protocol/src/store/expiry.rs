use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use core::hash::{Hash, Hasher};

use super::{Claim, Key};
use crate::few::Table;
use crate::time::Time;

/// Retention `time`: the claims in the order in which they expire, once there are too many to look through.
///
/// It follows from the claims, so it takes no part in comparing or hashing a store, and costs one empty pointer where
/// there are few claims or none expires.
#[derive(Clone, Debug, Default)]
pub(super) struct Expiry(Option<Box<Order>>);

/// When each claim expires, the first one first. Its own type, for what is boxed is small where it is not needed.
#[derive(Clone, Debug)]
struct Order(BTreeSet<(Time, Key)>);

impl Expiry {
    /// Up to so many claims are looked through one by one.
    const SCANNED_MAX: usize = 16;

    /// How many claims an admission forgets at most.
    const FORGOTTEN_MAX: usize = 64;

    /// The claim under `key` was recorded, and is now among `claims`; before, it was to expire at `before`.
    pub(super) fn recorded<const N: usize>(
        &mut self,
        claims: &Table<Key, Claim, N>,
        key: Key,
        before: Option<Time>,
        expires: Time,
    ) {
        match &mut self.0 {
            Some(order) => {
                if let Some(before) = before {
                    order.0.remove(&(before, key));
                }
                order.0.insert((expires, key));
            }
            None if claims.len() > Self::SCANNED_MAX => self.0 = Some(Self::sorted(claims)),
            None => {}
        }
    }

    /// The claims were changed in place.
    pub(super) fn rebuild<const N: usize>(&mut self, claims: &Table<Key, Claim, N>) {
        if self.0.is_some() {
            self.0 = Some(Self::sorted(claims));
        }
    }

    /// The order, to be freed little by little; none is kept from now on.
    pub(super) fn take(&mut self) -> BTreeSet<(Time, Key)> {
        self.0.take().map(|order| order.0).unwrap_or_default()
    }

    /// Takes out of `claims` what expires at `now` or before, but no more at once than one admission can pay for; what
    /// stays is taken for forgotten by whoever looks it up.
    pub(super) fn expire<const N: usize>(&mut self, claims: &mut Table<Key, Claim, N>, now: Time) {
        let Some(order) = &mut self.0 else {
            return claims.retain(|_, claim| claim.expires > now);
        };
        for _ in 0..Self::FORGOTTEN_MAX {
            let Some((_, key)) = order.0.first().filter(|(expires, _)| *expires <= now).copied() else { break };
            order.0.pop_first();
            claims.remove(&key);
        }
        if order.0.is_empty() {
            self.0 = None;
        }
    }

    /// When the first of the claims expires.
    pub(super) fn next<const N: usize>(&self, claims: &Table<Key, Claim, N>) -> Option<Time> {
        match &self.0 {
            Some(order) => order.0.first().map(|(expires, _)| *expires),
            None => claims.iter().map(|(_, claim)| claim.expires).min(),
        }
    }

    fn sorted<const N: usize>(claims: &Table<Key, Claim, N>) -> Box<Order> {
        Box::new(Order(claims.iter().map(|(key, claim)| (claim.expires, key)).collect()))
    }
}

impl PartialEq for Expiry {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Expiry {}

impl Hash for Expiry {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
