//! The directory's record of one object: who hosts it, under which incarnation, and whose writes storage takes (D3, G2, G12).

use core::fmt;

use crate::identity::Incarnation;
use crate::rule::{Branch, Fired};
use crate::rules::Rules;

/// Who hosts an object. The incarnation is the storage epoch: it only ever rises, also when the data is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ownership<H> {
    host: H,
    incarnation: Incarnation,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    /// The owner admits calls.
    Serving,
    /// The owner admits nothing new; the successor has not started (G2).
    Draining,
}

/// The owner still admits calls: it has to drain before a successor starts, or be declared dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StillServing;

impl fmt::Display for StillServing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object's owner still admits calls: drain it first, or take the object over")
    }
}

impl core::error::Error for StillServing {}

impl<H: Copy> Ownership<H> {
    /// An object's first incarnation, on `host`.
    pub const fn first(host: H) -> Self {
        Self { host, incarnation: Incarnation::FIRST, phase: Phase::Serving }
    }

    /// Where its owner lives.
    pub const fn host(&self) -> H {
        self.host
    }

    /// The incarnation that a resolve names.
    pub const fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Whether the owner is draining.
    pub const fn draining(&self) -> bool {
        matches!(self.phase, Phase::Draining)
    }

    /// The owner begins to drain; that is final (G2).
    pub const fn drain(&mut self) {
        self.phase = Phase::Draining;
    }

    /// The successor of a drained owner starts on `host`; from now on the predecessor's storage is fenced (G2).
    ///
    /// # Errors
    /// [`StillServing`] if the owner has not begun to drain.
    pub fn hand_over<R: Rules>(&mut self, rules: R, host: H) -> Result<Incarnation, StillServing> {
        match self.phase {
            Phase::Serving => Err(StillServing),
            Phase::Draining => Ok(self.take_over(rules, host)),
        }
    }

    /// The next incarnation starts on `host`, whatever the owner believes: after a crash, a restart or a lost lease.
    pub fn take_over<R: Rules>(&mut self, rules: R, host: H) -> Incarnation {
        self.incarnation = rules.next_incarnation(self.incarnation);
        self.host = host;
        self.phase = Phase::Serving;
        self.incarnation
    }

    /// The owner itself begins a new claim epoch, since its claim store is full (G6). Nothing else changes.
    ///
    /// Returns none if `owner` has lost the object meanwhile.
    pub fn next_epoch<R: Rules>(&mut self, rules: R, owner: Incarnation) -> Option<Incarnation> {
        if self.incarnation != owner {
            return None;
        }
        self.incarnation = rules.next_incarnation(owner);
        Some(self.incarnation)
    }

    /// Whether storage takes a write of the incarnation `writer` (G2), or confirms its epoch (G12).
    pub fn holds<R: Rules>(&self, rules: R, writer: Incarnation) -> (bool, Fired) {
        let holds = rules.storage_takes(writer, self.incarnation);
        (holds, if holds { Fired::NONE } else { Branch::WriteFenced.into() })
    }

    /// The incarnation, for models that renumber incarnations.
    pub const fn incarnation_mut(&mut self) -> &mut Incarnation {
        &mut self.incarnation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Spec;

    #[test]
    fn a_successor_starts_only_after_draining() {
        let mut object = Ownership::first('a');
        assert_eq!(object.hand_over(Spec, 'b'), Err(StillServing));
        object.drain();
        assert_eq!(object.hand_over(Spec, 'b'), Ok(Incarnation(2)));
        assert_eq!((object.host(), object.draining()), ('b', false));
    }

    #[test]
    fn a_predecessor_is_fenced_and_cannot_begin_an_epoch() {
        let mut object = Ownership::first('a');
        let old = object.incarnation();
        let new = object.take_over(Spec, 'a');
        assert!(new > old);
        assert_eq!(object.holds(Spec, old), (false, Branch::WriteFenced.into()));
        assert_eq!(object.holds(Spec, new), (true, Fired::NONE));
        assert_eq!(object.next_epoch(Spec, old), None);
        assert_eq!(object.next_epoch(Spec, new), Some(Incarnation(3)));
    }
}
