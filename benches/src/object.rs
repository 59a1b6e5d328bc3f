//! An object's claim gate with many claims live, driven as a host would, but for running anything.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a benchmark that cannot go on has failed")]

use std::hint::black_box;

use oncemore_protocol::design::{Design, Plan};
use oncemore_protocol::gate::{Answer, Decision, Gate, GateTerms, Request};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::rules::Spec;
use oncemore_protocol::store::Birth;
use oncemore_protocol::time::{Time, WallTime};

/// The incarnation of every object here.
pub const HERE: Incarnation = Incarnation(1);

/// A sequence that visits callers as if at random (a Weyl sequence: odd increment, power of two).
fn scattered(index: u64, callers: u64) -> u64 {
    index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % callers
}

/// The bits of a caller's id, as random ones are (the finalizer of SplitMix64, Steele et al. 2014).
fn mixed(caller: u64) -> u64 {
    let mut bits = caller.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// A first attempt of a caller that has `window` calls unsettled, this one included.
fn header(caller: u64, number: u64, window: u64) -> Header {
    Header {
        identity: Some(Identity {
            caller: CallerId::from_bits(u128::from(mixed(caller)) << 64 | u128::from(caller)),
            number: Number(number),
            born: HERE,
            created: WallTime::default(),
        }),
        ordinal: Ordinal(1),
        retry: false,
        address: HERE,
        unsettled: Unsettled((1 << (window - 1)) - 1),
    }
}

/// An object whose callers have so many calls unsettled each.
#[derive(Clone, Debug)]
pub struct Object {
    gate: Gate<u64>,
    terms: GateTerms,
    callers: u64,
    window: u64,
    next: u64,
    refused: u64,
}

impl Object {
    /// A gate that has let `live` claims in, `window` (1 to 64) for each caller.
    #[must_use]
    pub fn with(design: Design, live: u64, window: u64) -> Self {
        let plan = Plan { design, capacity: u32::MAX, ..Plan::default() };
        let terms = GateTerms { store: plan, queue_max: 16, rules: Spec };
        let birth = Birth { incarnation: HERE, wall: WallTime::from_nanos(i64::MIN) };
        let gate = Gate::open(&terms, birth, std::iter::empty());
        let callers = (live / window).next_power_of_two();
        let mut object = Self { gate, terms, callers, window, next: 0, refused: 0 };
        for _ in 0..object.live() {
            assert!(object.admit());
        }
        object
    }

    /// How many claims are live.
    #[must_use]
    pub const fn live(&self) -> u64 {
        self.callers * self.window
    }

    /// Lets one new call in, and with it forgets the oldest of its caller; lets its answer out.
    pub fn admit(&mut self) -> bool {
        let (caller, number) = (scattered(self.next, self.callers), self.next / self.callers);
        self.next += 1;
        self.offer(header(caller, number, self.window))
    }

    /// Refuses one that was let in before: the latest but one round's of some caller, or its latest if it has but one.
    pub fn refuse(&mut self) -> bool {
        self.refused += 1;
        let caller = scattered(self.refused, self.callers);
        let back = if self.window == 1 { 1 } else { 2 };
        !self.offer(header(caller, self.next / self.callers - back, self.window))
    }

    fn offer(&mut self, header: Header) -> bool {
        let now = Time::ORIGIN;
        let request = Request { ticket: self.next, header, ..Request::default() };
        self.gate.arrive(&self.terms, request, now);
        let turn = self.gate.next(&self.terms, now).unwrap();
        match turn.decision {
            Decision::Start => {}
            Decision::Store(_) => drop(self.gate.stored(self.next, true)),
            Decision::Refuse(_) | Decision::AnswerRecorded | Decision::NewEpoch => return false,
        }
        black_box(self.gate.finished(&self.terms, self.next, now));
        matches!(self.gate.confirmed(&self.terms, self.next, true), Some((Answer::Run, _)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_let_in_and_what_was_let_in_is_refused() {
        for (design, window) in
            [(Design::VolatileIncarnation, 32), (Design::VolatileIncarnation, 1), (Design::Durable, 4)]
        {
            let mut object = Object::with(design, 256, window);
            assert!((0..600).all(|_| object.admit() && object.refuse()), "{design:?}");
        }
    }
}
