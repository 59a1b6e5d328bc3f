//! Anything in any order: the machine against an account of its own life kept from outside.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Resolved { other_lane: bool },
    Answered,
    Failed { kind: Kind, delivery: Delivery, remote: bool },
    Refused(Refusal),
    Timer,
    AtDeadline,
    PipelinedUse,
    Abort,
    Drop,
    Passes(u32),
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        6 => Just(Kind::Disconnected),
        1 => Just(Kind::Overloaded),
        1 => Just(Kind::Failed),
        1 => Just(Kind::Unimplemented),
    ]
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![
        4 => Just(Delivery::NotDelivered),
        4 => Just(Delivery::Unknown),
        1 => Just(Delivery::Delivered),
    ]
}

fn refusal() -> impl Strategy<Value = Refusal> {
    proptest::sample::select(std::vec![
        Refusal::Draining,
        Refusal::Draining,
        Refusal::Elsewhere,
        Refusal::Elsewhere,
        Refusal::Overloaded,
        Refusal::Claimed,
        Refusal::Doubtful,
        Refusal::Settled,
        Refusal::Older,
        Refusal::StoreFull,
        Refusal::SessionRejected,
        Refusal::SessionMarked,
        Refusal::OtherRequest,
        Refusal::ClaimNotStored,
        Refusal::EpochLost,
    ])
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => any::<bool>().prop_map(|other_lane| Op::Resolved { other_lane }),
        1 => Just(Op::Answered),
        8 => (kind(), delivery(), proptest::bool::weighted(0.1))
            .prop_map(|(kind, delivery, remote)| Op::Failed { kind, delivery, remote }),
        4 => refusal().prop_map(Op::Refused),
        2 => Just(Op::Timer),
        10 => Just(Op::AtDeadline),
        1 => Just(Op::PipelinedUse),
        1 => Just(Op::Abort),
        1 => Just(Op::Drop),
        2 => (0..4_000u32).prop_map(Op::Passes),
    ]
}

fn any_terms() -> impl Strategy<Value = Terms> {
    (0..=10u8, 500..=60_000u32, any::<bool>(), any::<bool>()).prop_map(
        |(retries_max, timeout_ms, duplicates, fresh)| Terms {
            limits: Limits::new(retries_max, timeout_ms).unwrap(),
            schedule: Schedule::observed(),
            transport: if duplicates { Transport::MayDuplicate } else { Transport::Exact },
            first_rejection: if fresh { FirstRejection::Fresh } else { FirstRejection::Fail },
            rules: Spec,
        },
    )
}

/// What a call has been through, as one tells it who knows the rules and not the machine.
struct Account {
    eligible: bool,
    attempts: u8,
    /// The payload of the first failure.
    first: Option<u32>,
    doubt: Delivery,
    last: Delivery,
    sent: bool,
    identity: Option<Identity>,
    reused: bool,
    committed: bool,
    settled: bool,
}

impl Account {
    const fn new(eligible: bool) -> Self {
        Self {
            eligible,
            attempts: 1,
            first: None,
            doubt: Delivery::NotDelivered,
            last: Delivery::NotDelivered,
            sent: false,
            identity: None,
            reused: false,
            committed: false,
            settled: false,
        }
    }

    fn doubted(&mut self, delivery: Delivery) {
        self.doubt = self.doubt.max(delivery);
        self.last = delivery;
    }

