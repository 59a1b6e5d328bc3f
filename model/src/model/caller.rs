//! Callers: what user code, timers and answers do to a call. The machine decides; the ledger notes what it should have.

use oncemore_protocol::caller::{Call, Input, Next, Settlement, Step};
use oncemore_protocol::failure::{Delivery, Failure, Kind, Refusal, Transport};
use oncemore_protocol::identity::{Incarnation, Ordinal};
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rules::{FirstRejection, Rules};
use oncemore_protocol::store::ClaimStore;
use oncemore_protocol::time::WallTime;

use super::{Model, NOW, Notes, draw_of, value_bit};
use crate::action::{Draw, PacketId, Send};
use crate::property::Reach;
use crate::script::{CallPlan, Role};
use crate::world::ledger::once_more;
use crate::world::{
    Body, Cause, Connection, Fault, Flag, Ledger, Load, Outcome, Packet, Seen, SessionState, What, World,
};

/// What a caller saw happen to its call, in the words of the specification.
#[derive(Clone, Copy)]
enum Saw {
    Answer(Seen),
    Failure(Failure<Cause>),
    /// A claim rejection; `sent_back`: although it had only met an incarnation that must send it on.
    Rejection {
        cause: Cause,
        sent_back: bool,
    },
    Cutoff,
    SleptPastCutoff,
    Use,
    Abort,
    Drop,
    Timer,
}

/// What the machine is told, and what the ledger makes of the same.
type News = (Input<Cause>, Saw);

impl<S: ClaimStore> Model<S> {
    pub(super) fn begin_call(&self, world: &mut World<S>, call: u8, send: Send, notes: &mut Notes) -> Option<()> {
        let plan = self.script.call(call);
        let (machine, step) = Call::start(&self.script.terms, plan.eligible, NOW);
        let state = world.call_mut(call);
        state.machine = Some(machine);
        state.ledger.outcome = Outcome::Pending;
        state.cutoff_ms = i32::try_from(self.script.terms.limits.timeout_ms()).ok();
        self.remember(world, call, false);
        notes.all(step.fired);
        if let Role::Pipelined(producer) = plan.role {
            self.attempt_begins(world, call);
            return self.tell(world, producer, (Input::PipelinedUse, Saw::Use), Draw::Soon, send, notes);
        }
        self.attempt(world, call, send, notes)
    }

    pub(super) fn wake(&self, world: &mut World<S>, call: u8, send: Send, notes: &mut Notes) -> Option<()> {
        let attempts = world.call(call).ledger.attempts;
        let late = world.call(call).cutoff_ms.is_some_and(|left| left <= 0);
        let saw = if late { Saw::SleptPastCutoff } else { Saw::Timer };
        self.tell(world, call, (Input::Timer, saw), draw_of(send), send, notes)?;
        // A fault that an attempt would have met does not strike if none began.
        (send == Send::Sent || world.call(call).ledger.attempts > attempts).then_some(())
    }

    pub(super) fn cut_off(&self, world: &mut World<S>, call: u8, notes: &mut Notes) -> Option<()> {
        self.tell(world, call, (Input::Timer, Saw::Cutoff), Draw::Soon, Send::Sent, notes)
    }

    pub(super) fn see_drop(&self, world: &mut World<S>, call: u8, draw: Draw, notes: &mut Notes) -> Option<()> {
        let cause = self.cause(world, call, What::Dropped);
        // G8: the session ends with its connection.
        world.call_mut(call).session = None;
        self.route_lost(world, call, false, notes);
        let failure = Failure::dropped(cause);
        self.tell(world, call, (Input::Failed(failure), Saw::Failure(failure)), draw, Send::Sent, notes)
    }

    pub(super) fn give_up(&self, world: &mut World<S>, call: u8, notes: &mut Notes) -> Option<()> {
        world.budget.spend(Fault::GiveUp);
        self.tell(world, call, (Input::Drop, Saw::Drop), Draw::Soon, Send::Sent, notes)
    }

    pub(super) fn abort(&self, world: &mut World<S>, call: u8, notes: &mut Notes) -> Option<()> {
        world.budget.spend(Fault::Abort);
        let reason = self.cause(world, call, What::Abort);
        self.tell(world, call, (Input::Abort(reason), Saw::Abort), Draw::Soon, Send::Sent, notes)
    }

