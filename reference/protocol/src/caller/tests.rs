//! One call, branch by branch; `random` feeds it anything in any order.

mod random;

use core::time::Duration;

use super::*;
use crate::failure::Kind;
use crate::identity::{CallerId, Number};
use crate::lane::LaneFull;

const HERE: Incarnation = Incarnation(1);

fn second(seconds: u64) -> Time {
    Time::ORIGIN.after(Duration::from_secs(seconds))
}

fn fired(branches: &[Branch]) -> Fired {
    branches.iter().fold(Fired::NONE, |fired, branch| fired.with(*branch))
}

/// Five attempts within ten seconds, one second apart.
fn terms() -> Terms {
    let each_second = Schedule::uniform(Duration::from_secs(1), Duration::from_secs(1)).unwrap();
    Terms { schedule: each_second, ..Terms::default() }
}

fn retries(retries_max: u8) -> Terms {
    Terms { limits: Limits::new(retries_max, 10_000).unwrap(), ..terms() }
}

/// A call and what drives it.
struct Driver {
    terms: Terms,
    lane: Lane,
    call: Call<u32>,
    now: Time,
}

impl Driver {
    fn eligible(terms: Terms) -> Self {
        let (call, step) = Call::start(&terms, true, Time::ORIGIN);
        assert_eq!(step, Step::new(Fired::NONE, Next::Resolve(Ordinal(1))));
        Self { terms, lane: Lane::new(CallerId::from_bits(7)), call, now: Time::ORIGIN }
    }

    fn ineligible() -> Self {
        let terms = terms();
        let (call, step) = Call::start(&terms, false, Time::ORIGIN);
        assert_eq!(step, Step::new(Branch::SentOnce.into(), Next::Resolve(Ordinal(1))));
        Self { terms, lane: Lane::new(CallerId::from_bits(7)), call, now: Time::ORIGIN }
    }

    fn handle(&mut self, input: Input<u32>) -> Step<u32> {
        self.call.handle(&self.terms, self.now, 0, input)
    }

    fn send(&mut self) -> Transmission {
        self.call.resolved(&self.terms, &mut self.lane, HERE, WallTime::default()).unwrap()
    }

    /// The attempt is sent and fails; the payload is its ordinal.
    fn fails(&mut self, delivery: Delivery) -> Step<u32> {
        self.send();
        let payload = self.call.ordinal().0.into();
        self.handle(Input::Failed(Failure { delivery, ..Failure::dropped(payload) }))
    }

    /// The next deadline comes.
    fn wakes(&mut self) -> Step<u32> {
        self.now = self.call.deadline(&self.terms).expect("a deadline");
        self.handle(Input::Timer)
    }

    /// A call whose first attempt failed so, and whose second is under way.
    fn retrying(first: Delivery) -> Self {
        let mut driver = Self::eligible(terms());
        driver.fails(first);
        let step = driver.wakes();
        assert_eq!(step, Step::new(Branch::Retries.into(), Next::Resolve(Ordinal(2))));
        driver
    }
}

fn failure(kind: Kind, delivery: Delivery, payload: u32) -> Failure<u32> {
    Failure { kind, delivery, remote: false, payload }
}

fn disconnected(delivery: Delivery, payload: u32) -> Failure<u32> {
    failure(Kind::Disconnected, delivery, payload)
}

/// The step with which a call fails that never retried.
fn fails_with(branches: &[Branch], failure: Failure<u32>) -> Step<u32> {
    Step::new(fired(branches), Next::Settle(Settlement::Failed(failure)))
}

fn report(attempts: u8, ending: Ending, seconds: u64) -> Option<Report> {
    Some(Report { attempts, ending, since_disconnect: Duration::from_secs(seconds) })
}

// ---- The first attempt ----

