//! The states whose transitions are still to be taken.

use super::super::System;
use super::super::fingerprint::Fingerprint;

/// How many states in full a segment has, but for the last of a thread and a chunk.
const SEGMENT_STATES: usize = 256;

/// How many bytes a segment of packed states has room for. It is full when less than [`SPARE_BYTES`] are left.
const SEGMENT_BYTES: usize = 32 << 10;
const SPARE_BYTES: usize = 1 << 10;

/// A visited state in full.
#[derive(Debug)]
struct Entry<State> {
    fingerprint: Fingerprint,
    state: State,
}

/// What one thread takes at a time: states as bytes, one after the other, or in full where the system cannot pack them.
///
/// Once explored, its memory is used for another, so that the level being left shrinks as the one being reached grows.
#[derive(Debug)]
pub(super) struct Segment<State> {
    whole: Vec<Entry<State>>,
    /// A fingerprint and a state, again and again; those before `read` have been taken out.
    packed: Vec<u8>,
    read: usize,
    /// How many states there are in `packed`, from `read` on.
    packed_states: usize,
}

impl<State> Default for Segment<State> {
    fn default() -> Self {
        Self { whole: Vec::new(), packed: Vec::new(), read: 0, packed_states: 0 }
    }
}

impl<State> Segment<State> {
    /// Adds the state in `state`, which stays there if a packed copy will do.
    #[inline]
    fn add<S: System<State = State>>(
        &mut self,
        system: &S,
        desk: &mut S::Desk,
        fingerprint: Fingerprint,
        state: &mut Option<State>,
    ) {
        if self.whole.is_empty() && state.as_ref().is_some_and(|state| self.pack(system, desk, fingerprint, state)) {
            return;
        }
        if let Some(state) = state.take() {
            if self.whole.capacity() == 0 {
                self.whole.reserve_exact(SEGMENT_STATES);
            }
            self.whole.push(Entry { fingerprint, state });
        }
    }

    #[inline]
    fn pack<S: System<State = State>>(
        &mut self,
        system: &S,
        desk: &mut S::Desk,
        fingerprint: Fingerprint,
        state: &State,
    ) -> bool {
        if self.packed.capacity() == 0 {
            self.packed.reserve_exact(SEGMENT_BYTES);
        }
        let end = self.packed.len();
        self.packed.extend_from_slice(&fingerprint.get().to_le_bytes());
        if system.pack(desk, end == 0, state, &mut self.packed) {
            self.packed_states += 1;
            return true;
        }
        self.packed.truncate(end);
        if end == 0 {
            self.packed = Vec::new();
        }
        false
    }

    /// Takes out a state, into `state`, and says what its fingerprint is. `state` holds the one that was taken out before.
    ///
    /// # Panics
    ///
    /// If the system does not know what it has packed itself.
    #[inline]
    pub(super) fn take<S: System<State = State>>(
        &mut self,
        system: &S,
        desk: &mut S::Desk,
        state: &mut Option<State>,
    ) -> Option<Fingerprint> {
        if let Some(entry) = self.whole.pop() {
            *state = Some(entry.state);
            return Some(entry.fingerprint);
        }
        let (fingerprint, mut bytes) = self.packed.get(self.read..)?.split_first_chunk()?;
        assert!(system.unpack(desk, &mut bytes, state), "a system unpacks what it has packed");
        self.read = self.packed.len() - bytes.len();
        self.packed_states -= 1;
        Some(Fingerprint::from_hash(u64::from_le_bytes(*fingerprint)))
    }

    /// Takes the state back that was taken out last.
    pub(super) fn put_back(&mut self, fingerprint: Fingerprint, state: State) {
        self.whole.push(Entry { fingerprint, state });
    }

    /// How many states there are.
    fn states(&self) -> u64 {
        (self.whole.len() + self.packed_states) as u64
    }

