//! The limits of a stub (M4), and how long it waits between attempts (C6).

use std::time::Duration;

use oncemore_protocol::backoff::{Schedule, ScheduleError};
use oncemore_protocol::limits::{LimitError, LimitKey, LimitValue, Limits};
use serde_json::Value;

/// How often and how long every call through one stub may be retried.
///
/// ```
/// use oncemore::RetryOptions;
///
/// let options = RetryOptions::new().max_retries(1)?.timeout_ms(2000)?;
/// assert_eq!(options, RetryOptions::from_json(&serde_json::json!({ "maxRetries": 1, "timeoutMs": 2000 }))?);
/// # Ok::<(), oncemore::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryOptions {
    limits: Limits,
    schedule: Schedule,
}

impl RetryOptions {
    /// Four retries within ten seconds, after the delays of the production runtime.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many retries may follow the first attempt: 0 to 10.
    ///
    /// # Errors
    /// [`LimitError::Range`] if it is more.
    pub fn max_retries(self, retries_max: u8) -> Result<Self, LimitError> {
        Ok(Self { limits: Limits::new(retries_max, self.limits.timeout_ms())?, ..self })
    }

    /// How long after its start a call may still begin or wait for a retry: 500 to 60,000 milliseconds.
    ///
    /// # Errors
    /// [`LimitError::Range`] if it is less or more.
    pub fn timeout_ms(self, timeout_ms: u32) -> Result<Self, LimitError> {
        Ok(Self { limits: Limits::new(self.limits.retries_max(), timeout_ms)?, ..self })
    }

    /// Before retry n, a delay drawn between zero and `base × factor^(n − 1)`, but never more than `cap`.
    ///
    /// # Errors
    /// [`ScheduleError`] if the factor is zero or `base` exceeds `cap`.
    pub fn backoff(self, base: Duration, factor: u32, cap: Duration) -> Result<Self, ScheduleError> {
        Ok(Self { schedule: Schedule::exponential(base, factor, cap)?, ..self })
    }

    /// Any schedule.
    #[must_use]
    pub const fn schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// The limits in `{"maxRetries": 4, "timeoutMs": 10000}`; what is missing or null as a whole is the default (M4).
    ///
    /// # Errors
    /// A type error or a range error, `maxRetries` first.
    pub fn from_json(retry: &Value) -> Result<Self, LimitError> {
        // Only these two are looked at, so that no other key costs anything; a missing one is undefined.
        let entries = [LimitKey::MaxRetries, LimitKey::TimeoutMs]
            .map(|key| (key.name(), retry.get(key.name()).map_or(LimitValue::Undefined, value)));
        let bag = if retry.is_object() { LimitValue::Object(&entries) } else { value(retry) };
        Ok(Self { limits: Limits::read(bag)?, ..Self::default() })
    }

    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) const fn delays(&self) -> Schedule {
        self.schedule
    }
}

fn value(json: &Value) -> LimitValue<'static> {
    match json {
        Value::Null => LimitValue::Null,
        Value::Bool(_) => LimitValue::Boolean,
        // Every JSON number is a double to those who write these options.
        Value::Number(number) => number.as_f64().map_or(LimitValue::BigInt, LimitValue::Number),
        Value::String(_) => LimitValue::String,
        Value::Array(_) | Value::Object(_) => LimitValue::Object(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_the_default() {
        for bag in [json!(null), json!({}), json!({ "maxRetries": 4.0 }), json!({ "other": "x" }), json!([])] {
            assert_eq!(RetryOptions::from_json(&bag), Ok(RetryOptions::new()), "{bag}");
        }
    }

    #[test]
    fn a_bad_value_is_a_type_error_or_a_range_error_and_names_its_key() {
        let error = |bag: Value| RetryOptions::from_json(&bag).unwrap_err();
        assert!(matches!(error(json!("soon")), LimitError::BagType { .. }));
        assert!(matches!(
            error(json!({ "maxRetries": "1", "timeoutMs": 1 })),
            LimitError::Type { key: LimitKey::MaxRetries, .. }
        ));
        assert_eq!(error(json!({ "timeoutMs": 499 })), LimitError::Range { key: LimitKey::TimeoutMs });
        assert_eq!(error(json!({ "maxRetries": 1.5 })), LimitError::Range { key: LimitKey::MaxRetries });
        assert!(error(json!({ "timeoutMs": 60_001 })).to_string().contains("timeoutMs"));
    }

    #[test]
    fn typed_limits_are_checked_as_they_are_set() {
        assert!(RetryOptions::new().max_retries(11).is_err());
        assert!(RetryOptions::new().timeout_ms(499).is_err());
        let zero = RetryOptions::new().max_retries(0).unwrap();
        assert_eq!(zero.limits().attempts_max(), 1);
    }
}
