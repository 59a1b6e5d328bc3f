//! How often and how long one call may be retried (M4).
//!
//! [`Limits`] is what a stub carries and every call through it obeys. A runtime in Rust builds it with [`Limits::new`];
//! a binding to a dynamically typed language, or a reader of a configuration file, describes what it was handed as
//! [`LimitValue`]s and lets [`Limits::read`] judge it, so that every binding accepts the same values.

use core::fmt;
use core::ops::RangeInclusive;

/// The limits of every call through one stub: always within their ranges (M4).
///
/// With the `serde` feature it is written as `{retries_max, timeout_ms}`; a missing field is its default, an unknown
/// one an error, and a value out of range does not deserialise.
///
/// ```
/// use oncemore_protocol::limits::Limits;
///
/// let patient = Limits::new(10, 60_000)?;
/// assert_eq!(patient.attempts_max(), 11);
/// assert_eq!(Limits::default(), Limits::new(4, 10_000)?);
/// # Ok::<(), oncemore_protocol::limits::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "written::Limits"))]
pub struct Limits {
    retries_max: u8,
    timeout_ms: u32,
}

impl Limits {
    /// What `maxRetries` may be.
    pub const RETRIES_MAX_RANGE: RangeInclusive<u8> = 0..=10;
    /// What `timeoutMs` may be, in milliseconds.
    pub const TIMEOUT_MS_RANGE: RangeInclusive<u32> = 500..=60_000;
    /// Four retries, so five attempts, within ten seconds.
    pub const DEFAULT: Self = Self { retries_max: 4, timeout_ms: 10_000 };

    /// The limits with these two values; `maxRetries` is checked first (M4).
    ///
    /// # Errors
    ///
    /// [`LimitError::Range`], naming the first value that lies outside its range.
    pub const fn new(retries_max: u8, timeout_ms: u32) -> Result<Self, LimitError> {
        if !LimitKey::MaxRetries.admits(retries_max as u32) {
            return Err(LimitError::Range { key: LimitKey::MaxRetries });
        }
        if !LimitKey::TimeoutMs.admits(timeout_ms) {
            return Err(LimitError::Range { key: LimitKey::TimeoutMs });
        }
        Ok(Self { retries_max, timeout_ms })
    }

    /// The limits that a `retry` option asks for, whatever it holds (M4).
    ///
    /// `retry` is the whole option: undefined and null mean the defaults, an object is searched for the two keys. Other
    /// keys are left alone, as they may belong to a later version.
    ///
    /// # Errors
    ///
    /// [`LimitError::BagType`] if `retry` is neither of these; then, for `maxRetries` and after it for `timeoutMs`,
    /// [`LimitError::Type`] if it is present and no number, and [`LimitError::Range`] if it is a number that is no
    /// integer of its range.
    pub fn read(retry: LimitValue<'_>) -> Result<Self, LimitError> {
        let entries = match retry {
            LimitValue::Undefined | LimitValue::Null => return Ok(Self::DEFAULT),
            LimitValue::Object(entries) => entries,
            LimitValue::Boolean
            | LimitValue::Number(_)
            | LimitValue::BigInt
            | LimitValue::String
            | LimitValue::Symbol => {
                return Err(LimitError::BagType { found: retry.described() });
            }
        };
        let retries_max = LimitKey::MaxRetries.read(entries)?;
        let timeout_ms = LimitKey::TimeoutMs.read(entries)?;
        // The range is one of `u8`, so this never saturates; if it did, `new` would refuse the result.
        Self::new(u8::try_from(retries_max).unwrap_or(u8::MAX), timeout_ms)
    }

    /// How many retries may follow the first attempt (C1).
    #[must_use]
    pub const fn retries_max(self) -> u8 {
        self.retries_max
    }

    /// How many attempts one call may make, the first included (C1).
    #[must_use]
    pub const fn attempts_max(self) -> u8 {
        self.retries_max + 1
    }

    /// How long after its start a call may still begin or wait for a retry, in milliseconds (C2).
    #[must_use]
    pub const fn timeout_ms(self) -> u32 {
        self.timeout_ms
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The two limits, by the names under which callers write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKey {
    /// `maxRetries`: retries after the first attempt.
    MaxRetries,
    /// `timeoutMs`: milliseconds from the call's start to its cutoff.
    TimeoutMs,
}

impl LimitKey {
    /// The key as callers write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxRetries => "maxRetries",
            Self::TimeoutMs => "timeoutMs",
        }
    }

    /// The least and the greatest value that the key admits.
    const fn bounds(self) -> (u32, u32) {
        match self {
            Self::MaxRetries => {
                let range = Limits::RETRIES_MAX_RANGE;
                (*range.start() as u32, *range.end() as u32)
            }
            Self::TimeoutMs => {
                let range = Limits::TIMEOUT_MS_RANGE;
                (*range.start(), *range.end())
            }
        }
    }