    /// C9: what the attempt that ends here counts for; none if the input is no outcome of an attempt.
    fn counts_for(&self, call: &Call<u32>, terms: &Terms, now: Time, op: Op) -> Option<Delivery> {
        let late = call.ordinal().0 > 1 && now > call.cutoff();
        match op {
            // Whatever it is: the cutoff came before it.
            Op::Failed { .. } | Op::Answered | Op::Refused(_) if late && call.attempting() => Some(Delivery::Unknown),
            Op::Failed { delivery, remote, .. } if call.attempting() => {
                Some(if remote { Delivery::Delivered } else { delivery })
            }
            Op::Refused(refusal) if self.sent => Some(self.refusal_counts_for(terms, refusal)),
            Op::Timer | Op::AtDeadline if call.attempting() && call.ordinal().0 > 1 && now >= call.cutoff() => {
                Some(Delivery::Unknown)
            }
            Op::Abort | Op::Drop if call.attempting() => Some(Delivery::Unknown),
            Op::Resolved { .. }
            | Op::Answered
            | Op::Failed { .. }
            | Op::Refused(_)
            | Op::Timer
            | Op::AtDeadline
            | Op::PipelinedUse
            | Op::Abort
            | Op::Drop
            | Op::Passes(_) => None,
        }
    }

    fn refusal_counts_for(&self, terms: &Terms, refusal: Refusal) -> Delivery {
        let first = self.eligible && !self.reused;
        match refusal {
            Refusal::Draining | Refusal::Elsewhere | Refusal::Overloaded => match terms.transport {
                Transport::Exact => Delivery::NotDelivered,
                Transport::MayDuplicate => Delivery::Unknown,
            },
            Refusal::Claimed
            | Refusal::Doubtful
            | Refusal::Settled
            | Refusal::Older
            | Refusal::StoreFull
            | Refusal::SessionRejected => {
                if first && terms.first_rejection == FirstRejection::Fresh {
                    Delivery::NotDelivered
                } else {
                    Delivery::Unknown
                }
            }
            Refusal::SessionMarked | Refusal::OtherRequest | Refusal::ClaimNotStored | Refusal::EpochLost => {
                Delivery::Delivered
            }
        }
    }
}

fn input(op: Op, payload: u32) -> Option<Input<u32>> {
    Some(match op {
        Op::Answered => Input::Answered,
        Op::Failed { kind, delivery, remote } => Input::Failed(Failure { kind, delivery, remote, payload }),
        Op::Refused(refusal) => Input::Refused(refusal, payload),
        Op::Timer | Op::AtDeadline => Input::Timer,
        Op::PipelinedUse => Input::PipelinedUse,
        Op::Abort => Input::Abort(payload),
        Op::Drop => Input::Drop,
        Op::Resolved { .. } | Op::Passes(_) => return None,
    })
}

fn check_resolved(
    account: &mut Account,
    terms: &Terms,
    call: &mut Call<u32>,
    lane: &mut Lane,
) -> Result<(), TestCaseError> {
    let (before, lane_before) = (*call, *lane);
    let may_send = call.attempting() && !account.sent;
    match call.resolved(terms, lane, HERE, WallTime::default()) {
        Err(_) => {
            prop_assert!(!may_send, "the lane cannot be full: {} numbers", lane.next().0);
            prop_assert_eq!((*call, *lane), (before, lane_before));
        }
        Ok(sent) => {
            prop_assert!(may_send);
            account.sent = true;
            prop_assert_eq!(sent.header.ordinal, Ordinal(account.attempts));
            prop_assert_eq!(sent.header.identity.is_some(), account.eligible);
            let same = account.identity.is_some() && sent.header.identity == account.identity;
            let must = account.identity.is_some() && account.doubt != Delivery::NotDelivered;
            prop_assert_eq!((same, sent.header.retry), (must, must));
            account.identity = sent.header.identity;
            account.reused = same;
        }
    }
    Ok(())
}

