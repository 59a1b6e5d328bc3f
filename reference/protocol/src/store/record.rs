use core::time::Duration;

use super::{Digest, Key, Visitor, Window};
use crate::few::{Few, Table};
use crate::identity::{CallerId, Incarnation, Ordinal};
use crate::time::Time;

/// One claim: an identity that was let in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claim {
    /// The greatest ordinal let in under it (`fenced`).
    pub highest: Ordinal,
    /// Whether its run has ended and the result is on record (D5).
    pub finished: bool,
    /// What was asked for (D5).
    pub digest: Digest,
    /// When it is forgotten, with retention `time`.
    pub expires: Time,
}

/// Where a value is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Slot {
    /// The claim epoch; one for each object.
    #[default]
    Epoch,
    /// What a caller has told.
    Caller(CallerId),
    /// A claim.
    Claim(Key),
}

/// What is stored in a [`Slot`] of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Value {
    /// The first incarnation since which nothing was forgotten silently.
    Epoch(Incarnation),
    /// What the caller has settled.
    Caller(Window),
    /// The claim.
    Claim(Claim),
}

impl Default for Value {
    fn default() -> Self {
        Self::Epoch(Incarnation::default())
    }
}

/// One change of what is stored with the object: a value to put, or none to erase the slot.
///
/// Two writes erase more than they name. Putting a caller's [`Window`] erases the claims that it has closed: nothing can
/// ever ask for them again. Putting the [`Slot::Epoch`] erases all callers and claims (G6), those included that the gate
/// has forgotten since it last wrote.
pub type Write = (Slot, Option<Value>);

/// Changes that must become durable together.
pub type Writes = Few<Write, 3>;

/// What is stored with one object, as a table: the reference for storage that keeps it elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stored {
    table: Table<Slot, Value, 1>,
}

impl Stored {
    /// Nothing stored yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the changes, all of them at once.
    pub fn apply(&mut self, writes: &Writes) {
        for (slot, value) in writes.iter() {
            if let (Slot::Epoch, Some(_)) = (slot, value) {
                self.table = Table::default();
            }
            match value {
                Some(value) => self.table.insert(*slot, *value),
                None => {
                    self.table.remove(slot);
                }
            }
            if let (Slot::Caller(caller), Some(Value::Caller(window))) = (slot, value) {
                self.close(*caller, window);
            }
        }
    }

    fn close(&mut self, caller: CallerId, window: &Window) {
        self.table.retain(|slot, _| match slot {
            Slot::Claim(key) => key.caller != caller || window.open(key.number),
            Slot::Epoch | Slot::Caller(_) => true,
        });
    }

    /// What is stored, in the order of the slots.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, Value)> {
        self.table.iter()
    }

    /// Keeps what the driver says can still be asked for (see [`ClaimStore::retain`](super::ClaimStore::retain)).
    pub fn retain(&mut self, claim: impl Fn(Key) -> bool, caller: impl Fn(CallerId) -> bool) {
        self.table.retain(|slot, _| match slot {
            Slot::Claim(key) => claim(*key),
            Slot::Caller(id) => caller(*id),
            Slot::Epoch => true,
        });
    }

    /// Shows each identifier in what is stored, for models that renumber them.
    pub fn visit(&mut self, visitor: &mut impl Visitor) {
        self.table.for_each_mut(|slot, value| {
            if let Slot::Claim(key) = slot {
                visitor.number(key.caller, &mut key.number);
            }
            match (slot, value) {
                (_, Value::Epoch(epoch)) => visitor.incarnation(epoch),
                (Slot::Caller(caller), Value::Caller(window)) => visitor.window(*caller, window),
                (Slot::Epoch | Slot::Caller(_) | Slot::Claim(_), Value::Caller(_) | Value::Claim(_)) => {}
            }
        });
    }

    /// The same values on a clock whose origin lies `elapsed` later (see [`Time::rebased`]).
    pub fn rebase(&mut self, elapsed: Duration) {
        self.table.for_each_mut(|_, value| {
            if let Value::Claim(claim) = value {
                claim.expires = claim.expires.rebased(elapsed);
            }
        });
    }
}
