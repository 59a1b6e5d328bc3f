//! Cap'n Proto messages as values. What a peer sends is never trusted: whatever cannot be read is an error that says where.

use std::sync::Arc;

use bytes::Bytes;
use capnp::struct_list;
use http::{HeaderMap, HeaderName, HeaderValue};
use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::identity::{CallerId, Header, Identity, Incarnation, Number, Ordinal, Unsettled};
use oncemore_protocol::marks::FETCH;
use oncemore_protocol::time::WallTime;

use super::{Answer, Attempt, HostFailure, HttpRequest, Payload, Reason, Request};
use crate::id::ObjectId;
use crate::oncemore_capnp as schema;

/// A message that is not what the schema says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Cap'n Proto cannot read it.
    #[error("the message cannot be read: {0}")]
    Message(#[from] capnp::Error),
    /// It holds a text that is none.
    #[error("a text in the message is not UTF-8: {0}")]
    Text(#[from] std::str::Utf8Error),
    /// It holds a value of a newer version of the schema.
    #[error("the message holds a value that this version does not know ({0}): the peer is newer")]
    Unknown(capnp::NotInSchema),
    /// An object id is not 32 bytes long.
    #[error("the object's id is {0} bytes long, not 32")]
    Id(usize),
    /// Attempts count from 1.
    #[error("an attempt says that it is number 0 of its call")]
    Ordinal,
    /// A fetch carries a request, and only a fetch does.
    #[error("`fetch` takes a request, and other methods take arguments")]
    Payload,
    /// An HTTP request or response that makes no sense.
    #[error("no valid HTTP: {0}")]
    Http(#[from] http::Error),
}

impl From<capnp::NotInSchema> for Malformed {
    fn from(unknown: capnp::NotInSchema) -> Self {
        Self::Unknown(unknown)
    }
}

pub(crate) fn read_attempt(message: schema::attempt::Reader<'_>) -> Result<Attempt, Malformed> {
    let class = message.get_class()?.to_str()?;
    let key = message.get_object()?;
    let key: [u8; 32] = key.try_into().map_err(|_| Malformed::Id(key.len()))?;
    let name = match message.get_name().which()? {
        schema::attempt::name::Named(name) => Some(name?.to_str()?),
        schema::attempt::name::Unnamed(()) => None,
    };
    let method: Arc<str> = message.get_method()?.to_str()?.into();
    let payload = match message.get_payload().which()? {
        schema::attempt::payload::Arguments(arguments) => Payload::Arguments(Bytes::copy_from_slice(arguments?)),
        schema::attempt::payload::Fetch(request) => Payload::Fetch(HttpRequest(Arc::new(read_request(request?)?))),
    };
    if matches!(payload, Payload::Fetch(_)) != (&*method == FETCH) {
        return Err(Malformed::Payload);
    }
    Ok(Attempt {
        object: ObjectId::from_key(class, key).with_name(name),
        header: read_header(message.get_header()?)?,
        request: Request { method, payload },
    })
}

fn read_header(message: schema::header::Reader<'_>) -> Result<Header, Malformed> {
    if message.get_ordinal() == 0 {
        return Err(Malformed::Ordinal);
    }
    Ok(Header {
        identity: match message.get_identity().which()? {
            schema::header::identity::None(()) => None,
            schema::header::identity::Some(identity) => Some(read_identity(identity?)),
        },
        ordinal: Ordinal(message.get_ordinal()),
        retry: message.get_retry(),
        address: Incarnation(message.get_address()),
        unsettled: Unsettled(message.get_unsettled()),
    })
}

fn read_identity(message: schema::identity::Reader<'_>) -> Identity {
    Identity {
        caller: CallerId::from_bits(u128::from(message.get_caller_high()) << 64 | u128::from(message.get_caller_low())),
        number: Number(message.get_number()),
        born: Incarnation(message.get_born()),
        created: WallTime::from_nanos(message.get_created()),
    }
}

pub(crate) fn read_answer(message: schema::answer::Reader<'_>) -> Result<Answer, Malformed> {
    Ok(match message.which()? {
        schema::answer::Value(value) => Answer::Value(Bytes::copy_from_slice(value?)),
        schema::answer::Response(response) => Answer::Response(Box::new(read_response(response?)?)),
        schema::answer::Thrown(thrown) => {
            let thrown = thrown?;
            Answer::Thrown {
                kind: kind_of(thrown.get_kind()?),
                error: Bytes::copy_from_slice(thrown.get_error()?),
                message: thrown.get_message()?.to_str()?.to_owned(),
            }
        }
        schema::answer::Refused(refusal) => Answer::Refused(refusal_of(refusal?)),
        schema::answer::Failed(failure) => Answer::Failed(read_failure(failure?)?),
    })
}

fn read_failure(message: schema::failure::Reader<'_>) -> Result<HostFailure, Malformed> {
    Ok(HostFailure {
        kind: kind_of(message.get_kind()?),
        delivery: delivery_of(message.get_delivery()?),
        reason: reason_of(message.get_reason()?),
        message: message.get_message()?.to_str()?.to_owned(),
    })
}

fn read_request(message: schema::http_request::Reader<'_>) -> Result<http::Request<Bytes>, Malformed> {
    let mut request = http::Request::builder()
        .method(message.get_method()?.to_str()?)
        .uri(message.get_uri()?.to_str()?)
        .body(Bytes::copy_from_slice(message.get_body()?))?;
    read_fields(message.get_headers()?, request.headers_mut())?;
    Ok(request)
}

fn read_response(message: schema::http_response::Reader<'_>) -> Result<http::Response<Bytes>, Malformed> {
    let body = Bytes::copy_from_slice(message.get_body()?);
    let mut response = http::Response::builder().status(message.get_status()).body(body)?;
    read_fields(message.get_headers()?, response.headers_mut())?;
    Ok(response)
}

fn read_fields(
    list: struct_list::Reader<'_, schema::http_field::Owned>,
    headers: &mut HeaderMap,
) -> Result<(), Malformed> {
    for field in list {
        let name = HeaderName::from_bytes(field.get_name()?.as_bytes()).map_err(http::Error::from)?;
        let value = HeaderValue::from_bytes(field.get_value()?).map_err(http::Error::from)?;
        headers.try_append(name, value).map_err(http::Error::from)?;
    }
    Ok(())
}

const fn kind_of(kind: schema::Kind) -> Kind {
    match kind {
        schema::Kind::Disconnected => Kind::Disconnected,
        schema::Kind::Overloaded => Kind::Overloaded,
        schema::Kind::Failed => Kind::Failed,
        schema::Kind::Unimplemented => Kind::Unimplemented,
    }
}

const fn delivery_of(delivery: schema::Delivery) -> Delivery {
    match delivery {
        schema::Delivery::NotDelivered => Delivery::NotDelivered,
        schema::Delivery::Unknown => Delivery::Unknown,
        schema::Delivery::Delivered => Delivery::Delivered,
    }
}

const fn reason_of(reason: schema::Reason) -> Reason {
    match reason {
        schema::Reason::UnknownClass => Reason::UnknownClass,
        schema::Reason::UnknownMethod => Reason::UnknownMethod,
        schema::Reason::MalformedArguments => Reason::MalformedArguments,
        schema::Reason::NotHere => Reason::NotHere,
        schema::Reason::Construction => Reason::Construction,
        schema::Reason::Panicked => Reason::Panicked,
        schema::Reason::Storage => Reason::Storage,
        schema::Reason::MalformedAttempt => Reason::MalformedAttempt,
        schema::Reason::AnswerTooLong => Reason::AnswerTooLong,
        schema::Reason::AnswerUnwritable => Reason::AnswerUnwritable,
    }
}

const fn refusal_of(refusal: schema::Refusal) -> Refusal {
    match refusal {
        schema::Refusal::Draining => Refusal::Draining,
        schema::Refusal::Elsewhere => Refusal::Elsewhere,
        schema::Refusal::Overloaded => Refusal::Overloaded,
        schema::Refusal::Claimed => Refusal::Claimed,
        schema::Refusal::Doubtful => Refusal::Doubtful,
        schema::Refusal::Settled => Refusal::Settled,
        schema::Refusal::Older => Refusal::Older,
        schema::Refusal::StoreFull => Refusal::StoreFull,
        schema::Refusal::SessionRejected => Refusal::SessionRejected,
        schema::Refusal::SessionMarked => Refusal::SessionMarked,
        schema::Refusal::OtherRequest => Refusal::OtherRequest,
        schema::Refusal::ClaimNotStored => Refusal::ClaimNotStored,
        schema::Refusal::EpochLost => Refusal::EpochLost,
    }
}