fn check_step(
    account: &mut Account,
    terms: &Terms,
    call: &Call<u32>,
    now: Time,
    op: Op,
    payload: u32,
    step: Step<u32>,
) -> Result<(), TestCaseError> {
    if account.settled {
        prop_assert_eq!(step, Step::nothing());
    }
    match step.next {
        Next::Wait => prop_assert!(!step.cancel),
        Next::Resolve(ordinal) => {
            account.attempts += 1;
            account.sent = false;
            prop_assert_eq!(ordinal, Ordinal(account.attempts));
            prop_assert!(account.attempts <= terms.limits.attempts_max());
            prop_assert!(account.eligible && !account.committed && now < call.cutoff());
        }
        Next::Sleep { until } => {
            account.sent = false;
            prop_assert!(!account.committed && account.last != Delivery::Delivered);
            prop_assert!(until >= now && until < call.cutoff());
        }
        Next::Settle(settlement) => {
            account.settled = true;
            check_settlement(account, call, op, payload, &step, settlement)?;
        }
    }
    Ok(())
}

fn check_settlement(
    account: &Account,
    call: &Call<u32>,
    op: Op,
    payload: u32,
    step: &Step<u32>,
    settlement: Settlement<u32>,
) -> Result<(), TestCaseError> {
    prop_assert!(call.settled());
    prop_assert_eq!(step.report.is_some(), account.attempts > 1);
    match settlement {
        Settlement::Answered => prop_assert!(matches!(op, Op::Answered)),
        Settlement::Aborted(reason) => prop_assert!(matches!(op, Op::Abort) && reason == payload),
        Settlement::Dropped => prop_assert!(matches!(op, Op::Drop)),
        Settlement::Failed(failure) => {
            prop_assert_eq!(failure.delivery, account.doubt, "C9");
            let this = step.fired.has(Branch::OtherKindEnds)
                || step.fired.has(Branch::DeliveredEnds)
                || step.fired.has(Branch::SentOnce)
                || step.fired.has(Branch::CommittedFails);
            if this {
                prop_assert_eq!(failure.payload, payload);
            } else {
                prop_assert_eq!(Some(failure.payload), account.first, "the original failure");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_call_keeps_the_rules_whatever_happens_to_it(
        terms in any_terms(),
        eligible in proptest::bool::weighted(0.9),
        draws in proptest::collection::vec(any::<u32>(), 60),
        ops in proptest::collection::vec(op(), 1..60),
    ) {
        let mut now = second(5);
        let (mut call, _) = Call::start(&terms, eligible, now);
        let mut account = Account::new(eligible);
        let mut lanes = [7, 8].map(|bits| Lane::new(CallerId::from_bits(bits)));
        for (index, op) in ops.into_iter().enumerate() {
            match op {
                Op::Passes(ms) => now = now.after(Duration::from_millis(ms.into())),
                Op::AtDeadline => now = call.deadline(&terms).map_or(now, |deadline| deadline.max(now)),
                Op::Resolved { .. }
                | Op::Answered
                | Op::Failed { .. }
                | Op::Refused(_)
                | Op::Timer
                | Op::PipelinedUse
                | Op::Abort
                | Op::Drop => {}
            }
            if let Op::Resolved { other_lane } = op {
                check_resolved(&mut account, &terms, &mut call, &mut lanes[usize::from(other_lane)])?;
            }
            let payload = u32::try_from(index).unwrap();
            let Some(input) = input(op, payload) else { continue };
            let counts_for = account.counts_for(&call, &terms, now, op);
            if let Some(delivery) = counts_for {
                account.doubted(delivery);
                let fails = matches!(op, Op::Failed { .. } | Op::Refused(_));
                let late = call.ordinal().0 > 1 && now > call.cutoff();
                if fails && !late {
                    account.first.get_or_insert(payload);
                }
            }
            let step = call.handle(&terms, now, draws[index], input);
            if matches!(op, Op::PipelinedUse) {
                account.committed = true;
            }
            if step.cancel && matches!(op, Op::Timer | Op::AtDeadline) {
                prop_assert!(account.attempts > 1, "the cutoff cancelled attempt 1");
            }
            check_step(&mut account, &terms, &call, now, op, payload, step)?;
            prop_assert_eq!(call.settled(), account.settled);
            if account.settled {
                prop_assert_eq!(call.deadline(&terms), None);
            }
        }
    }
}
