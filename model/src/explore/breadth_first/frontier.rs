//! The states whose transitions are still to be taken.

use super::super::fingerprint::Fingerprint;

/// How many states a segment has, but for the last of a thread and a chunk.
const SEGMENT_STATES: usize = 256;

/// A visited state in full.
#[derive(Debug)]
pub(super) struct Entry<State> {
    pub(super) fingerprint: Fingerprint,
    pub(super) state: State,
}

/// What one thread takes at a time. It is freed once explored, so that the level being left
/// shrinks as the one being reached grows.
pub(super) type Segment<State> = Vec<Entry<State>>;

/// Segments being filled by one thread.
#[derive(Debug)]
pub(super) struct Segments<State> {
    full: Vec<Segment<State>>,
    filling: Segment<State>,
}

impl<State> Default for Segments<State> {
    fn default() -> Self {
        Self { full: Vec::new(), filling: Vec::new() }
    }
}

impl<State> Segments<State> {
    /// Adds a state.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<State>) {
        self.filling.push(entry);
        if self.filling.len() == SEGMENT_STATES {
            self.full.push(std::mem::take(&mut self.filling));
        }
    }

    /// How many states there are.
    pub(super) fn states(&self) -> u64 {
        (self.full.len() * SEGMENT_STATES + self.filling.len()) as u64
    }
}

/// The states of one level that are still to be explored.
#[derive(Debug)]
pub(super) struct Frontier<State> {
    segments: Vec<Segment<State>>,
    states: u64,
}

impl<State> Default for Frontier<State> {
    fn default() -> Self {
        Self { segments: Vec::new(), states: 0 }
    }
}

impl<State> Frontier<State> {
    /// Adds what one thread has found.
    pub(super) fn append(&mut self, found: Segments<State>) {
        self.states += found.states();
        self.segments.extend(found.full);
        if !found.filling.is_empty() {
            self.segments.push(found.filling);
        }
    }

    /// Takes out at most so many segments.
    pub(super) fn take_chunk(&mut self, segments: usize) -> Vec<Segment<State>> {
        let chunk = self.segments.split_off(self.segments.len().saturating_sub(segments));
        self.states -= states_of(&chunk);
        chunk
    }

    /// Returns what a chunk did not get to.
    pub(super) fn put_back(&mut self, unexplored: Vec<Segment<State>>) {
        self.states += states_of(&unexplored);
        self.segments.extend(unexplored);
    }

    /// How many states there are.
    pub(super) const fn states(&self) -> u64 {
        self.states
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.states == 0
    }
}

fn states_of<State>(segments: &[Segment<State>]) -> u64 {
    segments.iter().map(|segment| segment.len() as u64).sum()
}
