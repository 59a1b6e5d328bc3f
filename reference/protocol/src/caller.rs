//! The caller's machine: one call, from its start to the failure or answer that user code sees (C1–C10, E4, E6).
//!
//! The driver feeds it what happened ([`Call::start`], [`Call::resolved`], [`Call::handle`]) and does what the returned
//! [`Step`] says; [`Call::deadline`] is the one timer it needs. The machine holds at most one attempt at a time, allocates
//! nothing and never panics: an input that makes no sense in its phase changes nothing.

mod input;
mod report;
mod step;
#[cfg(test)]
mod tests;
mod transmission;

pub use input::Input;
pub use report::{Ending, Report};
pub use step::{Next, Settlement, Step};
pub use transmission::{Transmission, Unsent};

use core::time::Duration;

use crate::backoff::Schedule;
use crate::failure::{Delivery, Failure, Refusal, Transport};
use crate::identity::{Header, Identity, Incarnation, Ordinal, Unsettled};
use crate::lane::Lane;
use crate::limits::Limits;
use crate::rule::{Branch, Fired};
use crate::rules::{FirstRejection, Reuse, Rules, Shown, Spec, Unfinished};
use crate::time::{Time, WallTime};

/// What holds for every call through one stub.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms<R: Rules = Spec> {
    /// How often and until when (M4).
    pub limits: Limits,
    /// How long between two attempts (C6).
    pub schedule: Schedule,
    /// What the transport promises (F2).
    pub transport: Transport,
    /// The answer to a rejected first attempt (C5).
    pub first_rejection: FirstRejection,
    /// The rules; [`Spec`] outside a model checker.
    pub rules: R,
}

impl<R: Rules> Terms<R> {
    /// From a call's start to its cutoff.
    fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.limits.timeout_ms()))
    }
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    /// An attempt has begun and looks for the object (C2: it counts as started).
    Resolving,
    /// An attempt is on its way, running, or on its way back.
    InFlight,
    /// Between two attempts.
    BackingOff { until: Time },
    /// User code has been told.
    Settled,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call<P> {
    phase: Phase,
    eligible: bool,
    /// E4: a pipelined use bound the call to the attempt that was in flight.
    committed: bool,
    /// Attempts begun.
    attempts: u8,
    /// Whether the next attempt carries the identity of the last one.
    reuse: bool,
    /// C9: the greatest delivery over the attempts that ended.
    doubt: Delivery,
    /// The delivery of the attempt that failed last; the rules of identity look at more than this one (I4).
    last: Delivery,
    cutoff: Time,
    identity: Option<Identity>,
    original: Option<Failure<P>>,
    /// C10: when the first attempt failed.
    disconnected_at: Option<Time>,
}

impl<P> Call<P> {
    /// A call that begins now, and the first step: resolve.
    pub fn start<R: Rules>(terms: &Terms<R>, eligible: bool, now: Time) -> (Self, Step<P>) {
        let call = Self {
            phase: Phase::Resolving,
            eligible,
            committed: false,
            attempts: 1,
            reuse: false,
            doubt: Delivery::NotDelivered,
            last: Delivery::NotDelivered,
            cutoff: terms.rules.cutoff(now, terms.timeout()),
            identity: None,
            original: None,
            disconnected_at: None,
        };
        let fired = if eligible { Fired::NONE } else { Branch::SentOnce.into() };
        (call, Step::new(fired, Next::Resolve(Ordinal(1))))
    }

    /// Whether user code has been told.
    pub const fn settled(&self) -> bool {
        matches!(self.phase, Phase::Settled)
    }

    /// Whether an attempt is under way: resolving, on its way, running, or on its way back.
    pub const fn attempting(&self) -> bool {
        matches!(self.phase, Phase::Resolving | Phase::InFlight)
    }

    /// The attempt that began last.
    pub const fn ordinal(&self) -> Ordinal {
        Ordinal(self.attempts)
    }

    /// The identity of the attempt that was sent last. Once the call has settled, settle its number in the lane.
    pub const fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// When the machine wants [`Input::Timer`]: the end of a sleep, or the cutoff of a running retry (C3).
    pub fn deadline<R: Rules>(&self, terms: &Terms<R>) -> Option<Time> {
        match self.phase {
            Phase::BackingOff { until } => Some(until),
            Phase::Resolving | Phase::InFlight if terms.rules.cutoff_cancels(self.ordinal()) => Some(self.cutoff),
            Phase::Resolving | Phase::InFlight | Phase::Settled => None,
        }
    }

    /// The cutoff (C2).
    pub const fn cutoff(&self) -> Time {
        self.cutoff
    }

