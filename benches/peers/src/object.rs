//! An object's gate with so many claims live, and those who call the object.

use std::hint::black_box;
use std::time::Duration;

use oncemore_protocol::design::{Design, Plan, Retention};
use oncemore_protocol::failure::Refusal;
use oncemore_protocol::gate::{Answer, Decision, Gate, GateTerms, Request};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::rules::Spec;
use oncemore_protocol::store::{Birth, Digest, Key, Writes};
use oncemore_protocol::time::{Time, WallTime};

use crate::peers::mixed;

const HERE: Incarnation = Incarnation(1);

/// Between two calls of an object, with retention `time`.
const BETWEEN: Duration = Duration::from_micros(1);

/// Who calls, and how the object remembers it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How the object remembers.
    pub design: Design,
    /// For how long.
    pub retention: Retention,
    /// How many numbers of one caller are unsettled at a time.
    pub window: u64,
    /// How many claims are live.
    pub live: u64,
}

impl Shape {
    /// With the watermark, and so many numbers of one caller unsettled at a time.
    #[must_use]
    pub const fn new(design: Design, window: u64, live: u64) -> Self {
        Self { design, retention: Retention::Watermark, window, live }
    }

    /// With retention `time`.
    #[must_use]
    pub const fn timed(design: Design, window: u64, live: u64) -> Self {
        Self { design, retention: Retention::Time, window, live }
    }
}

/// A gate, and its callers, who come in turn as if at random.
#[derive(Debug)]
pub struct Object {
    gate: Gate<u64>,
    terms: GateTerms,
    window: u64,
    callers: u64,
    stride: u64,
    next: u64,
    refused: u64,
    incarnation: Incarnation,
}

/// Where claims and results are stored, for the designs that store them.
pub trait Disk {
    /// Makes claims durable, all of them at once.
    fn store(&mut self, writes: &Writes);
    /// Makes what the gate says of ended runs durable, with their results; or confirms that the epoch is still held.
    fn finish(&mut self, writes: &Writes, results: &[Key]);
}

/// Nothing is stored.
impl Disk for () {
    fn store(&mut self, writes: &Writes) {
        black_box(writes);
    }

    fn finish(&mut self, writes: &Writes, _: &[Key]) {
        black_box(writes);
    }
}

impl Object {
    /// A gate that has let nothing in yet, with room for whatever the shape asks for.
    #[must_use]
    pub fn empty(shape: Shape) -> Self {
        Self::bounded(shape, u32::MAX)
    }

    /// A gate that has let nothing in yet, and may remember so many entries.
    #[must_use]
    pub fn bounded(shape: Shape, capacity: u32) -> Self {
        let Shape { design, retention, window, live } = shape;
        let remembers = BETWEEN * u32::try_from(live).unwrap();
        let plan = Plan { design, retention, capacity, window: remembers, ..Plan::default() };
        let terms = GateTerms { store: plan, queue_max: 1024, rules: Spec };
        let birth = Birth { incarnation: HERE, wall: WallTime::from_nanos(i64::MIN) };
        let gate = Gate::open(&terms, birth, std::iter::empty());
        let callers = (live / window).max(1);
        let stride = stride(callers);
        Self { gate, terms, window, callers, stride, next: 0, refused: 0, incarnation: HERE }
    }

    /// A gate that has let in what the shape says is live.
    #[must_use]
    pub fn full(shape: Shape) -> Self {
        let mut object = Self::empty(shape);
        for _ in 0..object.live() {
            object.admit();
        }
        object
    }

    /// How many claims are live, once it is full.
    #[must_use]
    pub const fn live(&self) -> u64 {
        self.callers * self.window
    }

    /// Lets one new call in, and with it forgets the oldest of its caller; lets its answer out.
    pub fn admit(&mut self) {
        self.admit_batch(1, &mut ());
    }

    /// Lets so many new calls in and their answers out; whatever must be durable is made so for all of them at once.
    pub fn admit_batch(&mut self, calls: u64, disk: &mut impl Disk) {
        let now = self.now();
        let first = self.next;
        for ticket in first..first + calls {
            let request = self.request(ticket);
            let arrival = self.gate.arrive(&self.terms, request, now);
            assert!(arrival.refused.is_none(), "{arrival:?}");
        }
        self.next += calls;
        let mut writes = Writes::default();
        for ticket in first..first + calls {
            match self.gate.next(&self.terms, now).unwrap().decision {
                Decision::Start => {}
                // The usual case: nothing is copied.
                Decision::Store(claim) if calls == 1 => writes = claim,
                Decision::Store(claim) => claim.iter().for_each(|write| writes.push(*write)),
                decision @ (Decision::Refuse(_) | Decision::AnswerRecorded | Decision::NewEpoch) => {
                    panic!("{ticket}: {decision:?}")
                }
            }
        }
        if !writes.is_empty() {
            disk.store(&writes);
            (first..first + calls).for_each(|ticket| drop(self.gate.stored(ticket, true)));
        }
        self.finish(first, calls, now, disk);
    }