#[test]
fn an_answer_ends_the_call() {
    let mut driver = Driver::eligible(terms());
    let sent = driver.send();
    assert_eq!(sent.fired, Branch::NewIdentity.into());
    assert_eq!(sent.header.ordinal, Ordinal(1));
    assert!(!sent.header.retry);
    let step = driver.handle(Input::Answered);
    assert_eq!(step, Step::new(Branch::Answered.into(), Next::Settle(Settlement::Answered)));
    assert!(driver.call.settled());
}

#[test]
fn a_call_that_is_not_eligible_carries_no_identity_and_is_sent_once() {
    let mut driver = Driver::ineligible();
    let sent = driver.send();
    assert_eq!((sent.header.identity, sent.fired), (None, Fired::NONE));
    assert_eq!(driver.lane.next(), Number(0));
    let lost = disconnected(Delivery::NotDelivered, 3);
    let step = driver.handle(Input::Failed(lost));
    assert_eq!(step, fails_with(&[Branch::SentOnce], lost));
}

#[test]
fn without_retries_an_eligible_call_carries_an_identity_and_is_sent_once() {
    let mut driver = Driver::eligible(retries(0));
    assert!(driver.send().header.identity.is_some());
    let lost = disconnected(Delivery::Unknown, 1);
    let step = driver.handle(Input::Failed(lost));
    assert_eq!(step, fails_with(&[Branch::OriginalRemembered, Branch::AttemptsUsedUp], lost));
}

#[test]
fn the_first_attempt_outlives_the_cutoff() {
    for outcome in [Input::Answered, Input::Failed(disconnected(Delivery::NotDelivered, 1))] {
        let mut driver = Driver::eligible(terms());
        driver.send();
        assert_eq!(driver.call.deadline(&driver.terms), None);
        driver.now = second(60);
        assert_eq!(driver.handle(Input::Timer), Step::nothing());
        let step = driver.handle(outcome);
        assert!(step.fired.has(Branch::FirstOutlivesCutoff), "{step:?}");
        assert!(!step.cancel && driver.call.settled());
    }
}

// ---- C4, in its order ----

#[test]
fn another_kind_than_a_disconnect_ends_with_this_failure() {
    for kind in [Kind::Overloaded, Kind::Failed, Kind::Unimplemented] {
        for delivery in [Delivery::NotDelivered, Delivery::Unknown, Delivery::Delivered] {
            let mut driver = Driver::eligible(terms());
            driver.send();
            let failure = failure(kind, delivery, 9);
            let step = driver.handle(Input::Failed(failure));
            assert_eq!(step, fails_with(&[Branch::OtherKindEnds], failure));
        }
    }
}

#[test]
fn a_later_failure_that_may_not_be_retried_is_shown_with_the_doubt_of_all() {
    let mut driver = Driver::retrying(Delivery::Unknown);
    driver.send();
    let step = driver.handle(Input::Refused(Refusal::Overloaded, 2));
    let shown = failure(Kind::Overloaded, Delivery::Unknown, 2);
    let expected = fails_with(&[Branch::NotDelivered, Branch::OtherKindEnds], shown);
    assert_eq!(step, Step { report: report(2, Ending::NotRetryable, 1), ..expected });
}

#[test]
fn a_disconnect_after_delivery_ends_with_this_failure() {
    let mut driver = Driver::eligible(terms());
    let step = driver.fails(Delivery::Delivered);
    assert_eq!(step, fails_with(&[Branch::DeliveredEnds], disconnected(Delivery::Delivered, 1)));
}

#[test]
fn a_disconnect_is_remembered_and_the_call_backs_off() {
    for delivery in [Delivery::NotDelivered, Delivery::Unknown] {
        let mut driver = Driver::eligible(terms());
        let step = driver.fails(delivery);
        let branches = fired(&[Branch::OriginalRemembered, Branch::BacksOff]);
        assert_eq!(step, Step::new(branches, Next::Sleep { until: second(1) }));
        assert_eq!(driver.call.deadline(&driver.terms), Some(second(1)));
        driver.now = Time::from_nanos(second(1).as_nanos() - 1);
        assert_eq!(driver.handle(Input::Timer), Step::nothing());
    }
}

