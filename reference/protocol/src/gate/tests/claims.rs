//! G3, G4, the designs and `fenced`.

use super::*;

const KEEPING: [Design; 5] =
    [Design::VolatileOpen, Design::VolatileClock, Design::VolatileIncarnation, Design::Durable, Design::DurableResults];

fn unfenced(design: Design) -> Object {
    Object::new(Plan { design, fenced: false, ..Plan::default() })
}

#[test]
fn d0_keeps_nothing() {
    let mut object = Object::of(Design::None);
    for ordinal in 1..=3 {
        let (ticket, decision, fired) = object.turn(retry(0, ordinal));
        assert_eq!((decision, fired), (Decision::Start, Branch::NothingKept.into()));
        object.ends(ticket);
    }
    assert!(object.gate.store().is_empty());
}

#[test]
fn what_was_let_in_is_rejected_whichever_attempt_comes_first() {
    for design in KEEPING {
        for (early, late) in [(first(0), retry(0, 2)), (retry(0, 2), first(0)), (first(0), first(0))] {
            let mut object = Object::of(design);
            let (ticket, decision, fired) = object.turn(early);
            assert_eq!(matches!(decision, Decision::Store(_)), design.durable());
            assert_eq!(fired, Branch::AdmittedNew.into());
            // While it is stored or runs, and afterwards; D5 answers from its record then.
            assert_eq!(object.refused(late), (Refusal::Claimed, Branch::RejectedClaimed.into()));
            if design.durable() {
                object.gate.stored(ticket, true);
            }
            object.ends(ticket);
            if design != Design::DurableResults {
                assert_eq!(object.refused(late), (Refusal::Claimed, Branch::RejectedClaimed.into()));
            }
        }
    }
}

#[test]
fn a_mark_lets_a_duplicate_in() {
    for design in KEEPING {
        let mut object = unfenced(design);
        object.starts(marked(first(0)));
        let (_, decision, fired) = object.turn(marked(retry(0, 2)));
        assert_eq!(matches!(decision, Decision::Store(_)), design.durable());
        assert!(matches!(decision, Decision::Store(_) | Decision::Start));
        assert_eq!(fired, Branch::MarkAdmitsDuplicate.into());
    }
}

#[test]
fn what_the_caller_believes_of_a_mark_counts_for_nothing() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let believed = Request { believed: Mark::Marked, ..first(0) };
    object.runs(believed);
    assert_eq!(object.refused(believed).0, Refusal::Claimed);
}

#[test]
fn d1_fails_open_after_a_restart() {
    let mut object = Object::of(Design::VolatileOpen);
    object.runs(first(0));
    object.restart();
    let (_, decision, fired) = object.turn(retry(0, 2));
    assert_eq!((decision, fired), (Decision::Start, Branch::AdmittedNew.into()));
}

#[test]
fn d2_doubts_what_was_created_before_it_began_and_its_margin() {
    let began = WallTime::from_nanos(1_000);
    let margin = Plan::default().margin;
    for (age, doubted) in [(Duration::ZERO, true), (margin, true), (margin + Duration::from_nanos(1), false)] {
        let mut object = Object::of(Design::VolatileClock);
        let created = began.after(age);
        let mut request = first(0);
        request.header.identity = Some(Identity { created, ..identity(0) });
        if doubted {
            let branches = fired(&[Branch::BornBefore, Branch::RejectedDoubtful]);
            assert_eq!(object.refused(request), (Refusal::Doubtful, branches));
            let (_, decision, fires) = object.turn(marked(request));
            assert_eq!((decision, fires), (Decision::Start, fired(&[Branch::BornBefore, Branch::MarkAdmitsDoubtful])));
        } else {
            object.runs(request);
        }
    }
}

#[test]
fn d3_doubts_what_was_born_for_another_incarnation() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.restart();
    let request = addressed(&object, retry(0, 2));
    let branches = fired(&[Branch::BornElsewhere, Branch::RejectedDoubtful]);
    assert_eq!(object.refused(request), (Refusal::Doubtful, branches));
    let (_, decision, fires) = object.turn(marked(request));
    assert_eq!((decision, fires), (Decision::Start, fired(&[Branch::BornElsewhere, Branch::MarkAdmitsDoubtful])));
}

#[test]
fn d3_sends_on_what_is_addressed_elsewhere_marked_or_not() {
    for address in [Incarnation(2), Incarnation(4)] {
        let mut object = Object::of(Design::VolatileIncarnation);
        let mut request = first(0);
        request.header.address = address;
        for request in [request, marked(request)] {
            assert_eq!(object.refused(request), (Refusal::Elsewhere, Branch::AddressedElsewhere.into()));
        }
        assert!(object.gate.store().is_empty());
        for design in [Design::VolatileOpen, Design::VolatileClock, Design::Durable, Design::DurableResults] {
            Object::of(design).starts(request);
        }
    }
}

