use crate::eligibility::Position;
use crate::failure::Refusal;
use crate::gate::SessionId;
use crate::identity::{Header, Identity};
use crate::marks::Mark;
use crate::rule::Fired;
use crate::store::{Ask, Digest, Writes};

/// A request at the gate. `T` is the driver's ticket: where the answer goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request<T> {
    /// Where the answer goes; no two requests at one gate share a ticket.
    pub ticket: T,
    /// What the attempt carries.
    pub header: Header,
    /// The method's mark, from the table of the object's own class (G1).
    pub mark: Mark,
    /// What the caller believes of the mark. It counts for nothing; a mutant trusts it.
    pub believed: Mark,
    /// What is asked for, for D5.
    pub digest: Digest,
    /// The session that the request came in, if it is one of several calls (G8).
    pub session: Option<SessionId>,
    /// Where in that session it stands.
    pub position: Position,
}

impl<T> Request<T> {
    pub(super) const fn ask(&self, identity: Identity) -> Ask {
        Ask { identity, ordinal: self.header.ordinal, unsettled: self.header.unsettled, digest: self.digest }
    }
}

/// Something that was let in and has not been answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Run<T> {
    /// What was let in.
    pub request: Request<T>,
    /// How far it is.
    pub stage: Stage,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// Its claim is being stored (D4); user code has not started.
    #[default]
    Storing,
    /// User code runs.
    Running,
    /// User code has ended, or need not run (D5); storage has yet to confirm the epoch (G12).
    Confirming,
}

/// What became of a request that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Why it was refused at once; none: it waits for its turn.
    pub refused: Option<Refusal>,
    /// The rules that were taken.
    pub fired: Fired,
}

/// A request whose turn has come, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn<T> {
    /// The request.
    pub request: Request<T>,
    /// What to do with it.
    pub decision: Decision,
    /// The rules that were taken.
    pub fired: Fired,
}

/// What to do with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Look the method up and run it, in this very step (G9).
    Start,
    /// Make this durable, fenced by the incarnation; then [`Gate::stored`](super::Gate::stored) (D4).
    Store(Writes),
    /// Answer with a refusal.
    Refuse(Refusal),
    /// The answer is the result that is on record under the identity; nothing runs (D5). It leaves as any other does, once
    /// storage has confirmed the epoch: [`Gate::confirmed`](super::Gate::confirmed) (G12).
    AnswerRecorded,
    /// The store is full: get the next incarnation number from the directory, then
    /// [`Gate::begin_epoch`](super::Gate::begin_epoch) (G6). The request keeps its place.
    NewEpoch,
}

/// What leaves when a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What the run produced.
    Run,
    /// A refusal instead (G12).
    Refused(Refusal),
}