#[test]
fn used_up_attempts_end_with_the_original_failure() {
    let mut driver = Driver::eligible(retries(2));
    driver.fails(Delivery::NotDelivered);
    driver.wakes();
    driver.fails(Delivery::Unknown);
    driver.wakes();
    let step = driver.fails(Delivery::NotDelivered);
    let expected = fails_with(&[Branch::AttemptsUsedUp], disconnected(Delivery::Unknown, 1));
    assert_eq!(step, Step { report: report(3, Ending::AttemptsExhausted, 2), ..expected });
}

#[test]
fn a_delay_that_reaches_the_cutoff_ends_the_call_at_once() {
    for (late_by, sleeps) in [(0, false), (1, true)] {
        let mut driver = Driver::eligible(terms());
        driver.send();
        driver.now = Time::from_nanos(second(9).as_nanos() - late_by);
        let lost = disconnected(Delivery::Unknown, 1);
        let step = driver.handle(Input::Failed(lost));
        if sleeps {
            assert!(matches!(step.next, Next::Sleep { .. }));
        } else {
            assert_eq!(step, fails_with(&[Branch::OriginalRemembered, Branch::DelayReachesCutoff], lost));
        }
    }
}

#[test]
fn a_sleep_that_ends_at_the_cutoff_ends_the_call() {
    let mut driver = Driver::eligible(terms());
    driver.fails(Delivery::NotDelivered);
    driver.now = driver.call.cutoff();
    let step = driver.handle(Input::Timer);
    assert_eq!(step, fails_with(&[Branch::SleptPastCutoff], disconnected(Delivery::NotDelivered, 1)));
}

#[test]
fn a_retry_still_running_at_the_cutoff_is_cancelled() {
    // While it resolves, and while it is under way.
    for sent in [false, true] {
        let mut driver = Driver::retrying(Delivery::NotDelivered);
        if sent {
            driver.send();
        }
        assert_eq!(driver.call.deadline(&driver.terms), Some(driver.call.cutoff()));
        let step = driver.wakes();
        let expected = fails_with(&[Branch::RetryCut], disconnected(Delivery::Unknown, 1));
        assert_eq!(step, Step { cancel: true, report: report(2, Ending::Deadline, 10), ..expected });
    }
}

#[test]
fn what_a_retry_comes_back_with_after_the_cutoff_is_not_looked_at() {
    let outcomes = [
        Input::Answered,
        Input::Failed(failure(Kind::Failed, Delivery::Delivered, 2)),
        Input::Refused(Refusal::Draining, 2),
    ];
    for outcome in outcomes {
        let mut driver = Driver::retrying(Delivery::NotDelivered);
        driver.send();
        driver.now = second(11);
        let step = driver.handle(outcome);
        let expected = fails_with(&[Branch::RetryCut], disconnected(Delivery::Unknown, 1));
        assert_eq!(step, Step { cancel: true, report: report(2, Ending::Deadline, 11), ..expected });
    }
}

#[test]
fn a_recovery_is_reported() {
    let mut driver = Driver::retrying(Delivery::NotDelivered);
    driver.send();
    driver.now = second(3);
    let step = driver.handle(Input::Answered);
    let expected = Step::new(Branch::Answered.into(), Next::Settle(Settlement::Answered));
    assert_eq!(step, Step { report: report(2, Ending::Recovered, 3), ..expected });
}

// ---- Refusals: C4.1, C5, F2 ----

const CLAIM_REJECTIONS: [Refusal; 6] = [
    Refusal::Claimed,
    Refusal::Doubtful,
    Refusal::Settled,
    Refusal::Older,
    Refusal::StoreFull,
    Refusal::SessionRejected,
];