#[test]
fn d4_remembers_over_a_restart() {
    let mut object = Object::of(Design::Durable);
    object.starts(first(0));
    object.restart();
    assert_eq!(object.refused(retry(0, 2)), (Refusal::Claimed, Branch::RejectedClaimed.into()));
    // What was never let in is new, however old it is.
    object.runs(first(1));
}

#[test]
fn d5_answers_from_the_record_before_marks_are_considered() {
    for restarts in [false, true] {
        for request in [first(0), marked(first(0))] {
            let mut object = Object::of(Design::DurableResults);
            object.runs(request);
            if restarts {
                object.restart();
            }
            let again = Request { header: retry(0, 2).header, ..request };
            let (ticket, decision, fired) = object.turn(again);
            assert_eq!((decision, fired), (Decision::AnswerRecorded, Branch::AnsweredFromRecord.into()));
            // It leaves as any other answer does.
            let answer = object.gate.confirmed(&object.terms, ticket, true);
            assert_eq!(answer, Some((Answer::Run, Branch::EpochConfirmed.into())));
        }
    }
}

#[test]
fn d5_has_nothing_on_record_that_storage_refused() {
    let mut object = Object::of(Design::DurableResults);
    let ticket = object.starts(first(0));
    assert_eq!(object.gate.finished(&object.terms, ticket, object.now).len(), 1);
    object.gate.confirmed(&object.terms, ticket, false);
    assert_eq!(object.refused(retry(0, 2)), (Refusal::Claimed, Branch::RejectedClaimed.into()));
}

#[test]
fn d5_refuses_an_identity_that_comes_with_another_request() {
    for finished in [false, true] {
        let mut object = Object::of(Design::DurableResults);
        let ticket = object.starts(first(0));
        if finished {
            object.ends(ticket);
        }
        let other = Request { digest: Digest(99), ..retry(0, 2) };
        for request in [other, marked(other)] {
            assert_eq!(object.refused(request), (Refusal::OtherRequest, Branch::OtherRequest.into()));
        }
    }
}

// ---- fenced ----

#[test]
fn a_fenced_duplicate_waits_for_the_earlier_run_and_lets_others_pass() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let earlier = object.starts(marked(first(0)));
    let (waiting, arrival) = object.arrives(marked(retry(0, 2)));
    assert_eq!(arrival, Arrival { refused: None, fired: Branch::FenceWaits.into() });
    assert_eq!(object.next(), None);
    let (passing, _) = object.arrives(first(1));
    assert_eq!(object.next().map(|turn| turn.request.ticket), Some(passing));
    assert_eq!(object.next(), None);
    object.gate.finished(&object.terms, earlier, object.now);
    // Its answer has not left yet, so it may still write.
    assert_eq!(object.next(), None);
    object.gate.confirmed(&object.terms, earlier, true);
    let turn = object.next().unwrap();
    assert_eq!((turn.request.ticket, turn.decision), (waiting, Decision::Start));
    assert_eq!(turn.fired, Branch::MarkAdmitsDuplicate.into());
}

#[test]
fn the_fence_refuses_an_attempt_that_is_no_later_than_all_before() {
    for late in [1, 2] {
        let mut object = Object::of(Design::VolatileIncarnation);
        object.starts(marked(retry(0, 2)));
        let mut request = marked(retry(0, late));
        request.header.retry = late > 1;
        // At once, although the earlier run goes on.
        object.arrives(request);
        let turn = object.next().unwrap();
        assert_eq!((turn.decision, turn.fired), (Decision::Refuse(Refusal::Older), Branch::FenceRefusesOlder.into()));
    }
}

#[test]
fn the_fence_asks_for_the_highest_of_all_that_were_let_in() {
    let mut object = Object::of(Design::Durable);
    for ordinal in [1, 3] {
        object.runs(marked(retry(0, ordinal)));
    }
    object.restart();
    assert_eq!(object.refused(marked(retry(0, 2))), (Refusal::Older, Branch::FenceRefusesOlder.into()));
    object.runs(marked(retry(0, 4)));
}

#[test]
fn a_fenced_duplicate_waits_also_where_only_doubt_is_left() {
    // A run goes on over a claim epoch, which forgets its claim.
    let mut object = Object::new(Plan { capacity: 2, ..Plan::default() });
    object.starts(marked(first(0)));
    assert_eq!(object.turn(first(1)).1, Decision::NewEpoch);
    object.gate.begin_epoch(&object.terms, Birth { incarnation: Incarnation(4), wall: WallTime::default() });
    assert!(object.next().is_some_and(|turn| turn.decision == Decision::Refuse(Refusal::Elsewhere)));
    let request = addressed(&object, marked(retry(0, 2)));
    object.arrives(request);
    assert_eq!(object.next(), None);
}

#[test]
fn unmarked_duplicates_do_not_wait() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.starts(first(0));
    assert_eq!(object.refused(retry(0, 2)), (Refusal::Claimed, Branch::RejectedClaimed.into()));
}
