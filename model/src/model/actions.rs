//! What may happen in a state, and what must not be put off for ever.

use oncemore_protocol::gate::Stage;
use oncemore_protocol::store::ClaimStore;

use super::{Model, NOW};
use crate::action::{Action, At, Draw, Send};
use crate::explore::FairClass;
use crate::script::{Role, Script};
use crate::world::{Connection, Fault, Load, Outcome, World};

impl<S: ClaimStore> Model<S> {
    /// Appends everything that may happen.
    pub(super) fn enabled(&self, world: &World<S>, actions: &mut Vec<Action>) {
        for call in 0..world.calls.len() {
            self.call_actions(world, place(call), actions);
        }
        for packet in world.net.iter() {
            self.packet_actions(world, packet.id, matches!(packet.load, Load::Request { .. }), actions);
        }
        for object in 0..self.script.objects {
            self.object_actions(world, object, actions);
        }
        for caller in 0..world.callers.len() {
            let caller = place(caller);
            let at_work = |call: &&u8| world.call(**call).ledger.outcome == Outcome::Pending;
            let plan = &self.script.callers[usize::from(caller)];
            let inner = plan.calls.iter().any(|call| matches!(self.script.call(*call).role, Role::Inner { .. }));
            if !inner && plan.calls.iter().any(|call| at_work(&call)) {
                let ways = [(Fault::Crash, false), (Fault::Reuse, true)];
                let ways = ways.into_iter().filter(|(fault, _)| world.budget.allows(*fault));
                actions.extend(ways.map(|(_, reuse)| Action::Crash { caller, reuse }));
            }
        }
        if self.next_instant(world).is_some() {
            actions.push(Action::Advance);
        }
    }

    fn call_actions(&self, world: &World<S>, call: u8, actions: &mut Vec<Action>) {
        let state = world.call(call);
        if self.may_begin(world, call) {
            self.sends(world, call, |send| actions.push(Action::Begin { call, send }));
        }
        let Some(machine) = &state.machine else {
            return;
        };
        if !machine.attempting() && machine.deadline(&self.script.terms).is_some_and(|at| at <= NOW) {
            self.sends(world, call, |send| actions.push(Action::Wake { call, send }));
        }
        if machine.attempting() && machine.deadline(&self.script.terms).is_some_and(|at| at <= NOW) {
            actions.push(Action::Cutoff { call });
        }
        if state.connection == Connection::Dropped {
            self.draws(world, call, |draw| actions.push(Action::SeeDrop { call, draw }));
        }
        let answer_under_way = || world.net.iter().any(|packet| packet.id.answer && packet.id.call == call);
        if state.connection == Connection::Open && world.budget.allows(Fault::Cut) && !answer_under_way() {
            actions.push(Action::Cut { call });
        }
        if state.host.is_none() {
            if world.budget.allows(Fault::GiveUp) {
                actions.push(Action::GiveUp { call });
            }
            if world.budget.allows(Fault::Abort) {
                actions.push(Action::Abort { call });
            }
        }
    }

    /// Whether user code may make the call now.
    fn may_begin(&self, world: &World<S>, call: u8) -> bool {
        let plan = self.script.call(call);
        let state = world.call(call);
        if state.ledger.outcome != Outcome::NotBegun {
            return false;
        }
        let settled = |other: u8| world.call(other).ledger.outcome.settled();
        match plan.role {
            Role::Plain | Role::Later(_) => {
                plan.after.is_none_or(|before| settled(before) || self.never_made(world, before))
            }
            Role::Pipelined(producer) => world.call(producer).ledger.outcome == Outcome::Pending,
            Role::Inner { .. } => state.host.is_some(),
        }
    }

    /// E4: whether a pending result was not used while it was pending, and so never will be.
    fn never_made(&self, world: &World<S>, call: u8) -> bool {
        match self.script.call(call).role {
            Role::Pipelined(producer) => {
                world.call(call).ledger.outcome == Outcome::NotBegun && world.call(producer).ledger.outcome.settled()
            }
            Role::Plain | Role::Later(_) | Role::Inner { .. } => false,
        }
    }

    /// The ways in which an attempt may begin.
    fn sends(&self, world: &World<S>, call: u8, mut push: impl FnMut(Send)) {
        let plan = self.script.call(call);
        push(Send::Sent);
        if !matches!(plan.role, Role::Plain | Role::Inner { .. }) {
            return;
        }
        let object = world.object(plan.object);
        let route = world.caller(plan.caller).routes[usize::from(plan.object)];
        if world.budget.allows(Fault::Stale) && route.address().is_none() && object.record.previous.is_some() {
            push(Send::Stale);
        }
        if world.budget.allows(Fault::Unreachable) {
            self.draws(world, call, |draw| push(Send::Unreachable(draw)));
        }
    }

    /// The delays that may be drawn if an attempt of the call fails now.
    fn draws(&self, world: &World<S>, call: u8, mut push: impl FnMut(Draw)) {
        push(Draw::Soon);
        let attempts = world.call(call).ledger.attempts;
        if self.script.clock && self.script.call(call).eligible && attempts < self.script.terms.limits.attempts_max() {
            push(Draw::AtCutoff);
        }
    }

    fn packet_actions(
        &self,
        world: &World<S>,
        packet: crate::action::PacketId,
        request: bool,
        actions: &mut Vec<Action>,
    ) {
        if request {
            actions.push(Action::Deliver { packet, full: false });
            if world.budget.allows(Fault::Overload) {
                actions.push(Action::Deliver { packet, full: true });
            }
            if world.budget.allows(Fault::LoseRequest) && packet.copy == 0 && world.awaits(packet) {
                actions.push(Action::Lose { packet });
            }
            if world.budget.allows(Fault::Duplicate) {
                actions.push(Action::Duplicate { packet });
            }
        } else {
            self.draws(world, packet.call, |draw| actions.push(Action::Receive { packet, draw }));
            if world.budget.allows(Fault::LoseReply) {
                actions.push(Action::Lose { packet });
            }
        }
    }

