//! The branches of the rules: every decision of a state machine names the one that it took.
//!
//! Traces print them, coverage counts them and metrics are labelled with them, so a branch is one
//! *reason*, not one line of code: two places that decide for the same reason share a branch.

use core::fmt;

macro_rules! branches {
    ($($(#[$doc:meta])* $name:ident = $rule:literal, $text:literal;)*) => {
        /// One branch of one rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Branch {
            $(#[doc = concat!($rule, ": ", $text, ".")] $(#[$doc])* $name,)*
        }

        impl Branch {
            /// Every branch, in the order of the rules.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The number of the rule, such as `"C4.6"`.
            #[must_use]
            pub const fn rule(self) -> &'static str {
                match self { $(Self::$name => $rule,)* }
            }

            /// What the branch does, in a few words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The name of the branch, as it is written in code.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

branches! {
    NotDelivered = "F2", "it never reached the object: not delivered";
    MaybeDuplicated = "F2", "the transport may duplicate requests, so \"did not run\" is unknown";
    DeliveredStays = "F2", "it had reached the object: delivered, whatever mark the failure carried";
    UserError = "F3", "user code threw: the error keeps its kind and is never retried";
    SentOnce = "E6", "not eligible: no identity, sent exactly once";
    CommittedInFlight = "E4", "a pipelined use commits the call to the attempt in flight";
    CommittedInBackoff = "E4", "a pipelined use while backing off fails both at once";
    CommittedFails = "E4", "a committed attempt failed: its outcome is final";
    FirstOutlivesCutoff = "C3", "the cutoff never cancels attempt 1";
    RetryCut = "C3", "the cutoff cancels a running retry: the original failure";
    Answered = "C4", "the attempt was answered";
    RejectionShowsOriginal = "C4.1", "claim rejected: the original failure";
    OtherKindEnds = "C4.2", "not a disconnect: this failure";
    DeliveredEnds = "C4.3", "disconnected after delivery: this failure";
    OriginalRemembered = "C4.4", "remembered as the original failure";
    AttemptsUsedUp = "C4.5", "attempts used up: the original failure";
    DelayReachesCutoff = "C4.6", "the delay would reach the cutoff: the original failure, at once";
    BacksOff = "C4.6", "backs off before the next attempt";
    SleptPastCutoff = "C4.7", "the cutoff came during the sleep: the original failure";
    Retries = "C4.7", "sends the next attempt";
    FirstRejectionFresh = "C5", "nothing earlier carried this identity: taken as not delivered";
    FirstRejectionEnds = "C5", "nothing earlier carried this identity: ends, may have run";
    FutureDropped = "C7", "the call's future was dropped: no attempt starts any more";
    Aborted = "C7", "the call was aborted with a reason";
    RouteRenewed = "C8", "the stub resolves and connects anew";
    NewIdentity = "I1", "the call's first identity";
    SameIdentity = "I2", "the same identity, as a retry";
    FreshIdentity = "I3", "a fresh identity, not marked as a retry";
    StickyIdentity = "I4", "the old identity, since an earlier attempt may have run";
    AdmittedNew = "G1", "not seen before: claimed and let in";
    AdmittedWithoutIdentity = "G1", "carries no identity: let in without a claim";
    RefusedDraining = "G2", "draining: admits nothing new, go to the successor";
    QueueDrained = "G2", "draining: what was queued and not claimed is sent back";
    WriteFenced = "G2", "the storage refuses a predecessor's write";
    RejectedClaimed = "G3", "already let in here: rejected";
    MarkAdmitsDuplicate = "G3", "already let in here, but the method is marked: let in again";
    RejectedDoubtful = "G4", "an earlier incarnation may have let it in: rejected";
    MarkAdmitsDoubtful = "G4", "an earlier incarnation may have let it in, but the method is marked: let in";
    SessionOpensUnmarked = "G8", "the session's first call was let in as unmarked";
    SessionOpensMarked = "G8", "the session's first call was let in as marked";
    SessionRunsLater = "G8", "a later call of a session claimed as unmarked, or of a marked method: runs";
    SessionRefusesUnmarked = "G8", "the session was claimed as marked and may be a duplicate: an unmarked call is refused";
    SessionRejected = "G8", "the session's first call was rejected, and so is this";
    SessionUnknown = "G8", "a later call of a session that is not known here: not delivered";
    StartFailed = "G9", "the claim could not be stored: not started, and not said to be so";
    QueueFull = "G11", "the queue is full: overloaded, before anything is claimed";
    EpochConfirmed = "G12", "storage confirms the epoch: the answer leaves";
    EpochLost = "G12", "the epoch was lost during the run: disconnected, delivered";
    NothingKept = "D0", "no identity is kept: let in";
    BornBefore = "D2", "the identity is older than this incarnation and its margin";
    AddressedElsewhere = "D3", "the attempt is addressed to another incarnation: not delivered";
    BornElsewhere = "D3", "the call was born for another incarnation";
    ClaimStored = "D4", "the claim is durable: the method may start";
    AnsweredFromRecord = "D5", "the call had finished: its recorded result is the answer";
    OtherRequest = "D5", "the identity belongs to another request: refused";
    FenceWaits = "fenced", "an earlier run of this call goes on: waits, unclaimed";
    FenceRefusesOlder = "fenced", "a later attempt of this call was let in before: rejected";
    WatermarkRefuses = "watermark", "the caller has settled this number: refused";
    WatermarkForgets = "watermark", "the caller has settled older numbers: their claims are forgotten";
    ClaimExpires = "time", "the retention window has passed: the claim is forgotten";
    BoundBeginsEpoch = "G6", "the store is full: a new claim epoch begins";
    BoundRefuses = "G6", "the store is full and cannot tell old from new: refused";
    BornBeforeEpoch = "G6", "the identity is older than the claim epoch";
}

/// A set of branches: what one step of a machine took.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Fired(u128);

// One bit a branch.
const _: () = assert!(Branch::ALL.len() <= 128);

impl Fired {
    /// No branch.
    pub const NONE: Self = Self(0);

    /// Adds a branch.
    pub const fn add(&mut self, branch: Branch) {
        self.0 |= 1 << branch as u8;
    }

    /// This set and one more branch.
    #[must_use]
    pub const fn with(mut self, branch: Branch) -> Self {
        self.add(branch);
        self
    }

    /// Both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the branch was taken.
    #[must_use]
    pub const fn has(self, branch: Branch) -> bool {
        self.0 & (1 << branch as u8) != 0
    }

    /// Whether no branch was taken.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The branches, in the order of the rules.
    pub fn iter(self) -> impl Iterator<Item = Branch> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            // Past the last branch there is no bit.
            let branch = Branch::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(*branch)
        })
    }

    /// One bit for each branch, in the order of [`Branch::ALL`].
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.0
    }
}

impl From<Branch> for Fired {
    fn from(branch: Branch) -> Self {
        Self::NONE.with(branch)
    }
}

impl fmt::Debug for Fired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_branch_has_its_own_bit() {
        let mut all = Fired::NONE;
        for &branch in Branch::ALL {
            assert!(!all.has(branch));
            all.add(branch);
        }
        assert_eq!(all.iter().count(), Branch::ALL.len());
    }
}
