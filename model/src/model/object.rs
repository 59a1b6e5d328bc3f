//! Objects: incarnations, their gates and what user code does in them.

use oncemore_protocol::eligibility::Position;
use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::few::Few;
use oncemore_protocol::gate::{Answer, Decision, Gate, Request, Turn};
use oncemore_protocol::identity::{Header, Incarnation};
use oncemore_protocol::marks::Mark;
use oncemore_protocol::rule::Branch;
use oncemore_protocol::rules::Rules;
use oncemore_protocol::store::{Birth, ClaimStore, Digest, Key, Writes};
use oncemore_protocol::time::WallTime;

use super::{Model, NOW, Notes};
use crate::action::{At, PacketId};
use crate::property::Reach;
use crate::script::{MS, Role};
use crate::world::ledger::once_more;
use crate::world::{Body, Fault, Flag, Life, Load, Object, Outcome, Packet, Part, RunState, Seen, Ticket, World};

/// How many predecessors may go on at a time; the oldest ends when another is added.
const PREDECESSORS_MAX: usize = 2;

impl<S: ClaimStore> Model<S> {
    /// A request arrives: at the incarnation that it names if that is still there, else at the owner.
    pub(super) fn deliver(&self, world: &mut World<S>, packet: PacketId, full: bool, notes: &mut Notes) -> Option<()> {
        let Load::Request { header, session } = world.take(packet)?.load else {
            return None;
        };
        let plan = self.script.call(packet.call);
        let due = self.script.waiting.map_or(NOW, |waiting| NOW.after(waiting));
        let request = Request {
            ticket: Ticket { id: packet, due },
            header,
            mark: plan.mark,
            believed: plan.believed,
            digest: Digest(u64::from(packet.call)),
            session,
            position: if matches!(plan.role, Role::Later(_)) { Position::Later } else { Position::First },
        };
        let terms = if full { &self.script.full } else { &self.script.gate };
        if full {
            world.budget.spend(Fault::Overload);
        }
        let object = world.object_mut(plan.object);
        let place = object.place_of(header.address);
        let life = &mut object.incarnations[place];
        let draining = life.gate.draining();
        let arrival = life.gate.arrive(terms, request, NOW);
        notes.all(arrival.fired);
        if let Some(refusal) = arrival.refused {
            life.share_if_same();
            note_refusal(world, &request, refusal);
            self.answer(world, packet, Body::Refused(refusal), draining);
        }
        Some(())
    }

    /// A gate takes the next request whose turn it is.
    pub(super) fn start(&self, world: &mut World<S>, at: At, notes: &mut Notes) -> Option<()> {
        let object = world.object_mut(at.object);
        let life = &mut object.incarnations[usize::from(at.place)];
        let Turn { request, decision, fired } = life.gate.next(&self.script.gate, NOW)?;
        notes.all(fired);
        if fired.has(Branch::RejectedDoubtful) {
            notes.reach(Reach::FailedClosed);
        }
        let gate = &object.incarnations[usize::from(at.place)].gate;
        // What is sent back is not listened to.
        let heard = decision != Decision::Refuse(Refusal::Elsewhere);
        if heard && keeps_settled(gate, &request.header) {
            object.record.kept_settled = true;
        }
        let id = request.ticket.id;
        match decision {
            Decision::NewEpoch => self.new_epoch(world, at, notes),
            Decision::Refuse(refusal) => self.refuse(world, at, &request, refusal),
            Decision::AnswerRecorded => {
                let key = request.header.identity.map(|identity| self.script.terms.rules.key(identity))?;
                let recorded = world.object(at.object).record.results.iter().find(|(known, _)| *known == key)?.1;
                world.object_mut(at.object).incarnations[usize::from(at.place)].runs.push(RunState {
                    id,
                    result: Some(recorded),
                    ..RunState::default()
                });
            }
            Decision::Store(writes) => {
                let held = self.write(world, at, &writes, notes);
                world.object_mut(at.object).incarnations[usize::from(at.place)].runs.push(RunState {
                    id,
                    claim_held: held,
                    ..RunState::default()
                });
                once_more(&mut world.call_mut(id.call).ledger.admitted);
            }
            Decision::Start => {
                world.object_mut(at.object).incarnations[usize::from(at.place)]
                    .runs
                    .push(RunState { id, ..RunState::default() });
                if request.header.identity.is_some() {
                    once_more(&mut world.call_mut(id.call).ledger.admitted);
                }
                self.run(world, at, id, notes);
            }
        }
        self.tidy(world, at.object);
        Some(())
    }