    fn object_actions(&self, world: &World<S>, object: u8, actions: &mut Vec<Action>) {
        let state = world.object(object);
        for (life_place, life) in state.incarnations.iter().enumerate() {
            let at = At { object, place: place(life_place) };
            if !life.gate.queue().is_empty() && self.free(life.gate.runs()) {
                actions.push(Action::Start { at });
            }
            for run in life.gate.runs() {
                let id = run.request.ticket.id;
                match run.stage {
                    Stage::Storing => actions.push(Action::Stored { at, run: id }),
                    Stage::Running if self.inner_ended(world, life.run(id), id.call) => {
                        actions.push(Action::Finish { at, run: id, throws: false });
                        if world.budget.allows(Fault::Throw) {
                            actions.push(Action::Finish { at, run: id, throws: true });
                        }
                    }
                    Stage::Running => {}
                    Stage::Confirming => actions.push(Action::Confirm { at, run: id }),
                }
            }
        }
        if state.record.ownership.draining() {
            actions.push(Action::Succeed { object });
        }
        self.object_faults(world, object, actions);
    }

    fn object_faults(&self, world: &World<S>, object: u8, actions: &mut Vec<Action>) {
        let budget = &world.budget;
        let draining = world.object(object).record.ownership.draining();
        if !self.anything_to_come(world) {
            return;
        }
        if budget.allows(Fault::Restart) {
            actions.push(Action::Restart { object });
        }
        if budget.allows(Fault::Drain) && !draining {
            actions.push(Action::Drain { object });
        }
        if budget.allows(Fault::Seize) {
            actions.push(Action::Seize { object });
        }
        let owner = world.object(object).incarnations.last();
        if budget.allows(Fault::Forget) && owner.is_some_and(|life| !life.gate.store().is_empty()) {
            actions.push(Action::Forget { object });
        }
    }

    /// Whether an object is free to start something: nothing runs there that does not await something (input gate).
    fn free(&self, runs: &[oncemore_protocol::gate::Run<crate::world::Ticket>]) -> bool {
        runs.iter().all(|run| match run.stage {
            Stage::Storing => false,
            Stage::Running => {
                let plan = self.script.call(run.request.ticket.id.call);
                plan.awaits || plan.inner > 0
            }
            Stage::Confirming => true,
        })
    }

    /// Whether the calls that the method makes have ended.
    fn inner_ended(&self, world: &World<S>, run: Option<&crate::world::RunState>, call: u8) -> bool {
        let Some(run) = run else {
            return true;
        };
        if run.result.is_some() || run.inner_done >= self.script.call(call).inner {
            return true;
        }
        let inner = self.script.inner_call(call, run.inner_done, run.number);
        inner.is_some_and(|inner| world.call(inner).ledger.outcome.settled())
    }

    /// Whether anything that a fault could disturb is still to come.
    pub(super) fn anything_to_come(&self, world: &World<S>) -> bool {
        !world.net.is_empty()
            || world.calls.iter().zip(&self.script.calls).any(|(state, plan)| match state.ledger.outcome {
                Outcome::NotBegun => matches!(plan.role, Role::Plain | Role::Later(_)) || state.host.is_some(),
                Outcome::Pending => true,
                Outcome::Answered(_) | Outcome::Failed { .. } | Outcome::Aborted | Outcome::Gone => false,
            })
            || world
                .objects
                .iter()
                .flat_map(|object| &object.incarnations)
                .any(|life| !life.gate.queue().is_empty() || !life.gate.runs().is_empty())
    }
}

/// Weak fairness: what stays possible happens in the end. Faults need not.
pub(super) fn fairness<S: ClaimStore>(action: &Action, script: &Script<S>) -> Option<FairClass> {
    let pipelined = |call: u8| matches!(script.call(call).role, Role::Pipelined(_));
    let class = match *action {
        // Nobody has to use a pending result.
        Action::Begin { call, send: Send::Sent } if !pipelined(call) => call % 16,
        Action::Wake { call, send: Send::Sent } => 16 + call % 16,
        Action::Cutoff { call } => 32 + call % 16,
        Action::SeeDrop { call, .. } => 48 + call % 16,
        Action::Deliver { packet, full: false } => 64 + packet.call % 16,
        Action::Receive { packet, .. } => 80 + packet.call % 16,
        Action::Start { at } | Action::Stored { at, .. } => 96 + at.object * 4 + at.place % 4,
        Action::Finish { at, throws: false, .. } => 104 + at.object * 4 + at.place % 4,
        Action::Confirm { at, .. } => 112 + at.object * 4 + at.place % 4,
        Action::Succeed { object } => 120 + object,
        Action::Advance => 126,
        Action::Begin { .. }
        | Action::Wake { .. }
        | Action::Deliver { .. }
        | Action::Finish { .. }
        | Action::Lose { .. }
        | Action::Cut { .. }
        | Action::Duplicate { .. }
        | Action::Restart { .. }
        | Action::Drain { .. }
        | Action::Seize { .. }
        | Action::Crash { .. }
        | Action::GiveUp { .. }
        | Action::Abort { .. }
        | Action::Forget { .. } => return None,
    };
    Some(FairClass::new(class))
}

fn place(index: usize) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}
