//! How to judge.

use std::fmt;

use crate::explore::{Limits, Status};

/// How to judge, and who is told of it.
pub struct JudgeOptions<'a> {
    /// How far to go. They hold for the exploration and then again for the search for cycles, but for the deadline, which
    /// both have to meet.
    pub limits: Limits<'a>,
    /// How memory is measured; without it a judgement says nothing of it.
    pub meter: Option<Meter>,
    /// Told at every barrier.
    pub observe: &'a mut dyn FnMut(Phase, &Status),
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All states are visited.
    Exploring,
    /// Runs that go round for ever are looked for.
    LookingForCycles,
}

/// Measures the memory of this process, as its allocator sees it.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Begins to measure.
    pub reset: fn(),
    /// The most bytes in use at once since then, above what was in use then.
    pub peak_bytes: fn() -> u64,
}

impl JudgeOptions<'_> {
    pub(super) fn begin_metering(&self) {
        if let Some(meter) = self.meter {
            (meter.reset)();
        }
    }

    pub(super) fn peak_bytes(&self) -> Option<u64> {
        self.meter.map(|meter| (meter.peak_bytes)())
    }
}

impl fmt::Debug for JudgeOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limits, meter, observe: _ } = self;
        f.debug_struct("JudgeOptions").field("limits", limits).field("meter", meter).finish_non_exhaustive()
    }
}