    /// The gate's refusal leaves.
    fn refuse(&self, world: &mut World<S>, at: At, request: &Request<Ticket>, refusal: Refusal) {
        let here = world.object(at.object).incarnations[usize::from(at.place)].gate.incarnation();
        let unknown_session = request.position == Position::Later && refusal == Refusal::Elsewhere;
        let sent_back =
            unknown_session || (S::checks_address(&self.script.gate.store) && request.header.address != here);
        note_refusal(world, request, refusal);
        self.answer(world, request.ticket.id, Body::Refused(refusal), sent_back);
    }

    /// G6: the store is full. The owner gets a new number; one that has lost the object learns it and drains.
    fn new_epoch(&self, world: &mut World<S>, at: At, notes: &mut Notes) {
        let rules = self.script.gate.rules;
        let object = world.object_mut(at.object);
        let old = object.incarnations[usize::from(at.place)].gate.incarnation();
        if let Some(incarnation) = object.record.ownership.next_epoch(rules, old) {
            object.record.previous = Some(old);
            let birth = Birth { incarnation, wall: WallTime::default() };
            let life = &mut object.incarnations[usize::from(at.place)];
            let writes = life.gate.begin_epoch(&self.script.gate, birth);
            life.margin_ends = self.margin_ends();
            object.record.stored.apply(&writes);
            object.record.results = Few::default();
        } else {
            let life = &mut object.incarnations[usize::from(at.place)];
            let mut refused = Vec::new();
            notes.all(life.gate.drain(&self.script.gate, |request, refusal| refused.push((request, refusal))));
            for (request, refusal) in refused {
                self.answer(world, request.ticket.id, Body::Refused(refusal), true);
            }
        }
    }

    /// The claim is durable, or the epoch was lost (G9).
    pub(super) fn claim_stored(&self, world: &mut World<S>, at: At, run: PacketId, notes: &mut Notes) -> Option<()> {
        let life = &mut world.object_mut(at.object).incarnations[usize::from(at.place)];
        let held = life.run(run)?.claim_held;
        let ticket = ticket_of(&life.gate, run)?;
        let (decision, fired) = life.gate.stored(ticket, held)?;
        notes.all(fired);
        match decision {
            Decision::Start => self.run(world, at, run, notes),
            Decision::Refuse(refusal) => {
                life.runs.retain(|state| state.id != run);
                self.answer(world, run, Body::Refused(refusal), false);
                self.tidy(world, at.object);
            }
            Decision::Store(_) | Decision::AnswerRecorded | Decision::NewEpoch => return None,
        }
        Some(())
    }

    /// The method is looked up and user code starts.
    fn run(&self, world: &mut World<S>, at: At, id: PacketId, notes: &mut Notes) {
        let plan = self.script.call(id.call);
        if plan.getter {
            self.user_code_starts(world, id.call, notes);
        }
        let life = &mut world.object_mut(at.object).incarnations[usize::from(at.place)];
        let Some(ticket) = ticket_of(&life.gate, id) else { return };
        if let Some(refusal) = life.gate.looked_up(&self.script.gate, ticket, NOW) {
            life.gate.confirmed(&self.script.gate, ticket, true);
            life.runs.retain(|state| state.id != id);
            self.answer(world, id, Body::Refused(refusal), false);
            return;
        }
        if !plan.getter && !plan.unknown {
            self.user_code_starts(world, id.call, notes);
        }
        self.host_inner_calls(world, at, id);
    }

    fn user_code_starts(&self, world: &mut World<S>, call: u8, notes: &mut Notes) {
        let ledger = &mut world.call_mut(call).ledger;
        once_more(&mut ledger.starts);
        if ledger.starts > 1 && self.script.call(call).mark == Mark::Marked {
            notes.reach(Reach::MarkedRanTwice);
        }
    }

