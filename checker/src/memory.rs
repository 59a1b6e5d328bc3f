//! The allocator, and how much of it is in use.

use mimalloc::MiMalloc;
use oncemore_model::judge::Meter;
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<MiMalloc> = PeakMemAlloc::new(MiMalloc);

/// Measures what is allocated.
pub(crate) const METER: Meter = Meter { reset, peak_bytes };

fn reset() {
    ALLOCATOR.reset_peak_memory();
}

/// The most bytes allocated at once since the last reset, above those allocated then.
pub(crate) fn peak_bytes() -> u64 {
    ALLOCATOR.get_peak_memory() as u64
}

/// The most bytes allocated at once so far: what a job of many may not go beyond.
pub(crate) fn in_use() -> u64 {
    peak_bytes()
}
