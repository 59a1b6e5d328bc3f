use std::time::Duration;

use oncemore_protocol::design::Design;
use oncemore_protocol::failure::{Delivery, Kind, Refusal, Transport};
use oncemore_protocol::gate::Session;
use oncemore_protocol::identity::{CallerId, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::limits::Limits;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rules::{AtBound, ClaimPoint, FirstRejection, Reuse, Rules, Shown, Spec, Unfinished};
use oncemore_protocol::store::{Digest, Key, Recall};
use oncemore_protocol::time::Time;

use super::Mutant;

/// The rules with one of them broken, or none.
///
/// Each method says what its mutants do, and otherwise asks [`Spec`]: the rule itself is written in the protocol alone.
/// The test for a mutant is one comparison of a byte, so that a model of the unbroken rules pays next to nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Broken(pub Option<Mutant>);

impl Broken {
    #[inline(always)]
    fn by(self, mutant: Mutant) -> bool {
        self.0 == Some(mutant)
    }
}

impl From<Mutant> for Broken {
    fn from(mutant: Mutant) -> Self {
        Self(Some(mutant))
    }
}

impl Rules for Broken {
    // ---- The caller ----

    fn attempts_max(self, limits: Limits) -> u8 {
        if self.by(Mutant::AttemptsNotCounted) {
            return u8::MAX;
        }
        Spec.attempts_max(limits) + u8::from(self.by(Mutant::OneAttemptTooMany))
    }

    fn attempts_after(self, attempts: u8) -> u8 {
        // A first attempt and others are still told apart, but not how many others.
        let counted = Spec.attempts_after(attempts);
        if self.by(Mutant::AttemptsNotCounted) { counted.min(2) } else { counted }
    }

    fn cutoff(self, started: Time, timeout: Duration) -> Time {
        Spec.cutoff(started, timeout)
    }

    fn cutoff_after_failure(self, cutoff: Time, now: Time, timeout: Duration) -> Time {
        if self.by(Mutant::CutoffFromFirstFailure) {
            return Spec.cutoff(now, timeout);
        }
        Spec.cutoff_after_failure(cutoff, now, timeout)
    }

    fn too_late(self, at: Time, cutoff: Time) -> bool {
        !self.by(Mutant::CutoffIgnored) && Spec.too_late(at, cutoff)
    }

    fn slept_too_long(self, now: Time, cutoff: Time) -> bool {
        let unchecked = self.by(Mutant::NoCheckAfterSleep) || self.by(Mutant::CutoffIgnored);
        !unchecked && Spec.slept_too_long(now, cutoff)
    }

    fn cutoff_cancels(self, ordinal: Ordinal) -> bool {
        if self.by(Mutant::FirstAttemptCut) {
            return true;
        }
        !self.by(Mutant::RetryOutlivesCutoff) && Spec.cutoff_cancels(ordinal)
    }

    fn retries_kind(self, kind: Kind, remote: bool) -> bool {
        let broken = (self.by(Mutant::UserErrorRetried) && remote)
            || (self.by(Mutant::OverloadRetried) && kind == Kind::Overloaded);
        broken || Spec.retries_kind(kind, remote)
    }

    fn believed_delivery(self, told: Delivery) -> Delivery {
        if self.by(Mutant::DropTakenAsUndelivered) && told == Delivery::Unknown {
            return Delivery::NotDelivered;
        }
        Spec.believed_delivery(told)
    }

    fn retries_delivery(self, delivery: Delivery, remote: bool) -> bool {
        let broken = (self.by(Mutant::UserErrorRetried) && remote) || (self.by(Mutant::DeliveredRetried) && !remote);
        broken || Spec.retries_delivery(delivery, remote)
    }

    fn retries_ineligible(self, committed: bool) -> bool {
        let broken = if committed { Mutant::CommittedCallRetried } else { Mutant::IneligibleCallRetried };
        self.by(broken) || Spec.retries_ineligible(committed)
    }

    fn use_commits(self) -> bool {
        !self.by(Mutant::UseDoesNotCommit) && Spec.use_commits()
    }

    fn shown_when_given_up(self) -> Shown {
        if self.by(Mutant::LastFailureShown) { Shown::This } else { Spec.shown_when_given_up() }
    }

    fn shown_when_not_retryable(self) -> Shown {
        if self.by(Mutant::LaterFailureHidden) { Shown::Original } else { Spec.shown_when_not_retryable() }
    }

    fn doubt_of_unfinished(self, why: Unfinished) -> Delivery {
        let broken = match why {
            Unfinished::Rejected => Mutant::RejectionNotDoubted,
            Unfinished::Cancelled => Mutant::CancellationNotDoubted,
        };
        if self.by(broken) { Delivery::NotDelivered } else { Spec.doubt_of_unfinished(why) }
    }

    fn promised(self, transport: Transport) -> Transport {
        if self.by(Mutant::DuplicatesNotDoubted) { Transport::Exact } else { Spec.promised(transport) }
    }

    fn first_rejection(self, configured: FirstRejection, transport: Transport) -> FirstRejection {
        if self.by(Mutant::FreshDespiteDuplicates) {
            return FirstRejection::Fresh;
        }
        Spec.first_rejection(configured, transport)
    }

    fn counts_as_subrequest(self, ordinal: Ordinal) -> bool {
        self.by(Mutant::RetriesCharged) || Spec.counts_as_subrequest(ordinal)
    }

    fn renews_route(self, refused: bool) -> bool {
        let broken = if refused { Mutant::RouteKeptAfterRefusal } else { Mutant::RouteKeptAfterDrop };
        !self.by(broken) && Spec.renews_route(refused)
    }

    fn next_identity(self, doubt: Delivery, last: Delivery) -> Reuse {
        if self.by(Mutant::FreshAfterUnknown) && last == Delivery::Unknown {
            return Reuse::Fresh;
        }
        if self.by(Mutant::IdentityFollowsLast) {
            return Spec.next_identity(last, last);
        }
        if self.by(Mutant::SameAfterUndelivered) {
            return Reuse::Same;
        }
        Spec.next_identity(doubt, last)
    }

    fn carries_identity(self, doubt: Delivery, last: Delivery) -> bool {
        let sticky = doubt != Delivery::NotDelivered && last == Delivery::NotDelivered;
        !(self.by(Mutant::StickyIdentityDropped) && sticky) && Spec.carries_identity(doubt, last)
    }

    fn marks_retry(self, reused: bool) -> bool {
        !self.by(Mutant::RetryNotMarked) && Spec.marks_retry(reused)
    }

    fn next_life(self, random: CallerId, before: CallerId) -> CallerId {
        if self.by(Mutant::CallerIdReused) { before } else { Spec.next_life(random, before) }
    }

    fn delivery_after_delivery(self, carried: Delivery) -> Delivery {
        if self.by(Mutant::UndeliveredLeaksOut) { carried } else { Spec.delivery_after_delivery(carried) }
    }

    // ---- The gate ----

    fn claim_point(self) -> ClaimPoint {
        if self.by(Mutant::ClaimOnArrival) {
            return ClaimPoint::Arrival;
        }
        if self.by(Mutant::ClaimAfterLookup) {
            return ClaimPoint::AfterLookup;
        }
        if self.by(Mutant::ClaimAfterRun) {
            return ClaimPoint::AfterRun;
        }
        Spec.claim_point()
    }

    fn mark(self, table: Mark, believed: Mark) -> Mark {
        if self.by(Mutant::CallersMarkBelieved) { believed } else { Spec.mark(table, believed) }
    }

    fn trusts(self, recall: Recall, retry: bool) -> Recall {
        let forgotten = match recall {
            Recall::Claimed { .. } => self.by(Mutant::ClaimsIgnored),
            Recall::MayHave(_) => self.by(Mutant::FailsOpen) || (self.by(Mutant::OnlyRetriesDoubted) && !retry),
            Recall::Settled => self.by(Mutant::SettledLetIn),
            Recall::Untracked | Recall::Never | Recall::Finished | Recall::OtherRequest => false,
        };
        if forgotten { Recall::Never } else { Spec.trusts(recall, retry) }
    }

    fn mark_waives(self, recall: Recall) -> bool {
        (self.by(Mutant::MarkWaivesWatermark) && recall == Recall::Settled) || Spec.mark_waives(recall)
    }

    fn elsewhere(self, address: Incarnation, here: Incarnation, mark: Mark) -> bool {
        let waived = self.by(Mutant::AddressIgnored) || (self.by(Mutant::MarkWaivesAddress) && mark == Mark::Marked);
        !waived && Spec.elsewhere(address, here, mark)
    }

    fn fence_passes(self, ordinal: Ordinal, highest: Ordinal) -> bool {
        if self.by(Mutant::FenceReversed) {
            return Spec.fence_passes(highest, ordinal);
        }
        Spec.fence_passes(ordinal, highest)
    }

    fn fence_waits(self) -> bool {
        !self.by(Mutant::DuplicatesOverlap) && Spec.fence_waits()
    }

    fn draining_refusal(self) -> Refusal {
        if self.by(Mutant::DrainingRejectsClaims) { Refusal::Claimed } else { Spec.draining_refusal() }
    }

    fn drain_empties_queue(self) -> bool {
        !self.by(Mutant::DrainedQueueStarts) && Spec.drain_empties_queue()
    }

    fn confirms_epoch(self) -> bool {
        !self.by(Mutant::ZombieAnswers) && Spec.confirms_epoch()
    }

    fn session_allows(self, first: Session, mark: Mark) -> bool {
        let broken = match first {
            Session::Unmarked => false,
            Session::Marked => self.by(Mutant::MarkedSessionCoversAll),
            Session::Rejected => self.by(Mutant::RejectedSessionRuns),
        };
        broken || Spec.session_allows(first, mark)
    }

    fn session_identity(self, first: Option<Identity>) -> Option<Identity> {
        if self.by(Mutant::SessionKeepsIdentity) { first } else { Spec.session_identity(first) }
    }

    // ---- The store ----

    fn key(self, identity: Identity) -> Key {
        if self.by(Mutant::RecordAnswersOthers) {
            return Key { number: Number(0), ..Spec.key(identity) };
        }
        Spec.key(identity)
    }

    fn margin(self, configured: Duration) -> Duration {
        if self.by(Mutant::MarginZero) { Duration::ZERO } else { Spec.margin(configured) }
    }

    fn window(self, configured: Duration) -> Duration {
        if self.by(Mutant::WindowTooShort) { configured / 2 } else { Spec.window(configured) }
    }

    fn unsettled(self, own: Number, told: Unsettled) -> Unsettled {
        if self.by(Mutant::LowestNumberWatermark) {
            return from_lowest(Spec.unsettled(own, told));
        }
        if self.by(Mutant::AllBelowSettled) {
            return Unsettled(0);
        }
        Spec.unsettled(own, told)
    }

    fn exceeds_bound(self, entries: usize, capacity: usize) -> bool {
        !self.by(Mutant::BoundIgnored) && Spec.exceeds_bound(entries, capacity)
    }

    fn at_bound(self, design: Design) -> AtBound {
        if self.by(Mutant::BoundForgets) { AtBound::Forget } else { Spec.at_bound(design) }
    }

    fn same_request(self, recorded: Digest, asked: Digest) -> bool {
        self.by(Mutant::RecordAnswersOthers) || Spec.same_request(recorded, asked)
    }

    fn result_with_effect(self) -> bool {
        !self.by(Mutant::ResultAfterEffect) && Spec.result_with_effect()
    }

    // ---- The directory ----

    fn next_incarnation(self, last: Incarnation) -> Incarnation {
        if self.by(Mutant::IncarnationReused) { last } else { Spec.next_incarnation(last) }
    }

    fn storage_takes(self, writer: Incarnation, owner: Incarnation) -> bool {
        self.by(Mutant::PredecessorWrites) || Spec.storage_takes(writer, owner)
    }
}

/// Everything from the lowest unsettled number on counts as unsettled, as if only that number were told.
const fn from_lowest(told: Unsettled) -> Unsettled {
    let up_to_lowest = u64::BITS - told.0.leading_zeros();
    match 1u64.checked_shl(up_to_lowest) {
        Some(above) => Unsettled(above - 1),
        None => Unsettled(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lowest_number_watermark_opens_everything_above_it() {
        assert_eq!(from_lowest(Unsettled(0)), Unsettled(0));
        // The lowest number is the highest bit: bit i stands for the number i + 1 below.
        assert_eq!(from_lowest(Unsettled(0b1000)), Unsettled(0b1111));
        assert_eq!(from_lowest(Unsettled(1 << 63)), Unsettled(u64::MAX));
    }
}
