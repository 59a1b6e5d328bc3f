//! States as bytes, for those that wait at the frontier, and what a thread keeps at hand to write and read them fast.
//!
//! A world is made for the machines that work on it: parts of fixed size, most of them empty, a few kilobytes in all. What
//! is in it is 160 bytes or so, and most of that is in the state before it too: a state is written down as those of its parts
//! that differ from the one before. Each has a few bits of its fingerprint before it, by which a thread that has read or
//! written the same part lately finds it on a shelf, and need not read it again.

mod before;
mod shelf;

use oncemore_protocol::store::ClaimStore;
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::before::{Before, NONE, SAME, take_rest};
use self::shelf::{Shelf, Spot};
use crate::explore::Fingerprinter;
use crate::script::Script;
use crate::world::{CallState, Caller, Life, Net, Object, Part, Record, World};

/// How parts are written down and read back.
#[derive(Debug)]
pub(super) struct Form<T> {
    pub(super) write: fn(&T, &mut Vec<u8>),
    pub(super) read: fn(&[u8]) -> Option<T>,
}

impl<T> Clone for Form<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Form<T> {}

impl<T: Serialize + DeserializeOwned> Form<T> {
    pub(super) fn new() -> Self {
        Self {
            write: |part, bytes| {
                postcard::serialize_with_flavor(part, Append(bytes)).expect("a vector takes every byte");
            },
            read: |bytes| postcard::from_bytes(bytes).ok(),
        }
    }
}

/// What one thread keeps at hand: parts that it saw lately.
#[derive(Debug)]
pub struct Desk<S: ClaimStore> {
    pub(super) fingerprinter: Fingerprinter,
    callers: Shelf<Caller>,
    calls: Shelf<CallState>,
    nets: Shelf<Net>,
    records: Shelf<Record>,
    lives: Shelf<Life<S>>,
    before: Before,
}

impl<S: ClaimStore> Default for Desk<S> {
    fn default() -> Self {
        Self {
            fingerprinter: Fingerprinter::default(),
            callers: Shelf::default(),
            calls: Shelf::default(),
            nets: Shelf::default(),
            records: Shelf::default(),
            lives: Shelf::default(),
            before: Before::default(),
        }
    }
}

impl<S: ClaimStore> Desk<S> {
    /// Appends the state. `lives` says how to write incarnations down: only a store that can be is asked to.
    pub(super) fn pack(
        &mut self,
        script: &Script<S>,
        lives: Form<Life<S>>,
        first: bool,
        world: &World<S>,
        bytes: &mut Vec<u8>,
    ) {
        let before = &mut self.before;
        before.fit(first, world);
        before.put_rest(world, bytes);
        for (place, (part, before)) in world.callers.iter().zip(&mut before.callers).enumerate() {
            self.callers.put(&Spot { script, place, form: Form::new() }, part, before, bytes);
        }
        for (place, (part, before)) in world.calls.iter().zip(&mut before.calls).enumerate() {
            self.calls.put(&Spot { script, place, form: Form::new() }, part, before, bytes);
        }
        self.nets.put(&Spot { script, place: 0, form: Form::new() }, &world.net, &mut before.net, bytes);
        for (place, (object, before)) in world.objects.iter().zip(&mut before.objects).enumerate() {
            let record = Spot { script, place, form: Form::new() };
            self.records.put(&record, &object.record, &mut before.record, bytes);
            put_len(object.incarnations.len(), bytes);
            before.incarnations.resize(object.incarnations.len(), NONE);
            for (life, before) in object.incarnations.iter().zip(&mut before.incarnations) {
                self.lives.put(&Spot { script, place, form: lives }, life, before, bytes);
            }
        }
    }

