//! One state for all that differ in names alone: numbers and incarnations by rank, and no absolute time.

use std::hash::Hash;
use std::time::Duration;

use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number};
use oncemore_protocol::lane::{rank, renumber_unsettled};
use oncemore_protocol::store::{ClaimStore, Window};
use oncemore_protocol::time::Time;

use super::glance::Glance;
use super::mention::{CALLERS_MAX, Mentioned, Mentions, Show, Sight, caller_of, low_bits};
use super::quotient::Asked;
use super::{EachPart, Part, World};
use crate::script::Script;

/// Which numbers are referred to, by caller, and which incarnations, by object: a bit for each.
#[derive(Clone, Copy, Default)]
struct Kept {
    numbers: [u64; CALLERS_MAX],
    incarnations: [u64; 2],
}

impl Kept {
    #[inline]
    fn add(&mut self, mentions: &Mentions) {
        for (caller, mentioned) in &mentions.numbers {
            self.numbers[usize::from(*caller)] |= mentioned.these;
        }
        for (kept, mentioned) in self.incarnations.iter_mut().zip(&mentions.incarnations) {
            *kept |= mentioned.these;
        }
    }

    /// Whether renumbering changes what mentions these.
    #[inline]
    fn moves(&self, mentions: &Mentions) -> bool {
        let moved = |mentioned: &Mentioned, kept: u64| mentioned.below & !kept != 0;
        mentions.numbers.iter().any(|(caller, mentioned)| moved(mentioned, self.numbers[usize::from(*caller)]))
            || mentions.incarnations.iter().zip(self.incarnations).any(|(mentioned, kept)| moved(mentioned, kept))
    }
}

/// What the parts of a state mention, taken together.
#[derive(Default)]
struct Seen {
    kept: Kept,
    asked: Asked,
}

impl<S: ClaimStore> EachPart<S> for (&Script<S>, &mut Seen) {
    #[inline]
    fn part<T: Show<S> + Clone + Hash>(&mut self, place: usize, part: &mut Part<T>) {
        let mentions = part.mentions(self.0, place);
        self.1.kept.add(mentions);
        self.1.asked.add(mentions);
    }
}

impl<S: ClaimStore> EachPart<S> for (&Script<S>, &mut Glance) {
    #[inline]
    fn part<T: Show<S> + Clone + Hash>(&mut self, place: usize, part: &mut Part<T>) {
        self.1.add(&part.mentions(self.0, place).glance);
    }
}

/// Gives everything its rank.
struct Renumber(Kept);

impl<S: ClaimStore> EachPart<S> for (&Script<S>, &mut Renumber) {
    fn part<T: Show<S> + Clone + Hash>(&mut self, place: usize, part: &mut Part<T>) {
        if self.1.0.moves(part.mentions(self.0, place)) {
            part.show(self.0, place, self.1);
        }
    }
}

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

impl<S: ClaimStore> World<S> {
    /// Lets go of what nothing can depend on any more, and renumbers the rest.
    pub(crate) fn let_go_and_renumber(&mut self, script: &Script<S>) {
        self.let_go_of_stories(script);
        let glance = self.glance(script);
        if self.is_ranked_at(&glance) && (!Self::lets_go_of_claims(script) || Self::lacks_nothing_at(&glance)) {
            debug_assert!(self.looks_the_same(script), "a glance sees what is there");
            return;
        }
        let mut seen = self.seen(script);
        if Self::lets_go_of_claims(script) && self.let_go_of_claims(script, &seen.asked) {
            seen = self.seen(script);
        }
        self.renumber_by(script, seen.kept);
    }

    /// Renumbers identities and incarnations by rank among those that anything still refers to.
    pub(crate) fn renumber(&mut self, script: &Script<S>) {
        let kept = self.seen(script).kept;
        self.renumber_by(script, kept);
    }

    #[inline]
    fn glance(&mut self, script: &Script<S>) -> Glance {
        let mut glance = Glance::default();
        self.each_part(&mut (script, &mut glance));
        glance
    }

    /// Whether there is nothing to let go of and nothing to renumber, looking closely.
    fn looks_the_same(&mut self, script: &Script<S>) -> bool {
        let seen = self.seen(script);
        self.is_ranked(&seen.kept) && !(Self::lets_go_of_claims(script) && self.let_go_of_claims(script, &seen.asked))
    }

    fn seen(&mut self, script: &Script<S>) -> Seen {
        let mut seen = Seen::default();
        self.each_part(&mut (script, &mut seen));
        seen
    }

    fn renumber_by(&mut self, script: &Script<S>, kept: Kept) {
        if self.is_ranked(&kept) {
            return;
        }
        self.each_part(&mut (script, &mut Renumber(kept)));
        for (state, kept) in self.callers.iter_mut().zip(kept.numbers) {
            let lanes = state.lanes.map(|lane| lane.map(|lane| lane.renumbered(kept)));
            if lanes != state.lanes {
                state.lanes = lanes;
            }
        }
    }

    /// Whether every identifier has its rank already, so that there is nothing to do.
    fn is_ranked(&self, kept: &Kept) -> bool {
        let numbers = self.callers.iter().zip(&kept.numbers).all(|(state, &kept)| {
            kept.wrapping_add(1).is_power_of_two() | (kept == 0)
                && state.lanes.iter().flatten().all(|lane| kept == low_bits(lane.next().0))
        });
        numbers && kept.incarnations.iter().all(|&kept| (kept | 1).wrapping_add(1).is_power_of_two())
    }

    /// Time passes: "now" stays the origin, and everything else comes nearer.
    pub(crate) fn rebase(&mut self, script: &Script<S>, elapsed: Duration) {
        let elapsed_ms = i32::try_from(elapsed.as_millis()).unwrap_or(i32::MAX);
        for state in self.calls.iter_mut().filter(|state| state.machine.is_some() || state.cutoff_ms.is_some()) {
            state.machine = state.machine.map(|machine| machine.rebased(elapsed));
            // How long ago the cutoff was makes no difference.
            state.cutoff_ms = state.cutoff_ms.map(|left| left.saturating_sub(elapsed_ms).max(-1));
            state.share_if_same();
        }
        if self.net.iter().any(|packet| packet.due != Time::ORIGIN) {
            for packet in self.net.as_mut_slice() {
                packet.due = packet.due.rebased(elapsed);
            }
        }
        for object in &mut self.objects {
            object.record.stored.rebase(elapsed);
            object.record.share_if_same();
            for life in &mut object.incarnations {
                life.margin_ends = life.margin_ends.rebased(elapsed);
                life.gate.rebase(&script.gate, elapsed);
                let (_, queue, runs, _) = life.gate.parts_mut();
                queue.iter_mut().for_each(|request| request.ticket.due = request.ticket.due.rebased(elapsed));
                runs.iter_mut().for_each(|run| run.request.ticket.due = run.request.ticket.due.rebased(elapsed));
                life.share_if_same();
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
        impl<S: ClaimStore> EachPart<S> for (&Script<S>, &mut Age) {
            fn part<T: Show<S> + Clone + Hash>(&mut self, place: usize, part: &mut Part<T>) {
                part.show(self.0, place, self.1);
            }
        }
        self.each_part(&mut (script, &mut Age(elapsed)));
    }
}