    fn finish(&mut self, first: u64, calls: u64, now: Time, disk: &mut impl Disk) {
        let mut writes = Writes::default();
        for ticket in first..first + calls {
            let finished = self.gate.finished(&self.terms, ticket, now);
            finished.iter().for_each(|write| writes.push(*write));
        }
        if self.terms.store.design.records_results() {
            let results: Vec<Key> = (first..first + calls).map(|ticket| self.key(ticket)).collect();
            disk.finish(&writes, &results);
        } else {
            disk.finish(&writes, &[]);
        }
        for ticket in first..first + calls {
            let answer = self.gate.confirmed(&self.terms, ticket, true);
            assert!(matches!(answer, Some((Answer::Run, _))), "{answer:?}");
        }
    }

    /// Lets one new call in, or begins a claim epoch first where there is no room for it. Says whether it did.
    pub fn admit_or_begin_epoch(&mut self) -> bool {
        let (now, ticket) = (self.now(), self.next);
        self.next += 1;
        let request = self.request(ticket);
        self.gate.arrive(&self.terms, request, now);
        let mut begun = false;
        let mut turn = self.gate.next(&self.terms, now).unwrap();
        if turn.decision == Decision::NewEpoch {
            begun = true;
            self.incarnation = Incarnation(self.incarnation.0 + 1);
            let birth = Birth { incarnation: self.incarnation, wall: WallTime::from_nanos(i64::MIN) };
            black_box(self.gate.begin_epoch(&self.terms, birth));
            turn = self.gate.next(&self.terms, now).unwrap();
        }
        // Begun or not: the request was born before, or addressed elsewhere.
        if matches!(turn.decision, Decision::Refuse(_)) {
            return begun;
        }
        self.finish(ticket, 1, now, &mut ());
        begun
    }

    /// Refuses a call that was let in before: the last one of some caller.
    pub fn refuse(&mut self) {
        self.refused += 1;
        // With retention `time` the oldest of a round has just been forgotten.
        let earlier = self.next - 1 - mixed(self.refused) % (self.callers - 1).max(1);
        let now = self.now();
        let request = Request { ticket: self.next, ..self.request(earlier) };
        self.gate.arrive(&self.terms, request, now);
        let decision = self.gate.next(&self.terms, now).unwrap().decision;
        assert_eq!(decision, Decision::Refuse(Refusal::Claimed));
    }

    fn now(&self) -> Time {
        match self.terms.store.retention {
            Retention::Time => Time::ORIGIN.after(Duration::from_nanos(self.next * BETWEEN.subsec_nanos() as u64)),
            Retention::Watermark => Time::ORIGIN,
        }
    }

    fn key(&self, index: u64) -> Key {
        // Each caller once in every round, and not in the order of their ids.
        let caller = (index % self.callers).wrapping_mul(self.stride) % self.callers;
        let bits = u128::from(mixed(caller)) << 64 | u128::from(mixed(!caller));
        Key { caller: CallerId::from_bits(bits), number: Number(index / self.callers) }
    }

    fn request(&self, index: u64) -> Request<u64> {
        let Key { caller, number } = self.key(index);
        let identity = Identity { caller, number, born: self.incarnation, created: WallTime::default() };
        let header = Header {
            identity: Some(identity),
            ordinal: Ordinal(1),
            retry: false,
            address: self.incarnation,
            unsettled: Unsettled((1 << (self.window - 1)) - 1),
        };
        Request { ticket: index, header, digest: Digest(index), ..Request::default() }
    }
}

/// What leads through all of `callers` before it comes back: near the golden part of them, without a common factor.
fn stride(callers: u64) -> u64 {
    let golden = (callers as f64 * 0.618_033_988_749_895) as u64;
    (golden.max(1)..).find(|stride| common(*stride, callers) == 1).unwrap_or(1)
}

fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caller_comes_once_in_a_round() {
        for live in [32, 320, 1024] {
            let object = Object::empty(Shape::new(Design::VolatileIncarnation, 32, live));
            let round: std::collections::BTreeSet<Key> = (0..object.callers).map(|index| object.key(index)).collect();
            assert_eq!(round.len() as u64, live / 32);
        }
    }

    #[test]
    fn all_shapes_let_in_and_refuse() {
        for design in [Design::VolatileOpen, Design::VolatileClock, Design::VolatileIncarnation, Design::Durable] {
            for window in [1, 32] {
                for shape in [Shape::new(design, window, 64), Shape::timed(design, window, 64)] {
                    let mut object = Object::full(shape);
                    for _ in 0..100 {
                        object.admit();
                        object.refuse();
                    }
                }
            }
        }
    }

    #[test]
    fn a_full_gate_begins_an_epoch() {
        let mut object = Object::bounded(Shape::new(Design::VolatileIncarnation, 32, 1024), 500);
        let begun = (0..2000).filter(|_| object.admit_or_begin_epoch()).count();
        assert!((2..10).contains(&begun), "{begun}");
    }
}
