//! One gate, branch by branch; `random` feeds it anything in any order.

mod claims;
mod random;
mod sessions;

use super::*;
use crate::design::{Design, Plan, Retention};
use crate::identity::{CallerId, Header, Number, Ordinal, Unsettled};
use crate::store::{Digest, Stored};
use crate::time::WallTime;

const HERE: Incarnation = Incarnation(3);

fn fired(branches: &[Branch]) -> Fired {
    branches.iter().fold(Fired::NONE, |fired, branch| fired.with(*branch))
}

/// An object: a gate, what is stored with it, and the requests that callers make of it.
struct Object {
    terms: GateTerms,
    gate: Gate<u32>,
    stored: Stored,
    tickets: u32,
    now: Time,
}

impl Object {
    fn new(plan: Plan) -> Self {
        Self::with_queue(plan, 8)
    }

    fn with_queue(plan: Plan, queue_max: usize) -> Self {
        let terms = GateTerms { store: plan, queue_max, rules: Spec };
        let birth = Birth { incarnation: HERE, wall: WallTime::from_nanos(1_000) };
        let gate = Gate::open(&terms, birth, core::iter::empty());
        Self { terms, gate, stored: Stored::new(), tickets: 0, now: Time::ORIGIN }
    }

    fn of(design: Design) -> Self {
        Self::new(Plan { design, ..Plan::default() })
    }

    /// The next incarnation, with what is stored.
    fn restart(&mut self) {
        let incarnation = Incarnation(self.gate.incarnation().0 + 1);
        let birth = Birth { incarnation, wall: WallTime::from_nanos(2_000) };
        self.gate = Gate::open(&self.terms, birth, self.stored.iter());
    }

    fn ticket(&mut self) -> u32 {
        self.tickets += 1;
        self.tickets
    }

    fn arrives(&mut self, request: Request<u32>) -> (u32, Arrival) {
        let ticket = self.ticket();
        let arrival = self.gate.arrive(&self.terms, Request { ticket, ..request }, self.now);
        (ticket, arrival)
    }

    /// The request arrives and its turn comes at once.
    fn turn(&mut self, request: Request<u32>) -> (u32, Decision, Fired) {
        let (ticket, arrival) = self.arrives(request);
        assert_eq!(arrival.refused, None);
        let turn = self.next().expect("a turn");
        assert_eq!(turn.request.ticket, ticket);
        (ticket, turn.decision, turn.fired)
    }

    fn next(&mut self) -> Option<Turn<u32>> {
        self.gate.next(&self.terms, self.now)
    }

    /// The request is let in and starts.
    fn starts(&mut self, request: Request<u32>) -> u32 {
        let (ticket, decision, _) = self.turn(request);
        match decision {
            Decision::Start => {}
            Decision::Store(writes) => {
                self.stored.apply(&writes);
                assert_eq!(self.gate.stored(ticket, true), Some((Decision::Start, Branch::ClaimStored.into())));
            }
            Decision::Refuse(_) | Decision::AnswerRecorded | Decision::NewEpoch => panic!("{decision:?}"),
        }
        ticket
    }

    /// User code ends and storage takes what belongs to its end.
    fn ends(&mut self, ticket: u32) {
        let writes = self.gate.finished(&self.terms, ticket, self.now);
        self.stored.apply(&writes);
        let answer = self.gate.confirmed(&self.terms, ticket, true);
        assert_eq!(answer, Some((Answer::Run, Branch::EpochConfirmed.into())));
    }

    fn runs(&mut self, request: Request<u32>) {
        let ticket = self.starts(request);
        self.ends(ticket);
    }

    fn refused(&mut self, request: Request<u32>) -> (Refusal, Fired) {
        let (_, decision, fired) = self.turn(request);
        match decision {
            Decision::Refuse(refusal) => (refusal, fired),
            Decision::Start | Decision::Store(_) | Decision::AnswerRecorded | Decision::NewEpoch => {
                panic!("{decision:?}")
            }
        }
    }
}

/// The identity with this number, born for [`HERE`] after it began, by clocks that agree.
fn identity(number: u64) -> Identity {
    Identity {
        caller: CallerId::from_bits(7),
        number: Number(number),
        born: HERE,
        created: WallTime::from_nanos(1_000).after(Duration::from_secs(61)),
    }
}

/// A first attempt; every lower number is unsettled.
fn first(number: u64) -> Request<u32> {
    Request {
        header: Header {
            identity: Some(identity(number)),
            ordinal: Ordinal(1),
            retry: false,
            address: HERE,
            unsettled: Unsettled(u64::MAX),
        },
        digest: Digest(number),
        ..Request::default()
    }
}

fn retry(number: u64, ordinal: u8) -> Request<u32> {
    let mut request = first(number);
    request.header.ordinal = Ordinal(ordinal);
    request.header.retry = true;
    request
}

fn marked(request: Request<u32>) -> Request<u32> {
    Request { mark: Mark::Marked, ..request }
}

