//! Keeps so many calls in flight for so long.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use tokio::task::spawn_local;

use super::rival::{Echo, Failure};

/// What came of it.
pub(crate) struct Round {
    /// Nanoseconds.
    pub(crate) latencies: Histogram<u64>,
    pub(crate) took: Duration,
    /// What all threads of the process spent, client and server.
    pub(crate) processor: Duration,
}

impl Round {
    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.took.as_secs_f64()
    }

    /// Microseconds of processor time a call.
    pub(crate) fn processor_each(&self) -> f64 {
        self.processor.as_secs_f64() * 1e6 / self.latencies.len().max(1) as f64
    }
}

/// Up to a minute, with three digits.
pub(crate) fn histogram() -> Result<Histogram<u64>, Failure> {
    Ok(Histogram::new_with_bounds(1, 60_000_000_000, 3)?)
}

pub(crate) async fn round(echo: &Rc<dyn Echo>, in_flight: usize, span: Duration) -> Result<Round, Failure> {
    let latencies = Rc::new(RefCell::new(histogram()?));
    let (began, spent) = (Instant::now(), processor());
    let end = began + span;
    let callers = (0..in_flight).map(|_| spawn_local(call_until(end, echo.clone(), latencies.clone())));
    for caller in callers.collect::<Vec<_>>() {
        caller.await??;
    }
    let (took, processor) = (began.elapsed(), processor() - spent);
    let latencies = Rc::try_unwrap(latencies).map_err(|_| "a caller goes on")?.into_inner();
    Ok(Round { latencies, took, processor })
}

async fn call_until(end: Instant, echo: Rc<dyn Echo>, latencies: Rc<RefCell<Histogram<u64>>>) -> Result<(), String> {
    let mut began = Instant::now();
    while began < end {
        echo.echo().await.map_err(|error| error.to_string())?;
        let now = Instant::now();
        latencies.borrow_mut().saturating_record(u64::try_from((now - began).as_nanos()).unwrap_or(u64::MAX));
        began = now;
    }
    Ok(())
}

/// What the process has spent so far.
fn processor() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(spent.tv_sec).unwrap_or(0), u32::try_from(spent.tv_nsec).unwrap_or(0))
}
