use super::Report;
use crate::failure::Failure;
use crate::identity::Ordinal;
use crate::rule::Fired;
use crate::time::Time;

/// What the driver has to do, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step<P> {
    /// The branches of the rules that were taken; empty if the input changed nothing.
    pub fired: Fired,
    /// Cancel the attempt in flight first. What it already started on the object runs to its end there (C3).
    pub cancel: bool,
    /// What comes next.
    pub next: Next<P>,
    /// Set when a call that retried at least once has settled (C10).
    pub report: Option<Report>,
}

/// What comes next in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next<P> {
    /// Nothing to do.
    Wait,
    /// An attempt begins: resolve the object, then [`Call::resolved`](super::Call::resolved), then send.
    Resolve(Ordinal),
    /// Sleep, then [`Input::Timer`](super::Input::Timer).
    Sleep {
        /// When to wake.
        until: Time,
    },
    /// Tell user code, and settle the call's number in its lane.
    Settle(Settlement<P>),
}

/// What user code is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Settlement<P> {
    /// The answer of the attempt in flight.
    Answered,
    /// The failure that C4 picks, with the delivery of the whole call (C9).
    Failed(Failure<P>),
    /// The abort's reason (C7).
    Aborted(P),
    /// Nobody is there to be told (C7).
    Dropped,
}

impl<P> Step<P> {
    pub(super) const fn new(fired: Fired, next: Next<P>) -> Self {
        Self { fired, cancel: false, next, report: None }
    }

    pub(super) const fn nothing() -> Self {
        Self::new(Fired::NONE, Next::Wait)
    }
}
