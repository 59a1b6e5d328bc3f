//! What else remembers identities: the peers of the claim gate, and the least that any of them must do.
//!
//! They only remember. The gate queues, judges by mark and watermark, runs and answers, and never forgets silently: most of
//! these do. `moka` evicts what it likes when it is full.

use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use dashmap::DashMap;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

/// 64 bits that look random (the finalizer of `SplitMix64`).
#[must_use]
pub const fn mixed(index: u64) -> u64 {
    let mut bits = index.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// An identity of 128 bits that look random.
#[must_use]
pub const fn identity(index: u64) -> u128 {
    (mixed(index) as u128) << 64 | index as u128
}

/// Something that remembers identities, for one thread.
pub trait Memory {
    /// Lets an identity in that was not let in before, and forgets the oldest if there are too many.
    fn admit(&mut self, identity: u128) -> bool;
    /// Whether an identity was let in before. It is looked up as one that arrives is.
    fn knows(&mut self, identity: u128) -> bool;
}

/// What people write by hand: a map behind a lock, and a ring that says which is the oldest.
#[derive(Debug)]
pub struct MapAndRing {
    seen: Mutex<(HashMap<u128, u64>, VecDeque<u128>)>,
    live: usize,
}

impl MapAndRing {
    /// Remembers so many.
    #[must_use]
    pub fn new(live: u64) -> Self {
        Self { seen: Mutex::default(), live: usize::try_from(live).unwrap() }
    }
}

/// Any number of threads may share it.
impl Memory for &MapAndRing {
    fn admit(&mut self, identity: u128) -> bool {
        let mut seen = self.seen.lock().unwrap();
        let (map, ring) = &mut *seen;
        if map.insert(identity, 1).is_some() {
            return false;
        }
        ring.push_back(identity);
        if ring.len() > self.live
            && let Some(oldest) = ring.pop_front()
        {
            map.remove(&oldest);
        }
        true
    }

    fn knows(&mut self, identity: u128) -> bool {
        self.seen.lock().unwrap().0.contains_key(&identity)
    }
}

impl Memory for MapAndRing {
    fn admit(&mut self, identity: u128) -> bool {
        (&*self).admit(identity)
    }

    fn knows(&mut self, identity: u128) -> bool {
        (&*self).knows(identity)
    }
}

/// `hashbrown`'s set with its default hash. It keeps no order: who uses it says what is to be forgotten, which here follows
/// from the identity.
#[derive(Debug)]
pub struct Set {
    seen: hashbrown::HashSet<u128>,
    live: u64,
}

impl Set {
    /// Remembers so many.
    #[must_use]
    pub fn new(live: u64) -> Self {
        Self { seen: hashbrown::HashSet::new(), live }
    }
}

impl Memory for Set {
    fn admit(&mut self, of: u128) -> bool {
        if let Some(oldest) = (of as u64).checked_sub(self.live) {
            self.seen.remove(&identity(oldest));
        }
        self.seen.insert(of)
    }

    fn knows(&mut self, identity: u128) -> bool {
        self.seen.contains(&identity)
    }
}

/// `DashMap` with the instant at which each identity expires, and a ring for each thread of what it let in, so that what
/// has expired is found. The clock is a number: reading one would cost the same everywhere.
#[derive(Debug)]
pub struct Expiring<'a> {
    seen: &'a DashMap<u128, u64>,
    ring: VecDeque<(u64, u128)>,
    now: u64,
    live: u64,
}

impl<'a> Expiring<'a> {
    /// Each identity lives for as long as `live` others take to arrive.
    #[must_use]
    pub const fn new(seen: &'a DashMap<u128, u64>, live: u64) -> Self {
        Self { seen, ring: VecDeque::new(), now: 0, live }
    }
}

impl Memory for Expiring<'_> {
    fn admit(&mut self, identity: u128) -> bool {
        self.now += 1;
        while let Some((expires, oldest)) = self.ring.front().copied()
            && expires <= self.now
        {
            self.ring.pop_front();
            self.seen.remove(&oldest);
        }
        let expires = self.now + self.live;
        if self.seen.insert(identity, expires).is_some_and(|expires| expires > self.now) {
            return false;
        }
        self.ring.push_back((expires, identity));
        true
    }

    fn knows(&mut self, identity: u128) -> bool {
        self.seen.get(&identity).is_some_and(|expires| *expires > self.now)
    }
}

/// `moka` with a time to live, and room for so many: what it has no room for, it forgets silently, the least recently used
/// first. It reads a clock.
#[derive(Clone, Debug)]
pub struct Moka(Cache<u128, ()>);

impl Moka {
    /// Remembers about so many.
    #[must_use]
    pub fn new(live: u64) -> Self {
        let cache = Cache::builder()
            .max_capacity(live)
            .time_to_live(Duration::from_secs(15 * 60))
            .eviction_policy(EvictionPolicy::lru());
        Self(cache.build())
    }
}

impl Memory for Moka {
    fn admit(&mut self, identity: u128) -> bool {
        self.0.entry(identity).or_insert(()).is_fresh()
    }

    fn knows(&mut self, identity: u128) -> bool {
        self.0.get(&identity).is_some()
    }
}

/// As many cache lines as there are claims. Each says which comes next, so that no reading can begin before the last ended.
#[derive(Debug)]
pub struct Lines {
    memory: Vec<Line>,
    at: usize,
}

/// One cache line, in one place.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line(u32);

impl Lines {
    /// A circle through so many lines, in an order that looks random (Sattolo 1986).
    #[must_use]
    pub fn new(lines: u64) -> Self {
        let lines = u32::try_from(lines).unwrap();
        let mut memory: Vec<Line> = (0..lines).map(Line).collect();
        for index in (1..u64::from(lines)).rev() {
            let other = mixed(index) % index;
            memory.swap(usize::try_from(index).unwrap(), usize::try_from(other).unwrap());
        }
        Self { memory, at: 0 }
    }

    /// Reads the next one.
    pub fn next_line(&mut self) -> usize {
        self.at = self.memory[self.at].0 as usize;
        black_box(self.at)
    }
}

/// What it costs to read the clock that single admissions are timed with.
#[must_use]
pub fn clock_cost() -> Duration {
    let passes = 10_000;
    let began = Instant::now();
    for _ in 0..passes {
        black_box(crate::figures::thread_time());
    }
    began.elapsed() / passes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembers(memory: &mut impl Memory) {
        for index in 0..1000 {
            assert!(memory.admit(identity(index)), "{index}");
            assert!(memory.knows(identity(index)), "{index}");
        }
        assert!(!memory.knows(identity(1000)));
        assert!(!memory.admit(identity(999)));
    }

    #[test]
    fn all_remember_and_forget() {
        remembers(&mut MapAndRing::new(100));
        remembers(&mut Set::new(100));
        remembers(&mut Moka::new(100));
        let map = DashMap::new();
        remembers(&mut Expiring::new(&map, 100));
        assert!((90..=101).contains(&map.len()), "{}", map.len());
        let mut ring = MapAndRing::new(100);
        remembers(&mut ring);
        assert!(!ring.knows(identity(100)));
    }

    #[test]
    fn the_circle_goes_through_all_lines() {
        let mut lines = Lines::new(1000);
        let seen: std::collections::BTreeSet<usize> = (0..1000).map(|_| lines.next_line()).collect();
        assert_eq!(seen.len(), 1000);
    }
}
