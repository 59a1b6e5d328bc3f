//! G8: several calls over one connection.

use super::*;

const SESSION: Option<SessionId> = Some(SessionId(1));

/// A first call: it carries an identity.
fn opens(request: Request<u32>) -> Request<u32> {
    Request { session: SESSION, ..request }
}

/// A later call: it carries none.
fn later(mark: Mark) -> Request<u32> {
    Request { mark, session: SESSION, position: Position::Later, ..Request::default() }
}

#[test]
fn anything_may_follow_an_unmarked_first_call() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let (_, decision, fires) = object.turn(opens(first(0)));
    assert_eq!((decision, fires), (Decision::Start, fired(&[Branch::AdmittedNew, Branch::SessionOpensUnmarked])));
    for mark in [Mark::Marked, Mark::Unmarked] {
        let (_, decision, fired) = object.turn(later(mark));
        assert_eq!((decision, fired), (Decision::Start, Branch::SessionRunsLater.into()));
    }
}

#[test]
fn only_marked_calls_may_follow_a_marked_first_call() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let (_, decision, fires) = object.turn(opens(marked(first(0))));
    assert_eq!((decision, fires), (Decision::Start, fired(&[Branch::AdmittedNew, Branch::SessionOpensMarked])));
    let (_, decision, fired) = object.turn(later(Mark::Marked));
    assert_eq!((decision, fired), (Decision::Start, Branch::SessionRunsLater.into()));
    let refused = object.refused(later(Mark::Unmarked));
    assert_eq!(refused, (Refusal::SessionMarked, Branch::SessionRefusesUnmarked.into()));
}

#[test]
fn nothing_may_follow_a_rejected_first_call() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.runs(first(0));
    let (refusal, fires) = object.refused(opens(retry(0, 2)));
    assert_eq!((refusal, fires), (Refusal::Claimed, fired(&[Branch::RejectedClaimed, Branch::SessionRejected])));
    for mark in [Mark::Marked, Mark::Unmarked] {
        assert_eq!(object.refused(later(mark)), (Refusal::SessionRejected, Branch::SessionRejected.into()));
    }
}

#[test]
fn a_session_ends_with_its_connection() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.starts(opens(marked(first(0))));
    assert_eq!(object.gate.session(SessionId(1)), Some(Session::Marked));
    object.gate.session_ended(SessionId(1));
    assert_eq!(object.gate.session(SessionId(1)), None);
}

#[test]
fn later_calls_wait_behind_a_first_call_that_waits() {
    let mut object = Object::of(Design::VolatileIncarnation);
    let earlier = object.starts(marked(first(0)));
    let (opener, _) = object.arrives(opens(marked(retry(0, 2))));
    object.arrives(later(Mark::Unmarked));
    assert_eq!(object.next(), None);
    object.ends(earlier);
    let turn = object.next().unwrap();
    assert_eq!((turn.request.ticket, turn.decision), (opener, Decision::Start));
    let turn = object.next().unwrap();
    assert_eq!(turn.decision, Decision::Refuse(Refusal::SessionMarked));
}

#[test]
fn sessions_compare_alike_in_whatever_order_they_were_opened() {
    let open = |order: [u32; 3]| {
        let mut object = Object::of(Design::None);
        for id in order {
            let request = Request { session: Some(SessionId(id)), ..first(0) };
            object.runs(request);
        }
        object.gate
    };
    assert_eq!(open([1, 2, 3]), open([3, 1, 2]));
}

#[test]
fn a_later_call_of_a_session_that_is_not_known_here_is_sent_back() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.arrives(later(Mark::Marked));
    let turn = object.next().unwrap();
    assert_eq!(turn.decision, Decision::Refuse(Refusal::Elsewhere));
    assert_eq!(turn.fired, Branch::SessionUnknown.into());
}

#[test]
fn a_first_call_without_an_identity_opens_its_session_as_unmarked() {
    let mut object = Object::of(Design::VolatileIncarnation);
    object.runs(Request { mark: Mark::Marked, session: SESSION, ..Request::default() });
    object.runs(later(Mark::Unmarked));
    assert_eq!(object.gate.session(SessionId(1)), Some(Session::Unmarked));
}