    /// The attempt found the object, at `address`. `wall` is the caller's wall clock, for D2.
    ///
    /// `lane` is the lane of [`Call::identity`], if the call has one already; a fresh identity takes its number from
    /// there, and settles the number that it replaces.
    ///
    /// # Errors
    /// [`Unsent::LaneFull`] if a fresh identity is due and the lane has no number left: open another one and call again.
    /// [`Unsent::NotResolving`] if the call settled while the driver was looking for the object: send nothing (C7).
    #[inline]
    pub fn resolved<R: Rules>(
        &mut self,
        terms: &Terms<R>,
        lane: &mut Lane,
        address: Incarnation,
        wall: WallTime,
    ) -> Result<Transmission, Unsent> {
        if self.phase != Phase::Resolving {
            return Err(Unsent::NotResolving);
        }
        let mut fired = Fired::NONE;
        if self.eligible {
            fired.add(self.choose_identity(terms, lane, address, wall)?);
        }
        self.phase = Phase::InFlight;
        let unsettled = match self.identity {
            Some(identity) if identity.caller == lane.caller() => lane.unsettled_below(identity.number),
            // Another lane knows nothing of this one's numbers: what it cannot call settled may still come.
            Some(_) => Unsettled(u64::MAX),
            None => Unsettled(0),
        };
        let header = Header {
            identity: self.identity.filter(|_| terms.rules.carries_identity(self.doubt, self.last)),
            ordinal: self.ordinal(),
            retry: terms.rules.marks_retry(self.reuse),
            address,
            unsettled,
        };
        Ok(Transmission { header, fired })
    }

    /// I1 to I4.
    fn choose_identity<R: Rules>(
        &mut self,
        terms: &Terms<R>,
        lane: &mut Lane,
        address: Incarnation,
        wall: WallTime,
    ) -> Result<Branch, Unsent> {
        let reuse = terms.rules.next_identity(self.doubt, self.last);
        let branch = match (self.identity, reuse) {
            (Some(_), Reuse::Same) if self.last == Delivery::NotDelivered => Branch::StickyIdentity,
            (Some(_), Reuse::Same) => Branch::SameIdentity,
            (Some(_), Reuse::Fresh) => Branch::FreshIdentity,
            (None, _) => Branch::NewIdentity,
        };
        self.reuse = matches!(branch, Branch::StickyIdentity | Branch::SameIdentity);
        if !self.reuse {
            // Before the next number is taken, which may need the room; and in no other lane, where the same number is
            // somebody else's.
            if let Some(replaced) = self.identity.filter(|replaced| replaced.caller == lane.caller()) {
                lane.settle(replaced.number);
            }
            let number = lane.begin()?;
            self.identity = Some(Identity { caller: lane.caller(), number, born: address, created: wall });
        }
        Ok(branch)
    }

    /// Something happened. `draw` is a uniform random number for the delay, used only if the call backs off (C6).
    ///
    /// An outcome and the cutoff may be reported in either order if they come at the same instant. What a retry comes back
    /// with later than that is not looked at, however late the driver tells of the cutoff (C3).
    // A driver reports one kind of input at a place: inlined, only the arm for that kind is left, and a call that is answered
    // at once never builds the rest.
    #[inline(always)]
    pub fn handle<R: Rules>(&mut self, terms: &Terms<R>, now: Time, draw: u32, input: Input<P>) -> Step<P> {
        let outcome = matches!(input, Input::Answered | Input::Failed(_) | Input::Refused(..));
        if outcome && self.attempting() && now > self.cutoff && terms.rules.cutoff_cancels(self.ordinal()) {
            return self.timer(terms, now);
        }
        match input {
            Input::Answered if self.phase == Phase::InFlight => {
                let fired = self.outlived(now).with(Branch::Answered);
                self.phase = Phase::Settled;
                let step = Step::new(fired, Next::Settle(Settlement::Answered));
                self.reported(step, Ending::Recovered, now)
            }
            Input::Failed(failure) if self.attempting() => self.failed(terms, now, draw, failure),
            Input::Refused(refusal, payload) if self.phase == Phase::InFlight => {
                self.refused(terms, now, draw, refusal, payload)
            }
            Input::Timer => self.timer(terms, now),
            Input::PipelinedUse if !self.settled() => self.pipelined_use(terms, now),
            Input::Abort(reason) if !self.settled() => {
                let cancel = self.attempting();
                let settlement = Settlement::Aborted(reason);
                self.cancelled(terms, Branch::Aborted, settlement, cancel, now)
            }
            Input::Drop if !self.settled() => {
                let cancel = self.attempting();
                self.cancelled(terms, Branch::FutureDropped, Settlement::Dropped, cancel, now)
            }
            Input::Answered
            | Input::Failed(_)
            | Input::Refused(..)
            | Input::PipelinedUse
            | Input::Abort(_)
            | Input::Drop => Step::nothing(),
        }
    }

