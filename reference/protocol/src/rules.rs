//! The seam at which a rule can be broken on purpose.
//!
//! Each method is one decision of one rule, and its default body *is* the rule: nowhere else in the crate is it written
//! again. [`Spec`] breaks none and is all that a runtime ever names. A model checker implements [`Rules`] for a type of
//! its own, overrides a method, and must find a counterexample.

use core::fmt::Debug;
use core::time::Duration;

use crate::design::Design;
use crate::failure::{Delivery, Kind, Refusal, Transport};
use crate::gate::Session;
use crate::identity::{CallerId, Identity, Incarnation, Number, Ordinal, Unsettled};
use crate::limits::Limits;
use crate::marks::Mark;
use crate::store::{Digest, Key, Recall};
use crate::time::Time;

/// The rules as the specification says them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spec;

impl Rules for Spec {}

/// Which failure a call ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The failure of the first failed attempt, if there is one.
    Original,
    /// The failure that ended the call.
    This,
}

/// Which identity the next attempt carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// The one before, marked as a retry.
    Same,
    /// A fresh one.
    Fresh,
}

/// Why an attempt has no outcome of its own (C9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The object's gate rejected it: an earlier attempt may have run.
    Rejected,
    /// The cutoff, a drop or an abort cancelled it: it may be running.
    Cancelled,
}

/// What the caller's machine makes of a rejection of an identity that no earlier attempt carried (C5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum FirstRejection {
    /// Taken as disconnected and not delivered: go on, with a fresh identity. Safe only if nothing duplicates.
    Fresh,
    /// Taken as disconnected, unknown: end.
    #[default]
    Fail,
}

/// When the gate looks at an attempt's claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimPoint {
    /// When the request arrives, before the queue's bound is looked at.
    Arrival,
    /// Just before the method is looked up and run (G1).
    BeforeLookup,
    /// After the method has been looked up, which may run user code.
    AfterLookup,
    /// After user code has run.
    AfterRun,
}

/// What a store does when it is full (G6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBound {
    /// Begin a new claim epoch and refuse what is older.
    BeginEpoch,
    /// Refuse what is new.
    Refuse,
    /// Forget, and say nothing.
    Forget,
}

/// What the rules decide, one method a decision.
pub trait Rules: Copy + Debug + Default + Send + Sync {
    // ---- The caller ----

    /// C1: how many attempts a call has.
    fn attempts_max(self, limits: Limits) -> u8 {
        limits.attempts_max()
    }

    /// C1: how many attempts have begun once another one begins.
    fn attempts_after(self, attempts: u8) -> u8 {
        attempts.saturating_add(1)
    }

    /// C2: the cutoff of a call that starts at `started`.
    fn cutoff(self, started: Time, timeout: Duration) -> Time {
        started.after(timeout)
    }

    /// C2: the cutoff after the first failure, at `now`: the same.
    fn cutoff_after_failure(self, cutoff: Time, _now: Time, _timeout: Duration) -> Time {
        cutoff
    }

    /// C2, C4.6: whether a retry may not start at `at`.
    fn too_late(self, at: Time, cutoff: Time) -> bool {
        at >= cutoff
    }

    /// C4.7: whether a retry that wakes late, at `now`, may not start.
    fn slept_too_long(self, now: Time, cutoff: Time) -> bool {
        self.too_late(now, cutoff)
    }

    /// C3: whether the cutoff cancels the attempt.
    fn cutoff_cancels(self, ordinal: Ordinal) -> bool {
        ordinal.0 > 1
    }

    /// C4.2, F3: whether a failure of this kind may be retried.
    fn retries_kind(self, kind: Kind, remote: bool) -> bool {
        matches!(kind, Kind::Disconnected) && !remote
    }

    /// F1: what is believed of how far a failed attempt got: what its failure says.
    fn believed_delivery(self, told: Delivery) -> Delivery {
        told
    }

    /// C4.3: whether a disconnect after which the delivery is this may be retried.
    fn retries_delivery(self, delivery: Delivery, _remote: bool) -> bool {
        delivery != Delivery::Delivered
    }

    /// E4, E6: whether a call that is not eligible, or is committed, may be retried.
    fn retries_ineligible(self, _committed: bool) -> bool {
        false
    }

    /// E4: whether the first use of a pending result commits the call that produces it.
    fn use_commits(self) -> bool {
        true
    }

    /// C4.1, C4.5 to C4.7, C3: the failure that a call ends with when it may not go on.
    fn shown_when_given_up(self) -> Shown {
        Shown::Original
    }

    /// C4.2, C4.3: the failure that a call ends with when this failure may not be retried.
    fn shown_when_not_retryable(self) -> Shown {
        Shown::This
    }

    /// C9: what an attempt that was rejected or cancelled counts for.
    fn doubt_of_unfinished(self, _why: Unfinished) -> Delivery {
        Delivery::Unknown
    }

    /// F2: what the transport is taken to promise, given what it does promise.
    fn promised(self, transport: Transport) -> Transport {
        transport
    }

    /// C5: the answer to a rejected first attempt.
    fn first_rejection(self, configured: FirstRejection, _transport: Transport) -> FirstRejection {
        configured
    }

