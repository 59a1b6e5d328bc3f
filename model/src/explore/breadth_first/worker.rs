//! What one thread does with one chunk.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::fingerprint::{Fingerprint, Fingerprinter};
use super::super::visited::{Stamp, VisitedSet};
use super::super::{Limits, System, Tags};
use super::findings::{Findings, Known};
use super::frontier::{Entry, Segment, Segments};

/// How many states a thread asks room for at a time.
const ROOM: usize = 512;

/// What the threads of a chunk share.
pub(super) struct Shared<'a, S: System> {
    system: &'a S,
    limits: &'a Limits<'a>,
    visited: &'a VisitedSet,
    stamp: Stamp,
    known: Known,
    queue: Mutex<Vec<Segment<S::State>>>,
    /// How many states may still be added to the visited set, less what threads have reserved.
    room: AtomicUsize,
}

impl<'a, S: System> Shared<'a, S> {
    pub(super) fn new(
        system: &'a S,
        limits: &'a Limits<'a>,
        visited: &'a VisitedSet,
        stamp: Stamp,
        known: Known,
        chunk: Vec<Segment<S::State>>,
        room: usize,
    ) -> Self {
        Self { system, limits, visited, stamp, known, queue: Mutex::new(chunk), room: AtomicUsize::new(room) }
    }

    /// How many segments no thread has taken yet.
    pub(super) fn segments(&self) -> usize {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The segments that no thread took.
    pub(super) fn into_unexplored(self) -> Vec<Segment<S::State>> {
        self.queue.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_segment(&self) -> Option<Segment<S::State>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Sets room for so many states aside.
    fn reserve(&self, states: usize) -> bool {
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(states)).is_ok()
    }
}

/// What one thread brings home from one chunk.
pub(super) struct Harvest<State> {
    /// The new states.
    pub(super) segments: Segments<State>,
    /// How many transitions were taken.
    pub(super) generated: u64,
    pub(super) findings: Findings,
    /// States that were taken from the queue but for which there was no room.
    pub(super) unfinished: Option<Segment<State>>,
    /// The room that was missing.
    pub(super) room_wanted: usize,
}

/// One thread at work on one chunk.
pub(super) struct Worker<'a, S: System> {
    shared: &'a Shared<'a, S>,
    fingerprinter: Fingerprinter,
    actions: Vec<S::Action>,
    /// How many states this thread may add before it must reserve again.
    reserved: usize,
    harvest: Harvest<S::State>,
}

impl<'a, S: System> Worker<'a, S> {
    pub(super) fn new(shared: &'a Shared<'a, S>) -> Self {
        Self {
            shared,
            fingerprinter: Fingerprinter::default(),
            actions: Vec::new(),
            reserved: 0,
            harvest: Harvest {
                segments: Segments::default(),
                generated: 0,
                findings: Findings::default(),
                unfinished: None,
                room_wanted: 0,
            },
        }
    }

    /// Explores segments until none is left, room runs out, or the search is interrupted.
    pub(super) fn run(mut self) -> Harvest<S::State> {
        while self.shared.limits.interruption().is_none() {
            let Some(mut segment) = self.shared.take_segment() else {
                break;
            };
            while let Some(entry) = segment.pop() {
                if !self.explore(&entry) {
                    segment.push(entry);
                    self.harvest.unfinished = Some(segment);
                    return self.harvest;
                }
            }
        }
        self.harvest
    }

    /// Takes every transition of a state, unless there might be no room for what they lead to.
    #[inline]
    fn explore(&mut self, from: &Entry<S::State>) -> bool {
        let Shared { system, known, .. } = self.shared;
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        system.actions(&from.state, &mut actions);
        let has_room = self.has_room_for(actions.len());
        if has_room {
            let mut must_go_on = false;
            let mut ordinal = 0;
            for action in &actions {
                let mut fired = Tags::EMPTY;
                let Some(state) = system.next(&from.state, action, &mut fired) else {
                    continue;
                };
                let news = fired.difference(known.fired);
                if !news.is_empty() {
                    self.harvest.findings.note_firing(news, from.fingerprint, ordinal);
                }
                must_go_on = must_go_on || system.fairness(action).is_some();
                ordinal += 1;
                self.visit(state, from.fingerprint);
            }
            self.harvest.generated += u64::from(ordinal);
            if !must_go_on {
                let goals = system.pending(&from.state) & !known.stuck;
                self.harvest.findings.note_stuck(goals, from.fingerprint);
            }
        }
        self.actions = actions;
        has_room
    }

    /// Counts and judges a state if it is new.
    #[inline]
    fn visit(&mut self, state: S::State, parent: Fingerprint) {
        let Shared { system, visited, stamp, known, .. } = self.shared;
        let fingerprint = self.fingerprinter.of(&state);
        if visited.insert(fingerprint, parent, *stamp) {
            self.reserved -= 1;
            let properties = system.violated(&state) & !known.violated;
            self.harvest.findings.note_violation(properties, fingerprint);
            self.harvest.segments.push(Entry { fingerprint, state });
        }
    }

    /// Whether so many new states fit, having reserved what is missing.
    #[inline]
    fn has_room_for(&mut self, states: usize) -> bool {
        if self.reserved < states {
            let missing = states - self.reserved;
            // Near the end of the room ask for no more than is needed.
            let granted = [missing.max(ROOM), missing].into_iter().find(|&asked| self.shared.reserve(asked));
            let Some(granted) = granted else {
                self.harvest.room_wanted = states;
                return false;
            };
            self.reserved += granted;
        }
        true
    }
}
