//! One state for all that differ in names alone: numbers and incarnations by rank, and no absolute time.

use std::time::Duration;

use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number};
use oncemore_protocol::lane::{rank, renumber_unsettled};
use oncemore_protocol::store::{ClaimStore, Visitor, Window};

use super::{Load, World};
use crate::script::Script;

/// At most so many callers, the runs that call included.
pub(crate) const CALLERS_MAX: usize = 24;

/// Which numbers are referred to, by caller, and which incarnations, by object: a bit for each.
///
/// A caller's lives share a mask: that keeps more apart than need be, never less.
#[derive(Clone, Copy)]
struct Kept {
    numbers: [u64; CALLERS_MAX],
    incarnations: [u64; 2],
}

fn caller_of(id: CallerId) -> usize {
    usize::try_from((id.bits() - 1) / 8).unwrap_or(0)
}

/// Sees every identifier in a state.
trait Sight {
    fn number(&mut self, caller: CallerId, number: &mut Number);
    fn window(&mut self, caller: CallerId, window: &mut Window);
    fn incarnation(&mut self, object: usize, incarnation: &mut Incarnation);
    /// An attempt's header: its identity, its address, and what it tells of the numbers below its own.
    fn header(&mut self, object: usize, header: &mut Header);

    fn identity(&mut self, object: usize, identity: &mut Identity) {
        self.number(identity.caller, &mut identity.number);
        self.incarnation(object, &mut identity.born);
    }
}

/// Notes what is referred to.
impl Sight for Kept {
    fn number(&mut self, caller: CallerId, number: &mut Number) {
        self.numbers[caller_of(caller)] |= 1 << number.0;
    }

    fn window(&mut self, _caller: CallerId, _window: &mut Window) {}

    fn incarnation(&mut self, object: usize, incarnation: &mut Incarnation) {
        self.incarnations[object] |= 1 << incarnation.0;
    }

    fn header(&mut self, object: usize, header: &mut Header) {
        self.incarnation(object, &mut header.address);
        if let Some(identity) = &mut header.identity {
            self.identity(object, identity);
        }
    }
}

/// Gives everything its rank.
struct Renumber(Kept);

impl Sight for Renumber {
    fn number(&mut self, caller: CallerId, number: &mut Number) {
        *number = rank(*number, self.0.numbers[caller_of(caller)]);
    }

    fn window(&mut self, caller: CallerId, window: &mut Window) {
        *window = window.renumbered(self.0.numbers[caller_of(caller)]);
    }

    fn incarnation(&mut self, object: usize, incarnation: &mut Incarnation) {
        if incarnation.0 != 0 {
            let kept = self.0.incarnations[object] & !1;
            *incarnation = Incarnation(rank(Number(incarnation.0), kept).0 + 1);
        }
    }

    fn header(&mut self, object: usize, header: &mut Header) {
        self.incarnation(object, &mut header.address);
        if let Some(identity) = &mut header.identity {
            let kept = self.0.numbers[caller_of(identity.caller)];
            header.unsettled = renumber_unsettled(identity.number, header.unsettled, kept);
            self.identity(object, identity);
        }
    }
}

/// A store's view of a sight.
struct InStore<'a, T>(&'a mut T, usize);

impl<T: Sight> Visitor for InStore<'_, T> {
    fn number(&mut self, caller: CallerId, number: &mut Number) {
        self.0.number(caller, number);
    }

    fn window(&mut self, caller: CallerId, window: &mut Window) {
        self.0.window(caller, window);
    }

    fn incarnation(&mut self, incarnation: &mut Incarnation) {
        self.0.incarnation(self.1, incarnation);
    }
}

impl<S: ClaimStore> World<S> {
    /// Renumbers identities and incarnations by rank among those that anything still refers to.
    pub(crate) fn renumber(&mut self, script: &Script<S>) {
        let mut kept = Kept { numbers: [0; CALLERS_MAX], incarnations: [0; 2] };
        self.visit(script, &mut kept);
        if self.is_ranked(&kept) {
            return;
        }
        self.visit(script, &mut Renumber(kept));
        for (caller, state) in self.callers.as_mut_slice().iter_mut().enumerate() {
            for lane in state.lanes.iter_mut().flatten() {
                *lane = lane.renumbered(kept.numbers[caller]);
            }
        }
    }