/// The request of a caller that has resolved the object's present incarnation.
fn addressed(object: &Object, mut request: Request<u32>) -> Request<u32> {
    request.header.address = object.gate.incarnation();
    request
}

// ---- G1, G11, G2 ----

#[test]
fn a_request_without_an_identity_is_let_in_without_a_claim() {
    for design in Design::ALL {
        let mut object = Object::of(design);
        let request = Request { header: Header { address: Incarnation(1), ..Header::default() }, ..Request::default() };
        let (_, decision, fired) = object.turn(request);
        assert_eq!((decision, fired), (Decision::Start, Branch::AdmittedWithoutIdentity.into()));
        assert_eq!(object.gate.store().len(), 0);
    }
}

#[test]
fn requests_start_in_the_order_of_their_arrival() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let (a, _) = object.arrives(first(0));
    let (b, _) = object.arrives(first(1));
    let order = [object.next(), object.next()].map(|turn| turn.map(|turn| turn.request.ticket));
    assert_eq!(order, [Some(a), Some(b)]);
    assert_eq!(object.next(), None);
}

#[test]
fn a_full_queue_refuses_before_anything_is_claimed() {
    let mut object = Object::with_queue(Plan::default(), 1);
    object.arrives(first(0));
    let (_, arrival) = object.arrives(first(1));
    assert_eq!(arrival, Arrival { refused: Some(Refusal::Overloaded), fired: Branch::QueueFull.into() });
    assert_eq!(object.gate.store().len(), 0);
    object.next();
    object.runs(first(1));
}

#[test]
fn a_draining_gate_sends_everything_on() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let running = object.starts(first(0));
    let (queued, _) = object.arrives(first(1));
    let mut refused = std::vec::Vec::new();
    let drained = object.gate.drain(&object.terms, |request, refusal| refused.push((request.ticket, refusal)));
    assert_eq!((drained, refused), (Branch::QueueDrained.into(), std::vec![(queued, Refusal::Draining)]));
    let (_, arrival) = object.arrives(first(2));
    assert_eq!(arrival, Arrival { refused: Some(Refusal::Draining), fired: Branch::RefusedDraining.into() });
    assert_eq!((object.next(), object.gate.queue().len()), (None, 0));
    // What it had let in goes on to its end.
    object.ends(running);
    assert_eq!(object.gate.drain(&object.terms, |_, _| panic!("nothing is queued")), Fired::NONE);
}

// ---- G9, G12 ----

#[test]
fn a_claim_that_cannot_be_stored_is_not_started_and_not_said_to_be_so() {
    let mut object = Object::of(Design::Durable);
    let (ticket, decision, fired) = object.turn(first(0));
    assert!(matches!(decision, Decision::Store(_)));
    assert_eq!(fired, Branch::AdmittedNew.into());
    let refused = object.gate.stored(ticket, false);
    assert_eq!(refused, Some((Decision::Refuse(Refusal::ClaimNotStored), Branch::StartFailed.into())));
    assert!(object.gate.runs().is_empty() && !Refusal::ClaimNotStored.did_not_run());
    // In memory it is claimed all the same.
    assert_eq!(object.refused(retry(0, 2)), (Refusal::Claimed, Branch::RejectedClaimed.into()));
}

#[test]
fn an_answer_needs_the_epoch() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let ticket = object.starts(first(0));
    object.gate.finished(&object.terms, ticket, object.now);
    let answer = object.gate.confirmed(&object.terms, ticket, false);
    assert_eq!(answer, Some((Answer::Refused(Refusal::EpochLost), Branch::EpochLost.into())));
    assert_eq!(object.gate.confirmed(&object.terms, ticket, true), None);
}

#[test]
fn an_input_that_makes_no_sense_changes_nothing() {
    let mut object = Object::of(Design::DurableResults);
    let (storing, decision, _) = object.turn(first(0));
    assert!(matches!(decision, Decision::Store(_)));
    let before = object.gate.clone();
    assert_eq!(object.gate.stored(99, true), None);
    assert_eq!(object.gate.confirmed(&object.terms, storing, true), None);
    assert!(object.gate.finished(&object.terms, storing, object.now).is_empty());
    assert_eq!(object.gate.looked_up(&object.terms, storing, object.now), None);
    assert_eq!(object.gate, before);
    object.gate.stored(storing, true);
    assert_eq!(object.gate.stored(storing, true), None);
}

#[test]
fn a_run_that_did_not_end_is_not_on_record() {
    let mut object = Object::of(Design::DurableResults);
    let ticket = object.starts(first(0));
    // The driver gives it up.
    assert!(object.gate.confirmed(&object.terms, ticket, true).is_some());
    assert_eq!(object.refused(retry(0, 2)), (Refusal::Claimed, Branch::RejectedClaimed.into()));
}

// ---- G10 ----