    /// An answer arrives. Nobody waits for it unless its attempt is still the caller's.
    pub(super) fn receive(&self, world: &mut World<S>, packet: PacketId, draw: Draw, notes: &mut Notes) -> Option<()> {
        let Load::Answer { body, sent_back } = world.take(packet)?.load else {
            return None;
        };
        let call = packet.call;
        world.call_mut(call).ledger.sent_back |= sent_back;
        let (input, saw) = match body {
            Body::Value(seen) => (Input::Answered, Saw::Answer(seen)),
            Body::Thrown { kind, delivery } => {
                let cause = self.cause(world, call, What::Thrown);
                let failure = Failure { delivery, ..Failure::thrown(kind, cause) };
                // F2, F3: whatever it carried, the oracle counts it as delivered.
                (Input::Failed(failure), Saw::Failure(Failure { delivery: Delivery::Delivered, ..failure }))
            }
            Body::NoMethod => {
                let cause = self.cause(world, call, What::NoMethod);
                let failure =
                    Failure { kind: Kind::Unimplemented, delivery: Delivery::Delivered, remote: false, payload: cause };
                (Input::Failed(failure), Saw::Failure(failure))
            }
            Body::Refused(refusal) => {
                self.route_lost(world, call, true, notes);
                let cause = self.cause(world, call, What::Refused(refusal));
                if refusal.is_claim_rejection() {
                    if let Some(session) = &mut world.call_mut(call).session {
                        session.rejected = true;
                    }
                    notes.reach(Reach::RejectionSeen);
                    (Input::Refused(refusal, cause), Saw::Rejection { cause, sent_back })
                } else {
                    (Input::Refused(refusal, cause), Saw::Failure(self.refused(refusal, cause)))
                }
            }
        };
        self.tell(world, call, (input, saw), draw, Send::Sent, notes)
    }

    /// What a refusal that is no claim rejection counts for (F2), as the specification tells it.
    fn refused(&self, refusal: Refusal, cause: Cause) -> Failure<Cause> {
        let did_not_run = match self.script.terms.transport {
            Transport::Exact => Delivery::NotDelivered,
            Transport::MayDuplicate => Delivery::Unknown,
        };
        let (kind, delivery) = match refusal {
            Refusal::Draining | Refusal::Elsewhere => (Kind::Disconnected, did_not_run),
            Refusal::Overloaded => (Kind::Overloaded, did_not_run),
            Refusal::SessionMarked | Refusal::OtherRequest => (Kind::Failed, Delivery::Delivered),
            Refusal::ClaimNotStored
            | Refusal::EpochLost
            | Refusal::Claimed
            | Refusal::Doubtful
            | Refusal::Settled
            | Refusal::Older
            | Refusal::StoreFull
            | Refusal::SessionRejected => (Kind::Disconnected, Delivery::Delivered),
        };
        Failure { kind, delivery, remote: false, payload: cause }
    }

    fn cause(&self, world: &World<S>, call: u8, what: What) -> Cause {
        Cause { attempt: world.call(call).ledger.attempts, what }
    }

    /// C8, P16: the stub learns that the route is no good.
    fn route_lost(&self, world: &mut World<S>, call: u8, refused: bool, notes: &mut Notes) {
        let plan = self.script.call(call);
        let object = usize::from(plan.object);
        let caller = world.caller_mut(plan.caller);
        caller.route_failed[object] = caller.routes[object].address().is_some();
        notes.all(caller.routes[object].lost(self.script.terms.rules, refused));
    }

    /// Tells the machine, checks what it makes of it against the ledger, and does what it says.
    fn tell(
        &self,
        world: &mut World<S>,
        call: u8,
        (input, saw): News,
        draw: Draw,
        send: Send,
        notes: &mut Notes,
    ) -> Option<()> {
        let plan = self.script.call(call);
        let attempting = world.call(call).machine.as_ref()?.attempting();
        self.note(&mut world.call_mut(call).ledger, plan, saw, attempting);
        let step = world.call_mut(call).machine.as_mut()?.handle(&self.script.terms, NOW, draw.bits(), input);
        notes.all(step.fired);
        self.check_times(world, call, saw, &step);
        if step.cancel {
            self.hang_up(world, call);
        }
        match step.next {
            Next::Wait => Some(()),
            Next::Sleep { .. } => {
                self.hang_up(world, call);
                Some(())
            }
            Next::Resolve(_) => self.attempt(world, call, send, notes),
            Next::Settle(settlement) => self.settle(world, call, settlement, saw, draw, notes),
        }
    }