    /// Whether every identifier has its rank already, so that there is nothing to do.
    fn is_ranked(&self, kept: &Kept) -> bool {
        let numbers = self.callers.iter().zip(kept.numbers).all(|(state, kept)| {
            kept.wrapping_add(1).is_power_of_two() | (kept == 0)
                && state.lanes.iter().flatten().all(|lane| kept == low_bits(lane.next().0))
        });
        numbers && kept.incarnations.iter().all(|&kept| (kept | 1).wrapping_add(1).is_power_of_two())
    }

    fn visit(&mut self, script: &Script<S>, sight: &mut impl Sight) {
        for (call, state) in script.calls.iter().zip(self.calls.as_mut_slice()) {
            let object = usize::from(call.object);
            if let Some(identity) = state.machine.as_mut().and_then(|machine| machine.identity_mut()) {
                sight.identity(object, identity);
            }
            if let Some(session) = &mut state.session {
                sight.incarnation(object, &mut session.at);
                if let Some(identity) = &mut session.identity {
                    sight.identity(object, identity);
                }
            }
        }
        for packet in self.net.as_mut_slice() {
            if let Load::Request { header, .. } = &mut packet.load {
                sight.header(usize::from(script.call(packet.id.call).object), header);
            }
        }
        for caller in self.callers.as_mut_slice() {
            for (object, route) in caller.routes.iter_mut().enumerate() {
                if let Some(address) = route.address_mut() {
                    sight.incarnation(object, address);
                }
            }
        }
        for (object, state) in self.objects.iter_mut().enumerate() {
            sight.incarnation(object, state.ownership.incarnation_mut());
            if let Some(previous) = &mut state.previous {
                sight.incarnation(object, previous);
            }
            state.stored.visit(&mut InStore(sight, object));
            for (key, _) in state.results.as_mut_slice() {
                sight.number(key.caller, &mut key.number);
            }
            for life in &mut state.incarnations {
                let (incarnation, queue, runs, store) = life.gate.parts_mut();
                sight.incarnation(object, incarnation);
                queue.iter_mut().for_each(|request| sight.header(object, &mut request.header));
                runs.iter_mut().for_each(|run| sight.header(object, &mut run.request.header));
                store.visit(&mut InStore(sight, object));
            }
        }
    }

    /// Time passes: "now" stays the origin, and everything else comes nearer.
    pub(crate) fn rebase(&mut self, script: &Script<S>, elapsed: Duration) {
        let elapsed_ms = i32::try_from(elapsed.as_millis()).unwrap_or(i32::MAX);
        for state in self.calls.as_mut_slice() {
            state.machine = state.machine.map(|machine| machine.rebased(elapsed));
            // How long ago the cutoff was makes no difference.
            state.cutoff_ms = state.cutoff_ms.map(|left| left.saturating_sub(elapsed_ms).max(-1));
        }
        for packet in self.net.as_mut_slice() {
            packet.due = packet.due.rebased(elapsed);
        }
        for object in &mut self.objects {
            object.stored.rebase(elapsed);
            for life in &mut object.incarnations {
                life.margin_ends = life.margin_ends.rebased(elapsed);
                life.gate.rebase(&script.gate, elapsed);
                let (_, queue, runs, _) = life.gate.parts_mut();
                queue.iter_mut().for_each(|request| request.ticket.due = request.ticket.due.rebased(elapsed));
                runs.iter_mut().for_each(|run| run.request.ticket.due = run.request.ticket.due.rebased(elapsed));
            }
        }
        if script.wall_margin.is_some() {
            self.rebase_walls(script, elapsed);
        }
    }

    /// D2 alone reads wall clocks; for all others they stand still and tell no states apart.
    fn rebase_walls(&mut self, script: &Script<S>, elapsed: Duration) {
        struct Age(Duration);
        impl Sight for Age {
            fn number(&mut self, _: CallerId, _: &mut Number) {}
            fn window(&mut self, _: CallerId, _: &mut Window) {}
            fn incarnation(&mut self, _: usize, _: &mut Incarnation) {}
            fn header(&mut self, object: usize, header: &mut Header) {
                if let Some(identity) = &mut header.identity {
                    self.identity(object, identity);
                }
            }
            fn identity(&mut self, _: usize, identity: &mut Identity) {
                identity.created = identity.created.rebased(self.0);
            }
        }
        self.visit(script, &mut Age(elapsed));
    }
}

const fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