    /// The run gets inner calls of its own, if its method makes any.
    fn host_inner_calls(&self, world: &mut World<S>, at: At, id: PacketId) {
        if self.script.call(id.call).inner == 0 {
            return;
        }
        let free = (0..u8::MAX).map_while(|number| Some((number, self.script.inner_call(id.call, 0, number)?)));
        let free = free.into_iter().find(|(_, inner)| world.call(*inner).host.is_none());
        if let Some((number, inner)) = free {
            world.call_mut(inner).host = Some(id);
            let life = &mut world.object_mut(at.object).incarnations[usize::from(at.place)];
            if let Some(run) = life.run_mut(id) {
                run.number = number;
            }
        }
    }

    /// User code ends; its effect and whatever must be stored with it are one transaction.
    pub(super) fn finish(
        &self,
        world: &mut World<S>,
        at: At,
        id: PacketId,
        throws: bool,
        notes: &mut Notes,
    ) -> Option<()> {
        let plan = self.script.call(id.call);
        if throws {
            world.budget.spend(Fault::Throw);
        }
        let life = &mut world.object_mut(at.object).incarnations[usize::from(at.place)];
        let failed = life.run(id)?.result;
        let result = match failed {
            Some(failed) => failed,
            None if plan.unknown => Body::NoMethod,
            None if throws => Body::Thrown { kind: Kind::Disconnected, delivery: Delivery::Delivered },
            None => Body::Value(read(life.cache, plan)),
        };
        life.run_mut(id)?.result = Some(result);
        let ticket = ticket_of(&life.gate, id)?;
        let writes = life.gate.finished(&self.script.gate, ticket, NOW);
        if matches!(result, Body::Value(_)) {
            overwrite(&mut life.cache, plan, id.call);
        }
        self.commit(world, at, id, result, &writes, notes)
    }

    /// The transaction of effect and result (D5), if this incarnation still holds the epoch.
    fn commit(
        &self,
        world: &mut World<S>,
        at: At,
        id: PacketId,
        result: Body,
        writes: &Writes,
        notes: &mut Notes,
    ) -> Option<()> {
        let plan = self.script.call(id.call);
        let effect = matches!(result, Body::Value(_));
        if let Body::Value(seen) = result {
            world.call_mut(id.call).ledger.returned |= value_bit(seen);
        }
        let with_effect = self.script.gate.rules.result_with_effect();
        let none = Writes::default();
        if !self.write(world, at, if with_effect { writes } else { &none }, notes) {
            return Some(());
        }
        let object = world.object_mut(at.object);
        if effect {
            overwrite(&mut object.record.fields, plan, id.call);
        }
        if with_effect {
            self.put_on_record(object, at, id, writes, result);
        }
        if effect && plan.writes_any() {
            once_more(&mut world.call_mut(id.call).ledger.effects);
        }
        Some(())
    }

    /// D5: the result goes on record with the claim.
    fn put_on_record(&self, object: &mut Object<S>, at: At, id: PacketId, writes: &Writes, result: Body) {
        let life = &object.incarnations[usize::from(at.place)];
        let identity = life.gate.runs().iter().find(|run| run.request.ticket.id == id);
        let Some(identity) = identity.and_then(|run| run.request.header.identity) else { return };
        if writes.is_empty() {
            return;
        }
        let key: Key = self.script.gate.rules.key(identity);
        object.record.results.retain(|(known, _)| *known != key);
        let place = object.record.results.as_slice().partition_point(|(known, _)| *known < key);
        object.record.results.insert(place, (key, result));
    }

    /// G12: storage confirms the epoch, or not; the answer leaves.
    pub(super) fn confirm(&self, world: &mut World<S>, at: At, id: PacketId, notes: &mut Notes) -> Option<()> {
        let rules = self.script.gate.rules;
        let object = world.object_mut(at.object);
        let life = &mut object.incarnations[usize::from(at.place)];
        let incarnation = life.gate.incarnation();
        let (held, _) = object.record.ownership.holds(rules, incarnation);
        let ticket = ticket_of(&life.gate, id)?;
        let result = life.run(id)?.result?;
        if !rules.result_with_effect() && held {
            let writes = life.gate.finished(&self.script.gate, ticket, NOW);
            object.record.stored.apply(&writes);
            self.put_on_record(object, at, id, &writes, result);
        }
        let life = &mut world.object_mut(at.object).incarnations[usize::from(at.place)];
        let (answer, fired) = life.gate.confirmed(&self.script.gate, ticket, held)?;
        notes.all(fired);
        life.runs.retain(|state| state.id != id);
        let body = match answer {
            Answer::Run => result,
            Answer::Refused(refusal) => Body::Refused(refusal),
        };
        self.answer(world, id, body, false);
        self.tidy(world, at.object);
        Some(())
    }

