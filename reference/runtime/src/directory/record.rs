//! One object's record, and how it may change: `Ownership` decides.

use std::collections::BTreeSet;
use std::fmt;

use oncemore_protocol::directory::Ownership;
use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::rules::Spec;
use serde::{Deserialize, Serialize};

/// One life of a host: drawn at random when it starts, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostId(pub u64);

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A host, as it tells the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Which life of it.
    pub id: HostId,
    /// What it is called; a host that starts under the name of another replaces it.
    pub name: String,
    /// Where it listens.
    pub address: String,
    /// The classes that it serves.
    pub classes: BTreeSet<String>,
}

/// Where an object lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// On which host.
    pub host: HostId,
    /// Where that listens.
    pub address: String,
    /// Which life of the object.
    pub incarnation: Incarnation,
}

/// What the directory knows of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record(Ownership<HostId>);

/// How an object's record may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The owner itself lost the object's memory and begins anew, or its claim store is full (G6).
    NextIncarnation,
    /// The owner begins to hand the object over (G2).
    Drain,
    /// The owner has drained; `HostId` is its successor (G2).
    HandOver(HostId),
    /// The owner is dead, or its lease has run out.
    TakeOver(HostId),
}

impl Record {
    /// The record of an object that nobody has served yet.
    #[must_use]
    pub const fn first(host: HostId) -> Self {
        Self(Ownership::first(host))
    }

    /// The owner's host.
    #[must_use]
    pub const fn host(&self) -> HostId {
        self.0.host()
    }

    /// The owner.
    #[must_use]
    pub const fn incarnation(&self) -> Incarnation {
        self.0.incarnation()
    }

    /// Whether the owner hands the object over.
    #[must_use]
    pub const fn draining(&self) -> bool {
        self.0.draining()
    }

    /// Changes the record, if `owner` is still the incarnation and the change is allowed in its phase.
    #[must_use]
    pub fn changed(self, owner: Incarnation, change: Change) -> Option<Self> {
        let mut next = self.0;
        if next.incarnation() != owner {
            return None;
        }
        match change {
            Change::NextIncarnation => drop(next.next_epoch(Spec, owner)?),
            Change::Drain => next.drain(),
            Change::HandOver(host) => drop(next.hand_over(Spec, host).ok()?),
            Change::TakeOver(host) => drop(next.take_over(Spec, host)),
        }
        Some(Self(next))
    }
}