/// Public case 21: real calls that are swallowed because their identities are missing or not unique.
#[test]
fn case_21() {
    for design in Design::ALL {
        let mut object = Object::of(design);
        // A missing identity is not an identity.
        for _ in 0..2 {
            object.runs(Request::default());
        }
        // The same numbers of different callers, and of one caller's different lives.
        let (before, after) = (CallerId::from_bits(1), CallerId::from_bits(2));
        for caller in [before, Spec.next_life(after, before)] {
            let mut request = first(0);
            request.header.identity = Some(Identity { caller, ..identity(0) });
            object.runs(request);
        }
    }
}

// ---- Retention and the bound, as the gate tells of them ----

#[test]
fn the_watermark_forgets_and_refuses_what_is_settled_marked_or_not() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.runs(first(0));
    let mut next = first(1);
    next.header.unsettled = Unsettled(0);
    let (_, decision, fires) = object.turn(next);
    assert_eq!(decision, Decision::Start);
    assert_eq!(fires, fired(&[Branch::WatermarkForgets, Branch::AdmittedNew]));
    let late = [retry(0, 2), marked(retry(0, 2))];
    for request in late {
        assert_eq!(object.refused(request), (Refusal::Settled, Branch::WatermarkRefuses.into()));
    }
}

#[test]
fn a_claim_expires_after_its_window() {
    let window = Duration::from_secs(10);
    let plan = Plan { retention: Retention::Time, window, design: Design::VolatileOpen, ..Plan::default() };
    let mut object = Object::new(plan);
    object.runs(first(0));
    let expiry = Time::ORIGIN.after(window);
    assert_eq!(object.gate.deadline(&object.terms), Some(expiry));
    object.now = Time::from_nanos(expiry.as_nanos() - 1);
    assert_eq!(object.refused(retry(0, 2)).0, Refusal::Claimed);
    object.now = expiry;
    let (_, decision, fires) = object.turn(retry(0, 2));
    assert_eq!((decision, fires), (Decision::Start, fired(&[Branch::ClaimExpires, Branch::AdmittedNew])));
}

#[test]
fn a_full_store_begins_an_epoch_and_doubts_what_is_older() {
    // One caller and one claim.
    let mut object = Object::new(Plan { design: Design::Durable, capacity: 2, ..Plan::default() });
    object.runs(first(0));
    let (_, decision, fires) = object.turn(first(1));
    assert_eq!((decision, fires), (Decision::NewEpoch, Branch::BoundBeginsEpoch.into()));
    // It keeps its place, and nothing has happened yet.
    assert_eq!((object.gate.queue().len(), object.gate.store().len()), (1, 2));
    let birth = Birth { incarnation: Incarnation(4), wall: WallTime::from_nanos(5_000) };
    let writes = object.gate.begin_epoch(&object.terms, birth);
    object.stored.apply(&writes);
    assert_eq!(object.stored.iter().count(), 1);
    let doubtful = fired(&[Branch::BornBeforeEpoch, Branch::RejectedDoubtful]);
    let turn = object.next().unwrap();
    assert_eq!((turn.decision, turn.fired), (Decision::Refuse(Refusal::Doubtful), doubtful));
    // Also after a restart.
    object.restart();
    assert_eq!(object.refused(retry(0, 2)), (Refusal::Doubtful, doubtful));
    let mut young = first(2);
    young.header.identity = young.header.identity.map(|identity| Identity { born: Incarnation(4), ..identity });
    object.runs(young);
}

#[test]
fn with_d3_a_full_store_sends_callers_to_the_new_epoch() {
    let mut object = Object::new(Plan { capacity: 2, ..Plan::default() });
    object.runs(first(0));
    assert_eq!(object.turn(first(1)).1, Decision::NewEpoch);
    object.gate.begin_epoch(&object.terms, Birth { incarnation: Incarnation(4), wall: WallTime::default() });
    let turn = object.next().unwrap();
    assert_eq!((turn.decision, turn.fired), (Decision::Refuse(Refusal::Elsewhere), Branch::AddressedElsewhere.into()));
    let mut fresh = first(2);
    fresh.header.address = Incarnation(4);
    fresh.header.identity = fresh.header.identity.map(|identity| Identity { born: Incarnation(4), ..identity });
    object.runs(fresh);
}

#[test]
fn d1_cannot_tell_old_from_new_and_refuses_when_it_is_full() {
    let mut object = Object::new(Plan { design: Design::VolatileOpen, capacity: 2, ..Plan::default() });
    object.runs(first(0));
    assert_eq!(object.refused(first(1)), (Refusal::StoreFull, Branch::BoundRefuses.into()));
    assert_eq!(object.refused(marked(first(1))), (Refusal::StoreFull, Branch::BoundRefuses.into()));
    // What is known needs no room.
    object.runs(marked(retry(0, 2)));
}

#[test]
fn a_store_with_no_room_at_all_refuses_and_begins_no_epoch() {
    for design in [Design::VolatileClock, Design::VolatileIncarnation, Design::Durable, Design::DurableResults] {
        let mut object = Object::new(Plan { design, capacity: 1, ..Plan::default() });
        assert_eq!(object.refused(first(0)), (Refusal::StoreFull, Branch::BoundRefuses.into()));
    }
}