    /// C3: whether the attempt that ends now is a first one that went on beyond the cutoff.
    fn outlived(&self, now: Time) -> Fired {
        if self.attempts == 1 && now >= self.cutoff { Branch::FirstOutlivesCutoff.into() } else { Fired::NONE }
    }

    /// C4, from step 2 on, for a failure that is no claim rejection.
    fn failed<R: Rules>(&mut self, terms: &Terms<R>, now: Time, draw: u32, mut failure: Failure<P>) -> Step<P> {
        let rules = terms.rules;
        failure.delivery = rules.believed_delivery(failure.delivery);
        let mut fired = self.outlived(now);
        if failure.remote {
            fired.add(Branch::UserError);
            // F2: code that throws had been reached, whatever mark its error carries.
            let carried = failure.delivery;
            failure.delivery = rules.delivery_after_delivery(carried);
            if failure.delivery != carried {
                fired.add(Branch::DeliveredStays);
            }
        }
        self.raise_doubt(failure.delivery);
        if !self.may_retry(terms) {
            fired.add(if self.committed { Branch::CommittedFails } else { Branch::SentOnce });
            return self.give_up(fired, Shown::This, Some(failure), Ending::NotRetryable, now);
        }
        if !rules.retries_kind(failure.kind, failure.remote) {
            fired.add(Branch::OtherKindEnds);
            return self.give_up(fired, rules.shown_when_not_retryable(), Some(failure), Ending::NotRetryable, now);
        }
        if !rules.retries_delivery(failure.delivery, failure.remote) {
            fired.add(Branch::DeliveredEnds);
            return self.give_up(fired, rules.shown_when_not_retryable(), Some(failure), Ending::NotRetryable, now);
        }
        self.back_off(terms, now, draw, failure, fired)
    }

    /// C4.4 to C4.6.
    fn back_off<R: Rules>(
        &mut self,
        terms: &Terms<R>,
        now: Time,
        draw: u32,
        failure: Failure<P>,
        mut fired: Fired,
    ) -> Step<P> {
        let rules = terms.rules;
        let mut this = Some(failure);
        if self.original.is_none() {
            fired.add(Branch::OriginalRemembered);
            self.original = this.take();
            self.disconnected_at = Some(now);
            self.cutoff = rules.cutoff_after_failure(self.cutoff, now, terms.timeout());
        }
        if self.attempts >= rules.attempts_max(terms.limits) {
            fired.add(Branch::AttemptsUsedUp);
            return self.give_up(fired, rules.shown_when_given_up(), this, Ending::AttemptsExhausted, now);
        }
        let until = now.after(terms.schedule.delay(self.attempts, draw));
        if rules.too_late(until, self.cutoff) {
            fired.add(Branch::DelayReachesCutoff);
            return self.give_up(fired, rules.shown_when_given_up(), this, Ending::Deadline, now);
        }
        self.phase = Phase::BackingOff { until };
        Step::new(fired.with(Branch::BacksOff), Next::Sleep { until })
    }

    /// C4.1, C5, and what F2 makes of the other refusals.
    fn refused<R: Rules>(&mut self, terms: &Terms<R>, now: Time, draw: u32, refusal: Refusal, payload: P) -> Step<P> {
        let (mut failure, mut fired) = refusal.failure(terms.rules.promised(terms.transport), payload);
        if !refusal.is_claim_rejection() {
            let mut step = self.failed(terms, now, draw, failure);
            step.fired = step.fired.union(fired);
            return step;
        }
        let first = self.eligible && !self.reuse;
        if first && terms.rules.first_rejection(terms.first_rejection, terms.transport) == FirstRejection::Fresh {
            failure.delivery = Delivery::NotDelivered;
            if !self.may_retry(terms) {
                // E4: of a committed call too, a claim rejection shows the original failure.
                self.raise_doubt(Delivery::NotDelivered);
                let fired = fired.with(Branch::FirstRejectionFresh).with(Branch::RejectionShowsOriginal);
                let shown = terms.rules.shown_when_given_up();
                return self.give_up(fired, shown, Some(failure), Ending::ClaimRejected, now);
            }
            let mut step = self.failed(terms, now, draw, failure);
            step.fired.add(Branch::FirstRejectionFresh);
            return step;
        }
        fired.add(if first { Branch::FirstRejectionEnds } else { Branch::RejectionShowsOriginal });
        self.raise_doubt(terms.rules.doubt_of_unfinished(Unfinished::Rejected));
        self.give_up(fired, terms.rules.shown_when_given_up(), Some(failure), Ending::ClaimRejected, now)
    }

