//! Values as Cap'n Proto messages.

use bytes::Bytes;
use capnp::struct_list;
use http::HeaderMap;
use oncemore_protocol::failure::{Delivery, Kind, Refusal};

use super::header::write_header;
use super::{Answer, Attempt, HostFailure, HttpRequest, Payload, Reason};
use crate::oncemore_capnp as schema;

pub(crate) fn write_attempt(attempt: &Attempt, mut message: schema::attempt::Builder<'_>) {
    message.set_class(attempt.object.class());
    message.set_object(attempt.object.key());
    match attempt.object.name() {
        Some(name) => message.reborrow().init_name().set_named(name),
        None => message.reborrow().init_name().set_unnamed(()),
    }
    write_header(&attempt.header, message.reborrow().init_header());
    message.set_method(&*attempt.request.method);
    let mut payload = message.init_payload();
    match &attempt.request.payload {
        Payload::Arguments(arguments) => payload.set_arguments(arguments),
        Payload::Fetch(HttpRequest(request)) => write_request(request, payload.init_fetch()),
    }
}

pub(crate) fn write_answer(answer: &Answer, mut message: schema::answer::Builder<'_>) {
    match answer {
        Answer::Value(value) => message.set_value(value),
        Answer::Response(response) => write_response(response, message.init_response()),
        Answer::Thrown { kind, error, message: text } => {
            let mut thrown = message.init_thrown();
            thrown.set_kind(kind_of(*kind));
            thrown.set_error(error);
            thrown.set_message(text);
        }
        Answer::Refused(refusal) => message.set_refused(refusal_of(*refusal)),
        Answer::Failed(failure) => write_failure(failure, message.init_failed()),
    }
}

fn write_failure(failure: &HostFailure, mut message: schema::failure::Builder<'_>) {
    message.set_kind(kind_of(failure.kind));
    message.set_delivery(delivery_of(failure.delivery));
    message.set_reason(reason_of(failure.reason));
    message.set_message(&failure.message);
}

fn write_request(request: &http::Request<Bytes>, mut message: schema::http_request::Builder<'_>) {
    message.set_method(request.method().as_str());
    message.set_uri(request.uri().to_string());
    write_fields(request.headers(), message.reborrow().init_headers(count(request.headers())));
    message.set_body(request.body());
}

fn write_response(response: &http::Response<Bytes>, mut message: schema::http_response::Builder<'_>) {
    message.set_status(response.status().as_u16());
    write_fields(response.headers(), message.reborrow().init_headers(count(response.headers())));
    message.set_body(response.body());
}

/// A header map holds at most 2^15 fields.
fn count(headers: &HeaderMap) -> u32 {
    u32::try_from(headers.len()).unwrap_or(u32::MAX)
}

fn write_fields(headers: &HeaderMap, mut list: struct_list::Builder<'_, schema::http_field::Owned>) {
    for (index, (name, value)) in (0..).zip(headers) {
        let mut field = list.reborrow().get(index);
        field.set_name(name.as_str());
        field.set_value(value.as_bytes());
    }
}

const fn kind_of(kind: Kind) -> schema::Kind {
    match kind {
        Kind::Disconnected => schema::Kind::Disconnected,
        Kind::Overloaded => schema::Kind::Overloaded,
        Kind::Failed => schema::Kind::Failed,
        Kind::Unimplemented => schema::Kind::Unimplemented,
    }
}

const fn delivery_of(delivery: Delivery) -> schema::Delivery {
    match delivery {
        Delivery::NotDelivered => schema::Delivery::NotDelivered,
        Delivery::Unknown => schema::Delivery::Unknown,
        Delivery::Delivered => schema::Delivery::Delivered,
    }
}

const fn reason_of(reason: Reason) -> schema::Reason {
    match reason {
        Reason::UnknownClass => schema::Reason::UnknownClass,
        Reason::UnknownMethod => schema::Reason::UnknownMethod,
        Reason::MalformedArguments => schema::Reason::MalformedArguments,
        Reason::NotHere => schema::Reason::NotHere,
        Reason::Construction => schema::Reason::Construction,
        Reason::Panicked => schema::Reason::Panicked,
        Reason::Storage => schema::Reason::Storage,
        Reason::MalformedAttempt => schema::Reason::MalformedAttempt,
        Reason::AnswerTooLong => schema::Reason::AnswerTooLong,
        Reason::AnswerUnwritable => schema::Reason::AnswerUnwritable,
    }
}

const fn refusal_of(refusal: Refusal) -> schema::Refusal {
    match refusal {
        Refusal::Draining => schema::Refusal::Draining,
        Refusal::Elsewhere => schema::Refusal::Elsewhere,
        Refusal::Overloaded => schema::Refusal::Overloaded,
        Refusal::Claimed => schema::Refusal::Claimed,
        Refusal::Doubtful => schema::Refusal::Doubtful,
        Refusal::Settled => schema::Refusal::Settled,
        Refusal::Older => schema::Refusal::Older,
        Refusal::StoreFull => schema::Refusal::StoreFull,
        Refusal::SessionRejected => schema::Refusal::SessionRejected,
        Refusal::SessionMarked => schema::Refusal::SessionMarked,
        Refusal::OtherRequest => schema::Refusal::OtherRequest,
        Refusal::ClaimNotStored => schema::Refusal::ClaimNotStored,
        Refusal::EpochLost => schema::Refusal::EpochLost,
    }
}