#[test]
fn a_claim_rejection_shows_the_original_failure_and_counts_as_doubt() {
    for refusal in CLAIM_REJECTIONS {
        let mut driver = Driver::retrying(Delivery::Unknown);
        driver.send();
        let step = driver.handle(Input::Refused(refusal, 2));
        let expected = fails_with(&[Branch::RejectionShowsOriginal], disconnected(Delivery::Unknown, 1));
        assert_eq!(step, Step { report: report(2, Ending::ClaimRejected, 1), ..expected });
    }
}

#[test]
fn a_rejected_identity_that_nothing_carried_before_ends_the_call_or_is_taken_as_undelivered() {
    for (answer, retried) in [(FirstRejection::Fail, false), (FirstRejection::Fresh, true)] {
        for refusal in CLAIM_REJECTIONS {
            let mut driver = Driver::eligible(Terms { first_rejection: answer, ..terms() });
            driver.send();
            let step = driver.handle(Input::Refused(refusal, 1));
            if retried {
                let branches = [Branch::FirstRejectionFresh, Branch::OriginalRemembered, Branch::BacksOff];
                assert_eq!(step, Step::new(fired(&branches), Next::Sleep { until: second(1) }));
                driver.wakes();
                assert_eq!(driver.send().fired, Branch::FreshIdentity.into());
            } else {
                let expected = disconnected(Delivery::Unknown, 1);
                assert_eq!(step, fails_with(&[Branch::FirstRejectionEnds], expected));
            }
        }
    }
}

#[test]
fn a_rejected_retry_with_a_fresh_identity_is_a_first_rejection_too() {
    let mut driver = Driver::retrying(Delivery::NotDelivered);
    driver.send();
    let step = driver.handle(Input::Refused(Refusal::Claimed, 2));
    // Not delivered, then rejected: attempt 1's message, and it may have run (C9).
    let expected = fails_with(&[Branch::FirstRejectionEnds], disconnected(Delivery::Unknown, 1));
    assert_eq!(step, Step { report: report(2, Ending::ClaimRejected, 1), ..expected });
}

#[test]
fn a_refusal_that_did_not_run_is_as_sure_as_the_transport() {
    let cases = [
        (Transport::Exact, Branch::NotDelivered, Branch::FreshIdentity),
        (Transport::MayDuplicate, Branch::MaybeDuplicated, Branch::SameIdentity),
    ];
    for refusal in [Refusal::Draining, Refusal::Elsewhere] {
        for (transport, branch, identity) in cases {
            let mut driver = Driver::eligible(Terms { transport, ..terms() });
            driver.send();
            let step = driver.handle(Input::Refused(refusal, 1));
            let branches = fired(&[branch, Branch::OriginalRemembered, Branch::BacksOff]);
            assert_eq!(step, Step::new(branches, Next::Sleep { until: second(1) }));
            driver.wakes();
            assert_eq!(driver.send().fired, identity.into());
        }
    }
}

#[test]
fn refusals_by_an_object_that_was_reached_end_the_call() {
    let cases = [
        (Refusal::SessionMarked, Kind::Failed, Branch::OtherKindEnds),
        (Refusal::OtherRequest, Kind::Failed, Branch::OtherKindEnds),
        (Refusal::ClaimNotStored, Kind::Disconnected, Branch::DeliveredEnds),
        (Refusal::EpochLost, Kind::Disconnected, Branch::DeliveredEnds),
    ];
    for (refusal, kind, branch) in cases {
        let mut driver = Driver::eligible(terms());
        driver.send();
        let step = driver.handle(Input::Refused(refusal, 1));
        assert_eq!(step, fails_with(&[Branch::DeliveredStays, branch], failure(kind, Delivery::Delivered, 1)));
    }
}

// ---- F2, F3: user errors ----

/// Public case 07: an object throws something that looks like the transport's own disconnect.
#[test]
fn case_07() {
    for kind in [Kind::Disconnected, Kind::Overloaded, Kind::Failed, Kind::Unimplemented] {
        let mut driver = Driver::eligible(terms());
        driver.send();
        let thrown = Failure::thrown(kind, 1);
        let step = driver.handle(Input::Failed(thrown));
        assert_eq!(step, fails_with(&[Branch::UserError, Branch::OtherKindEnds], thrown));
        assert_eq!(driver.call.ordinal(), Ordinal(1));
    }
}

