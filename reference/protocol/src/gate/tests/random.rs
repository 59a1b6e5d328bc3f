//! Anything in any order, over several incarnations, with nothing taken on trust.

use proptest::prelude::*;
use std::vec;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Arrives { number: u64, ordinal: u8, marked: bool, unsettled: u64, near: u64, session: Option<u32>, anonymous: bool },
    Next,
    Stored(u32, bool),
    LookedUp(u32),
    Finished(u32),
    Confirmed(u32, bool),
    Drain,
    SessionEnded(u32),
    Epoch,
    Restart,
    Passes(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let number = prop_oneof![0..6u64, Just(63), Just(64), Just(200), Just(u64::MAX - 1), Just(u64::MAX)];
    let arrives = (number, 0..4u8, any::<bool>(), any::<u64>(), 0..3u64, proptest::option::of(0..2u32), any::<bool>());
    prop_oneof![
        8 => arrives.prop_map(|(number, ordinal, marked, unsettled, near, session, anonymous)| {
            Op::Arrives { number, ordinal, marked, unsettled, near, session, anonymous: anonymous && session.is_some() }
        }),
        8 => Just(Op::Next),
        4 => (0..12u32, proptest::bool::weighted(0.8)).prop_map(|(back, held)| Op::Stored(back, held)),
        1 => (0..12u32).prop_map(Op::LookedUp),
        3 => (0..12u32).prop_map(Op::Finished),
        3 => (0..12u32, proptest::bool::weighted(0.8)).prop_map(|(back, held)| Op::Confirmed(back, held)),
        1 => Just(Op::Drain),
        1 => (0..2u32).prop_map(Op::SessionEnded),
        1 => Just(Op::Epoch),
        1 => Just(Op::Restart),
        1 => (0..20_000_000_000u64).prop_map(Op::Passes),
    ]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (0..6usize, any::<bool>(), any::<bool>(), 0..8u32).prop_map(|(design, fenced, time, capacity)| Plan {
        design: Design::ALL[design],
        fenced,
        retention: if time { Retention::Time } else { Retention::Watermark },
        window: Duration::from_secs(10),
        margin: Duration::from_nanos(5),
        capacity,
    })
}

fn request(object: &mut Object, op: Op) -> Option<Request<u32>> {
    let Op::Arrives { number, ordinal, marked, unsettled, near, session, anonymous } = op else {
        return None;
    };
    let here = object.gate.incarnation().0;
    let born = Incarnation(here.saturating_sub(near));
    Some(Request {
        ticket: object.ticket(),
        header: Header {
            identity: (!anonymous).then(|| Identity { born, ..identity(number) }),
            ordinal: Ordinal(ordinal),
            retry: ordinal > 1,
            address: if near == 1 { born } else { Incarnation(here) },
            unsettled: Unsettled(unsettled),
        },
        mark: if marked { Mark::Marked } else { Mark::Unmarked },
        believed: Mark::Marked,
        digest: Digest(number % 2),
        session: session.map(SessionId),
        position: if anonymous && number % 2 == 0 { Position::Later } else { Position::First },
    })
}

/// What was let in and never answered, and what must hold of it.
fn check(object: &Object) -> Result<(), TestCaseError> {
    let gate = &object.gate;
    let mut tickets: vec::Vec<u32> = gate.queue().iter().map(|request| request.ticket).collect();
    tickets.extend(gate.runs().iter().map(|run| run.request.ticket));
    let all = tickets.len();
    tickets.sort_unstable();
    tickets.dedup();
    prop_assert_eq!(tickets.len(), all, "a ticket is in two places");
    prop_assert!(gate.queue().len() <= object.terms.queue_max, "G11");
    prop_assert!(gate.store().len() <= Claims::capacity(&object.terms.store), "P15");
    prop_assert!(!gate.draining() || gate.queue().is_empty(), "G2");
    if object.terms.store.fenced && object.terms.store.design != Design::None {
        let marked =
            || gate.runs().iter().filter(|run| run.request.mark == Mark::Marked && run.stage != Stage::Confirming);
        for run in marked() {
            let identity = run.request.header.identity;
            let same = marked().filter(|other| other.request.header.identity == identity).count();
            prop_assert!(identity.is_none() || same == 1, "fenced");
        }
    }
    Ok(())
}

