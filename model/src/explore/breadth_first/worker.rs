//! What one thread does with one chunk.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::fingerprint::{Fingerprint, Fingerprinter};
use super::super::visited::{Stamp, VisitedSet};
use super::super::{Limits, System, Tags};
use super::findings::{Findings, Known};
use super::frontier::{Entry, Segment, Segments, Work};

/// How many states a thread asks room for at a time.
const ROOM: usize = 512;

/// How many states a thread looks up at a time. They should fit into its nearest caches.
const BATCH: usize = 8;

/// What the threads of a chunk share.
pub(super) struct Shared<'a, S: System> {
    system: &'a S,
    limits: &'a Limits<'a>,
    visited: &'a VisitedSet,
    stamp: Stamp,
    known: Known,
    work: Mutex<Work<S::State>>,
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
        work: Work<S::State>,
        room: usize,
    ) -> Self {
        Self { system, limits, visited, stamp, known, work: Mutex::new(work), room: AtomicUsize::new(room) }
    }

    /// How many segments no thread has taken yet.
    pub(super) fn segments(&self) -> usize {
        self.work().unexplored.len()
    }

    /// What no thread took.
    pub(super) fn into_rest(self) -> Work<S::State> {
        self.work.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a segment, and memory for what it leads to.
    fn take_segment(&self, found: &mut Segments<S::State>) -> Option<Segment<S::State>> {
        let mut work = self.work();
        let segment = work.unexplored.pop()?;
        if let Some(spare) = work.spare.pop() {
            found.reuse(spare);
        }
        Some(segment)
    }

    fn work(&self) -> MutexGuard<'_, Work<S::State>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// The states that transitions lead to, until they are looked up; then, memory for others.
    batch: [Option<S::State>; BATCH],
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
            batch: [const { None }; BATCH],
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
            let Some(mut segment) = self.shared.take_segment(&mut self.harvest.segments) else {
                break;
            };
            while let Some(entry) = segment.take(self.shared.system) {
                if !self.explore(&entry) {
                    segment.put_back(entry);
                    self.harvest.unfinished = Some(segment);
                    return self.harvest;
                }
            }
            self.harvest.segments.reuse(segment);
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
            let mut reached = 0;
            let mut fingerprints = [from.fingerprint; BATCH];
            for action in &actions {
                let mut fired = Tags::EMPTY;
                if !system.next_into(&from.state, action, &mut fired, &mut self.batch[reached]) {
                    continue;
                }
                let Some(state) = &self.batch[reached] else {
                    continue;
                };
                fingerprints[reached] = self.fingerprinter.of(state);
                let news = fired.difference(known.fired);
                if !news.is_empty() {
                    self.harvest.findings.note_firing(news, from.fingerprint, ordinal);
                }
                must_go_on = must_go_on || system.fairness(action).is_some();
                ordinal += 1;
                reached += 1;
                if reached == BATCH {
                    self.visit(&fingerprints, from.fingerprint);
                    reached = 0;
                }
            }
            self.visit(&fingerprints[..reached], from.fingerprint);
            self.harvest.generated += u64::from(ordinal);
            if !must_go_on {
                let goals = system.pending(&from.state) & !known.stuck;
                self.harvest.findings.note_stuck(goals, from.fingerprint);
            }
        }
        self.actions = actions;
        has_room
    }

    /// Counts and judges the states in the batch that have these fingerprints, where they are new.
    #[inline]
    fn visit(&mut self, fingerprints: &[Fingerprint], parent: Fingerprint) {
        let Shared { system, visited, stamp, known, .. } = self.shared;
        visited.approach(fingerprints);
        for (&fingerprint, next) in fingerprints.iter().zip(&mut self.batch) {
            let Some(state) = next.as_ref().filter(|_| visited.insert(fingerprint, parent, *stamp)) else {
                continue;
            };
            self.reserved -= 1;
            let properties = system.violated(state) & !known.violated;
            self.harvest.findings.note_violation(properties, fingerprint);
            self.harvest.segments.add(*system, fingerprint, next);
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