    /// The ledger's own account of C4 and C9.
    fn note(&self, ledger: &mut Ledger, plan: &CallPlan, saw: Saw, attempting: bool) {
        match saw {
            Saw::Failure(failure) => {
                ledger.doubted(failure.delivery);
                if self.retryable(ledger, plan, &failure) {
                    ledger.first.get_or_insert(failure.payload);
                } else {
                    ledger.final_failure = true;
                }
            }
            Saw::Rejection { cause, .. } if self.taken_as_fresh(ledger, plan) => {
                ledger.first.get_or_insert(cause);
            }
            Saw::Rejection { .. } => {
                ledger.doubted(Delivery::Unknown);
                ledger.final_failure = true;
            }
            Saw::Cutoff | Saw::Abort | Saw::Drop if attempting => ledger.doubted(Delivery::Unknown),
            Saw::Use => ledger.final_failure = true,
            Saw::Answer(_) | Saw::Cutoff | Saw::Abort | Saw::Drop | Saw::SleptPastCutoff | Saw::Timer => {}
        }
    }

    /// C4.2, C4.3, F3, E4, E6, as the specification tells them.
    fn retryable(&self, ledger: &Ledger, plan: &CallPlan, failure: &Failure<Cause>) -> bool {
        plan.eligible
            && !ledger.final_failure
            && failure.kind == Kind::Disconnected
            && !failure.remote
            && failure.delivery != Delivery::Delivered
    }

    /// C5.
    fn taken_as_fresh(&self, ledger: &Ledger, plan: &CallPlan) -> bool {
        plan.eligible && !ledger.reused && self.script.terms.first_rejection == FirstRejection::Fresh
    }

    /// P5 and P6, by the world's own clock.
    fn check_times(&self, world: &mut World<S>, call: u8, saw: Saw, step: &Step<Cause>) {
        let state = world.call_mut(call);
        if step.cancel && matches!(saw, Saw::Cutoff) && state.ledger.attempts == 1 {
            state.ledger.raise(Flag::FirstCancelled);
        }
        let outcome = matches!(saw, Saw::Answer(_) | Saw::Failure(_) | Saw::Rejection { .. });
        if outcome && state.ledger.attempts > 1 && state.cutoff_ms.is_some_and(|left| left < 0) {
            state.ledger.raise(Flag::OutlivedCutoff);
        }
    }

    /// The caller no longer listens to the attempt that began last.
    pub(super) fn hang_up(&self, world: &mut World<S>, call: u8) {
        world.call_mut(call).connection = Connection::Closed;
        world.drop_answers(call);
    }

    /// An attempt begins: C1, C2, P3, P4, P8, P12.
    fn attempt_begins(&self, world: &mut World<S>, call: u8) {
        let plan = self.script.call(call);
        let state = world.call_mut(call);
        let ledger = &mut state.ledger;
        ledger.attempts = ledger.attempts.saturating_add(1).min(self.script.terms.limits.attempts_max() + 1);
        if ledger.attempts > 1 {
            if state.cutoff_ms.is_some_and(|left| left <= 0) {
                ledger.raise(Flag::StartedLate);
            }
            if ledger.final_failure || !plan.eligible {
                ledger.raise(Flag::RetriedFinal);
            }
        }
        let Some(ordinal) = state.machine.as_ref().map(Call::ordinal) else { return };
        let Some(budget) = &mut world.caller_mut(plan.caller).subrequests else { return };
        let left = budget.left();
        // The budget of a scenario is never used up by the rules; what a mutant overdraws is seen by the ledger.
        let _ = budget.charge(self.script.terms.rules, ordinal);
        if budget.left() < left {
            once_more(&mut world.call_mut(call).ledger.charged);
        }
    }

