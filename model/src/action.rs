//! Everything that can happen in the world: steps of the protocol, and faults.

use serde::{Deserialize, Serialize};

/// One step. Calls, callers and objects are named by their place in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Action {
    /// User code makes the call; attempt 1 begins.
    Begin {
        /// The call.
        call: u8,
        /// How the attempt begins.
        send: Send,
    },
    /// The backoff ends; the next attempt begins, if it still may.
    Wake {
        /// The call.
        call: u8,
        /// How the attempt begins.
        send: Send,
    },
    /// The cutoff falls on a running attempt.
    Cutoff {
        /// The call.
        call: u8,
    },
    /// A request arrives at the object.
    Deliver {
        /// The request.
        packet: PacketId,
        /// Fault: the object's queue is full.
        full: bool,
    },
    /// A gate looks for something to start.
    Start {
        /// Which incarnation's.
        at: At,
    },
    /// The claim is durable, or could not be stored: the method starts, or not.
    Stored {
        /// Which incarnation.
        at: At,
        /// The run.
        run: PacketId,
    },
    /// User code ends, and its effect is stored with it.
    Finish {
        /// Which incarnation.
        at: At,
        /// The run.
        run: PacketId,
        /// Fault: user code throws an error dressed as retryable.
        throws: bool,
    },
    /// Storage confirms the epoch, or does not; the answer leaves.
    Confirm {
        /// Which incarnation.
        at: At,
        /// The run.
        run: PacketId,
    },
    /// An answer arrives at its caller.
    Receive {
        /// The answer.
        packet: PacketId,
        /// The delay, if the call backs off.
        draw: Draw,
    },
    /// The caller sees its connection drop.
    SeeDrop {
        /// The call.
        call: u8,
        /// The delay, if the call backs off.
        draw: Draw,
    },
    /// The successor of a drained incarnation starts.
    Succeed {
        /// The object.
        object: u8,
    },
    /// Time passes, to the next instant at which anything changes.
    Advance,
    /// Fault: a request or a reply is lost.
    Lose {
        /// What is lost.
        packet: PacketId,
    },
    /// Fault: the connection drops; what is under way goes on.
    Cut {
        /// The call.
        call: u8,
    },
    /// Fault: the network delivers a request twice.
    Duplicate {
        /// The request.
        packet: PacketId,
    },
    /// Fault: the object is restarted where it is; its memory is lost.
    Restart {
        /// The object.
        object: u8,
    },
    /// Fault: the object is told to move; the incarnation drains.
    Drain {
        /// The object.
        object: u8,
    },
    /// Fault: the object moves, and its predecessor does not know.
    Seize {
        /// The object.
        object: u8,
    },
    /// Fault: a caller dies.
    Crash {
        /// The caller.
        caller: u8,
        /// Planted: its next life has the same id.
        reuse: bool,
    },
    /// Fault: user code drops the call's future.
    GiveUp {
        /// The call.
        call: u8,
    },
    /// Fault: user code aborts the call.
    Abort {
        /// The call.
        call: u8,
    },
    /// Planted fault: the object forgets its claims.
    Forget {
        /// The object.
        object: u8,
    },
}

/// How an attempt begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// It finds the object and is sent there.
    Sent,
    /// Fault: the resolve names an incarnation that has a successor.
    Stale,
    /// Fault: resolving or connecting fails, and the call may back off.
    Unreachable(Draw),
}

/// The delay that is drawn for a backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// It ends before the cutoff.
    Soon,
    /// It reaches the cutoff.
    AtCutoff,
}

impl Draw {
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::Soon => 0,
            Self::AtCutoff => u32::MAX,
        }
    }
}

/// One incarnation: an object, and the place among those of its incarnations that are still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct At {
    /// The object.
    pub object: u8,
    /// 0 is the oldest that is still there; the last is the owner.
    pub place: u8,
}

/// One copy of one attempt: its request, its run and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PacketId {
    /// The call.
    pub call: u8,
    /// The attempt.
    pub attempt: u8,
    /// 0, or the number of the network's copy.
    pub copy: u8,
    /// Whether it is the answer.
    pub answer: bool,
}

impl PacketId {
    /// The answer to this request.
    #[must_use]
    pub const fn answered(self) -> Self {
        Self { answer: true, ..self }
    }
}