fn check_turn(object: &mut Object, turn: Turn<u32>) -> Result<(), TestCaseError> {
    let ticket = turn.request.ticket;
    let queued = object.gate.queue().iter().any(|request| request.ticket == ticket);
    let stage = object.gate.runs().iter().find(|run| run.request.ticket == ticket).map(|run| run.stage);
    prop_assert!(!turn.fired.is_empty());
    match turn.decision {
        Decision::Start => prop_assert_eq!((queued, stage), (false, Some(Stage::Running))),
        Decision::Store(writes) => {
            prop_assert!(object.terms.store.design.durable());
            prop_assert_eq!((queued, stage), (false, Some(Stage::Storing)));
            object.stored.apply(&writes);
        }
        Decision::Refuse(_) => prop_assert_eq!((queued, stage), (false, None)),
        Decision::AnswerRecorded => {
            prop_assert_eq!(object.terms.store.design, Design::DurableResults);
            prop_assert_eq!((queued, stage), (false, Some(Stage::Confirming)));
        }
        Decision::NewEpoch => {
            prop_assert_eq!((queued, stage), (true, None));
            begin_epoch(object);
            // An epoch makes room: the next turn asks for no other.
            if let Some(turn) = object.next() {
                prop_assert!(turn.decision != Decision::NewEpoch);
            }
        }
    }
    Ok(())
}

fn begin_epoch(object: &mut Object) {
    let incarnation = Incarnation(object.gate.incarnation().0 + 1);
    let writes = object.gate.begin_epoch(&object.terms, Birth { incarnation, wall: WallTime::from_nanos(1_500) });
    object.stored.apply(&writes);
}

fn apply(object: &mut Object, op: Op) -> Result<(), TestCaseError> {
    let recent = |back: u32| object.tickets.saturating_sub(back);
    match op {
        Op::Arrives { .. } => {
            if let Some(request) = request(object, op) {
                let arrival = object.gate.arrive(&object.terms, request, object.now);
                prop_assert_eq!(arrival.refused == Some(Refusal::Draining), object.gate.draining());
            }
        }
        Op::Next => {
            if let Some(turn) = object.next() {
                prop_assert!(!object.gate.draining(), "G2");
                check_turn(object, turn)?;
            }
        }
        Op::Stored(back, held) => {
            let ticket = recent(back);
            object.gate.stored(ticket, held);
        }
        Op::LookedUp(back) => {
            let ticket = recent(back);
            prop_assert_eq!(object.gate.looked_up(&object.terms, ticket, object.now), None);
        }
        Op::Finished(back) => {
            let ticket = recent(back);
            let writes = object.gate.finished(&object.terms, ticket, object.now);
            object.stored.apply(&writes);
        }
        Op::Confirmed(back, held) => {
            let ticket = recent(back);
            object.gate.confirmed(&object.terms, ticket, held);
        }
        Op::Drain => {
            object.gate.drain(&object.terms, |_, _| ());
        }
        Op::SessionEnded(id) => object.gate.session_ended(SessionId(id)),
        // D1 never asks for an epoch: it could not tell what is older.
        Op::Epoch if object.terms.store.design == Design::VolatileOpen => {}
        Op::Epoch => begin_epoch(object),
        Op::Restart => object.restart(),
        Op::Passes(nanos) => object.now = object.now.after(Duration::from_nanos(nanos)),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_gate_keeps_the_rules_whatever_happens_to_it(
        plan in any_plan(),
        queue_max in 0..5usize,
        ops in proptest::collection::vec(op(), 1..80),
    ) {
        let mut object = Object::with_queue(plan, queue_max);
        for op in ops {
            apply(&mut object, op)?;
            check(&object)?;
        }
    }
}
