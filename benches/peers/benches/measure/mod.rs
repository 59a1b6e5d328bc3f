//! Time by what a thread uses of the processor, for what never waits: so that others at the machine count less.

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use oncemore_peers::figures::thread_time;

/// Nanoseconds of the thread's processor.
pub(crate) struct ThreadTime;

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        thread_time()
    }

    fn end(&self, began: Duration) -> Duration {
        thread_time() - began
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        // Nanoseconds are shown as any others are.
        WallTime.formatter()
    }
}
