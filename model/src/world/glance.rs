//! What a state mentions, at a glance: enough to see that there is nothing to let go of and nothing to renumber.
//!
//! That is so after most steps. A glance has bits for the few callers, lives and numbers that there nearly always are;
//! where there are more it sees nothing, and the whole lists must be looked through.

use oncemore_protocol::identity::{CallerId, Incarnation, Number};
use oncemore_protocol::store::ClaimStore;

use super::World;
use super::mention::low_bits;

/// A byte for each life of a caller, of four lives and four callers: a bit for each number.
type Bytes = u128;

const LIVES: u128 = 4;
const CALLERS: u128 = 4;

/// The lowest bit of each byte.
const ONES: Bytes = u128::MAX / 0xff;

/// So many bits are there for an object's incarnations.
const INCARNATIONS: u32 = 16;

/// What is mentioned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Glance {
    asked: Bytes,
    claimed: Bytes,
    /// One bit for each life that has told what it has settled.
    told: Bytes,
    incarnations: u32,
    /// Something is mentioned that there is no bit for.
    blind: bool,
}

impl Glance {
    #[inline]
    fn bit(&mut self, caller: CallerId, number: Number) -> Bytes {
        let id = caller.bits() - 1;
        let (place, life) = (id / 8, id % 8);
        if place >= CALLERS || life >= LIVES || number.0 >= 8 {
            self.blind = true;
            return 0;
        }
        1 << ((place * LIVES + life) * 8 + u128::from(number.0))
    }

    #[inline]
    pub(super) fn ask(&mut self, caller: CallerId, number: Number) {
        self.asked |= self.bit(caller, number);
    }

    #[inline]
    pub(super) fn claim(&mut self, caller: CallerId, number: Number) {
        self.claimed |= self.bit(caller, number);
    }

    #[inline]
    pub(super) fn tell(&mut self, caller: CallerId) {
        self.told |= self.bit(caller, Number(0));
    }

    #[inline]
    pub(super) fn incarnation(&mut self, object: usize, incarnation: Incarnation) {
        if incarnation.0 >= u64::from(INCARNATIONS) {
            self.blind = true;
        } else {
            self.incarnations |= 1 << (object as u32 * INCARNATIONS + incarnation.0 as u32);
        }
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.asked |= other.asked;
        self.claimed |= other.claimed;
        self.told |= other.told;
        self.incarnations |= other.incarnations;
        self.blind |= other.blind;
    }

    /// Whether all that is remembered can still be asked for.
    #[inline]
    fn remembers_only_what_is_asked(&self) -> bool {
        let halves = self.asked | self.asked >> 4;
        let quarters = halves | halves >> 2;
        let lives = (quarters | quarters >> 1) & ONES;
        self.claimed & !self.asked == 0 && self.told & !lives == 0
    }

    /// The numbers of each caller that are referred to, over all of its lives.
    #[inline]
    fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let referred = self.asked | self.claimed;
        (0..CALLERS).map(move |caller| {
            let lives = (referred >> (caller * LIVES * 8)) as u32;
            u64::from((lives | lives >> 8 | lives >> 16 | lives >> 24) & 0xff)
        })
    }

    #[inline]
    fn incarnations(&self) -> [u64; 2] {
        [u64::from(self.incarnations & 0xffff), u64::from(self.incarnations >> INCARNATIONS)]
    }
}

impl<S: ClaimStore> World<S> {
    /// Whether it can be seen at a glance that every identifier has its rank.
    #[inline]
    pub(super) fn is_ranked_at(&self, glance: &Glance) -> bool {
        let is_ranked = |numbers: u64| numbers & (numbers + 1) == 0;
        let callers = self.callers.iter().zip(glance.numbers()).all(|(state, numbers)| {
            is_ranked(numbers) && state.lanes.iter().flatten().all(|lane| numbers == low_bits(lane.next().0))
        });
        !glance.blind
            && callers
            && self.callers.len() <= CALLERS as usize
            && glance.incarnations().iter().all(|&incarnations| is_ranked(incarnations | 1))
    }

    /// Whether it can be seen at a glance that there is nothing to let go of.
    #[inline]
    pub(super) fn lacks_nothing_at(glance: &Glance) -> bool {
        !glance.blind && glance.remembers_only_what_is_asked()
    }
}
