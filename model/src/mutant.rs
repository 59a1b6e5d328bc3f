//! The rules, each broken on purpose: a check that cannot fail is none.
//!
//! A [`Mutant`] breaks one rule in one way. [`Broken`] is what the model gives to the machines of the protocol in place of
//! their own rules. For each mutant there is a small scenario ([`Mutant::scenario`]) in which the unbroken rules keep every
//! promise and the broken ones do not keep [`Mutant::property`]; [`hunt`] looks for the run that shows it.

mod broken;
mod hunt;
mod scenarios;

pub use broken::Broken;
pub use hunt::{Counterexample, Findings, Hunt, examine, hunt};

use crate::property::Property;
use crate::scenario::Scenario;

macro_rules! mutants {
    ($($variant:ident $name:literal breaks $rule:literal $property:ident in $scenario:ident: $about:literal;)*) => {
        /// One rule, broken in one way.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Mutant {
            $(#[doc = concat!($rule, ": ", $about)] $variant,)*
        }

        impl Mutant {
            /// All of them, in the order of the specification: the caller, the gate, the store.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name, in lower-case words joined by hyphens.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The rule that it breaks, such as `"C4.3"`.
            #[must_use]
            pub const fn rule(self) -> &'static str {
                match self { $(Self::$variant => $rule,)* }
            }

            /// What it does, in one sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }

            /// The promise that it breaks, as far as this table says; it may break others too.
            #[must_use]
            pub const fn property(self) -> Property {
                match self { $(Self::$variant => Property::$property,)* }
            }

            /// The scenario in which it is caught.
            #[must_use]
            pub fn scenario(self) -> Scenario {
                match self { $(Self::$variant => scenarios::$scenario(),)* }
            }
        }
    };
}

