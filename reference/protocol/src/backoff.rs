//! How long a call waits before each retry (C6).
//!
//! A [`Schedule`] is a value: the random draw comes in as an argument and the delay goes out, so that a runtime can
//! draw from its generator, a model from the two ends of the range, and a test from a list. The arithmetic is in whole
//! nanoseconds and never overflows.

use core::fmt;
use core::ops::RangeInclusive;
use core::time::Duration;

/// The range from which the delay before each retry is drawn, uniformly.
///
/// ```
/// use core::time::Duration;
/// use oncemore_protocol::backoff::Schedule;
///
/// let schedule = Schedule::exponential(Duration::from_millis(100), 2, Duration::from_secs(5))?;
/// assert_eq!(schedule.delay(1, u32::MAX), Duration::from_millis(100));
/// assert_eq!(schedule.delay(4, u32::MAX), Duration::from_millis(800));
/// assert_eq!(schedule.delay(200, u32::MAX), Duration::from_secs(5));
/// # Ok::<(), oncemore_protocol::backoff::ScheduleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule(Shape);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Shape {
    Observed,
    Exponential { base: Duration, factor: u32, cap: Duration },
    Uniform { low: Duration, high: Duration },
}

impl Schedule {
    /// The schedule measured on the production runtime: 0–500 ms, 0–1 s, 1–3 s, then 2–4 s (`facts/backoff.json`).
    #[must_use]
    pub const fn observed() -> Self {
        Self(Shape::Observed)
    }

    /// Full jitter: before retry n, anything from zero to `base × factor^(n − 1)`, and never more than `cap`.
    ///
    /// The cap holds for the delay itself, jitter included. A factor of 1 keeps the range as it is.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::FactorIsZero`] and [`ScheduleError::BaseAboveCap`].
    pub const fn exponential(base: Duration, factor: u32, cap: Duration) -> Result<Self, ScheduleError> {
        if factor == 0 {
            return Err(ScheduleError::FactorIsZero);
        }
        if base.as_nanos() > cap.as_nanos() {
            return Err(ScheduleError::BaseAboveCap);
        }
        Ok(Self(Shape::Exponential { base, factor, cap }))
    }

    /// The same range before every retry, both ends included.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::LowAboveHigh`].
    pub const fn uniform(low: Duration, high: Duration) -> Result<Self, ScheduleError> {
        if low.as_nanos() > high.as_nanos() {
            return Err(ScheduleError::LowAboveHigh);
        }
        Ok(Self(Shape::Uniform { low, high }))
    }

    /// The delay before a retry, for one random draw.
    ///
    /// `retry` counts from 1, the call's second attempt; 0 is taken as 1. `draw` is uniform over all of `u32`: 0 gives
    /// the least delay of the range, `u32::MAX` the greatest, and a greater draw never gives a lesser delay.
    #[must_use]
    pub const fn delay(&self, retry: u8, draw: u32) -> Duration {
        let range = self.range(retry);
        let (least, greatest) = (range.start().as_nanos(), range.end().as_nanos());
        let width = greatest - least;
        // The usual delays of seconds need no division of 128 bits, which is slow.
        if greatest <= 1 << 32 {
            return Duration::from_nanos(least as u64 + width as u64 * draw as u64 / u32::MAX as u64);
        }
        // A `Duration` has at most 94 bits of nanoseconds, so that the product has at most 126. The divisor is the
        // greatest draw, not the number of draws: otherwise the far end could not be reached.
        Duration::from_nanos_u128(least + width * draw as u128 / u32::MAX as u128)
    }

    /// The least and the greatest delay before a retry, which counts as for [`delay`](Self::delay).
    #[must_use]
    pub const fn range(&self, retry: u8) -> RangeInclusive<Duration> {
        match self.0 {
            Shape::Observed => observed(retry),
            Shape::Exponential { base, factor, cap } => {
                RangeInclusive::new(Duration::ZERO, grown(base, factor, cap, retry))
            }
            Shape::Uniform { low, high } => RangeInclusive::new(low, high),
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::observed()
    }
}

const fn observed(retry: u8) -> RangeInclusive<Duration> {
    let (least_ms, greatest_ms) = match retry {
        0 | 1 => (0, 500),
        2 => (0, 1_000),
        3 => (1_000, 3_000),
        4.. => (2_000, 4_000),
    };
    RangeInclusive::new(Duration::from_millis(least_ms), Duration::from_millis(greatest_ms))
}

/// `base × factor^(retry − 1)`, or the cap as soon as that is reached.
const fn grown(base: Duration, factor: u32, cap: Duration, retry: u8) -> Duration {
    let mut grown = base;
    let mut step = 1;
    while step < retry && grown.as_nanos() < cap.as_nanos() {
        grown = grown.saturating_mul(factor);
        step += 1;
    }
    if grown.as_nanos() < cap.as_nanos() { grown } else { cap }
}

/// Why a schedule was refused; a mistake in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The range would be empty.
    LowAboveHigh,
    /// The delays would shrink to nothing after the first retry.
    FactorIsZero,
    /// The first delay would already be cut, and the factor would mean nothing.
    BaseAboveCap,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LowAboveHigh => "the least delay of a schedule must not exceed its greatest",
            Self::FactorIsZero => "the factor of a schedule must be at least 1",
            Self::BaseAboveCap => "the base of a schedule must not exceed its cap",
        })
    }
}

