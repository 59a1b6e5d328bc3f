//! Rules broken on purpose, to see whether the ledger notices.

use oncemore_protocol::failure::{Delivery, Transport};
use oncemore_protocol::identity::{Incarnation, Ordinal};
use oncemore_protocol::limits::Limits;
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rules::{FirstRejection, Reuse, Rules, Spec};
use oncemore_protocol::store::Recall;
use oncemore_protocol::time::Time;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    #[default]
    FreshAfterUnknown,
    ClaimsIgnored,
    DoubtIgnored,
    AddressIgnored,
    OneAttemptTooMany,
    CutoffIgnored,
    RetryOutlivesCutoff,
    DropTakenAsUndelivered,
    DuplicatesNotDoubted,
    FreshDespiteDuplicates,
    RetriesCharged,
    FenceOpen,
    DuplicatesOverlap,
    ZombieWrites,
    ZombieAnswers,
    BoundIgnored,
}

impl Rule {
    pub(crate) const ALL: [Self; 16] = [
        Self::FreshAfterUnknown,
        Self::ClaimsIgnored,
        Self::DoubtIgnored,
        Self::AddressIgnored,
        Self::OneAttemptTooMany,
        Self::CutoffIgnored,
        Self::RetryOutlivesCutoff,
        Self::DropTakenAsUndelivered,
        Self::DuplicatesNotDoubted,
        Self::FreshDespiteDuplicates,
        Self::RetriesCharged,
        Self::FenceOpen,
        Self::DuplicatesOverlap,
        Self::ZombieWrites,
        Self::ZombieAnswers,
        Self::BoundIgnored,
    ];

    /// The promise that does not survive it.
    pub(crate) const fn breaks(self) -> &'static str {
        match self {
            Self::FreshAfterUnknown
            | Self::ClaimsIgnored
            | Self::DoubtIgnored
            | Self::DropTakenAsUndelivered
            | Self::FreshDespiteDuplicates => "P1",
            Self::OneAttemptTooMany => "P3",
            Self::CutoffIgnored => "P4",
            Self::RetryOutlivesCutoff => "P6",
            Self::DuplicatesNotDoubted => "P11",
            Self::RetriesCharged => "P12",
            Self::AddressIgnored | Self::FenceOpen | Self::DuplicatesOverlap | Self::ZombieWrites => "P14",
            Self::ZombieAnswers => "P10",
            Self::BoundIgnored => "P15",
        }
    }
}

/// [`Spec`], but for one rule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Broken(pub(crate) Rule);

impl Broken {
    fn is(self, rule: Rule) -> bool {
        self.0 == rule
    }
}

impl Rules for Broken {
    fn attempts_max(self, limits: Limits) -> u8 {
        Spec.attempts_max(limits) + u8::from(self.is(Rule::OneAttemptTooMany))
    }

    fn too_late(self, at: Time, cutoff: Time) -> bool {
        !self.is(Rule::CutoffIgnored) && Spec.too_late(at, cutoff)
    }

    fn cutoff_cancels(self, ordinal: Ordinal) -> bool {
        !self.is(Rule::RetryOutlivesCutoff) && Spec.cutoff_cancels(ordinal)
    }

    fn believed_delivery(self, told: Delivery) -> Delivery {
        if self.is(Rule::DropTakenAsUndelivered) && told == Delivery::Unknown { Delivery::NotDelivered } else { told }
    }

    fn promised(self, transport: Transport) -> Transport {
        if self.is(Rule::DuplicatesNotDoubted) { Transport::Exact } else { transport }
    }

    fn first_rejection(self, configured: FirstRejection, _: Transport) -> FirstRejection {
        if self.is(Rule::FreshDespiteDuplicates) { FirstRejection::Fresh } else { configured }
    }

    fn counts_as_subrequest(self, ordinal: Ordinal) -> bool {
        self.is(Rule::RetriesCharged) || Spec.counts_as_subrequest(ordinal)
    }

    fn next_identity(self, doubt: Delivery, last: Delivery) -> Reuse {
        if self.is(Rule::FreshAfterUnknown) { Reuse::Fresh } else { Spec.next_identity(doubt, last) }
    }

    fn trusts(self, recall: Recall, retry: bool) -> Recall {
        let forgotten = match recall {
            Recall::Claimed { .. } => self.is(Rule::ClaimsIgnored),
            Recall::MayHave(_) => self.is(Rule::DoubtIgnored),
            Recall::Untracked | Recall::Never | Recall::Settled | Recall::Finished | Recall::OtherRequest => false,
        };
        if forgotten { Recall::Never } else { Spec.trusts(recall, retry) }
    }

    fn elsewhere(self, address: Incarnation, here: Incarnation, mark: Mark) -> bool {
        !self.is(Rule::AddressIgnored) && Spec.elsewhere(address, here, mark)
    }

    fn fence_passes(self, ordinal: Ordinal, highest: Ordinal) -> bool {
        self.is(Rule::FenceOpen) || Spec.fence_passes(ordinal, highest)
    }

    fn fence_waits(self) -> bool {
        !self.is(Rule::DuplicatesOverlap)
    }

    fn storage_takes(self, writer: Incarnation, owner: Incarnation) -> bool {
        self.is(Rule::ZombieWrites) || Spec.storage_takes(writer, owner)
    }

    fn confirms_epoch(self) -> bool {
        !self.is(Rule::ZombieAnswers)
    }

    fn exceeds_bound(self, entries: usize, capacity: usize) -> bool {
        !self.is(Rule::BoundIgnored) && Spec.exceeds_bound(entries, capacity)
    }
}
