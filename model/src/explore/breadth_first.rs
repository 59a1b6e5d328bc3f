//! Level by level, in parallel, with states only at the frontier: in full, or packed where the system can pack them.
//!
//! A level is worked off in chunks. Within a chunk the threads take segments of the frontier from a
//! shared queue and put each state that is new into the visited set and into a segment of the next
//! level. Between chunks they are joined: there, at the *barrier*, the visited set grows, limits
//! are checked and the observer is told.
//!
//! What is found does not depend on the threads: counts are sums over the states of a level, and
//! wherever one of several states of a level must be chosen - the parent of a state, the state that
//! shows a violation - the least fingerprint is.

mod findings;
mod frontier;
mod worker;

use std::thread;
use std::time::Instant;

use self::findings::Findings;
use self::frontier::{Frontier, Segment, Segments, Work};
use self::worker::{Bench, Harvest, Worker};
use super::engine::{Counts, Engine, Exploration};
use super::fingerprint::{Fingerprint, Fingerprinter};
use super::trace::{replay, stuck};
use super::visited::{Stamp, VisitedSet};
use super::{Coverage, CutReason, ExploreError, Limits, Status, System, TraceOf};

/// How many states the visited set has room for at first.
const ROOM_AT_FIRST: usize = 1 << 15;

/// How many segments a chunk has at most: about 16,000 states, a fraction of a second.
const CHUNK_SEGMENTS: usize = 64;

/// Breadth-first search: shortest traces, at the price of holding two levels in full.
#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

impl<S: System> Engine<S> for BreadthFirst {
    fn name(&self) -> &'static str {
        "breadth-first"
    }

    fn explore(
        &self,
        system: &S,
        limits: &Limits<'_>,
        observe: &mut dyn FnMut(&Status),
    ) -> Result<Exploration<S>, ExploreError> {
        let mut search = Search::begin(system, limits);
        let coverage = search.run(observe);
        search.conclude(coverage)
    }
}

/// A search under way.
struct Search<'a, S: System> {
    system: &'a S,
    limits: &'a Limits<'a>,
    began: Instant,
    visited: VisitedSet,
    /// What is left of the level that is being explored.
    current: Frontier<S::State>,
    /// The level after it, as far as it is known.
    next: Frontier<S::State>,
    /// How far the current level is from the initial states.
    depth: u32,
    stamp: Stamp,
    states: u64,
    generated: u64,
    frontier_peak: u64,
    frontier_peak_bytes: u64,
    /// One for each thread.
    benches: Vec<Bench<S>>,
    /// Explored segments, to be filled again; no more than a chunk has.
    spare: Vec<Segment<S::State>>,
    /// How many more states the next chunk must have room for.
    room_wanted: usize,
    /// What the levels before the current one showed, and then the current one.
    found: Findings,
    found_in_level: Findings,
}

impl<'a, S: System> Search<'a, S> {
    /// Counts and judges the initial states.
    fn begin(system: &'a S, limits: &'a Limits<'a>) -> Self {
        let initial = system.initial();
        let visited = VisitedSet::with_room_for(ROOM_AT_FIRST.max(initial.len()));
        let mut found = Findings::default();
        let mut fingerprinter = Fingerprinter::default();
        let mut segments = Segments::default();
        let mut desk = S::Desk::default();
        let generated = initial.len() as u64;
        for state in initial {
            let fingerprint = fingerprinter.of(&state);
            if visited.insert_root(fingerprint) {
                found.note_violation(system.violated(&state), fingerprint);
                segments.add(system, &mut desk, fingerprint, &mut Some(state));
            }
        }
        let mut current = Frontier::default();
        current.append(segments);
        Self {
            system,
            limits,
            began: Instant::now(),
            visited,
            states: current.states(),
            frontier_peak: current.states(),
            frontier_peak_bytes: current.bytes(),
            benches: (0..limits.threads.get()).map(|_| Bench::default()).collect(),
            spare: Vec::new(),
            current,
            next: Frontier::default(),
            depth: 0,
            stamp: Stamp::FIRST,
            generated,
            room_wanted: 0,
            found,
            found_in_level: Findings::default(),
        }
    }

    /// Explores level after level until there is none, or a limit is met.
    fn run(&mut self, observe: &mut dyn FnMut(&Status)) -> Coverage {
        while !self.current.is_empty() {
            if self.found.known().violated & self.limits.stop_at != 0 {
                return Coverage::Cut(CutReason::Violation);
            }
            if self.limits.depth_max.is_some_and(|depth_max| self.depth >= depth_max) {
                return Coverage::Cut(CutReason::Depth);
            }
            while !self.current.is_empty() {
                if let Err(reason) = self.make_room() {
                    return Coverage::Cut(reason);
                }
                self.explore_chunk();
                observe(&self.status());
            }
            self.end_level();
        }
        Coverage::Exhausted
    }

