//! The state machines of Oncemore: *once more, never twice*.
//!
//! Automatic retries for calls to durable objects, such that a method which is not marked `retryable` starts at most once
//! a call, however often the call is sent, and wherever the object has moved meanwhile.
//!
//! * [`caller::Call`] is one call: it decides when to send the next attempt, under which identity, and what user code sees.
//! * [`gate::Gate`] is one life of one object: it decides which attempts are let in, which wait, and which are refused.
//! * [`store::Claims`] is what a gate remembers; [`design::Design`] says how, and what that survives.
//! * [`lane::Lane`], [`route::Route`] and [`directory::Ownership`] keep numbers, addresses and ownership between them.
//!
//! There is no clock, no randomness and no I/O in here: each is an input or an output. A driver feeds what happens in and
//! does what comes out; the same machines run in production and in a model checker. Every decision names the
//! [branch](rule::Branch) of the rule that it took, and `docs/protocol.md` explains the rules by their numbers.
//!
//! # One call, one object, one lost answer
//!
//! ```
//! use oncemore_protocol::{
//!     caller::*, failure::*, gate::*, identity::*, lane::Lane, rule::Branch, rules::Spec, store::*, time::*,
//! };
//!
//! // The object's side: a gate for its first incarnation.
//! let object = GateTerms { store: Default::default(), queue_max: 100, rules: Spec };
//! let (here, now, wall) = (Incarnation(1), Time::ORIGIN, WallTime::default());
//! let mut gate = Gate::<u8>::open(&object, Birth { incarnation: here, wall }, [].into_iter());
//! // The caller's side: a sequence of identities towards this object, and a call.
//! let terms = Terms::<Spec>::default();
//! let mut lane = Lane::new(CallerId::from_bits(0x5eed)); // 128 random bits
//! let (mut call, step) = Call::start(&terms, true, now);
//! assert_eq!(step.next, Next::Resolve(Ordinal(1)));
//!
//! // Attempt 1 finds the object, is let in and runs; its answer is lost.
//! let sent = call.resolved(&terms, &mut lane, here, wall)?;
//! gate.arrive(&object, Request { ticket: 1, header: sent.header, ..Request::default() }, now);
//! assert_eq!(gate.next(&object, now).map(|turn| turn.decision), Some(Decision::Start));
//! let step = call.handle(&terms, now, 0, Input::Failed(Failure::dropped("connection lost")));
//! let Next::Sleep { until } = step.next else { panic!("{step:?}") };
//!
//! // Attempt 2 carries the same identity, so that the gate rejects it: the method is not marked.
//! let step = call.handle(&terms, until, 0, Input::Timer);
//! assert_eq!(step.next, Next::Resolve(Ordinal(2)));
//! let sent = call.resolved(&terms, &mut lane, here, wall)?;
//! gate.arrive(&object, Request { ticket: 2, header: sent.header, ..Request::default() }, until);
//! let turn = gate.next(&object, until).expect("its turn has come");
//! assert_eq!(turn.decision, Decision::Refuse(Refusal::Claimed));
//! assert!(turn.fired.has(Branch::RejectedClaimed)); // G3
//!
//! // User code sees the first failure, and that the call may have run.
//! let step = call.handle(&terms, until, 0, Input::Refused(Refusal::Claimed, "rejected"));
//! let Next::Settle(Settlement::Failed(failure)) = step.next else { panic!("{step:?}") };
//! assert_eq!((failure.payload, failure.delivery), ("connection lost", Delivery::Unknown));
//! lane.settle(sent.header.identity.expect("an eligible call").number);
//! # Ok::<(), Unsent>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod backoff;
pub mod caller;
pub mod design;
pub mod directory;
pub mod eligibility;
pub mod failure;
pub mod few;
pub mod gate;
pub mod identity;
pub mod lane;
pub mod limits;
pub mod marks;
pub mod route;
pub mod rule;
pub mod rules;
pub mod store;
pub mod time;
