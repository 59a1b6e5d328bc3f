//! The only places that read a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oncemore_protocol::time::{Time, WallTime};
use tokio::time::Instant;

/// A monotonic clock, and a wall clock beside it which may be wrong.
///
/// The monotonic one is tokio's, so that a test which pauses tokio's time pauses this one.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
    wall: Wall,
}

#[derive(Clone, Copy, Debug)]
enum Wall {
    System,
    /// Runs with the monotonic clock, from this reading at the origin.
    From(WallTime),
}

impl Clock {
    /// The system's clocks.
    #[must_use]
    pub fn system() -> Self {
        Self { origin: Instant::now(), wall: Wall::System }
    }

    /// A wall clock that shows `wall` now and runs with tokio's time: for simulations, and to play a clock that is wrong.
    #[must_use]
    pub fn starting_at(wall: WallTime) -> Self {
        Self { origin: Instant::now(), wall: Wall::From(wall) }
    }

    pub(crate) fn now(&self) -> Time {
        Time::ORIGIN.after(self.origin.elapsed())
    }

    pub(crate) fn wall(&self) -> WallTime {
        match self.wall {
            Wall::System => system_wall(),
            Wall::From(wall) => wall.after(self.origin.elapsed()),
        }
    }

    /// When that will be.
    pub(crate) fn instant(&self, time: Time) -> Instant {
        // Beyond what an instant can hold lies nothing that anybody waits for.
        let span = Duration::from_nanos(time.as_nanos());
        self.origin.checked_add(span).unwrap_or_else(|| self.origin + Duration::from_secs(60 * 60 * 24 * 365))
    }
}

/// Nanoseconds since the Unix epoch; the epoch itself on a machine whose clock is set before it.
fn system_wall() -> WallTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WallTime::from_nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
