//! What really happened to a call, written down where it happened. No rule can see it.

use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use serde::{Deserialize, Serialize};

use super::Seen;

/// What happened to one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// Attempts begun; 255 stands for "more".
    pub(crate) attempts: u8,
    /// How often user code started, over all incarnations; 2 stands for "more than once".
    pub(crate) starts: u8,
    /// How often its effect was stored; 2 stands for "more than once".
    pub(crate) effects: u8,
    /// How often a gate let it in; 2 stands for "more than once".
    pub(crate) admitted: u8,
    /// Subrequests that were charged for it; 2 stands for "more than one".
    pub(crate) charged: u8,
    /// The values that its runs returned: a bit for each.
    pub(crate) returned: u64,
    /// The oracle for P7 and C9: the failure of the first failed attempt, and the greatest doubt so far.
    pub(crate) first: Option<Cause>,
    pub(crate) doubt: Delivery,
    /// P8: something happened after which nothing may be retried.
    pub(crate) final_failure: bool,
    /// C5, P9: whether the attempt that began last carries the identity of the one before.
    pub(crate) reused: bool,
    /// R5: a predecessor sent an attempt back.
    pub(crate) sent_back: bool,
    /// What user code was told.
    pub(crate) outcome: Outcome,
    flags: u16,
}

/// What user code was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// User code has not made the call.
    #[default]
    NotBegun,
    /// Nothing yet.
    Pending,
    /// The method's value.
    Answered(Seen),
    /// A failure.
    Failed { kind: Kind, delivery: Delivery, remote: bool, cause: Cause },
    /// The reason of its own abort.
    Aborted,
    /// Nobody was there to be told: the future was dropped, or the caller died.
    Gone,
}

impl Outcome {
    pub(crate) const fn settled(self) -> bool {
        !matches!(self, Self::NotBegun | Self::Pending)
    }
}

/// Which attempt failed, and of what: the payload of the caller's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) attempt: u8,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum What {
    Dropped,
    Unreachable,
    Thrown,
    NoMethod,
    Refused(Refusal),
    /// The call whose result it needed failed.
    Producer,
    Abort,
}

/// A promise that was seen to be broken, at the moment when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flag {
    /// P4
    StartedLate,
    /// P5
    FirstCancelled,
    /// P6
    OutlivedCutoff,
    /// P7
    WrongFailure,
    /// P8
    RetriedFinal,
    /// P9
    WrongIdentity,
    /// P10
    AnsweredWithoutRun,
    /// P16
    StaleRoute,
    /// L2
    GaveUpEarly,
}

impl Ledger {
    pub(crate) const fn raise(&mut self, flag: Flag) {
        self.flags |= 1 << flag as u8;
    }

    pub(crate) const fn has(&self, flag: Flag) -> bool {
        self.flags & (1 << flag as u8) != 0
    }

    /// An attempt ended, or was given up, with this much doubt (C9).
    pub(crate) fn doubted(&mut self, delivery: Delivery) {
        self.doubt = self.doubt.max(delivery);
    }
}

/// Counts to two.
pub(crate) const fn once_more(count: &mut u8) {
    if *count < 2 {
        *count += 1;
    }
}
