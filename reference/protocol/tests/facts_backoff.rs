//! `facts/backoff.json`: how long the production runtime waits between attempts, and how many it makes (C1, C4.6, C6).

mod facts;

use std::time::Duration;

use facts::{Row, assert_rows, load, rows, text};
use oncemore_protocol::backoff::Schedule;
use oncemore_protocol::limits::{LimitKey, LimitValue, Limits};
use serde_json::{Map, Value};

/// What an attempt itself took at most. The facts are times from one attempt to the next, so this comes on top.
const ATTEMPT_SECONDS_MAX: f64 = 0.005;

const SCHEDULE: Schedule = Schedule::observed();

#[test]
fn every_section_of_the_facts_is_tested() {
    let facts = load("backoff");
    let sections: Vec<&str> = object(&facts).keys().map(String::as_str).collect();
    let tested = ["about", "attempts_made", "distribution", "observed_seconds", "ranges_seconds"];
    assert_eq!(sections, tested);
    assert_eq!(text(&facts, "distribution"), "uniform");
}

#[test]
fn the_schedule_has_the_measured_ranges() {
    assert_rows(&entries("ranges_seconds"), &[], |row| {
        let retries = match row.id.strip_suffix(" and later") {
            Some(first) => first.parse().ok()?..=u8::MAX,
            None => {
                let retry = row.id.parse().ok()?;
                retry..=retry
            }
        };
        let measured = [row.data[0].as_f64()?, row.data[1].as_f64()?];
        let wrong = retries.map(ends).find(|ends| *ends != measured);
        Some(wrong.map_or(Ok(()), |ends| Err(format!("the schedule has {ends:?}"))))
    });
}

#[test]
fn measured_delays_could_have_come_from_the_schedule() {
    assert_rows(&entries("observed_seconds"), &[], |row| {
        let [least, greatest] = ends(row.id.parse().ok()?);
        let [n, min, max, mean] = ["n", "min", "max", "mean"].map(|field| row.data[field].as_f64());
        let (n, min, max, mean) = (n?, min?, max?, mean?);
        // Four standard errors of a uniform mean. Retry 2 needs nearly all of them, and for a reason: with a short
        // timeout its longer delays reached the cutoff, so that no second attempt was there to be timed (C4.6).
        let tolerance = 4.0 * (greatest - least) / (12.0 * n).sqrt();
        let plausible = min >= least
            && max <= greatest + ATTEMPT_SECONDS_MAX
            && (mean - f64::midpoint(least, greatest)).abs() <= tolerance;
        Some(if plausible { Ok(()) } else { Err(format!("not from {least} to {greatest} s")) })
    });
}

#[test]
fn calls_made_as_many_attempts_as_the_rules_allow() {
    let facts = load("backoff");
    let rows = rows(&facts["attempts_made"], |row| row["retry"].to_string());
    assert_rows(&rows, &[], |row| {
        let limits = limits(&row.data["retry"])?;
        // The longer the delays, the fewer the attempts.
        let allowed = attempts(limits, u32::MAX)..=attempts(limits, 0);
        let wrong = trials(&row.data).find(|(attempts, _)| !allowed.contains(attempts));
        Some(wrong.map_or(Ok(()), |(made, _)| Err(format!("{made} attempts are not in {allowed:?}"))))
    });
}

#[test]
fn the_facts_agree_with_each_other() {
    let facts = load("backoff");
    let all_trials = facts["attempts_made"].as_array().unwrap();
    for row in entries("observed_seconds") {
        let retry: u8 = row.id.parse().unwrap();
        let retried: u64 =
            all_trials.iter().flat_map(trials).filter(|(attempts, _)| *attempts > retry).map(|(_, calls)| calls).sum();
        assert_eq!(row.data["n"], retried, "delays before retry {retry}");
    }
}

/// How many attempts a call makes if each fails at once, undelivered, and every delay is drawn alike (C1, C4.6).
fn attempts(limits: Limits, draw: u32) -> u8 {
    let cutoff = Duration::from_millis(limits.timeout_ms().into());
    let mut now = Duration::ZERO;
    for retry in 1..=limits.retries_max() {
        now += SCHEDULE.delay(retry, draw);
        if now >= cutoff {
            return retry;
        }
    }
    limits.attempts_max()
}

fn limits(retry: &Value) -> Option<Limits> {
    let Value::Object(bag) = retry else {
        return retry.is_null().then_some(Limits::DEFAULT);
    };
    let known = [LimitKey::MaxRetries.name(), LimitKey::TimeoutMs.name()];
    if bag.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let entries: Option<Vec<(&str, LimitValue<'_>)>> =
        bag.iter().map(|(key, value)| Some((key.as_str(), LimitValue::Number(value.as_f64()?)))).collect();
    Limits::read(LimitValue::Object(&entries?)).ok()
}

/// How many calls made how many attempts.
fn trials(row: &Value) -> impl Iterator<Item = (u8, u64)> {
    object(&row["trials_by_attempts"]).iter().map(|(attempts, calls)| {
        (attempts.parse().expect("a number of attempts"), calls.as_u64().expect("a number of calls"))
    })
}

/// Both ends of the schedule's range, in seconds.
fn ends(retry: u8) -> [f64; 2] {
    [0, u32::MAX].map(|draw| SCHEDULE.delay(retry, draw).as_secs_f64())
}

fn entries(section: &str) -> Vec<Row> {
    let facts = load("backoff");
    object(&facts[section]).iter().map(|(id, data)| Row { id: id.clone(), data: data.clone() }).collect()
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{value}: no object"))
}