    /// C1: whether an attempt counts toward the subrequest limit.
    fn counts_as_subrequest(self, ordinal: Ordinal) -> bool {
        ordinal.0 == 1
    }

    /// C8: whether the stub resolves anew after a refusal by a gate (`refused`) or a disconnect.
    fn renews_route(self, _refused: bool) -> bool {
        true
    }

    /// I2 to I4: the identity of the next attempt; `doubt` is the greatest delivery so far, `last` the latest.
    fn next_identity(self, doubt: Delivery, _last: Delivery) -> Reuse {
        match doubt {
            Delivery::NotDelivered => Reuse::Fresh,
            Delivery::Unknown | Delivery::Delivered => Reuse::Same,
        }
    }

    /// I1 to I4: whether an attempt of an eligible call carries the call's identity.
    fn carries_identity(self, _doubt: Delivery, _last: Delivery) -> bool {
        true
    }

    /// I2 to I4: whether an attempt is marked as a retry, given whether an earlier one carried its identity.
    fn marks_retry(self, reused: bool) -> bool {
        reused
    }

    /// G10: the id of a caller's next life, given fresh random bits and the id of the life before.
    fn next_life(self, random: CallerId, _before: CallerId) -> CallerId {
        random
    }

    /// F2: what a failure of the object's own calls counts for at its caller, once the request was delivered.
    fn delivery_after_delivery(self, _carried: Delivery) -> Delivery {
        Delivery::Delivered
    }

    // ---- The gate ----

    /// G1: when the claim is looked at.
    fn claim_point(self) -> ClaimPoint {
        ClaimPoint::BeforeLookup
    }

    /// G1, M2: the mark that counts, given that of the class's table and what the caller believes.
    fn mark(self, table: Mark, _believed: Mark) -> Mark {
        table
    }

    /// G3, G4: what is made of the store's memory of an identity.
    fn trusts(self, recall: Recall, _retry: bool) -> Recall {
        recall
    }

    /// G3, G4: whether a mark waives a rejection; it waives "may have run already" and nothing else.
    fn mark_waives(self, recall: Recall) -> bool {
        matches!(recall, Recall::Claimed { .. } | Recall::MayHave(_))
    }

    /// D3: whether the attempt is addressed to another incarnation than this.
    fn elsewhere(self, address: Incarnation, here: Incarnation, _mark: Mark) -> bool {
        address != here
    }

    /// `fenced`: whether a duplicate may be let in after one with the ordinal `highest`.
    fn fence_passes(self, ordinal: Ordinal, highest: Ordinal) -> bool {
        ordinal > highest
    }

    /// `fenced`: whether a duplicate waits until the earlier run of its call has ended.
    fn fence_waits(self) -> bool {
        true
    }

    /// G2: how a draining predecessor refuses.
    fn draining_refusal(self) -> Refusal {
        Refusal::Draining
    }

    /// G2: whether draining empties the queue of what is not claimed yet.
    fn drain_empties_queue(self) -> bool {
        true
    }

    /// G12: whether an answer waits for storage to confirm the epoch.
    fn confirms_epoch(self) -> bool {
        true
    }

    /// G8: whether a later call may run in a session, given what its first call was let in as.
    fn session_allows(self, first: Session, mark: Mark) -> bool {
        match first {
            Session::Unmarked => true,
            Session::Marked => mark == Mark::Marked,
            Session::Rejected => false,
        }
    }

    /// G8: the identity that a later call of a session carries.
    fn session_identity(self, _first: Option<Identity>) -> Option<Identity> {
        None
    }

    // ---- The store ----

    /// Section 8: under which key the identity is remembered.
    fn key(self, identity: Identity) -> Key {
        Key { caller: identity.caller, number: identity.number }
    }

    /// D2: the margin for clocks that disagree.
    fn margin(self, configured: Duration) -> Duration {
        configured
    }

    /// Retention `time`: how long a claim is kept.
    fn window(self, configured: Duration) -> Duration {
        configured
    }

    /// Retention `watermark`: which numbers below `own` are unsettled.
    fn unsettled(self, _own: Number, told: Unsettled) -> Unsettled {
        told
    }

    /// G6: whether a store that is to hold so many entries would exceed its bound.
    fn exceeds_bound(self, entries: usize, capacity: usize) -> bool {
        entries > capacity
    }

    /// G6: what a full store does.
    fn at_bound(self, design: Design) -> AtBound {
        match design {
            Design::None | Design::VolatileOpen => AtBound::Refuse,
            Design::VolatileClock | Design::VolatileIncarnation | Design::Durable | Design::DurableResults => {
                AtBound::BeginEpoch
            }
        }
    }

    /// D5: whether what is asked for is what was let in under the same identity.
    fn same_request(self, recorded: Digest, asked: Digest) -> bool {
        recorded == asked
    }

    /// D5: whether a result is stored in the same transaction as its effect.
    fn result_with_effect(self) -> bool {
        true
    }

    // ---- The directory ----

    /// D3: the number of the next incarnation.
    fn next_incarnation(self, last: Incarnation) -> Incarnation {
        Incarnation(last.0.saturating_add(1))
    }

    /// G2: whether storage takes a write of `writer` when `owner` holds the epoch.
    fn storage_takes(self, writer: Incarnation, owner: Incarnation) -> bool {
        writer == owner
    }
}