#[test]
fn what_user_code_threw_was_delivered_whatever_mark_it_carries() {
    let mut driver = Driver::eligible(terms());
    driver.send();
    let leaked = Failure { delivery: Delivery::NotDelivered, ..Failure::thrown(Kind::Disconnected, 1) };
    let step = driver.handle(Input::Failed(leaked));
    let branches = [Branch::UserError, Branch::DeliveredStays, Branch::OtherKindEnds];
    assert_eq!(step, fails_with(&branches, Failure::thrown(Kind::Disconnected, 1)));
}

// ---- E4 ----

#[test]
fn a_pipelined_use_commits_the_call_to_the_attempt_in_flight() {
    let mut driver = Driver::eligible(terms());
    driver.send();
    assert_eq!(driver.handle(Input::PipelinedUse), Step::new(Branch::CommittedInFlight.into(), Next::Wait));
    assert_eq!(driver.handle(Input::PipelinedUse), Step::nothing());
    let lost = disconnected(Delivery::NotDelivered, 1);
    assert_eq!(driver.handle(Input::Failed(lost)), fails_with(&[Branch::CommittedFails], lost));
}

#[test]
fn a_pipelined_use_while_backing_off_fails_the_call_at_once() {
    let mut driver = Driver::eligible(terms());
    driver.fails(Delivery::NotDelivered);
    let step = driver.handle(Input::PipelinedUse);
    assert_eq!(step, fails_with(&[Branch::CommittedInBackoff], disconnected(Delivery::NotDelivered, 1)));
}

#[test]
fn a_committed_retry_still_shows_the_original_failure_when_it_is_rejected_or_cut() {
    for rejected in [true, false] {
        let mut driver = Driver::retrying(Delivery::Unknown);
        driver.send();
        driver.handle(Input::PipelinedUse);
        let step = if rejected { driver.handle(Input::Refused(Refusal::Claimed, 2)) } else { driver.wakes() };
        let Next::Settle(Settlement::Failed(shown)) = step.next else { panic!("{step:?}") };
        assert_eq!(shown, disconnected(Delivery::Unknown, 1));
    }
}

#[test]
fn a_committed_call_can_still_be_answered() {
    let mut driver = Driver::eligible(terms());
    driver.send();
    driver.handle(Input::PipelinedUse);
    assert_eq!(driver.handle(Input::Answered).next, Next::Settle(Settlement::Answered));
}

// ---- C7 ----

#[test]
fn dropping_or_aborting_cancels_what_is_under_way() {
    let inputs = [
        (Input::Drop, Branch::FutureDropped, Settlement::Dropped),
        (Input::Abort(9), Branch::Aborted, Settlement::Aborted(9)),
    ];
    for (input, branch, settlement) in inputs {
        let mut driver = Driver::eligible(terms());
        let expected = Step::new(branch.into(), Next::Settle(settlement));
        // While it resolves.
        let step = driver.handle(input);
        assert_eq!(step, Step { cancel: true, ..expected });
        // In flight, as a retry.
        let mut driver = Driver::retrying(Delivery::NotDelivered);
        driver.send();
        let step = driver.handle(input);
        assert_eq!(step, Step { cancel: true, report: report(2, Ending::Cancelled, 1), ..expected });
        // Between two attempts.
        let mut driver = Driver::eligible(terms());
        driver.fails(Delivery::Unknown);
        assert_eq!(driver.handle(input), expected);
        assert_eq!(driver.call.deadline(&driver.terms), None);
    }
}

#[test]
fn nothing_is_sent_for_a_call_that_was_dropped_while_it_looked_for_its_object() {
    let mut driver = Driver::eligible(terms());
    driver.handle(Input::Drop);
    let before = driver.lane;
    let sent = driver.call.resolved(&driver.terms, &mut driver.lane, HERE, WallTime::default());
    assert_eq!((sent, driver.lane), (Err(Unsent::NotResolving), before));
}

