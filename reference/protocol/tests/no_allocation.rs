//! Nothing on a caller's path allocates: a call costs no memory beyond its own few words, however often it retries.

use allocation_counter::measure;
use oncemore_protocol::backoff::Schedule;
use oncemore_protocol::caller::{Call, Input, Next, Terms, Unsent};
use oncemore_protocol::failure::{Delivery, Failure, Kind, Refusal, Transport};
use oncemore_protocol::identity::{CallerId, Incarnation};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::limits::Limits;
use oncemore_protocol::route::{Route, Subrequests};
use oncemore_protocol::rules::{FirstRejection, Spec};
use oncemore_protocol::time::{Time, WallTime};

/// Everything that can come back for one attempt.
fn outcomes() -> Vec<Input<u32>> {
    use Delivery::{Delivered, NotDelivered, Unknown};
    let mut outcomes = vec![Input::Answered, Input::Abort(1), Input::Drop, Input::PipelinedUse, Input::Timer];
    for kind in [Kind::Disconnected, Kind::Overloaded, Kind::Failed, Kind::Unimplemented] {
        for delivery in [NotDelivered, Unknown, Delivered] {
            for remote in [false, true] {
                outcomes.push(Input::Failed(Failure { kind, delivery, remote, payload: 1 }));
            }
        }
    }
    let refusals = [
        Refusal::Draining,
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
    ];
    outcomes.extend(refusals.map(|refusal| Input::Refused(refusal, 1)));
    outcomes
}

fn all_terms() -> Vec<Terms> {
    let mut all = Vec::new();
    for transport in [Transport::Exact, Transport::MayDuplicate] {
        for first_rejection in [FirstRejection::Fresh, FirstRejection::Fail] {
            for schedule in [
                Schedule::observed(),
                Schedule::exponential(core::time::Duration::from_millis(1), 3, core::time::Duration::from_secs(1))
                    .expect("a schedule"),
            ] {
                let limits = Limits::new(10, 60_000).expect("limits within their ranges");
                all.push(Terms { limits, schedule, transport, first_rejection, rules: Spec });
            }
        }
    }
    all
}

/// One call whose attempts meet `fates` one after the other, and then the cutoff.
fn call(terms: &Terms, fates: &[Input<u32>], lane: &mut Lane, route: &mut Route, subrequests: &mut Subrequests) -> u8 {
    let mut now = Time::from_nanos(1);
    let (mut call, mut step) = Call::start(terms, true, now);
    let mut fates = fates.iter();
    loop {
        match step.next {
            Next::Resolve(ordinal) => {
                if subrequests.charge(terms.rules, ordinal).is_err() {
                    return 0;
                }
                let address = route.address().unwrap_or(Incarnation(1));
                route.found(address);
                if let Err(Unsent::LaneFull) = call.resolved(terms, lane, address, WallTime::default()) {
                    return 0;
                }
            }
            Next::Sleep { .. } | Next::Wait => now = call.deadline(terms).unwrap_or(now),
            Next::Settle(_) => {
                if let Some(identity) = call.identity() {
                    lane.settle(identity.number);
                }
                return call.ordinal().0;
            }
        }
        let backing_off = matches!(step.next, Next::Sleep { .. });
        let input = if backing_off { Input::Timer } else { fates.next().copied().unwrap_or(Input::Timer) };
        if matches!(input, Input::Failed(_) | Input::Refused(..)) {
            route.lost(terms.rules, matches!(input, Input::Refused(..)));
        }
        if matches!(input, Input::Timer) && !backing_off {
            now = call.cutoff();
            // The cutoff never ends a first attempt, so that something else has to.
            step = call.handle(terms, now, 7, input);
            if matches!(step.next, Next::Wait) {
                step = call.handle(terms, now, 7, Input::Drop);
            }
        } else {
            step = call.handle(terms, now, u32::MAX / 3, input);
        }
    }
}

#[test]
fn no_path_of_a_call_allocates() {
    let (outcomes, terms) = (outcomes(), all_terms());
    let retried = [
        Input::Failed(Failure::unreachable(1)),
        Input::Failed(Failure::dropped(2)),
        Input::Refused(Refusal::Draining, 3),
    ];
    let mut calls = 0;
    let mut attempts_max = 0;
    let info = measure(|| {
        for terms in &terms {
            let mut lane = Lane::new(CallerId::from_bits(1));
            let mut route = Route::new();
            let mut subrequests = Subrequests::new(1_000_000);
            for before in 0..=10 {
                for first in 0..retried.len() {
                    for last in &outcomes {
                        let mut fates = [Input::Timer; 11];
                        for (place, fate) in fates.iter_mut().enumerate().take(before) {
                            *fate = retried[(first + place) % retried.len()];
                        }
                        fates[before] = *last;
                        let attempts = call(terms, &fates[..=before], &mut lane, &mut route, &mut subrequests);
                        assert!(attempts > 0);
                        attempts_max = attempts_max.max(attempts);
                        calls += 1;
                    }
                }
            }
        }
    });
    assert_eq!(info.count_total, 0, "{info:?}");
    // And it was worth measuring.
    assert!(calls > 5_000 && attempts_max == 11, "{calls} calls, at most {attempts_max} attempts");
}

#[test]
fn a_full_lane_does_not_allocate() {
    let info = measure(|| {
        let mut lane = Lane::new(CallerId::from_bits(1));
        let mut full = 0;
        for _ in 0..100 {
            full += u32::from(lane.begin().is_err());
        }
        assert_eq!(full, 36);
    });
    assert_eq!(info.count_total, 0, "{info:?}");
}

/// The counter counts, or the tests above would say nothing.
#[test]
fn a_payload_that_allocates_is_seen() {
    let terms: Terms = Terms::default();
    let info = measure(|| {
        let (mut call, _) = Call::start(&terms, true, Time::ORIGIN);
        let failure = Failure::thrown(Kind::Failed, String::from("a message of the driver's own"));
        call.handle(&terms, Time::ORIGIN, 0, Input::Failed(failure));
    });
    assert_eq!(info.count_total, 1, "{info:?}");
}
