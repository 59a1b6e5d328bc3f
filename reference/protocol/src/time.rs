//! Points in time. The machines never read a clock: every instant is an input.

use core::time::Duration;

/// A point on the caller's or object's monotonic clock: nanoseconds since an origin of the driver's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Time(u64);

impl Time {
    /// The driver's origin.
    pub const ORIGIN: Self = Self(0);

    /// The point so many nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This point, later by `span`; the last point there is if that would pass it.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }

    /// How long ago `earlier` was; zero if it is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This point on a clock whose origin lies `elapsed` later; points before the new origin fall on it.
    ///
    /// For drivers that keep no absolute time, such as a model whose "now" is always the origin.
    #[must_use]
    pub fn rebased(self, elapsed: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(elapsed)))
    }
}

/// A reading of a wall clock: nanoseconds since the Unix epoch, by the clock of whoever read it.
///
/// Only design D2 compares two of them, and its margin is what their clocks may differ by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WallTime(i64);

impl WallTime {
    /// The reading so many nanoseconds after the Unix epoch (before it, if negative).
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// This reading, later by `span`; the last reading there is if that would pass it.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(nanos(span)))
    }

    /// This reading on a clock whose origin lies `elapsed` later.
    #[must_use]
    pub fn rebased(self, elapsed: Duration) -> Self {
        Self(self.0.saturating_sub_unsigned(nanos(elapsed)))
    }
}

/// In 64 bits, for 128 cost a failed attempt more than the rest of its arithmetic.
const fn nanos(span: Duration) -> u64 {
    span.as_secs().saturating_mul(1_000_000_000).saturating_add(span.subsec_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let last = Time::from_nanos(u64::MAX);
        assert_eq!(last.after(Duration::MAX), last);
        assert_eq!(Time::ORIGIN.since(last), Duration::ZERO);
        assert_eq!(Time::from_nanos(3).rebased(Duration::from_nanos(5)), Time::ORIGIN);
        assert_eq!(WallTime::from_nanos(3).rebased(Duration::from_nanos(5)).as_nanos(), -2);
        assert_eq!(WallTime::from_nanos(i64::MAX).after(Duration::MAX).as_nanos(), i64::MAX);
    }
}