// ---- Identities: I1 to I4 ----

#[test]
fn an_unknown_failure_keeps_the_identity() {
    let mut driver = Driver::eligible(terms());
    let first = driver.send().header;
    driver.handle(Input::Failed(Failure::dropped(1)));
    driver.wakes();
    let second = driver.send();
    assert_eq!(second.fired, Branch::SameIdentity.into());
    assert_eq!(second.header, Header { ordinal: Ordinal(2), retry: true, ..first });
}

#[test]
fn an_undelivered_attempt_is_followed_by_a_fresh_identity_and_its_number_is_settled() {
    let mut driver = Driver::eligible(terms());
    let first = driver.send().header.identity.unwrap();
    driver.handle(Input::Failed(Failure::unreachable(1)));
    driver.wakes();
    let second = driver.call.resolved(&driver.terms, &mut driver.lane, Incarnation(5), WallTime::from_nanos(3));
    let second = second.unwrap();
    assert_eq!(second.fired, Branch::FreshIdentity.into());
    let identity = second.header.identity.unwrap();
    assert_eq!(
        (identity.number, identity.born, identity.created),
        (Number(1), Incarnation(5), WallTime::from_nanos(3))
    );
    assert!(!second.header.retry && !second.header.unsettled.has(identity.number, first.number));
}

#[test]
fn an_attempt_that_never_found_the_object_takes_no_number() {
    let mut driver = Driver::eligible(terms());
    driver.handle(Input::Failed(Failure::unreachable(1)));
    driver.wakes();
    let sent = driver.send();
    assert_eq!(sent.fired, Branch::NewIdentity.into());
    assert_eq!((driver.lane.next(), sent.header.ordinal, sent.header.retry), (Number(1), Ordinal(2), false));
}

/// Public case 19: every word of at most four failures, and the identities that its attempts carry.
#[test]
fn case_19() {
    for length in 1..=4u32 {
        for word in 0..1u32 << length {
            let word: std::vec::Vec<_> = (0..length)
                .map(|i| if word >> i & 1 == 0 { Delivery::NotDelivered } else { Delivery::Unknown })
                .collect();
            let mut driver = Driver::eligible(retries(4));
            let mut sent = driver.send().header;
            for (i, delivery) in word.iter().enumerate() {
                driver.handle(Input::Failed(Failure { delivery: *delivery, ..Failure::dropped(1) }));
                driver.wakes();
                let next = driver.send().header;
                let ambiguous = word[..=i].contains(&Delivery::Unknown);
                assert_eq!(next.identity == sent.identity, ambiguous, "{word:?} after {i}");
                assert_eq!(next.retry, ambiguous, "{word:?} after {i}");
                sent = next;
            }
        }
    }
}

#[test]
fn ambiguity_sticks() {
    let mut driver = Driver::retrying(Delivery::Unknown);
    driver.fails(Delivery::NotDelivered);
    driver.wakes();
    assert_eq!(driver.send().fired, Branch::StickyIdentity.into());
}

// ---- Lanes ----

/// The oldest number of a lane is the call's own, and every later one is taken.
fn full_lane(driver: &mut Driver) {
    for _ in 1..Unsettled::WINDOW {
        driver.lane.begin().unwrap();
    }
    assert_eq!(driver.lane.begin(), Err(LaneFull));
}

#[test]
fn a_number_that_is_given_up_makes_room_for_the_one_that_follows() {
    let mut driver = Driver::eligible(terms());
    driver.send();
    full_lane(&mut driver);
    driver.handle(Input::Failed(Failure::unreachable(1)));
    driver.wakes();
    assert_eq!(driver.send().header.identity.unwrap().number, Number(Unsettled::WINDOW));
}