mutants! {
    FreshAfterUnknown "fresh-after-unknown" breaks "I2" P1 in late_first_attempt:
        "An attempt whose fate nobody knows is followed by one with a fresh identity.";
    SameAfterUndelivered "same-after-undelivered" breaks "I3" P9 in restart_under_way:
        "An attempt that never arrived is followed by one with the same identity, born for an incarnation that is gone.";
    IdentityFollowsLast "identity-follows-last" breaks "I4" P1 in sticky:
        "Only the last failure decides: unknown, then not delivered, is followed by a fresh identity.";
    StickyIdentityDropped "sticky-identity-dropped" breaks "I4" P1 in sticky:
        "Unknown, then not delivered, is followed by an attempt without any identity.";
    RetryNotMarked "retry-not-marked" breaks "I2" P9 in lost_reply:
        "An attempt that carries the identity of an earlier one does not say that it is a retry.";
    UserErrorRetried "user-error-retried" breaks "F3" P8 in user_error:
        "An error that user code threw is retried, as if the transport had failed.";
    OverloadRetried "overload-retried" breaks "C4.2" P8 in full_queue:
        "A call that found the queue full is retried, on top of the load that filled it.";
    DeliveredRetried "delivered-retried" breaks "C4.3" P8 in epoch_lost:
        "A disconnect after the request is known to have arrived is retried.";
    OneAttemptTooMany "one-attempt-too-many" breaks "C1" P3 in no_retries:
        "A call makes one attempt more than its limit allows.";
    AttemptsNotCounted "attempts-not-counted" breaks "C1" L1 in refused_for_ever:
        "No number of attempts is too many, so only the cutoff could ever end the call.";
    CutoffIgnored "cutoff-ignored" breaks "C2" P4 in cutoff_in_backoff:
        "Neither the delay nor the end of the sleep is compared with the cutoff.";
    CutoffFromFirstFailure "cutoff-from-first-failure" breaks "C2" P4 in late_failure:
        "The timeout counts from the first failure instead of the call's start.";
    NoCheckAfterSleep "no-check-after-sleep" breaks "C4.7" P4 in cutoff_in_backoff:
        "A retry that wakes late is sent all the same.";
    FirstAttemptCut "first-attempt-cut" breaks "C3" P5 in slow_first_attempt:
        "The cutoff cancels attempt 1.";
    RetryOutlivesCutoff "retry-outlives-cutoff" breaks "C3" P6 in slow_retry:
        "The cutoff leaves a running retry alone.";
    LastFailureShown "last-failure-shown" breaks "C4" P7 in two_failures:
        "A call that may not go on shows its last failure instead of the original one.";
    LaterFailureHidden "later-failure-hidden" breaks "C4.2" P7 in failure_then_error:
        "A failure that may not be retried is hidden behind the original one.";
    RejectionNotDoubted "rejection-not-doubted" breaks "C9" P11 in duplicated:
        "An attempt that the gate rejected counts as never delivered.";
    CancellationNotDoubted "cancellation-not-doubted" breaks "C9" P11 in slow_retry:
        "An attempt that was cancelled counts as never delivered.";
    DropTakenAsUndelivered "drop-taken-as-undelivered" breaks "F2" P11 in late_only_attempt:
        "A connection that dropped under a request is taken to mean that the request never arrived.";
    DuplicatesNotDoubted "duplicates-not-doubted" breaks "F2" P11 in duplicated_and_full:
        "That one copy of a request did not run is taken to hold for the copies that the network made.";
    FreshDespiteDuplicates "fresh-despite-duplicates" breaks "C5" P1 in duplicated:
        "A rejected first attempt is sent anew with a fresh identity although the network duplicates requests.";
    IneligibleCallRetried "ineligible-call-retried" breaks "E4" P8 in pipelined:
        "A call on a pending result, which carries no identity, is retried.";
    CommittedCallRetried "committed-call-retried" breaks "E4" P8 in pipelined:
        "A call whose pending result was used is retried all the same.";
    UseDoesNotCommit "use-does-not-commit" breaks "E4" P8 in pipelined:
        "The use of a pending result goes unnoticed by the call that is to produce it.";
    RetriesCharged "retries-charged" breaks "C1" P12 in lost_request:
        "Every attempt counts toward the limit of subrequests.";
    RouteKeptAfterRefusal "route-kept-after-refusal" breaks "C8" P16 in draining:
        "A stub that a gate refused goes on sending to that incarnation.";
    RouteKeptAfterDrop "route-kept-after-drop" breaks "C8" P16 in lost_request:
        "A stub whose connection dropped goes on sending to that incarnation.";
    CallerIdReused "caller-id-reused" breaks "G10" L2 in crash:
        "A caller that died comes back under its old id, and counts from the beginning again.";
    UndeliveredLeaksOut "undelivered-leaks-out" breaks "F2" P11 in nested:
        "An object lets the \"not delivered\" of its own call pass to the one who called it.";
    ClaimsIgnored "claims-ignored" breaks "G3" P1 in lost_reply:
        "An identity that was let in here is let in again.";
    CallersMarkBelieved "callers-mark-believed" breaks "G1" P1 in believed_marked:
        "The gate takes the caller's word for it that the method is marked.";
    FailsOpen "fails-open" breaks "G4" P1 in restart_under_way:
        "What an earlier incarnation may have let in is let in.";
    OnlyRetriesDoubted "only-retries-doubted" breaks "G4" P1 in late_after_restart:
        "What an earlier incarnation may have let in is let in if it does not say that it is a retry.";
    ClaimOnArrival "claim-on-arrival" breaks "G11" L2 in full_and_lost:
        "The claim is made when the request arrives, before the queue's bound is looked at.";
    ClaimAfterLookup "claim-after-lookup" breaks "G1" P1 in getter:
        "The method is looked up, which may run user code, before the claim is made.";
    ClaimAfterRun "claim-after-run" breaks "G1" P2 in lost_reply:
        "The claim is made when the run has ended.";
    DuplicatesOverlap "duplicates-overlap" breaks "fenced" P14 in overlapping:
        "A duplicate of a marked call is let in while an earlier run of it goes on.";
    FenceReversed "fence-reversed" breaks "fenced" P14 in overtaken:
        "An earlier attempt of a marked call is let in after a later one, and not the other way round.";
    MarkWaivesWatermark "mark-waives-watermark" breaks "G4" P14 in settled_and_late:
        "A marked call is let in although its caller has settled it.";
    MarkWaivesAddress "mark-waives-address" breaks "D3" P14 in overtaken_by_restart:
        "A marked call is let in by another incarnation than the one that it is addressed to.";
    AddressIgnored "address-ignored" breaks "D3" L2 in restart_under_way:
        "An attempt that is addressed to another incarnation is judged like one that is not.";
    DrainingRejectsClaims "draining-rejects-claims" breaks "G2" L2 in draining:
        "A draining predecessor answers as if the call had been claimed.";
    DrainedQueueStarts "drained-queue-starts" breaks "G2" P11 in draining:
        "A draining predecessor sends back what it had queued, and starts it all the same.";
    PredecessorWrites "predecessor-writes" breaks "G2" P13 in stale_writer:
        "Storage takes the writes of an incarnation that has a successor.";
    ZombieAnswers "zombie-answers" breaks "G12" P10 in epoch_lost:
        "An incarnation answers without asking storage whether it still holds the object.";
    MarkedSessionCoversAll "marked-session-covers-all" breaks "G8" P7 in marked_session:
        "In a session that was let in as marked an unmarked call runs too.";
    RejectedSessionRuns "rejected-session-runs" breaks "G8" P7 in rejected_session:
        "In a session whose first call was rejected a later call runs.";
    SessionKeepsIdentity "session-keeps-identity" breaks "G8" P9 in unmarked_session:
        "A later call of a session carries the identity of the first.";
    WindowTooShort "window-too-short" breaks "time" P1 in window:
        "A claim is kept for half of its window.";
    MarginZero "margin-zero" breaks "D2" P1 in skew:
        "Wall clocks are compared as if they never differed.";
    LowestNumberWatermark "lowest-number-watermark" breaks "watermark" P15 in settled_out_of_order:
        "Only the lowest unsettled number counts: everything above it is kept.";
    AllBelowSettled "all-below-settled" breaks "watermark" L2 in settled_out_of_order:
        "Every number below an attempt's own counts as settled.";
    SettledLetIn "settled-let-in" breaks "watermark" P1 in late_after_settling:
        "The claims of settled numbers are forgotten, and an attempt under one is let in.";
    BoundForgets "bound-forgets" breaks "G6" P1 in full_store:
        "A full store forgets its claims without beginning a new claim epoch.";
    BoundIgnored "bound-ignored" breaks "G6" P15 in full_store:
        "A full store takes another claim.";
    IncarnationReused "incarnation-reused" breaks "D3" P1 in restart_under_way:
        "The next incarnation takes the number of the last.";
    RecordAnswersOthers "record-answers-others" breaks "D5" P10 in recorded:
        "A recorded result is found by its caller alone, and answers that caller's other calls.";
    ResultAfterEffect "result-after-effect" breaks "D5" P2 in restart_after_effect:
        "A result is stored after the effect, not together with it.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_kebab_case_and_unique() {
        let names: BTreeSet<_> = Mutant::ALL.iter().map(|mutant| mutant.name()).collect();
        assert_eq!(names.len(), Mutant::ALL.len());
        for mutant in Mutant::ALL {
            let kebab: String = format!("{mutant:?}")
                .chars()
                .flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain(c.to_lowercase()))
                .collect();
            assert_eq!(format!("-{}", mutant.name()), kebab);
        }
    }

    #[test]
    fn each_mutant_says_what_it_does_in_one_sentence() {
        for mutant in Mutant::ALL {
            let about = mutant.about();
            assert!(about.ends_with('.') && about.matches(". ").count() == 0, "{}", mutant.name());
        }
    }
}