    /// Storage takes the writes of the incarnation that holds the epoch, all of them or none (G2).
    fn write(&self, world: &mut World<S>, at: At, writes: &Writes, notes: &mut Notes) -> bool {
        let object = world.object_mut(at.object);
        let incarnation = object.incarnations[usize::from(at.place)].gate.incarnation();
        let (held, fired) = object.record.ownership.holds(self.script.gate.rules, incarnation);
        notes.all(fired);
        if held {
            object.record.stored.apply(writes);
            // A result is no longer than its claim on record (D5).
            let live: Few<Key, 4> = claims_of(&object.incarnations[usize::from(at.place)].gate);
            object.record.results.retain(|(key, _)| live.iter().any(|known| known == key));
        }
        held
    }

    /// An answer leaves, if anybody still waits for it.
    pub(super) fn answer(&self, world: &mut World<S>, id: PacketId, body: Body, sent_back: bool) {
        if world.awaits(id) && world.packet(id.answered()).is_none() {
            world.put(Packet { id: id.answered(), due: NOW, load: Load::Answer { body, sent_back } });
        }
    }

    /// The owner's memory is lost; its successor begins in its place.
    pub(super) fn restart(&self, world: &mut World<S>, object: u8, notes: &mut Notes) -> Option<()> {
        world.budget.spend(Fault::Restart);
        let ended = world.object_mut(object).incarnations.pop()?;
        self.end(world, &ended, notes);
        let rules = self.script.gate.rules;
        let state = world.object_mut(object);
        state.record.previous = Some(state.record.ownership.incarnation());
        let incarnation = state.record.ownership.take_over(rules, ());
        self.begin_incarnation(state, incarnation);
        Some(())
    }

    pub(super) fn drain(&self, world: &mut World<S>, object: u8, notes: &mut Notes) -> Option<()> {
        world.budget.spend(Fault::Drain);
        let state = world.object_mut(object);
        state.record.ownership.drain();
        let mut refused = Vec::new();
        let gate = &mut state.incarnations.last_mut()?.gate;
        notes.all(gate.drain(&self.script.gate, |request, refusal| refused.push((request, refusal))));
        for (request, refusal) in refused {
            self.answer(world, request.ticket.id, Body::Refused(refusal), true);
        }
        Some(())
    }

    pub(super) fn succeed(&self, world: &mut World<S>, object: u8, notes: &mut Notes) -> Option<()> {
        let rules = self.script.gate.rules;
        let state = world.object_mut(object);
        state.record.previous = Some(state.record.ownership.incarnation());
        let incarnation = state.record.ownership.hand_over(rules, ()).ok()?;
        self.begin_incarnation(state, incarnation);
        self.retire(world, object, notes);
        Some(())
    }

    pub(super) fn seize(&self, world: &mut World<S>, object: u8, notes: &mut Notes) -> Option<()> {
        world.budget.spend(Fault::Seize);
        let rules = self.script.gate.rules;
        let state = world.object_mut(object);
        state.record.previous = Some(state.record.ownership.incarnation());
        let incarnation = state.record.ownership.take_over(rules, ());
        self.begin_incarnation(state, incarnation);
        self.retire(world, object, notes);
        Some(())
    }

    pub(super) fn forget(&self, world: &mut World<S>, object: u8) -> Option<()> {
        world.budget.spend(Fault::Forget);
        world.object_mut(object).incarnations.last_mut()?.gate.forget_claims();
        Some(())
    }

    fn begin_incarnation(&self, object: &mut Object<S>, incarnation: Incarnation) {
        let birth = Birth { incarnation, wall: WallTime::default() };
        let gate = Gate::open(&self.script.gate, birth, object.record.stored.iter());
        let margin_ends = self.margin_ends();
        let life = Life { gate, cache: object.record.fields, runs: Few::default(), margin_ends };
        object.incarnations.push(Part::new(life));
    }

