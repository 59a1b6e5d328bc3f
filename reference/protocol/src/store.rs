//! What an object remembers of what it has let in: the claim store (section 8).
//!
//! [`ClaimStore`] is the seam: a store *recalls* what it knows of an identity and *records* what was let in; what follows
//! from that is the gate's business. [`Claims`] implements the designs D0 to D5 with both retentions.
//!
//! Three things every store here must get right, each with a mutant that gets it wrong:
//!
//! * **It says what it does not know.** After a restart an empty memory is not "never let in" but "may have been":
//!   [`Recall::MayHave`].
//! * **It forgets only what can never come again.** The watermark forgets a claim when its caller says that it is settled,
//!   and from then on refuses the number; a lowest unsettled number instead of the set would keep everything above it, and
//!   one call that hangs would fill the store.
//! * **It never forgets silently.** A full store begins a new claim epoch and from then on doubts everything older.
//!
//! Prior art: RIFL's completion records (Lee et al., SOSP 2015), client sessions in Raft (Ongaro 2014, 6.3), the NFS reply
//! cache (Juszczak 1989).

mod claims;
mod doomed;
mod expiry;
mod heard;
mod record;
#[cfg(test)]
mod tests;
mod window;

pub use claims::Claims;
pub use record::{Claim, Slot, Stored, Value, Write, Writes};
pub use window::Window;

use core::fmt::Debug;
use core::hash::Hash;
use core::time::Duration;

use crate::identity::{CallerId, Identity, Incarnation, Number, Ordinal, Unsettled};
use crate::rule::{Branch, Fired};
use crate::rules::{AtBound, Rules};
use crate::time::{Time, WallTime};

/// What an identity is remembered under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Whose identity it is.
    pub caller: CallerId,
    /// Which of the caller's it is.
    pub number: Number,
}

/// What tells one request from another that claims to be the same (D5): a digest of method and arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Digest(pub u64);

/// What a store is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The attempt's identity.
    pub identity: Identity,
    /// Which attempt of its call it is.
    pub ordinal: Ordinal,
    /// What its caller has not settled.
    pub unsettled: Unsettled,
    /// What it asks for.
    pub digest: Digest,
}

/// What a store knows of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recall {
    /// The store keeps nothing, and never will (D0).
    Untracked,
    /// It has not been let in, anywhere, ever.
    Never,
    /// It has been let in here (G3).
    Claimed {
        /// The greatest ordinal let in.
        highest: Ordinal,
    },
    /// It may have been let in before, with no record to tell (G4).
    MayHave(Doubt),
    /// Its caller said that nothing more would come under it (watermark).
    Settled,
    /// It ran to its end, and the result is on record (D5).
    Finished,
    /// Another request was let in under it (D5).
    OtherRequest,
}

/// Why a store cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// It was created before this incarnation began (D2).
    BornBefore,
    /// It was born for another incarnation (D3).
    BornElsewhere,
    /// It is older than the claim epoch (G6).
    BeforeEpoch,
}

impl Doubt {
    /// The branch that names this doubt.
    #[must_use]
    pub const fn branch(self) -> Branch {
        match self {
            Self::BornBefore => Branch::BornBefore,
            Self::BornElsewhere => Branch::BornElsewhere,
            Self::BeforeEpoch => Branch::BornBeforeEpoch,
        }
    }
}

/// The start of an incarnation or of a claim epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Birth {
    /// Its number.
    pub incarnation: Incarnation,
    /// When it began, by the object's wall clock (D2).
    pub wall: WallTime,
}

impl Birth {
    /// The start of an incarnation, at this time by the object's wall clock.
    ///
    /// Before the first that an object ever has, nothing was let in. So nothing is older than it, whatever clocks say: the
    /// call that brings an object into being was made before it, and would be refused otherwise (G10).
    #[must_use]
    pub const fn of(incarnation: Incarnation, wall: WallTime) -> Self {
        let first = incarnation.0 == Incarnation::FIRST.0;
        Self { incarnation, wall: if first { WallTime::from_nanos(i64::MIN) } else { wall } }
    }
}