#[test]
fn a_fresh_identity_from_another_lane_settles_nothing_there() {
    let mut driver = Driver::eligible(terms());
    let busy = driver.lane.begin().unwrap();
    driver.send();
    for _ in 2..Unsettled::WINDOW {
        driver.lane.begin().unwrap();
    }
    driver.handle(Input::Failed(Failure::unreachable(1)));
    driver.wakes();
    let full = driver.call.resolved(&driver.terms, &mut driver.lane, HERE, WallTime::default());
    assert_eq!(full, Err(Unsent::LaneFull));
    // The number is settled all the same, and the call goes on with a lane where others are under way.
    assert!(!driver.lane.unsettled_below(driver.lane.next()).has(driver.lane.next(), Number(1)));
    let mut other = Lane::new(CallerId::from_bits(8));
    let theirs: std::vec::Vec<_> = (0..3).map(|_| other.begin().unwrap()).collect();
    let sent = driver.call.resolved(&driver.terms, &mut other, HERE, WallTime::default()).unwrap();
    let identity = sent.header.identity.unwrap();
    assert_eq!((sent.fired, identity.caller), (Branch::FreshIdentity.into(), other.caller()));
    assert!(theirs.iter().all(|number| sent.header.unsettled.has(identity.number, *number)));
    assert_eq!(busy, Number(0));
}

#[test]
fn another_lane_calls_nothing_settled_of_an_identity_that_is_not_its_own() {
    let mut driver = Driver::eligible(terms());
    let busy = driver.lane.begin().unwrap();
    driver.fails(Delivery::Unknown);
    driver.wakes();
    let mut other = Lane::new(CallerId::from_bits(8));
    let sent = driver.call.resolved(&driver.terms, &mut other, HERE, WallTime::default()).unwrap();
    assert!(sent.header.unsettled.has(sent.header.identity.unwrap().number, busy));
}

// ---- Case 25 ----

/// Public case 25: a stub was bound to an object that died. A call through it may fail; the next one finds the successor.
#[test]
fn case_25() {
    for retries_max in [0, 4] {
        let mut object = crate::directory::Ownership::first('a');
        let mut route = crate::route::Route::new();
        route.found(object.incarnation());
        let old = object.incarnation();
        object.take_over(Spec, 'b');
        let mut driver = Driver::eligible(retries(retries_max));
        let last = loop {
            let address = route.address().unwrap_or(object.incarnation());
            route.found(address);
            driver.call.resolved(&driver.terms, &mut driver.lane, address, WallTime::default()).unwrap();
            let input = if address == old { Input::Failed(Failure::dropped(1)) } else { Input::Answered };
            if let Input::Failed(_) = input {
                assert_eq!(route.lost(Spec, false), Branch::RouteRenewed.into());
            }
            if let Next::Settle(_) = driver.handle(input).next {
                break address;
            }
            driver.wakes();
        };
        // With retries the call itself recovers, without them it fails; either way the stub has let go of the old host.
        assert_eq!(last == old, retries_max == 0);
        assert_ne!(route.address(), Some(old));
    }
}

// ---- Case 27 ----

/// Public case 27: the object is down for the first `down` sends; how many are made, and what they cost.
#[test]
fn case_27() {
    for retries_max in [0, 1, 2, 10] {
        let limits = Limits::new(retries_max, 60_000).unwrap();
        for down in 0..=12u8 {
            let mut driver = Driver::eligible(Terms { limits, ..terms() });
            let mut subrequests = crate::route::Subrequests::new(1);
            let mut sends = 0;
            loop {
                subrequests.charge(driver.terms.rules, driver.call.ordinal()).unwrap();
                driver.send();
                sends += 1;
                let failure = Failure::unreachable(1);
                let input = if sends <= down { Input::Failed(failure) } else { Input::Answered };
                if matches!(driver.handle(input).next, Next::Settle(_)) {
                    break;
                }
                driver.wakes();
            }
            assert_eq!(sends, (down + 1).min(retries_max + 1), "{retries_max} retries, down for {down}");
            assert_eq!(subrequests.left(), 0);
        }
    }
}
