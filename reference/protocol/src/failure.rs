//! Failures and how far the request got (F1–F3).

use crate::rule::{Branch, Fired};

/// What went wrong: the four kinds of Cap'n Proto RPC exceptions (F1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Kind {
    /// The connection to the object is gone. The only kind that is ever retried.
    Disconnected,
    /// The object or its host has too much to do.
    Overloaded,
    /// Anything else: a bug, a bad argument, an error that user code threw.
    Failed,
    /// The object has no such method.
    Unimplemented,
}

/// How far the request got, from most to least reassuring (F1).
///
/// The order is that of doubt: a call's delivery is the greatest over its attempts (C9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Delivery {
    /// Known never to have reached the object: its code did not run and never will.
    #[default]
    NotDelivered,
    /// Nobody can tell: it may have run, may be running, or may run later.
    Unknown,
    /// Known to have reached the object.
    Delivered,
}

/// Why a call or an attempt failed, with what the driver wants to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Failure<P> {
    /// What went wrong.
    pub kind: Kind,
    /// How far the request got; for a call's failure, the greatest over all its attempts (C9).
    pub delivery: Delivery,
    /// Whether the object's code threw it (F1, F3).
    pub remote: bool,
    /// The driver's own: a message, a source, an error to downcast.
    pub payload: P,
}

impl<P> Failure<P> {
    /// A connection that dropped, after the request may have reached the object.
    pub const fn dropped(payload: P) -> Self {
        Self { kind: Kind::Disconnected, delivery: Delivery::Unknown, remote: false, payload }
    }

    /// A connection that could not be made: resolving, routing or connecting failed (F2).
    pub const fn unreachable(payload: P) -> Self {
        Self { kind: Kind::Disconnected, delivery: Delivery::NotDelivered, remote: false, payload }
    }

    /// An error that user code threw, of the kind it was dressed as (F3).
    pub const fn thrown(kind: Kind, payload: P) -> Self {
        Self { kind, delivery: Delivery::Delivered, remote: true, payload }
    }

    /// What user code sees as `.retryable`: true exactly for a disconnect (F1).
    pub const fn retryable(&self) -> bool {
        matches!(self.kind, Kind::Disconnected)
    }

    /// What user code sees as `.overloaded` (F1).
    pub const fn overloaded(&self) -> bool {
        matches!(self.kind, Kind::Overloaded)
    }
}

/// Why an object's gate did not run an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Refusal {
    /// A predecessor that is handing the object over (G2).
    Draining,
    /// Another incarnation than the one the attempt is addressed to (D3).
    Elsewhere,
    /// The object's queue is full (G11).
    Overloaded,
    /// The identity has been let in here before (G3).
    Claimed,
    /// An earlier incarnation may have let the identity in (G4).
    Doubtful,
    /// The caller itself has settled this number (watermark).
    Settled,
    /// A later attempt of the same call was let in before (`fenced`).
    Older,
    /// The store is full and could not tell this call from an old one later (G6).
    StoreFull,
    /// The first call of this session was rejected (G8).
    SessionRejected,
    /// The session was let in as marked, and this method is not (G8).
    SessionMarked,
    /// The identity came with another request before (D5).
    OtherRequest,
    /// The claim could not be stored (G9).
    ClaimNotStored,
    /// The incarnation lost its epoch before the answer could leave (G12).
    EpochLost,
}

impl Refusal {
    /// Whether this is a claim rejection (C4.1): the gate's memory says that the call may have run.
    #[must_use]
    pub const fn is_claim_rejection(self) -> bool {
        matches!(
            self,
            Self::Claimed | Self::Doubtful | Self::Settled | Self::Older | Self::StoreFull | Self::SessionRejected
        )
    }

    /// Whether the refusing gate says that this copy of the request did not and will not run (F2).
    #[must_use]
    pub const fn did_not_run(self) -> bool {
        matches!(self, Self::Draining | Self::Elsewhere | Self::Overloaded)
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Overloaded => Kind::Overloaded,
            Self::SessionMarked | Self::OtherRequest => Kind::Failed,
            Self::Draining
            | Self::Elsewhere
            | Self::Claimed
            | Self::Doubtful
            | Self::Settled
            | Self::Older
            | Self::StoreFull
            | Self::SessionRejected
            | Self::ClaimNotStored
            | Self::EpochLost => Kind::Disconnected,
        }
    }

    /// The failure that the caller takes this refusal for (F2).
    ///
    /// A claim rejection is taken as a disconnect after which nobody can tell (C5, C9). Where the transport may
    /// duplicate a request, another copy may have run, so "did not run" becomes unknown.
    pub fn failure<P>(self, transport: Transport, payload: P) -> (Failure<P>, Fired) {
        let (delivery, fired) = match transport {
            Transport::Exact if self.did_not_run() => (Delivery::NotDelivered, Branch::NotDelivered.into()),
            Transport::MayDuplicate if self.did_not_run() => (Delivery::Unknown, Branch::MaybeDuplicated.into()),
            Transport::Exact | Transport::MayDuplicate if self.is_claim_rejection() => (Delivery::Unknown, Fired::NONE),
            Transport::Exact | Transport::MayDuplicate => (Delivery::Delivered, Branch::DeliveredStays.into()),
        };
        (Failure { kind: self.kind(), delivery, remote: false, payload }, fired)
    }
}

/// What the transport promises about one request (F2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Transport {
    /// It arrives at most once, as over one TCP connection that nothing below replays (F6).
    #[default]
    Exact,
    /// It may arrive more than once.
    MayDuplicate,
}