    fn attempt(&self, world: &mut World<S>, call: u8, send: Send, notes: &mut Notes) -> Option<()> {
        self.attempt_begins(world, call);
        match send {
            Send::Unreachable(draw) => {
                world.budget.spend(Fault::Unreachable);
                let failure = Failure::unreachable(self.cause(world, call, What::Unreachable));
                notes.branch(oncemore_protocol::rule::Branch::NotDelivered);
                self.tell(world, call, (Input::Failed(failure), Saw::Failure(failure)), draw, Send::Sent, notes)
            }
            Send::Sent | Send::Stale => match self.script.call(call).role {
                Role::Later(opener) => self.send_in_session(world, call, opener, notes),
                Role::Plain | Role::Inner { .. } | Role::Pipelined(_) => {
                    let address = self.resolve(world, call, send)?;
                    self.transmit(world, call, address, None, notes)
                }
            },
        }
    }

    /// Where the attempt goes: where the stub last found the object, else where the directory says.
    fn resolve(&self, world: &mut World<S>, call: u8, send: Send) -> Option<Incarnation> {
        let plan = self.script.call(call);
        let object = usize::from(plan.object);
        let named = match send {
            Send::Stale => {
                world.budget.spend(Fault::Stale);
                world.object(plan.object).record.previous?
            }
            Send::Sent | Send::Unreachable(_) => world.object(plan.object).record.ownership.incarnation(),
        };
        let caller = world.caller_mut(plan.caller);
        if let Some(address) = caller.routes[object].address() {
            if caller.route_failed[object] {
                world.call_mut(call).ledger.raise(Flag::StaleRoute);
            }
            return Some(address);
        }
        caller.routes[object].found(named);
        caller.route_failed[object] = false;
        Some(named)
    }

    /// G8: a later call goes where its session is.
    fn send_in_session(&self, world: &mut World<S>, call: u8, opener: u8, notes: &mut Notes) -> Option<()> {
        let session = world.call(opener).session.filter(|session| {
            world
                .object(self.script.call(call).object)
                .incarnations
                .iter()
                .any(|life| life.gate.incarnation() == session.at && life.gate.session(session.id).is_some())
        });
        match session {
            Some(session) => self.transmit(world, call, session.at, Some(session), notes),
            None => {
                // The session ended with its connection or its incarnation.
                let failure = Failure::unreachable(self.cause(world, call, What::Unreachable));
                self.tell(world, call, (Input::Failed(failure), Saw::Failure(failure)), Draw::Soon, Send::Sent, notes)
            }
        }
    }

    /// The attempt has found the object: its request leaves.
    fn transmit(
        &self,
        world: &mut World<S>,
        call: u8,
        address: Incarnation,
        session: Option<SessionState>,
        notes: &mut Notes,
    ) -> Option<()> {
        let plan = self.script.call(call);
        let wall = match self.script.wall_margin {
            Some(_) => WallTime::from_nanos(self.script.callers[usize::from(plan.caller)].skew_ns),
            None => WallTime::default(),
        };
        let mut lane = world.caller(plan.caller).lanes[usize::from(plan.object)]?;
        let state = world.call_mut(call);
        let machine = state.machine.as_mut()?;
        let before = machine.identity();
        let sent = machine.resolved(&self.script.terms, &mut lane, address, wall).ok()?;
        notes.all(sent.fired);
        let mut header = sent.header;
        // P9: I2 to I4, as the specification tells them.
        let reused = before.is_some() && before == header.identity;
        let must_reuse = before.is_some() && state.ledger.doubt != Delivery::NotDelivered;
        if plan.eligible && (reused != must_reuse || header.retry != must_reuse) {
            state.ledger.raise(Flag::WrongIdentity);
        }
        state.ledger.reused = reused;
        if let Some(session) = session {
            header.identity = self.script.terms.rules.session_identity(session.identity);
        }
        // E6, G8.
        if !plan.eligible && header.identity.is_some() {
            state.ledger.raise(Flag::WrongIdentity);
        }
        let id = PacketId { call, attempt: state.ledger.attempts, copy: 0, answer: false };
        let own_session = plan.opens_session.then(|| session_id(call, Ordinal(id.attempt)));
        if let Some(own) = own_session {
            state.session = Some(SessionState { id: own, at: address, identity: header.identity, rejected: false });
        }
        state.connection = Connection::Open;
        world.caller_mut(plan.caller).lanes[usize::from(plan.object)] = Some(lane);
        let due = self.script.lifetime.map_or(NOW, |lifetime| NOW.after(lifetime));
        let session = session.map(|session| session.id).or(own_session);
        world.put(Packet { id, due, load: Load::Request { header, session } });
        Some(())
    }