impl core::error::Error for ScheduleError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn constructors_refuse_what_makes_no_schedule() {
        assert_eq!(Schedule::uniform(MS(2), MS(1)), Err(ScheduleError::LowAboveHigh));
        assert_eq!(Schedule::exponential(MS(1), 0, MS(9)), Err(ScheduleError::FactorIsZero));
        assert_eq!(Schedule::exponential(MS(10), 2, MS(9)), Err(ScheduleError::BaseAboveCap));
        assert!(Schedule::uniform(MS(1), MS(1)).is_ok());
        assert!(Schedule::exponential(MS(9), 1, MS(9)).is_ok());
    }

    #[test]
    fn the_observed_schedule_reaches_both_ends_of_each_range() {
        let ends = |retry| {
            let schedule = Schedule::observed();
            (schedule.delay(retry, 0), schedule.delay(retry, u32::MAX))
        };
        assert_eq!(ends(1), (MS(0), MS(500)));
        assert_eq!(ends(2), (MS(0), MS(1_000)));
        assert_eq!(ends(3), (MS(1_000), MS(3_000)));
        for retry in 4..=u8::MAX {
            assert_eq!(ends(retry), (MS(2_000), MS(4_000)));
        }
    }

    #[test]
    fn retry_zero_is_taken_as_the_first() {
        let doubling = Schedule::exponential(MS(100), 2, MS(1_000)).unwrap();
        for schedule in [Schedule::observed(), doubling] {
            assert_eq!(schedule.range(0), schedule.range(1));
        }
    }

    #[test]
    fn exponential_growth_stops_at_the_cap_and_saturates() {
        let doubling = Schedule::exponential(MS(100), 2, MS(1_000)).unwrap();
        let greatest = |retry| doubling.delay(retry, u32::MAX);
        assert_eq!([1, 2, 3, 4, 5, 255].map(greatest), [100, 200, 400, 800, 1_000, 1_000].map(MS));
        let steepest = Schedule::exponential(Duration::from_nanos(1), u32::MAX, Duration::MAX).unwrap();
        assert_eq!(steepest.delay(255, u32::MAX), Duration::MAX);
        assert_eq!(steepest.delay(255, 0), Duration::ZERO);
    }

    #[test]
    fn a_schedule_can_be_a_constant() {
        const PROMPT: Schedule = match Schedule::uniform(Duration::ZERO, Duration::ZERO) {
            Ok(schedule) => schedule,
            Err(_) => Schedule::observed(),
        };
        assert_eq!(PROMPT.delay(1, u32::MAX), Duration::ZERO);
    }

    fn any_duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            (0_u64..10_000).prop_map(Duration::from_millis),
            (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
            Just(Duration::MAX),
        ]
    }

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        let factor = prop_oneof![1_u32..5, any::<u32>()];
        prop_oneof![
            Just(Schedule::observed()),
            (any_duration(), factor, any_duration())
                .prop_filter_map("refused", |(base, factor, cap)| { Schedule::exponential(base, factor, cap).ok() }),
            (any_duration(), any_duration()).prop_map(|(a, b)| Schedule::uniform(a.min(b), a.max(b)).unwrap()),
        ]
    }

    proptest! {
        #[test]
        fn a_delay_lies_in_the_range_and_grows_with_the_draw(
            schedule in any_schedule(), retry: u8, one: u32, other: u32,
        ) {
            let range = schedule.range(retry);
            let (lesser, greater) = (one.min(other), one.max(other));
            prop_assert!(range.contains(&schedule.delay(retry, one)));
            prop_assert!(schedule.delay(retry, lesser) <= schedule.delay(retry, greater));
            prop_assert_eq!(schedule.delay(retry, 0), *range.start());
            let (least, width) = (range.start().as_nanos(), (*range.end() - *range.start()).as_nanos());
            let exact = least + width * u128::from(one) / u128::from(u32::MAX);
            prop_assert_eq!(schedule.delay(retry, one).as_nanos(), exact);
            prop_assert_eq!(schedule.delay(retry, u32::MAX), *range.end());
        }

        #[test]
        fn the_cap_holds_and_is_the_only_thing_that_does(
            base in any_duration(), factor in 1_u32..100, cap in any_duration(), retry: u8, draw: u32,
        ) {
            let schedule = match Schedule::exponential(base, factor, cap) {
                Ok(schedule) => schedule,
                Err(error) => {
                    prop_assert_eq!(error, ScheduleError::BaseAboveCap);
                    return Ok(());
                }
            };
            prop_assert!(schedule.delay(retry, draw) <= cap);
            let growth = u128::from(factor).checked_pow(u32::from(retry.max(1) - 1));
            let uncapped = match growth.and_then(|growth| base.as_nanos().checked_mul(growth)) {
                Some(nanos) => nanos,
                None if base.is_zero() => 0,
                None => u128::MAX,
            };
            prop_assert_eq!(schedule.range(retry).end().as_nanos(), uncapped.min(cap.as_nanos()));
        }
    }
}