    /// C4.7 and C3.
    fn timer<R: Rules>(&mut self, terms: &Terms<R>, now: Time) -> Step<P> {
        let rules = terms.rules;
        match self.phase {
            Phase::BackingOff { until } if now >= until => {
                if rules.slept_too_long(now, self.cutoff) {
                    return self.end_with_original(Branch::SleptPastCutoff, false, now);
                }
                self.attempts = rules.attempts_after(self.attempts);
                self.phase = Phase::Resolving;
                Step::new(Branch::Retries.into(), Next::Resolve(self.ordinal()))
            }
            Phase::Resolving | Phase::InFlight if now >= self.cutoff && rules.cutoff_cancels(self.ordinal()) => {
                self.raise_doubt(rules.doubt_of_unfinished(Unfinished::Cancelled));
                self.end_with_original(Branch::RetryCut, true, now)
            }
            Phase::Resolving | Phase::InFlight | Phase::BackingOff { .. } | Phase::Settled => Step::nothing(),
        }
    }

    /// E4.
    fn pipelined_use<R: Rules>(&mut self, terms: &Terms<R>, now: Time) -> Step<P> {
        if !terms.rules.use_commits() || self.committed {
            return Step::nothing();
        }
        self.committed = true;
        match self.phase {
            Phase::BackingOff { .. } => self.end_with_original(Branch::CommittedInBackoff, false, now),
            Phase::Resolving | Phase::InFlight => Step::new(Branch::CommittedInFlight.into(), Next::Wait),
            Phase::Settled => Step::nothing(),
        }
    }

    /// C7.
    fn cancelled<R: Rules>(
        &mut self,
        terms: &Terms<R>,
        branch: Branch,
        settlement: Settlement<P>,
        cancel: bool,
        now: Time,
    ) -> Step<P> {
        if cancel {
            self.raise_doubt(terms.rules.doubt_of_unfinished(Unfinished::Cancelled));
        }
        self.phase = Phase::Settled;
        let step = Step { cancel, ..Step::new(branch.into(), Next::Settle(settlement)) };
        self.reported(step, Ending::Cancelled, now)
    }

    fn may_retry<R: Rules>(&self, terms: &Terms<R>) -> bool {
        (self.eligible && !self.committed) || terms.rules.retries_ineligible(self.committed)
    }

    fn raise_doubt(&mut self, delivery: Delivery) {
        self.last = delivery;
        self.doubt = self.doubt.max(delivery);
    }

    /// Ends the call with the original failure; there is one whenever the call backs off or retries.
    fn end_with_original(&mut self, branch: Branch, cancel: bool, now: Time) -> Step<P> {
        let ending = if branch == Branch::CommittedInBackoff { Ending::NotRetryable } else { Ending::Deadline };
        let step = self.give_up(branch.into(), Shown::Original, None, ending, now);
        Step { cancel, ..step }
    }

    /// Ends the call. The failure that is shown says what may have happened over all attempts (C9).
    fn give_up(&mut self, fired: Fired, shown: Shown, this: Option<Failure<P>>, ending: Ending, now: Time) -> Step<P> {
        let original = self.original.take();
        let picked = match shown {
            Shown::Original => original.or(this),
            Shown::This => this.or(original),
        };
        self.phase = Phase::Settled;
        let Some(picked) = picked else {
            // Only rules that are broken on purpose end a call that has not failed.
            return Step::new(fired, Next::Settle(Settlement::Dropped));
        };
        let failure = Failure { delivery: self.doubt, ..picked };
        let step = Step::new(fired, Next::Settle(Settlement::Failed(failure)));
        self.reported(step, ending, now)
    }

    /// C10: only a call that retried at least once is reported.
    #[inline]
    fn reported(&self, step: Step<P>, ending: Ending, now: Time) -> Step<P> {
        if self.attempts < 2 {
            return step;
        }
        let since_disconnect = self.disconnected_at.map_or(Duration::ZERO, |at| now.since(at));
        Step { report: Some(Report { attempts: self.attempts, ending, since_disconnect }), ..step }
    }

    /// The same call on a clock whose origin lies `elapsed` later (see [`Time::rebased`]).
    #[must_use]
    pub fn rebased(mut self, elapsed: Duration) -> Self {
        self.cutoff = self.cutoff.rebased(elapsed);
        self.disconnected_at = self.disconnected_at.map(|at| at.rebased(elapsed));
        if let Phase::BackingOff { until } = &mut self.phase {
            *until = until.rebased(elapsed);
        }
        self
    }

    /// How far the request got so far, over all attempts that have ended (C9).
    pub const fn delivery(&self) -> Delivery {
        self.doubt
    }

    /// The identity of the attempt that was sent last, for models that renumber identities.
    pub const fn identity_mut(&mut self) -> Option<&mut Identity> {
        self.identity.as_mut()
    }
}
