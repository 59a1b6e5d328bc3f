//! States as bytes, for those that wait at the frontier.
//!
//! A world is made for the machines that work on it: parts of fixed size, most of them empty, a few kilobytes in all. What
//! is in it is 160 bytes or so.

use oncemore_protocol::store::ClaimStore;
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::world::World;

/// How worlds are written down and read back. Only a store that can be is asked to.
#[derive(Debug)]
pub(super) struct Packing<S: ClaimStore> {
    pub(super) pack: fn(&World<S>, &mut Vec<u8>),
    pub(super) unpack: fn(&mut &[u8]) -> Option<World<S>>,
}

impl<S: ClaimStore> Clone for Packing<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ClaimStore> Copy for Packing<S> {}

impl<S: ClaimStore + Serialize + DeserializeOwned> Packing<S> {
    pub(super) fn new() -> Self {
        Self {
            pack: |world, bytes| {
                postcard::serialize_with_flavor(world, Append(bytes)).expect("a vector takes every byte");
            },
            unpack: |bytes| {
                let (world, rest) = postcard::take_from_bytes(bytes).ok()?;
                *bytes = rest;
                Some(world)
            },
        }
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