    /// User code is told.
    fn settle(
        &self,
        world: &mut World<S>,
        call: u8,
        settlement: Settlement<Cause>,
        saw: Saw,
        draw: Draw,
        notes: &mut Notes,
    ) -> Option<()> {
        let plan = self.script.call(call);
        let outcome = match settlement {
            Settlement::Answered => {
                let Saw::Answer(seen) = saw else { return None };
                Outcome::Answered(seen)
            }
            Settlement::Failed(Failure { kind, delivery, remote, payload }) => {
                Outcome::Failed { kind, delivery, remote, cause: payload }
            }
            Settlement::Aborted(_) => Outcome::Aborted,
            Settlement::Dropped => Outcome::Gone,
        };
        self.judge_outcome(world, call, outcome, saw, draw);
        let ledger = &world.call(call).ledger;
        if matches!(outcome, Outcome::Answered(_)) && ledger.attempts > 1 {
            notes.reach(Reach::Recovered);
            if ledger.sent_back {
                notes.reach(Reach::SentBackThenAnswered);
            }
        }
        self.hang_up(world, call);
        let state = world.call_mut(call);
        state.ledger.outcome = outcome;
        state.cutoff_ms = None;
        let identity = state.machine.take().and_then(|machine| machine.identity());
        let lane = &mut world.caller_mut(plan.caller).lanes[usize::from(plan.object)];
        if let (Some(identity), Some(lane)) = (identity, lane) {
            lane.settle(identity.number);
        }
        self.remember(world, call, true);
        self.forget_story(world, call);
        self.tell_host(world, call, outcome);
        self.tell_pipelined(world, call, outcome, notes)
    }

    /// What no property asks of a settled call need not tell states apart.
    fn forget_story(&self, world: &mut World<S>, call: u8) {
        let ledger = &mut world.call_mut(call).ledger;
        ledger.first = None;
        ledger.doubt = Delivery::NotDelivered;
        ledger.final_failure = false;
        ledger.reused = false;
        ledger.sent_back = false;
    }

    /// P7, L2 and G8, judged when user code is told.
    fn judge_outcome(&self, world: &mut World<S>, call: u8, outcome: Outcome, saw: Saw, draw: Draw) {
        let plan = self.script.call(call);
        let expected = self.expected(world, call, saw);
        let attempts_max = self.script.terms.limits.attempts_max();
        let state = world.call_mut(call);
        if expected.is_some_and(|expected| expected != outcome) {
            state.ledger.raise(Flag::WrongFailure);
        }
        if let Outcome::Answered(seen) = outcome {
            let ledger = &mut state.ledger;
            let ran = ledger.starts > 0 && ledger.returned & value_bit(seen) != 0;
            if !ran || (plan.writes_any() && ledger.effects == 0) {
                ledger.raise(Flag::AnsweredWithoutRun);
            }
        }
        if !matches!(outcome, Outcome::Failed { .. }) || !plan.eligible {
            return;
        }
        let could_go_on = state.ledger.attempts < attempts_max
            && state.cutoff_ms.is_some_and(|left| left > 0)
            && draw == Draw::Soon
            && !state.ledger.final_failure
            && state.ledger.doubt == Delivery::NotDelivered;
        let early = match saw {
            Saw::Failure(failure) => failure.delivery == Delivery::NotDelivered && could_go_on,
            Saw::Rejection { sent_back, .. } => sent_back && state.ledger.attempts < attempts_max,
            Saw::Answer(_) => true,
            Saw::Cutoff | Saw::SleptPastCutoff | Saw::Use | Saw::Abort | Saw::Drop | Saw::Timer => false,
        };
        if early {
            state.ledger.raise(Flag::GaveUpEarly);
        }
    }

