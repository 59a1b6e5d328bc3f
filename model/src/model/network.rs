//! The network, callers' lives, and time.

use std::time::Duration;

use oncemore_protocol::caller::Input;
use oncemore_protocol::identity::CallerId;
use oncemore_protocol::rules::Rules;
use oncemore_protocol::store::ClaimStore;
use oncemore_protocol::time::Time;

use super::{Model, NOW, Notes};
use crate::action::PacketId;
use crate::script::{MS, Script};
use crate::world::{Connection, Fault, Outcome, World};

impl<S: ClaimStore> Model<S> {
    /// A request or an answer is lost: its caller will see the connection drop.
    pub(super) fn lose(&self, world: &mut World<S>, packet: PacketId) -> Option<()> {
        world.budget.spend(if packet.answer { Fault::LoseReply } else { Fault::LoseRequest });
        world.take(packet)?;
        world.drop_connection(PacketId { answer: false, ..packet });
        Some(())
    }

    /// The connection drops; the request, and what it started, go on.
    pub(super) fn cut(&self, world: &mut World<S>, call: u8) -> Option<()> {
        world.budget.spend(Fault::Cut);
        world.call_mut(call).connection = Connection::Dropped;
        Some(())
    }

    pub(super) fn duplicate(&self, world: &mut World<S>, packet: PacketId) -> Option<()> {
        let original = *world.packet(packet)?;
        // Copies are told apart by how many there still can be.
        let copy = world.budget.left(Fault::Duplicate);
        world.budget.spend(Fault::Duplicate);
        let id = PacketId { copy, ..packet };
        if world.packet(id).is_some() {
            return None;
        }
        world.put(crate::world::Packet { id, ..original });
        Some(())
    }

    /// A caller dies; its next life makes the calls that have not begun.
    pub(super) fn crash(&self, world: &mut World<S>, caller: u8, reuse: bool) -> Option<()> {
        world.budget.spend(if reuse { Fault::Reuse } else { Fault::Crash });
        for call in self.script.callers[usize::from(caller)].calls.clone() {
            if world.call(call).ledger.outcome == Outcome::Pending {
                self.hang_up(world, call);
                let state = world.call_mut(call);
                state.machine = None;
                state.cutoff_ms = None;
                state.ledger.outcome = Outcome::Gone;
            }
            world.call_mut(call).session = None;
        }
        let life = world.caller(caller).life + 1;
        let before = world.caller(caller).lanes.iter().flatten().next().map(oncemore_protocol::lane::Lane::caller);
        let random = Script::<S>::caller_id(caller, life);
        let before = before.unwrap_or(random);
        let id: CallerId = if reuse { before } else { self.script.terms.rules.next_life(random, before) };
        world.caller_mut(caller).life = life;
        self.begin_life(world, caller, id);
        Some(())
    }

    /// The incarnation that makes an inner call is gone, and so is the call's future (C7).
    pub(super) fn drop_call(&self, world: &mut World<S>, call: u8, notes: &mut Notes) {
        let state = world.call_mut(call);
        if let Some(mut machine) = state.machine.take() {
            let step = machine.handle(&self.script.terms, NOW, 0, Input::Drop);
            notes.all(step.fired);
        }
        let state = world.call_mut(call);
        state.ledger.outcome = Outcome::Gone;
        state.cutoff_ms = None;
        self.hang_up(world, call);
    }

    /// Time passes, to the next instant at which anything changes.
    pub(super) fn advance(&self, world: &mut World<S>) -> Option<()> {
        let elapsed = self.next_instant(world)?;
        if self.script.lifetime.is_some() {
            // What could still have arrived at this instant no longer can.
            let expired: Vec<PacketId> = world
                .net
                .iter()
                .filter(|packet| !packet.id.answer && packet.due <= NOW)
                .map(|packet| packet.id)
                .collect();
            for id in expired {
                world.take(id);
                world.drop_connection(id);
            }
        }
        world.rebase(&self.script, elapsed);
        Some(())
    }

    /// How long until the next instant at which anything changes; none if time makes no difference, or may not pass yet.
    ///
    /// Time does not pass a cutoff while it has not been seen by the retry that it cancels (C3), nor the moment by which a
    /// waiting request must have started where that is bounded. All else may be late: timers, answers, runs.
    pub(crate) fn next_instant(&self, world: &World<S>) -> Option<Duration> {
        if !self.script.clock || !self.anything_to_come(world) {
            return None;
        }
        let mut next = Soonest(None);
        for state in world.calls.iter() {
            let (Some(machine), Some(left)) = (&state.machine, state.cutoff_ms) else { continue };
            if machine.attempting() {
                match machine.deadline(&self.script.terms) {
                    Some(at) if at <= NOW => return None,
                    // Beyond its cutoff, a retry that nothing cancels would be seen to outlive it.
                    None if left == 0 && machine.ordinal().0 > 1 => next.offer(MS),
                    Some(_) | None => {}
                }
            }
            if let Ok(left) = u32::try_from(left) {
                // Just before the cutoff, then the cutoff.
                next.offer(MS * left.saturating_sub(1));
                next.offer(MS * left);
            }
        }
        for packet in world.net.iter().filter(|packet| !packet.id.answer) {
            next.offer_until(packet.due);
        }
        for life in world.objects.iter().flat_map(|object| &object.incarnations) {
            next.offer_until(life.margin_ends);
            if let Some(at) = life.gate.deadline(&self.script.gate) {
                next.offer_until(at);
            }
            for request in life.gate.queue() {
                if self.script.waiting.is_some() && request.ticket.due <= NOW {
                    return None;
                }
                next.offer_until(request.ticket.due);
            }
        }
        next.0
    }
}

/// The least of the spans offered, zero apart.
struct Soonest(Option<Duration>);

impl Soonest {
    fn offer(&mut self, span: Duration) {
        if !span.is_zero() {
            self.0 = Some(self.0.map_or(span, |soonest| soonest.min(span)));
        }
    }

    fn offer_until(&mut self, at: Time) {
        self.offer(at.since(NOW));
    }
}
