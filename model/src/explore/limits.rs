//! How far an exploration may go, and how far it went.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far an exploration may go. The default has no limit and uses one thread.
///
/// Limits are checked at barriers, between chunks of the work, so each may be overshot by what one
/// chunk adds. A search that a limit ends is [`Coverage::Cut`]; which states it had seen by then
/// depends on the threads, save for the depth limit and [`Limits::stop_at`], which fall between two
/// levels.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// How many threads explore.
    pub threads: NonZeroUsize,
    /// Stop once so many distinct states are counted.
    pub states_max: Option<u64>,
    /// Do not leave states that are so many transitions from an initial state. They are counted
    /// and judged, but their own transitions are not taken.
    pub depth_max: Option<u32>,
    /// Stop at this moment.
    pub deadline: Option<Instant>,
    /// Stop rather than use more memory than this.
    pub memory: Option<MemoryLimit>,
    /// Stop once this is set, for instance by an interrupt from the keyboard.
    pub stop: Option<&'a AtomicBool>,
    /// Stop at the end of the level in which one of these safety properties is first violated; bit
    /// i stands for property i.
    pub stop_at: u64,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self {
            threads: NonZeroUsize::MIN,
            states_max: None,
            depth_max: None,
            deadline: None,
            memory: None,
            stop: None,
            stop_at: 0,
        }
    }
}

impl Limits<'_> {
    /// What outside the search asks it to end now, if anything does.
    pub(crate) fn interruption(&self) -> Option<CutReason> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(CutReason::Stopped);
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(CutReason::Deadline)
    }

    /// Why a search of `states` states must not go on, if so. `growth_bytes` is what it is about
    /// to allocate.
    pub(crate) fn exceeded(&self, states: u64, growth_bytes: u64) -> Option<CutReason> {
        if let Some(reason) = self.interruption() {
            return Some(reason);
        }
        if self.states_max.is_some_and(|states_max| states >= states_max) {
            return Some(CutReason::States);
        }
        let memory = self.memory?;
        let bytes = (memory.in_use)().saturating_add(growth_bytes);
        (bytes > memory.bytes_max).then_some(CutReason::Memory)
    }
}

/// A bound on memory, and the means to tell how much is in use.
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimit {
    /// How many bytes the process uses now.
    pub in_use: fn() -> u64,
    /// How many bytes it may use. Where the visited set is about to grow, the bytes of the larger
    /// table count before they are allocated.
    pub bytes_max: u64,
}

/// How much of the space an exploration has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every reachable state, but for [collisions](super::collision_odds).
    Exhausted,
    /// A part; no conclusion may be drawn from what was not found.
    Cut(CutReason),
}

/// Why an exploration ended before the space did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutReason {
    /// [`Limits::states_max`] was reached.
    States,
    /// [`Limits::depth_max`] was reached.
    Depth,
    /// [`Limits::deadline`] passed.
    Deadline,
    /// [`Limits::memory`] would have been exceeded.
    Memory,
    /// [`Limits::stop`] was set.
    Stopped,
    /// A property in [`Limits::stop_at`] was violated.
    Violation,
}

impl fmt::Display for CutReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::States => "the limit on states was reached",
            Self::Depth => "the limit on depth was reached",
            Self::Deadline => "the deadline passed",
            Self::Memory => "the limit on memory was reached",
            Self::Stopped => "it was told to stop",
            Self::Violation => "it was to stop at a violation",
        })
    }
}

/// What an exploration allows one to conclude about one property or goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole space was seen and nothing in it speaks against the claim.
    Holds,
    /// There is a counterexample.
    Violated,
    /// Nothing was found, and not everything was seen.
    Inconclusive,
}

impl Verdict {
    /// The verdict on a claim with or without a counterexample.
    pub(crate) const fn new(is_violated: bool, coverage: Coverage) -> Self {
        match (is_violated, coverage) {
            (true, _) => Self::Violated,
            (false, Coverage::Exhausted) => Self::Holds,
            (false, Coverage::Cut(_)) => Self::Inconclusive,
        }
    }
}

/// How far an exploration has come, told at its barriers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Distinct states counted.
    pub states: u64,
    /// States produced: the initial ones and one for each transition, duplicates included.
    pub generated: u64,
    /// The depth of the level that is being explored: its states are so many transitions from an
    /// initial state.
    pub depth: u32,
    /// States in memory whose transitions are still to be taken.
    pub frontier: u64,
    /// What the visited set occupies, in bytes.
    pub table_bytes: u64,
    /// Time since the exploration began.
    pub elapsed: Duration,
}