    const fn admits(self, value: u32) -> bool {
        let (least, greatest) = self.bounds();
        least <= value && value <= greatest
    }

    const fn default(self) -> u32 {
        match self {
            Self::MaxRetries => Limits::DEFAULT.retries_max as u32,
            Self::TimeoutMs => Limits::DEFAULT.timeout_ms,
        }
    }

    /// The key's value among the entries of a bag; of several entries with its name, the last one.
    fn read(self, entries: &[(&str, LimitValue<'_>)]) -> Result<u32, LimitError> {
        let entry = entries.iter().rev().find(|(name, _)| *name == self.name());
        match entry.map_or(LimitValue::Undefined, |(_, value)| *value) {
            LimitValue::Undefined => Ok(self.default()),
            LimitValue::Number(number) => {
                exact_integer(number).filter(|n| self.admits(*n)).ok_or(LimitError::Range { key: self })
            }
            other @ (LimitValue::Null
            | LimitValue::Boolean
            | LimitValue::BigInt
            | LimitValue::String
            | LimitValue::Symbol
            | LimitValue::Object(_)) => Err(LimitError::Type { key: self, found: other.described() }),
        }
    }
}

/// The number as an integer, if it is exactly one; NaN and the infinities are none.
fn exact_integer(number: f64) -> Option<u32> {
    // The cast saturates and makes NaN zero, and each of these differs from the number that it came from.
    let integer = number as u32;
    (f64::from(integer) == number).then_some(integer)
}

/// One value of a caller's options, in the terms of a dynamically typed language.
///
/// Nothing is ever coerced, so only the kind of what is no number matters: a string of digits, a boxed number and a big
/// integer are all refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitValue<'a> {
    /// No value at all, which is also what a missing key holds.
    Undefined,
    /// An explicit null: the default for the whole bag, a wrong type for a limit.
    Null,
    /// Either truth value.
    Boolean,
    /// A double, the only kind that a limit may have.
    Number(f64),
    /// An integer of a kind of its own (`4n`).
    BigInt,
    /// Any text, digits included.
    String,
    /// A symbol.
    Symbol,
    /// Anything that can have keys (arrays, functions, dates and boxed values too), as the entries that it has.
    Object(&'a [(&'a str, Self)]),
}

impl LimitValue<'_> {
    const fn described(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number(_) => "a number",
            Self::BigInt => "a big integer",
            Self::String => "a string",
            Self::Symbol => "a symbol",
            Self::Object(_) => "an object",
        }
    }
}

/// Why limits were refused; the caller's mistake, found before anything is sent (M4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitError {
    /// A type error: the `retry` option itself is nothing that can hold keys.
    BagType {
        /// What it is, in words.
        found: &'static str,
    },
    /// A type error: the limit is there and is not a number.
    Type {
        /// Which limit.
        key: LimitKey,
        /// What it is, in words.
        found: &'static str,
    },
    /// A range error: the limit is a number, but no integer within its range.
    Range {
        /// Which limit.
        key: LimitKey,
    },
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BagType { found } => write!(f, "retry must be an object, but is {found}"),
            Self::Type { key, found } => {
                write!(f, "{} must be a number, but is {found}", key.name())
            }
            Self::Range { key } => {
                let (least, greatest) = key.bounds();
                write!(f, "{} must be an integer from {least} to {greatest}", key.name())
            }
        }
    }
}

impl core::error::Error for LimitError {}