    /// What they occupy, in bytes, but for what states in full own besides.
    fn bytes(&self) -> u64 {
        (self.whole.len() * size_of::<Entry<State>>() + self.packed.len()) as u64
    }

    fn is_full(&self) -> bool {
        self.whole.len() == SEGMENT_STATES || self.packed.len() > SEGMENT_BYTES - SPARE_BYTES
    }

    /// Forgets what has been explored, and keeps the memory.
    fn clear(&mut self) {
        self.whole.clear();
        self.packed.clear();
        self.read = 0;
        self.packed_states = 0;
    }
}

/// What the threads share out among them.
#[derive(Debug)]
pub(super) struct Work<State> {
    pub(super) unexplored: Vec<Segment<State>>,
    /// Memory for what is found.
    pub(super) spare: Vec<Segment<State>>,
}

/// Segments being filled by one thread.
#[derive(Debug)]
pub(super) struct Segments<State> {
    full: Vec<Segment<State>>,
    filling: Segment<State>,
    /// Cleared segments, to be filled.
    spare: Vec<Segment<State>>,
}

impl<State> Default for Segments<State> {
    fn default() -> Self {
        Self { full: Vec::new(), filling: Segment::default(), spare: Vec::new() }
    }
}

impl<State> Segments<State> {
    /// Adds the state in `state`, which stays there if a packed copy will do.
    #[inline]
    pub(super) fn add<S: System<State = State>>(
        &mut self,
        system: &S,
        desk: &mut S::Desk,
        fingerprint: Fingerprint,
        state: &mut Option<State>,
    ) {
        self.filling.add(system, desk, fingerprint, state);
        if self.filling.is_full() {
            let next = self.spare.pop().unwrap_or_default();
            self.full.push(std::mem::replace(&mut self.filling, next));
        }
    }

    /// Keeps the memory of an explored segment for one to be filled.
    pub(super) fn reuse(&mut self, mut explored: Segment<State>) {
        explored.clear();
        self.spare.push(explored);
    }

    /// How many states there are.
    pub(super) fn states(&self) -> u64 {
        states_of(&self.full) + self.filling.states()
    }
}

/// The states of one level that are still to be explored.
#[derive(Debug)]
pub(super) struct Frontier<State> {
    segments: Vec<Segment<State>>,
    states: u64,
    bytes: u64,
}

impl<State> Default for Frontier<State> {
    fn default() -> Self {
        Self { segments: Vec::new(), states: 0, bytes: 0 }
    }
}

impl<State> Frontier<State> {
    /// Adds what one thread has found. Returns the memory that it did not need.
    pub(super) fn append(&mut self, found: Segments<State>) -> Vec<Segment<State>> {
        let Segments { full, filling, mut spare } = found;
        self.put_back(full);
        if filling.states() == 0 {
            spare.push(filling);
        } else {
            self.put_back(vec![filling]);
        }
        spare
    }

    /// Takes out at most so many segments.
    pub(super) fn take_chunk(&mut self, segments: usize) -> Vec<Segment<State>> {
        let chunk = self.segments.split_off(self.segments.len().saturating_sub(segments));
        self.states -= states_of(&chunk);
        self.bytes -= bytes_of(&chunk);
        chunk
    }

    /// Returns what a chunk did not get to.
    pub(super) fn put_back(&mut self, unexplored: Vec<Segment<State>>) {
        self.states += states_of(&unexplored);
        self.bytes += bytes_of(&unexplored);
        self.segments.extend(unexplored);
    }

    /// How many states there are.
    pub(super) const fn states(&self) -> u64 {
        self.states
    }

    /// What they occupy, in bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.states == 0
    }
}

fn states_of<State>(segments: &[Segment<State>]) -> u64 {
    segments.iter().map(Segment::states).sum()
}

fn bytes_of<State>(segments: &[Segment<State>]) -> u64 {
    segments.iter().map(Segment::bytes).sum()
}