    /// D2: when identities made from now on are no longer older than the incarnation and its margin.
    fn margin_ends(&self) -> oncemore_protocol::time::Time {
        self.script.wall_margin.map_or(NOW, |margin| NOW.after(margin + MS))
    }

    /// Only so many predecessors go on; the oldest ends.
    fn retire(&self, world: &mut World<S>, object: u8, notes: &mut Notes) {
        if world.object(object).incarnations.len() > PREDECESSORS_MAX + 1 {
            let ended = world.object_mut(object).incarnations.remove(0);
            self.end(world, &ended, notes);
        }
        self.tidy(world, object);
    }

    /// A predecessor that admits nothing, with nothing left to do, makes no difference any more.
    fn tidy(&self, world: &mut World<S>, object: u8) {
        let state = world.object_mut(object);
        let owner = state.incarnations.len().saturating_sub(1);
        let mut place = 0;
        state.incarnations.retain(|life| {
            let idle = life.gate.draining() && life.gate.queue().is_empty() && life.gate.runs().is_empty();
            place += 1;
            place > owner || !idle
        });
    }

    /// An incarnation is gone: its connections drop, and its own calls are dropped with it (C7).
    fn end(&self, world: &mut World<S>, ended: &Life<S>, notes: &mut Notes) {
        for request in ended.gate.queue() {
            world.drop_connection(request.ticket.id);
        }
        for run in ended.gate.runs() {
            world.drop_connection(run.request.ticket.id);
        }
        for run in ended.runs.iter() {
            for call in 0..world.calls.len() {
                let call = u8::try_from(call).unwrap_or(u8::MAX);
                let inner = self.script.inner_call(run.id.call, run.inner_done, run.number);
                if inner == Some(call) && world.call(call).ledger.outcome == Outcome::Pending {
                    self.drop_call(world, call, notes);
                }
            }
        }
    }
}

/// G10, L2: a call that was never let in is refused as a duplicate.
fn note_refusal<S: ClaimStore>(world: &mut World<S>, request: &Request<Ticket>, refusal: Refusal) {
    let says_duplicate =
        matches!(refusal, Refusal::Claimed | Refusal::Settled | Refusal::Older | Refusal::OtherRequest);
    let state = world.call(request.ticket.id.call);
    let current = state.machine.as_ref().and_then(|machine| machine.identity());
    if says_duplicate && state.ledger.admitted == 0 && current.is_some() && current == request.header.identity {
        world.call_mut(request.ticket.id.call).ledger.raise(Flag::GaveUpEarly);
    }
}

/// P15: whether the gate kept a claim of this caller that the attempt just told it was settled.
fn keeps_settled<S: ClaimStore>(gate: &Gate<Ticket, S>, header: &Header) -> bool {
    header.identity.is_some_and(|identity| {
        gate.store().claims().any(|key| {
            key.caller == identity.caller
                && key.number < identity.number
                && !header.unsettled.has(identity.number, key.number)
        })
    })
}

fn claims_of<S: ClaimStore>(gate: &Gate<Ticket, S>) -> Few<Key, 4> {
    let mut keys = Few::default();
    for key in gate.store().claims() {
        keys.push(key);
    }
    keys
}

fn ticket_of<S: ClaimStore>(gate: &Gate<Ticket, S>, id: PacketId) -> Option<Ticket> {
    gate.runs().iter().map(|run| run.request.ticket).find(|ticket| ticket.id == id)
}

/// What the method returns: who wrote its fields last; a method that writes nothing reads `x`.
fn read(fields: crate::world::Cells<u8>, plan: &crate::script::CallPlan) -> Seen {
    Seen { x: if plan.writes.y && !plan.writes.x { 0 } else { fields.x }, y: if plan.writes.y { fields.y } else { 0 } }
}

fn overwrite(fields: &mut crate::world::Cells<u8>, plan: &crate::script::CallPlan, call: u8) {
    if plan.writes.x {
        fields.x = call + 1;
    }
    if plan.writes.y {
        fields.y = call + 1;
    }
}

/// One bit for each value that a method may return.
pub(crate) fn value_bit(seen: Seen) -> u64 {
    1 << ((u64::from(seen.x) * 8 + u64::from(seen.y)) & 63)
}
