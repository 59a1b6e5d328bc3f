//! What there is to observe of calls (C10): spans, counters and one histogram, through the facades `tracing` and `metrics`.

use std::fmt;

use oncemore_protocol::caller::{Ending, Report};
use oncemore_protocol::failure::{Delivery, Kind};
use oncemore_protocol::identity::{Header, Ordinal};
use tracing::field::Empty;
use tracing::{Span, debug, info_span};

use crate::id::ObjectId;

/// Retries that began.
pub(crate) const RETRIES: &str = "oncemore_retries_total";
/// Calls that retried at least once, by how they ended (label `ending`).
pub(crate) const ENDINGS: &str = "oncemore_retried_calls_total";
/// Seconds since the first disconnect that a call which retried took until it ended (label `ending`).
pub(crate) const ADDED_LATENCY: &str = "oncemore_retried_call_added_seconds";

pub(crate) fn call_span(object: &ObjectId, method: &str) -> Span {
    info_span!("call", class = object.class(), object = %object, method)
}

/// The span of one attempt; its identity is filled in once it has one.
pub(crate) fn attempt_begins(ordinal: Ordinal) -> Span {
    if ordinal > Ordinal(1) {
        metrics::counter!(RETRIES).increment(1);
    }
    info_span!(
        "attempt",
        ordinal = ordinal.0,
        caller = Empty,
        number = Empty,
        born = Empty,
        retry = Empty,
        address = Empty
    )
}

pub(crate) fn attempt_sent(span: &Span, header: &Header) {
    if let Some(identity) = header.identity {
        span.record("caller", format_args!("{:032x}", identity.caller.bits()));
        span.record("number", identity.number.0).record("born", identity.born.0);
    }
    span.record("retry", header.retry).record("address", header.address.0);
    span.in_scope(|| debug!("sent"));
}

pub(crate) fn attempt_failed(span: &Span, kind: Kind, delivery: Delivery, why: &dyn fmt::Debug) {
    span.in_scope(|| debug!(?kind, ?delivery, ?why, "failed"));
}

pub(crate) fn call_ended(report: &Report) {
    let ending = name(report.ending);
    metrics::counter!(ENDINGS, "ending" => ending).increment(1);
    metrics::histogram!(ADDED_LATENCY, "ending" => ending).record(report.since_disconnect.as_secs_f64());
    debug!(attempts = report.attempts, ending, added = ?report.since_disconnect, "call ended");
}

const fn name(ending: Ending) -> &'static str {
    match ending {
        Ending::Recovered => "recovered",
        Ending::AttemptsExhausted => "attempts_exhausted",
        Ending::Deadline => "deadline",
        Ending::NotRetryable => "not_retryable",
        Ending::ClaimRejected => "claim_rejected",
        Ending::Cancelled => "cancelled",
    }
}