    /// Takes a state off the front of `bytes`, into `world`, which holds the one before it.
    pub(super) fn unpack(
        &mut self,
        script: &Script<S>,
        lives: Form<Life<S>>,
        bytes: &mut &[u8],
        world: &mut Option<World<S>>,
    ) -> Option<()> {
        let world = world.get_or_insert_with(World::nothing);
        let reader = &mut Reader { bytes, fingerprinter: &mut self.fingerprinter };
        take_rest(world, reader)?;
        for place in 0..script.callers.len() {
            let spot = Spot { script, place, form: Form::new() };
            self.callers.take(&spot, reader)?.put_among(&mut world.callers, place);
        }
        for place in 0..script.calls.len() {
            let spot = Spot { script, place, form: Form::new() };
            self.calls.take(&spot, reader)?.put_among(&mut world.calls, place);
        }
        self.nets.take(&Spot { script, place: 0, form: Form::new() }, reader)?.put_in(&mut world.net);
        for place in 0..usize::from(script.objects) {
            if place == world.objects.len() {
                world.objects.push(Object { record: Part::new(Record::first()), incarnations: Vec::new() });
            }
            let object = &mut world.objects[place];
            self.records.take(&Spot { script, place, form: Form::new() }, reader)?.put_in(&mut object.record);
            let count = reader.len()?;
            for index in 0..count {
                let spot = Spot { script, place, form: lives };
                self.lives.take(&spot, reader)?.put_among(&mut object.incarnations, index);
            }
            object.incarnations.truncate(count);
        }
        Some(())
    }
}

/// Announces a length that does not fit one byte.
const LONG: u8 = u8::MAX;

fn put_len(len: usize, bytes: &mut Vec<u8>) {
    match u8::try_from(len) {
        Ok(short) if short != LONG => bytes.push(short),
        _ => {
            bytes.push(LONG);
            bytes.extend_from_slice(&(len as u64).to_le_bytes());
        }
    }
}

/// What is to be read.
struct Reader<'a, 'b> {
    bytes: &'a mut &'b [u8],
    fingerprinter: &'a mut Fingerprinter,
}

impl<'b> Reader<'_, 'b> {
    #[inline]
    fn len(&mut self) -> Option<usize> {
        let [short] = *self.array()?;
        if short != LONG {
            return Some(usize::from(short));
        }
        usize::try_from(u64::from_le_bytes(*self.array()?)).ok()
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<&'b [u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        *self.bytes = rest;
        Some(taken)
    }

    #[inline]
    fn slice(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        *self.bytes = rest;
        Some(taken)
    }
}

/// Writes to the end of a vector. Nearly all that is written is one byte long.
struct Append<'a>(&'a mut Vec<u8>);

impl Flavor for Append<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{System, Tags};
    use crate::model::Model;
    use crate::mutant::Broken;
    use crate::scenario::find;

    /// The first states of a scenario, breadth first, some of them more than once.
    fn states(model: &Model, count: usize) -> Vec<World> {
        let mut states = model.initial();
        let mut explored = 0;
        while states.len() < count && explored < states.len() {
            let (from, mut actions) = (states[explored].clone(), Vec::new());
            model.actions(&from, &mut actions);
            states.extend(actions.iter().filter_map(|action| model.next(&from, action, &mut Tags::default())));
            explored += 1;
        }
        states
    }

    #[test]
    fn states_are_unpacked_in_order_at_any_desk() {
        for name in ["two-callers", "d5", "nested", "history"] {
            let model = Model::new(&find(name).expect("it is in the library").scenario, Broken(None)).unwrap();
            let (mut here, mut there) = (Desk::default(), Desk::default());
            let states = states(&model, 3000);
            for series in states.chunks(1000) {
                let mut bytes = Vec::new();
                for (index, state) in series.iter().enumerate() {
                    assert!(model.pack(&mut here, index == 0, state, &mut bytes));
                }
                let (mut bytes, mut unpacked) = (&bytes[..], None);
                for state in series {
                    assert!(model.unpack(&mut there, &mut bytes, &mut unpacked));
                    assert_eq!(unpacked.as_ref(), Some(state), "{name}");
                }
                assert!(bytes.is_empty());
                assert!(!model.unpack(&mut there, &mut bytes, &mut unpacked), "there is nothing to read");
            }
        }
    }
}
