//! `facts/options.json`: which values of the `retry` option make a stub (M4).

mod facts;

use facts::{Row, assert_rows, load, rows, text};
use oncemore_protocol::limits::{LimitError, LimitValue, Limits};

#[test]
fn options_are_accepted_and_refused_as_measured() {
    let facts = load("options");
    let rows = rows(&facts["rows"], |row| format!("{} = {}", text(row, "key"), text(row, "value")));
    assert_rows(&rows, &[], run);
}

fn run(row: &Row) -> Option<Result<(), String>> {
    let (key, value) = (text(&row.data, "key"), text(&row.data, "value"));
    let value = from_javascript(value)?;
    let read = match key {
        "retry" => Limits::read(value),
        "maxRetries" | "timeoutMs" => Limits::read(LimitValue::Object(&[(key, value)])),
        _ => return None,
    };
    Some(compare(&row.data, key, value, read))
}

fn compare(
    row: &serde_json::Value,
    key: &str,
    value: LimitValue<'_>,
    read: Result<Limits, LimitError>,
) -> Result<(), String> {
    let verdict = verdict(read)?;
    if verdict != text(row, "verdict") {
        return Err(format!("the code says {verdict}"));
    }
    match read {
        Ok(limits) if holds_what_was_written(limits, key, value) => Ok(()),
        Ok(limits) => Err(format!("was read as {limits:?}")),
        Err(error) => message_names_the_key(key, error),
    }
}

fn verdict(read: Result<Limits, LimitError>) -> Result<&'static str, String> {
    match read {
        Ok(_) => Ok("ok"),
        Err(LimitError::BagType { .. } | LimitError::Type { .. }) => Ok("type"),
        Err(LimitError::Range { .. }) => Ok("range"),
        Err(error) => Err(format!("an error that the facts do not know: {error}")),
    }
}

/// Whether the limits are the value that was written, where it is a number, and otherwise the defaults.
fn holds_what_was_written(limits: Limits, key: &str, value: LimitValue<'_>) -> bool {
    let written = if let LimitValue::Number(number) = value { Some(number) } else { None };
    let (retries, timeout) = match key {
        "maxRetries" => (written, None),
        _ => (None, written),
    };
    f64::from(limits.retries_max()) == retries.unwrap_or(4.0)
        && f64::from(limits.timeout_ms()) == timeout.unwrap_or(10_000.0)
}

/// M4: every error names the key, and a range error the range.
fn message_names_the_key(key: &str, error: LimitError) -> Result<(), String> {
    let message = error.to_string();
    let range = match (key, error) {
        ("maxRetries", LimitError::Range { .. }) => "0 to 10",
        ("timeoutMs", LimitError::Range { .. }) => "500 to 60000",
        _ => "",
    };
    if message.contains(key) && message.contains(range) { Ok(()) } else { Err(format!("the message is: {message}")) }
}

/// The value that a JavaScript expression of the facts has, or `None` for one that is not known here.
fn from_javascript(expression: &str) -> Option<LimitValue<'static>> {
    const OBJECTS: [&str; 4] = ["new ", "{", "[", "()=>"];
    match expression {
        "undefined" => Some(LimitValue::Undefined),
        "null" => Some(LimitValue::Null),
        "true" | "false" => Some(LimitValue::Boolean),
        "Symbol" => Some(LimitValue::Symbol),
        _ if expression.starts_with('\'') => Some(LimitValue::String),
        _ if OBJECTS.iter().any(|start| expression.starts_with(start)) => Some(LimitValue::Object(&[])),
        _ => match expression.strip_suffix('n') {
            Some(digits) if digits.parse::<u64>().is_ok() => Some(LimitValue::BigInt),
            _ => number(expression).map(LimitValue::Number),
        },
    }
}

/// A literal, or a power of two, perhaps with something added.
fn number(expression: &str) -> Option<f64> {
    let Some(power) = expression.strip_prefix("2**") else {
        return expression.parse().ok();
    };
    let (exponent, addend) = power.split_once('+').unwrap_or((power, "0"));
    Some(2_f64.powi(exponent.parse().ok()?) + addend.parse::<f64>().ok()?)
}

#[test]
fn expressions_are_read_as_what_they_are() {
    assert_eq!(from_javascript("2**32+3"), Some(LimitValue::Number(4_294_967_299.0)));
    assert_eq!(from_javascript("1e21"), Some(LimitValue::Number(1e21)));
    assert_eq!(from_javascript("-Infinity"), Some(LimitValue::Number(f64::NEG_INFINITY)));
    assert!(matches!(from_javascript("NaN"), Some(LimitValue::Number(n)) if n.is_nan()));
    assert_eq!(from_javascript("500n"), Some(LimitValue::BigInt));
    assert_eq!(from_javascript("'0x5'"), Some(LimitValue::String));
    assert_eq!(from_javascript("somethingElse"), None);
}
