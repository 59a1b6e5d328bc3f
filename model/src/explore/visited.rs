//! The set of visited states: an open-addressing table of fingerprints.
//!
//! A slot is 16 bytes: the state's fingerprint, and beside it the fingerprint of the parent by
//! which it was first reached, so that a trace can be walked back. Threads insert at once, without
//! locks; the table is only grown while no thread holds it, which the borrow checker enforces.
//!
//! # Why the parent does not depend on the threads
//!
//! Of all parents one level up, the least fingerprint wins. Within a level the parent's word may
//! therefore still fall; afterwards it must not. The word's low byte says which: it holds the
//! *stamp* of the level that inserted the slot, one of 255, and only an insertion with that very
//! stamp lowers the word. Before a stamp comes round again, [`VisitedSet::close`] erases all of
//! them. The byte is paid for with the parent's low byte; a lookup by the 56 bits left finds the
//! parent except with odds of n / 2⁵⁶, and since every trace is replayed, a wrong one is noticed.
//!
//! # Why relaxed ordering is enough
//!
//! Each word is judged on its own: a slot's fingerprint changes once, from empty, and its parent
//! only by compare-and-swap against the value read. No other memory is published through the
//! table. Between levels and growth the threads are joined, which orders everything before it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::fingerprint::Fingerprint;

/// The bits of a parent word that hold the stamp.
const STAMP: u64 = 0xff;

/// The parent word of an initial state. No fingerprint without its low byte is as small.
const ROOT: u64 = 1 << 8;

/// At most this share of the slots is taken: 11/16, or 0.69.
const LOAD_NUMERATOR: usize = 11;
const LOAD_DENOMINATOR: usize = 16;

/// Which level inserted a slot, for as long as its parent may still change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u8);

impl Stamp {
    /// The stamp of the first level.
    pub(crate) const FIRST: Self = Self(1);

    /// The stamp of the next level, or `None` when they are used up: then the set must be
    /// [closed](VisitedSet::close) before [`Stamp::FIRST`] is used again.
    pub(crate) const fn successor(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(stamp) => Some(Self(stamp)),
            None => None,
        }
    }
}

#[derive(Debug, Default)]
struct Slot {
    /// 0 while the slot is empty.
    fingerprint: AtomicU64,
    /// 0 until first written, which other threads may see after the fingerprint.
    parent: AtomicU64,
}

/// The visited states of a search.
#[derive(Debug)]
pub(crate) struct VisitedSet {
    slots: Box<[Slot]>,
    /// A fingerprint's home slot is what its top bits say: 64 - log2(slots).
    shift: u32,
}

impl VisitedSet {
    /// What one slot occupies, in bytes.
    pub(crate) const SLOT_BYTES: u64 = size_of::<Slot>() as u64;

    /// An empty set that takes at least `states` states before it has to grow.
    pub(crate) fn with_room_for(states: usize) -> Self {
        let slots = Self::slots_for(states);
        Self { slots: (0..slots).map(|_| Slot::default()).collect(), shift: u64::BITS - slots.trailing_zeros() }
    }

    /// How many slots a table for `states` states has: a power of two.
    pub(crate) fn slots_for(states: usize) -> usize {
        let slots = states.saturating_mul(LOAD_DENOMINATOR) / LOAD_NUMERATOR + 1;
        slots.next_power_of_two().max(2)
    }

    /// How many states fit before the set has to grow.
    pub(crate) const fn capacity(&self) -> usize {
        self.slots.len() / LOAD_DENOMINATOR * LOAD_NUMERATOR
            + self.slots.len() % LOAD_DENOMINATOR * LOAD_NUMERATOR / LOAD_DENOMINATOR
    }