/// A claim store. All of its decisions are [`Recall`]s; it never looks at marks.
pub trait ClaimStore: Clone + Debug + Eq + Hash {
    /// The store's settings.
    type Plan: Copy + Debug;

    /// The store of an incarnation that begins, with what an earlier one has stored.
    fn open(plan: &Self::Plan, birth: Birth, stored: impl Iterator<Item = (Slot, Value)>) -> Self;

    /// What the store knows of an identity. The attempt also says what its caller has settled, so the store may forget.
    fn recall<R: Rules>(&mut self, plan: &Self::Plan, rules: R, ask: &Ask, now: Time) -> (Recall, Fired);

    /// What to do about letting in one more identity, if the store has no room for it; none if it has.
    fn bound<R: Rules>(&self, plan: &Self::Plan, rules: R, ask: &Ask) -> Option<AtBound>;

    /// The identity is let in now. Returns what must be durable before user code runs (D4); nothing, for a volatile store.
    fn record<R: Rules>(&mut self, plan: &Self::Plan, rules: R, ask: &Ask, now: Time) -> Writes;

    /// A run has ended. Returns what must be stored together with its effect (D5).
    fn finish<R: Rules>(&self, plan: &Self::Plan, rules: R, identity: Identity) -> Writes;

    /// Storage has taken what [`ClaimStore::finish`] returned: only now is the result on record (D5). A predecessor whose
    /// transaction was refused must not answer with a result that nobody stored.
    fn on_record<R: Rules>(&mut self, plan: &Self::Plan, rules: R, identity: Identity);

    /// Forgets everything and begins a claim epoch (G6). Returns what must be durable before anything else is let in.
    fn begin_epoch(&mut self, plan: &Self::Plan, birth: Birth) -> Writes;

    /// Forgets everything and says nothing of it. A planted fault and a mutant; no rule asks for it.
    fn forget(&mut self);

    /// Whether claims must be durable before user code runs.
    fn durable(plan: &Self::Plan) -> bool;

    /// Whether duplicates of a marked method are fenced.
    fn fenced(plan: &Self::Plan) -> bool;

    /// Whether the gate must refuse an attempt that is addressed to another incarnation.
    fn checks_address(plan: &Self::Plan) -> bool;

    /// How many entries the store holds.
    fn len(&self) -> usize;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries the store may hold.
    fn capacity(plan: &Self::Plan) -> usize;

    /// When time alone changes what the store knows, if it does.
    fn deadline(&self, plan: &Self::Plan) -> Option<Time>;

    /// The claims that it holds, for a model that compares them with what really ran.
    fn claims(&self) -> impl Iterator<Item = Key>;

    /// Keeps the claims and the callers that the driver says can still be asked for, for a model that does not tell states
    /// apart by what cannot. A store that keeps everything is right too. Not called while all that [`ClaimStore::visit`] shows
    /// can still be asked for.
    fn retain(&mut self, _claim: impl Fn(Key) -> bool, _caller: impl Fn(CallerId) -> bool) {}

    /// The same store on a clock whose origin lies `elapsed` later (see [`Time::rebased`]).
    fn rebase(&mut self, plan: &Self::Plan, elapsed: Duration);

    /// Shows each identifier that the store holds, for a model that renumbers them.
    fn visit(&mut self, visitor: &mut impl Visitor);
}

/// Sees, and may replace, the identifiers in a store.
pub trait Visitor {
    /// A number of a caller that the store's behaviour depends on.
    fn number(&mut self, caller: CallerId, number: &mut Number);
    /// What a caller has told: rewritten as a whole, since it speaks of all numbers below `next`.
    fn window(&mut self, caller: CallerId, window: &mut Window);
    /// An incarnation.
    fn incarnation(&mut self, incarnation: &mut Incarnation);
}
