//! Which identifiers a part of a state mentions, as a list that is kept beside the part.
//!
//! What a state lets go of and how it is renumbered depends on the identifiers in all of its parts; with these lists a step
//! looks only into the parts that it has changed.

use oncemore_protocol::few::Few;
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number};
use oncemore_protocol::store::{ClaimStore, Visitor, Window};

use super::glance::Glance;
use super::{CallState, Caller, Life, Load, Net, Record};
use crate::script::Script;

/// Sees every identifier in a part of a state.
pub(crate) trait Sight {
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

/// A part that shows its identifiers; `place` is where it stands among its like.
pub(crate) trait Show<S: ClaimStore> {
    fn show(&mut self, script: &Script<S>, place: usize, sight: &mut impl Sight);
}

/// At most so many callers, the runs that call included.
pub(crate) const CALLERS_MAX: usize = 24;

/// A caller's place among callers. Its lives share its numbers: that keeps more apart than need be, never less.
#[inline]
pub(super) fn caller_of(caller: CallerId) -> usize {
    usize::try_from((caller.bits() - 1) / 8).unwrap_or(0)
}

/// What a part mentions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    pub(super) glance: Glance,
    pub(super) numbers: Few<(u8, Mentioned), 1>,
    pub(super) incarnations: [Mentioned; 2],
    /// Identities that may be asked for.
    pub(super) asked: Few<Name, 4>,
    /// Identities that were let in.
    pub(super) claimed: Few<Name, 4>,
    /// Lives of callers that have told what they have settled.
    pub(super) told: Few<u8, 2>,
}

/// Numbers of one caller, or incarnations of one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mentioned {
    /// Those that are referred to: a bit for each.
    pub(super) these: u64,
    /// Those below them, and below others that are spoken of: if one of these is not referred to by anything, renumbering
    /// changes the part.
    pub(super) below: u64,
}

/// A number of a caller's life. Numbers lie below 64 and ids below 256; what does not is named by the last there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) life: u8,
    pub(super) number: u8,
}

impl Name {
    pub(super) fn new(caller: CallerId, number: Number) -> Self {
        Self { life: small(caller.bits()), number: small(number.0.into()) }
    }
}

pub(super) fn small(number: u128) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

impl Mentions {
    /// What `part` mentions.
    #[inline]
    pub(super) fn note<S: ClaimStore>(&mut self, part: &mut impl Show<S>, script: &Script<S>, place: usize) {
        *self = Self::default();
        part.show(script, place, self);
    }

    #[inline]
    fn add_numbers(&mut self, caller: CallerId, these: u64, below: u64) {
        let caller = small(caller_of(caller) as u128);
        match self.numbers.as_mut_slice().iter_mut().find(|(known, _)| *known == caller) {
            Some((_, mentioned)) => {
                mentioned.these |= these;
                mentioned.below |= below;
            }
            None => self.numbers.push((caller, Mentioned { these, below })),
        }
    }

    #[inline]
    fn add_number(&mut self, caller: CallerId, number: Number) {
        self.add_numbers(caller, 1 << number.0, low_bits(number.0));
    }

    /// Something that a renumbering changes even where nothing moves.
    #[cold]
    fn add_loose(&mut self, caller: CallerId) {
        self.add_numbers(caller, 0, u64::MAX);
    }
}

impl Sight for Mentions {
    #[inline]
    fn number(&mut self, caller: CallerId, number: &mut Number) {
        self.glance.claim(caller, *number);
        self.claimed.push(Name::new(caller, *number));
        self.add_number(caller, *number);
    }

    #[inline]
    fn window(&mut self, caller: CallerId, window: &mut Window) {
        self.glance.tell(caller);
        self.told.push(small(caller.bits()));
        let below = low_bits(window.next().0);
        self.add_numbers(caller, 0, below);
        if window.renumbered(below) != *window {
            self.add_loose(caller);
        }
    }

    #[inline]
    fn incarnation(&mut self, object: usize, incarnation: &mut Incarnation) {
        self.glance.incarnation(object, *incarnation);
        let mentioned = &mut self.incarnations[object];
        mentioned.these |= 1 << incarnation.0;
        mentioned.below |= low_bits(incarnation.0) & !1;
    }

    #[inline]
    fn header(&mut self, object: usize, header: &mut Header) {
        self.incarnation(object, &mut header.address);
        if let Some(identity) = &mut header.identity {
            self.identity(object, identity);
            // Beyond its own number there is nothing to tell of, and a renumbering takes it away.
            if header.unsettled.0 & !low_bits(identity.number.0) != 0 {
                self.add_loose(identity.caller);
            }
        }
    }

    #[inline]
    fn identity(&mut self, object: usize, identity: &mut Identity) {
        self.glance.ask(identity.caller, identity.number);
        self.asked.push(Name::new(identity.caller, identity.number));
        self.add_number(identity.caller, identity.number);
        self.incarnation(object, &mut identity.born);
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

impl<S: ClaimStore> Show<S> for CallState {
    fn show(&mut self, script: &Script<S>, place: usize, sight: &mut impl Sight) {
        let object = usize::from(script.calls[place].object);
        if let Some(identity) = self.machine.as_mut().and_then(|machine| machine.identity_mut()) {
            sight.identity(object, identity);
        }
        if let Some(session) = &mut self.session {
            sight.incarnation(object, &mut session.at);
            if let Some(identity) = &mut session.identity {
                sight.identity(object, identity);
            }
        }
    }
}

impl<S: ClaimStore> Show<S> for Net {
    fn show(&mut self, script: &Script<S>, _place: usize, sight: &mut impl Sight) {
        for packet in self.as_mut_slice() {
            if let Load::Request { header, .. } = &mut packet.load {
                sight.header(usize::from(script.call(packet.id.call).object), header);
            }
        }
    }
}

/// Its lanes are not shown: they follow from the numbers that anything else mentions.
impl<S: ClaimStore> Show<S> for Caller {
    fn show(&mut self, _script: &Script<S>, _place: usize, sight: &mut impl Sight) {
        for (object, route) in self.routes.iter_mut().enumerate() {
            if let Some(address) = route.address_mut() {
                sight.incarnation(object, address);
            }
        }
    }
}

impl<S: ClaimStore> Show<S> for Record {
    fn show(&mut self, _script: &Script<S>, object: usize, sight: &mut impl Sight) {
        sight.incarnation(object, self.ownership.incarnation_mut());
        if let Some(previous) = &mut self.previous {
            sight.incarnation(object, previous);
        }
        self.stored.visit(&mut InStore(sight, object));
        for (key, _) in self.results.as_mut_slice() {
            sight.number(key.caller, &mut key.number);
        }
    }
}

impl<S: ClaimStore> Show<S> for Life<S> {
    fn show(&mut self, _script: &Script<S>, object: usize, sight: &mut impl Sight) {
        let (incarnation, queue, runs, store) = self.gate.parts_mut();
        sight.incarnation(object, incarnation);
        queue.iter_mut().for_each(|request| sight.header(object, &mut request.header));
        runs.iter_mut().for_each(|run| sight.header(object, &mut run.request.header));
        store.visit(&mut InStore(sight, object));
    }
}

pub(super) const fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