    /// Grows the visited set where the next chunk needs it, unless a limit forbids to go on.
    fn make_room(&mut self) -> Result<(), CutReason> {
        let states = self.states as usize;
        let needed = states + self.room_wanted.max(1);
        let must_grow = needed > self.visited.capacity();
        let room = needed.max(self.visited.capacity() * 2);
        let growth_bytes = if must_grow { VisitedSet::slots_for(room) as u64 * VisitedSet::SLOT_BYTES } else { 0 };
        match self.limits.exceeded(self.states, growth_bytes) {
            Some(reason) => Err(reason),
            None => {
                if must_grow {
                    self.visited.grow(room);
                }
                Ok(())
            }
        }
    }

    /// Lets the threads work on the next chunk and gathers what they bring.
    fn explore_chunk(&mut self) {
        let work = worker::Shared::new(
            self.system,
            self.limits,
            &self.visited,
            self.stamp,
            self.found.known(),
            Work { unexplored: self.current.take_chunk(CHUNK_SEGMENTS), spare: std::mem::take(&mut self.spare) },
            self.visited.capacity() - self.states as usize,
        );
        let shared = &work;
        let threads = shared.segments().min(self.limits.threads.get()).max(1);
        let mut workers = self.benches.iter_mut().take(threads).map(|bench| Worker::new(shared, bench));
        let harvests = thread::scope(|scope| {
            let own = workers.next();
            let helping: Vec<_> = workers.map(|worker| scope.spawn(|| worker.run())).collect();
            let mut harvests: Vec<_> = own.map(Worker::run).into_iter().collect();
            for helper in helping {
                harvests.push(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            harvests
        });
        let Work { unexplored, spare } = work.into_rest();
        self.current.put_back(unexplored);
        self.spare = spare;
        self.room_wanted = 0;
        for harvest in harvests {
            self.gather(harvest);
        }
        self.frontier_peak = self.frontier_peak.max(self.current.states() + self.next.states());
        self.frontier_peak_bytes = self.frontier_peak_bytes.max(self.current.bytes() + self.next.bytes());
    }

    /// Adds what one thread brought from one chunk.
    fn gather(&mut self, harvest: Harvest<S::State>) {
        self.states += harvest.segments.states();
        self.generated += harvest.generated;
        self.room_wanted = self.room_wanted.max(harvest.room_wanted);
        self.found_in_level.merge(harvest.findings);
        self.spare.extend(self.next.append(harvest.segments));
        self.spare.truncate(CHUNK_SEGMENTS);
        if let Some(unfinished) = harvest.unfinished {
            self.current.put_back(vec![unfinished]);
        }
    }

    /// Moves on to the next level.
    fn end_level(&mut self) {
        self.found.add_level(std::mem::take(&mut self.found_in_level));
        self.current = std::mem::take(&mut self.next);
        self.depth += u32::from(!self.current.is_empty());
        self.stamp = self.stamp.successor().unwrap_or_else(|| {
            self.visited.close();
            Stamp::FIRST
        });
    }

    fn status(&self) -> Status {
        Status {
            states: self.states,
            generated: self.generated,
            depth: self.depth,
            frontier: self.current.states() + self.next.states(),
            table_bytes: self.visited.bytes(),
            elapsed: self.began.elapsed(),
        }
    }

    /// Backs every finding with a trace.
    fn conclude(mut self, coverage: Coverage) -> Result<Exploration<S>, ExploreError> {
        // After a cut within a level, what that level has shown so far is true all the same.
        let depth = self.depth + u32::from(!self.next.is_empty());
        self.found.add_level(std::mem::take(&mut self.found_in_level));
        let violations = self.found.violations().map(|(property, end)| {
            let shows = |state: &S::State| self.system.violated(state) >> property & 1 == 1;
            Ok((property, self.trace_to(end, shows)?))
        });
        let stuck_goals = self.found.stuck().map(|(goal, end)| {
            let shows = |state: &S::State| stuck(self.system, state) >> goal & 1 == 1;
            Ok((goal, self.trace_to(end, shows)?))
        });
        let firings = self.found.firings(&self.visited);
        Ok(Exploration {
            coverage,
            counts: Counts {
                states: self.states,
                generated: self.generated,
                depth,
                frontier_peak: self.frontier_peak,
                frontier_peak_bytes: self.frontier_peak_bytes,
                table_bytes: self.visited.bytes(),
                elapsed: self.began.elapsed(),
            },
            fired: self.found.known().fired,
            violations: violations.collect::<Result<_, _>>()?,
            stuck: stuck_goals.collect::<Result<_, _>>()?,
            firings: firings?,
        })
    }

    /// The trace to a state, which must show what it was kept for.
    fn trace_to(&self, end: Fingerprint, shows: impl Fn(&S::State) -> bool) -> Result<TraceOf<S>, ExploreError> {
        let path = self.visited.path_to(end).ok_or(ExploreError::TraceLost { step: 0 })?;
        let trace = replay(self.system, &path)?;
        if shows(trace.last()) { Ok(trace) } else { Err(ExploreError::FindingLost { steps: trace.steps.len() }) }
    }
}
