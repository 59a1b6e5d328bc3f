//! What one thread does with one chunk.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::fingerprint::{Fingerprint, Fingerprinter};
use super::super::visited::{Stamp, VisitedSet};
use super::super::{Limits, System, Tags};
use super::findings::{Findings, Known};
use super::frontier::{Segment, Segments, Work};

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

/// What one thread keeps from chunk to chunk: memory, and what the system keeps at hand. It makes no difference to what is
/// found.
pub(super) struct Bench<S: System> {
    desk: S::Desk,
    fingerprinter: Fingerprinter,
    actions: Vec<S::Action>,
    /// The state whose transitions are taken.
    from: Option<S::State>,
    /// The states that transitions lead to, until they are looked up; then, memory for others.
    batch: [Option<S::State>; BATCH],
    /// Their fingerprints, and those of the states where the transitions begin.
    fingerprints: [Fingerprint; BATCH],
    parents: [Fingerprint; BATCH],
    /// How many states in the batch have not been looked up.
    reached: usize,
}

impl<S: System> Default for Bench<S> {
    fn default() -> Self {
        Self {
            desk: S::Desk::default(),
            fingerprinter: Fingerprinter::default(),
            actions: Vec::new(),
            from: None,
            batch: [const { None }; BATCH],
            fingerprints: [Fingerprint::from_hash(0); BATCH],
            parents: [Fingerprint::from_hash(0); BATCH],
            reached: 0,
        }
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
    bench: &'a mut Bench<S>,
    /// How many states this thread may add before it must reserve again.
    reserved: usize,
    harvest: Harvest<S::State>,
}

impl<'a, S: System> Worker<'a, S> {
    pub(super) fn new(shared: &'a Shared<'a, S>, bench: &'a mut Bench<S>) -> Self {
        Self {
            shared,
            bench,
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
            while let Some(fingerprint) = segment.take(self.shared.system, &mut self.bench.desk, &mut self.bench.from) {
                let Some(from) = self.bench.from.take() else { continue };
                let is_done = self.explore(&from, fingerprint);
                if !is_done {
                    self.visit();
                    segment.put_back(fingerprint, from);
                    self.harvest.unfinished = Some(segment);
                    return self.harvest;
                }
                self.bench.from = Some(from);
            }
            self.harvest.segments.reuse(segment);
        }
        self.visit();
        self.harvest
    }

    /// Takes every transition of a state, unless there might be no room for what they lead to.
    #[inline]
    fn explore(&mut self, from: &S::State, fingerprint: Fingerprint) -> bool {
        let Shared { system, known, .. } = self.shared;
        let mut actions = std::mem::take(&mut self.bench.actions);
        actions.clear();
        system.actions(from, &mut actions);
        let has_room = self.has_room_for(self.bench.reached + actions.len());
        if has_room {
            let mut must_go_on = false;
            let mut ordinal = 0;
            for action in &actions {
                let mut fired = Tags::EMPTY;
                let Bench { desk, fingerprinter, batch, fingerprints, parents, reached, .. } = &mut *self.bench;
                if !system.next_into(desk, from, action, &mut fired, &mut batch[*reached]) {
                    continue;
                }
                let Some(state) = &batch[*reached] else {
                    continue;
                };
                fingerprints[*reached] = fingerprinter.of(state);
                parents[*reached] = fingerprint;
                *reached += 1;
                let is_full = *reached == BATCH;
                let news = fired.difference(known.fired);
                if !news.is_empty() {
                    self.harvest.findings.note_firing(news, fingerprint, ordinal);
                }
                must_go_on = must_go_on || system.fairness(action).is_some();
                ordinal += 1;
                if is_full {
                    self.visit();
                }
            }
            self.harvest.generated += u64::from(ordinal);
            if !must_go_on {
                let goals = system.pending(from) & !known.stuck;
                self.harvest.findings.note_stuck(goals, fingerprint);
            }
        }
        self.bench.actions = actions;
        has_room
    }

    /// Counts and judges the states in the batch, where they are new.
    #[inline]
    fn visit(&mut self) {
        let Shared { system, visited, stamp, known, .. } = self.shared;
        let Bench { desk, batch, fingerprints, parents, reached, .. } = &mut *self.bench;
        let fingerprints = &fingerprints[..std::mem::take(reached)];
        visited.approach(fingerprints);
        for ((&fingerprint, &parent), next) in fingerprints.iter().zip(&*parents).zip(batch) {
            let Some(state) = next.as_ref().filter(|_| visited.insert(fingerprint, parent, *stamp)) else {
                continue;
            };
            self.reserved -= 1;
            let properties = system.violated(state) & !known.violated;
            self.harvest.findings.note_violation(properties, fingerprint);
            self.harvest.segments.add(*system, desk, fingerprint, next);
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