    /// What the table occupies, in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.slots.len() as u64 * Self::SLOT_BYTES
    }

    /// Adds an initial state. Says whether it is new.
    pub(crate) fn insert_root(&self, state: Fingerprint) -> bool {
        let (slot, is_new) = self.claim(state);
        if is_new {
            slot.parent.store(ROOT, Relaxed);
        }
        is_new
    }

    /// Adds a state that is reached from `parent` by a transition of the level with this stamp.
    /// Says whether it is new.
    ///
    /// The caller has seen to it that no more than [`VisitedSet::capacity`] states are added;
    /// on a full table this would not return.
    #[inline]
    pub(crate) fn insert(&self, state: Fingerprint, parent: Fingerprint, stamp: Stamp) -> bool {
        let (slot, is_new) = self.claim(state);
        let candidate = parent.get() & !STAMP | u64::from(stamp.0);
        let mut current = slot.parent.load(Relaxed);
        while current == 0 || (current & STAMP == u64::from(stamp.0) && candidate < current) {
            match slot.parent.compare_exchange_weak(current, candidate, Relaxed, Relaxed) {
                Ok(_) => break,
                Err(seen) => current = seen,
            }
        }
        is_new
    }

    /// Brings the slots of these states close, all at once: each is far away in a large table, and a thread that waits
    /// for one after the other does little else.
    #[inline]
    pub(crate) fn approach(&self, states: &[Fingerprint]) {
        let held =
            states.iter().fold(0, |held, state| held ^ self.slots[self.home(state.get())].fingerprint.load(Relaxed));
        std::hint::black_box(held);
    }

    /// The slot of `state`, and whether it was claimed just now.
    #[inline]
    fn claim(&self, state: Fingerprint) -> (&Slot, bool) {
        let mut index = self.home(state.get());
        loop {
            let slot = &self.slots[index];
            let mut held = slot.fingerprint.load(Relaxed);
            if held == 0 {
                match slot.fingerprint.compare_exchange(0, state.get(), Relaxed, Relaxed) {
                    Ok(_) => return (slot, true),
                    Err(winner) => held = winner,
                }
            }
            if held == state.get() {
                return (slot, false);
            }
            index = self.after(index);
        }
    }

    /// The slot at which the probe for this fingerprint begins.
    #[inline]
    const fn home(&self, fingerprint: u64) -> usize {
        (fingerprint >> self.shift) as usize
    }

    /// The slot probed after this one.
    #[inline]
    const fn after(&self, index: usize) -> usize {
        (index + 1) & (self.slots.len() - 1)
    }

    /// Settles every parent for good and frees the stamps for reuse.
    pub(crate) fn close(&mut self) {
        for slot in &mut self.slots {
            *slot.parent.get_mut() &= !STAMP;
        }
    }

    /// Moves to a table with room for `states` states.
    pub(crate) fn grow(&mut self, states: usize) {
        let mut grown = Self::with_room_for(states);
        for slot in &mut self.slots {
            let fingerprint = *slot.fingerprint.get_mut();
            if fingerprint == 0 {
                continue;
            }
            let mut index = grown.home(fingerprint);
            while *grown.slots[index].fingerprint.get_mut() != 0 {
                index = grown.after(index);
            }
            grown.slots[index] = std::mem::take(slot);
        }
        *self = grown;
    }

    /// The fingerprints from an initial state to `state`, both included, or `None` where the table
    /// knows no such way.
    pub(crate) fn path_to(&self, state: Fingerprint) -> Option<Vec<Fingerprint>> {
        let (mut fingerprint, mut parent) = self.find(state.get(), 0)?;
        let mut path = vec![Fingerprint::from_hash(fingerprint)];
        while parent & !STAMP != ROOT {
            (fingerprint, parent) = self.find(parent, STAMP)?;
            path.push(Fingerprint::from_hash(fingerprint));
        }
        path.reverse();
        Some(path)
    }

    /// The first slot whose fingerprint equals this one but for the bits in `blur`: its
    /// fingerprint and its parent word.
    fn find(&self, fingerprint: u64, blur: u64) -> Option<(u64, u64)> {
        let mut index = self.home(fingerprint);
        loop {
            let held = self.slots[index].fingerprint.load(Relaxed);
            if held == 0 {
                return None;
            }
            if (held ^ fingerprint) & !blur == 0 {
                return Some((held, self.slots[index].parent.load(Relaxed)));
            }
            index = self.after(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(number: u64) -> Fingerprint {
        Fingerprint::from_hash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn the_set_keeps_every_state_and_parent_over_many_growths() {
        let mut set = VisitedSet::with_room_for(1);
        let states: Vec<_> = (1..=20_000).map(fingerprint).collect();
        assert!(set.insert_root(states[0]));
        let mut growths = 0;
        for (count, pair) in states.windows(2).enumerate() {
            if count + 1 == set.capacity() {
                set.grow(set.capacity() + 1);
                growths += 1;
            }
            assert!(set.insert(pair[1], pair[0], Stamp::FIRST));
            assert!(!set.insert(pair[1], pair[0], Stamp::FIRST));
        }
        assert!(growths >= 10, "{growths}");
        assert_eq!(set.path_to(states[19_999]), Some(states.clone()));
        assert!(!set.insert_root(states[7]));
        assert_eq!(set.path_to(fingerprint(20_001)), None);
    }

    #[test]
    fn the_load_stays_below_seven_tenths() {
        for states in [1, 2, 10, 11, 12, 1000, 45_055, 45_056, 45_057] {
            let set = VisitedSet::with_room_for(states);
            assert!(set.capacity() >= states, "{states}");
            assert!(set.capacity() * 10 < set.slots.len() * 7, "{states}");
        }
    }

    #[test]
    fn a_parent_falls_to_the_least_of_its_level_and_then_stays() {
        let set = VisitedSet::with_room_for(100);
        let [low, middle, high, child] = [1 << 20, 2 << 20, 3 << 20, 4 << 20].map(Fingerprint::from_hash);
        for root in [low, middle, high] {
            set.insert_root(root);
        }
        assert!(set.insert(child, high, Stamp::FIRST));
        assert!(!set.insert(child, middle, Stamp::FIRST));
        assert_eq!(set.path_to(child), Some(vec![middle, child]));
        let later = Stamp::FIRST.successor().expect("there are many stamps");
        assert!(!set.insert(child, low, later));
        assert_eq!(set.path_to(child), Some(vec![middle, child]));
    }

    #[test]
    fn a_closed_set_keeps_its_parents_when_a_stamp_comes_round() {
        let mut set = VisitedSet::with_room_for(100);
        let [low, high, child] = [1 << 20, 3 << 20, 4 << 20].map(Fingerprint::from_hash);
        set.insert_root(low);
        set.insert_root(high);
        set.insert(child, high, Stamp::FIRST);
        set.close();
        assert!(!set.insert(child, low, Stamp::FIRST));
        assert!(!set.insert(low, high, Stamp::FIRST));
        assert_eq!(set.path_to(child), Some(vec![high, child]));
        assert_eq!(set.path_to(low), Some(vec![low]));
    }

    #[test]
    fn the_stamps_run_out_after_a_byte_of_them() {
        let stamps = std::iter::successors(Some(Stamp::FIRST), |stamp| stamp.successor());
        assert_eq!(stamps.count(), 255);
    }

    #[test]
    fn two_threads_insert_each_state_once() {
        let set = VisitedSet::with_room_for(30_000);
        let root = fingerprint(1);
        set.insert_root(root);
        let insert_all = || (2..20_002).filter(|&number| set.insert(fingerprint(number), root, Stamp::FIRST)).count();
        let inserted = std::thread::scope(|scope| {
            let other = scope.spawn(insert_all);
            insert_all() + other.join().expect("the inserting thread does not panic")
        });
        assert_eq!(inserted, 20_000);
    }
}