/// How limits are written down; apart from [`Limits`], so that reading them cannot get around the ranges.
#[cfg(feature = "serde")]
mod written {
    #[derive(serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub(super) struct Limits {
        retries_max: u8,
        timeout_ms: u32,
    }

    impl Default for Limits {
        fn default() -> Self {
            let super::Limits { retries_max, timeout_ms } = super::Limits::DEFAULT;
            Self { retries_max, timeout_ms }
        }
    }

    impl TryFrom<Limits> for super::Limits {
        type Error = super::LimitError;

        fn try_from(written: Limits) -> Result<Self, Self::Error> {
            Self::new(written.retries_max, written.timeout_ms)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::{format, vec};

    #[test]
    fn defaults_lie_within_the_ranges() {
        assert_eq!(Limits::new(4, 10_000), Ok(Limits::DEFAULT));
        assert_eq!(Limits::default().attempts_max(), 5);
    }

    #[test]
    fn both_ends_of_both_ranges_are_admitted_and_nothing_beyond() {
        for (retries, timeout) in [(0, 500), (10, 500), (0, 60_000), (10, 60_000)] {
            assert!(Limits::new(retries, timeout).is_ok(), "{retries}, {timeout}");
        }
        for timeout in [0, 499, 60_001, u32::MAX] {
            assert_eq!(Limits::new(4, timeout), Err(LimitError::Range { key: LimitKey::TimeoutMs }));
        }
        for retries in [11, u8::MAX] {
            assert_eq!(Limits::new(retries, 500), Err(LimitError::Range { key: LimitKey::MaxRetries }));
        }
    }

    #[test]
    fn max_retries_is_judged_first() {
        let both_wrong = [("timeoutMs", LimitValue::String), ("maxRetries", LimitValue::Number(11.0))];
        assert_eq!(Limits::read(LimitValue::Object(&both_wrong)), Err(LimitError::Range { key: LimitKey::MaxRetries }));
        assert_eq!(Limits::new(11, 0), Err(LimitError::Range { key: LimitKey::MaxRetries }));
    }

    #[test]
    fn the_last_of_two_equal_keys_counts_and_other_keys_do_not() {
        let entries = [
            ("maxRetries", LimitValue::String),
            ("maxRetries", LimitValue::Number(2.0)),
            ("MaxRetries", LimitValue::Number(9.0)),
        ];
        assert_eq!(Limits::read(LimitValue::Object(&entries)), Limits::new(2, 10_000));
    }

    #[test]
    fn messages_name_the_key_and_what_it_takes() {
        let text = |error: LimitError| error.to_string();
        assert_eq!(text(LimitError::Range { key: LimitKey::MaxRetries }), "maxRetries must be an integer from 0 to 10");
        assert_eq!(
            text(LimitError::Range { key: LimitKey::TimeoutMs }),
            "timeoutMs must be an integer from 500 to 60000"
        );
        assert_eq!(
            text(LimitError::Type { key: LimitKey::TimeoutMs, found: "null" }),
            "timeoutMs must be a number, but is null"
        );
        assert_eq!(text(LimitError::BagType { found: "a string" }), "retry must be an object, but is a string");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn deserialising_checks_the_ranges_and_fills_in_the_defaults() {
        let read = |text: &str| serde_json::from_str::<Limits>(text);
        assert_eq!(read("{}").unwrap(), Limits::DEFAULT);
        assert_eq!(read(r#"{"retries_max": 0}"#).unwrap(), Limits::new(0, 10_000).unwrap());
        assert!(read(r#"{"retries_max": 11}"#).unwrap_err().to_string().contains("maxRetries"));
        assert!(read(r#"{"retries": 1}"#).is_err());
        let limits = Limits::new(1, 500).unwrap();
        assert_eq!(read(&serde_json::to_string(&limits).unwrap()).unwrap(), limits);
    }

    fn any_value() -> impl Strategy<Value = LimitValue<'static>> {
        prop_oneof![
            Just(LimitValue::Undefined),
            Just(LimitValue::Null),
            Just(LimitValue::Boolean),
            any::<f64>().prop_map(LimitValue::Number),
            (-2_i32..70_000).prop_map(|n| LimitValue::Number(f64::from(n))),
            (-2_i32..13).prop_map(|n| LimitValue::Number(f64::from(n))),
            (0_i32..70_000).prop_map(|n| LimitValue::Number(f64::from(n) + 0.5)),
            Just(LimitValue::BigInt),
            Just(LimitValue::String),
            Just(LimitValue::Symbol),
            Just(LimitValue::Object(&[])),
        ]
    }

    /// The rule of one key, said once more and in floats: its value, or `None` for any refusal.
    fn expected(value: LimitValue<'_>, default: f64, range: RangeInclusive<f64>) -> Option<f64> {
        match value {
            LimitValue::Undefined => Some(default),
            LimitValue::Number(n) => (range.contains(&n) && n.trunc() == n).then_some(n),
            LimitValue::Null
            | LimitValue::Boolean
            | LimitValue::BigInt
            | LimitValue::String
            | LimitValue::Symbol
            | LimitValue::Object(_) => None,
        }
    }

    proptest! {
        #[test]
        fn reading_accepts_exactly_the_integers_of_the_ranges(
            retries in any_value(), timeout in any_value(),
        ) {
            let entries = [("maxRetries", retries), ("timeoutMs", timeout)];
            let read = Limits::read(LimitValue::Object(&entries));
            let retries = expected(retries, 4.0, 0.0..=10.0);
            let timeout = expected(timeout, 10_000.0, 500.0..=60_000.0);
            match (retries, timeout, read) {
                (Some(retries), Some(timeout), Ok(limits)) => {
                    prop_assert_eq!(f64::from(limits.retries_max()), retries);
                    prop_assert_eq!(f64::from(limits.timeout_ms()), timeout);
                }
                (None, _, Err(error)) => {
                    prop_assert!(error.to_string().contains("maxRetries"));
                }
                (Some(_), None, Err(error)) => {
                    prop_assert!(error.to_string().contains("timeoutMs"));
                }
                (.., read) => prop_assert!(false, "{}", format!("{read:?}")),
            }
        }
    }
}