    /// The outcome that C3, C4, C5, C9, E4 and G8 call for; none where they leave it open.
    fn expected(&self, world: &World<S>, call: u8, saw: Saw) -> Option<Outcome> {
        let plan = self.script.call(call);
        let ledger = &world.call(call).ledger;
        let delivery = ledger.doubt;
        let original = |cause: Cause| Outcome::Failed {
            kind: Kind::Disconnected,
            delivery,
            remote: false,
            cause: ledger.first.unwrap_or(cause),
        };
        let expected = match saw {
            Saw::Answer(seen) if self.may_run(world, plan) => Outcome::Answered(seen),
            // Any failure would do: this is none.
            Saw::Answer(_) => Outcome::NotBegun,
            Saw::Failure(Failure { kind, remote, payload, .. }) if ledger.final_failure => {
                Outcome::Failed { kind, delivery, remote, cause: payload }
            }
            Saw::Failure(failure) => original(failure.payload),
            Saw::Rejection { cause, .. } => original(cause),
            Saw::Cutoff | Saw::SleptPastCutoff | Saw::Use => original(ledger.first?),
            Saw::Abort => Outcome::Aborted,
            Saw::Drop => Outcome::Gone,
            Saw::Timer => return None,
        };
        Some(expected)
    }

    /// G8: whether a later call may run in its session; any other call may.
    fn may_run(&self, world: &World<S>, plan: &CallPlan) -> bool {
        let Role::Later(opener) = plan.role else {
            return true;
        };
        world.call(opener).session.is_none_or(|session| {
            let opened_marked = self.script.call(opener).mark == Mark::Marked;
            !session.rejected && (!opened_marked || plan.mark == Mark::Marked)
        })
    }

    /// An inner call ended: the run that made it goes on, or its method fails with it (F2).
    fn tell_host(&self, world: &mut World<S>, call: u8, outcome: Outcome) {
        let Role::Inner { outer, place, run: number } = self.script.call(call).role else {
            return;
        };
        let Some(host) = world.call(call).host else {
            return;
        };
        let rules = self.script.terms.rules;
        let object = world.object_mut(self.script.call(outer).object);
        let Some(run) = object.incarnations.iter_mut().find_map(|life| life.run_mut(host)) else {
            return;
        };
        match outcome {
            Outcome::Answered(_) => {
                run.inner_done += 1;
                if let Some(next) = self.script.inner_call(outer, place + 1, number) {
                    world.call_mut(next).host = Some(host);
                }
            }
            Outcome::Failed { kind, delivery, .. } => {
                run.result = Some(Body::Thrown { kind, delivery: rules.delivery_after_delivery(delivery) });
            }
            Outcome::NotBegun | Outcome::Pending | Outcome::Aborted | Outcome::Gone => {}
        }
    }

    /// E4: calls on this one's pending result go on with its answer, or fail with it.
    fn tell_pipelined(&self, world: &mut World<S>, producer: u8, outcome: Outcome, notes: &mut Notes) -> Option<()> {
        for call in 0..world.calls.len() {
            let call = u8::try_from(call).ok()?;
            let waits = world.call(call).ledger.outcome == Outcome::Pending
                && self.script.call(call).role == Role::Pipelined(producer);
            if !waits {
                continue;
            }
            match outcome {
                Outcome::Answered(_) => {
                    let address = self.resolve(world, call, Send::Sent)?;
                    self.transmit(world, call, address, None, notes)?;
                }
                Outcome::NotBegun | Outcome::Pending | Outcome::Failed { .. } | Outcome::Aborted | Outcome::Gone => {
                    let failure = Failure::unreachable(self.cause(world, call, What::Producer));
                    let saw = Saw::Failure(failure);
                    self.tell(world, call, (Input::Failed(failure), saw), Draw::Soon, Send::Sent, notes)?;
                }
            }
        }
        Some(())
    }

    /// P13: the order of beginnings and ends, as user code sees it.
    fn remember(&self, world: &mut World<S>, call: u8, end: bool) {
        if self.script.history {
            world.history.push(call * 2 + u8::from(end));
        }
    }
}

/// One session for each attempt of the call that opens it: each attempt has its own connection.
fn session_id(call: u8, attempt: Ordinal) -> oncemore_protocol::gate::SessionId {
    oncemore_protocol::gate::SessionId(u32::from(call) * 256 + u32::from(attempt.0))
}
