//! What travels between callers and hosts, as values; `write` and `read` turn them into Cap'n Proto messages and back.

mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use bytes::Bytes;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use futures_util::io::{AsyncRead, BufReader, BufWriter};
use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::identity::Header;
use oncemore_protocol::marks::FETCH;
use oncemore_protocol::store::Digest;
use sha2::Digest as _;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::id::ObjectId;
use crate::network::Stream;

pub use read::Malformed;
pub(crate) use read::{read_answer, read_attempt};
pub(crate) use write::{write_answer, write_attempt};

/// The version of the schema that this code speaks.
pub(crate) const VERSION: u16 = 1;

/// How long a message may be, in bytes; longer ones are refused by either side.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// One attempt of one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub(crate) object: ObjectId,
    pub(crate) header: Header,
    pub(crate) request: Request,
}

/// What is asked for: the same bytes in every attempt (E5).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// [`FETCH`], for a fetch.
    pub(crate) method: Arc<str>,
    pub(crate) payload: Payload,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Payload {
    /// MessagePack, a list with one element for each argument.
    Arguments(Bytes),
    Fetch(HttpRequest),
}

/// The head of a request or a response is kept as it was made; the body is in memory (E2).
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest(pub(crate) Arc<http::Request<Bytes>>);

impl PartialEq for HttpRequest {
    fn eq(&self, other: &Self) -> bool {
        let (this, other) = (&self.0, &other.0);
        this.method() == other.method()
            && this.uri() == other.uri()
            && this.headers() == other.headers()
            && this.body() == other.body()
    }
}

/// What came back for an attempt.
#[derive(Debug)]
pub(crate) enum Answer {
    /// MessagePack: what the method returned.
    Value(Bytes),
    Response(Box<http::Response<Bytes>>),
    /// What user code threw (F3).
    Thrown {
        kind: Kind,
        /// MessagePack: the error as the method's author typed it.
        error: Bytes,
        message: String,
    },
    /// What the gate said.
    Refused(Refusal),
    /// What went wrong around user code.
    Failed(HostFailure),
}

/// Something on the host went wrong that is neither the gate's nor user code's doing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostFailure {
    pub(crate) kind: Kind,
    pub(crate) delivery: Delivery,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

impl HostFailure {
    /// What went wrong.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }
}

/// What went wrong on a host, around user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The host serves no class of that name.
    UnknownClass,
    /// The class has no such method.
    UnknownMethod,
    /// The method does not take such arguments.
    MalformedArguments,
    /// The host does not have the object, or not any more.
    NotHere,
    /// The object's construction failed.
    Construction,
    /// The object's code panicked.
    Panicked,
    /// The object's storage failed.
    Storage,
    /// The message is no attempt.
    MalformedAttempt,
    /// What the method returned is too long to be sent.
    AnswerTooLong,
    /// What the method returned cannot be written.
    AnswerUnwritable,
}

impl Request {
    /// What tells this request from another under the same identity (D5). Stable: it is stored with claims.
    pub(crate) fn digest(&self) -> Digest {
        let mut hash = sha2::Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(self.method.as_bytes());
        match &self.payload {
            Payload::Arguments(arguments) => part(arguments),
            Payload::Fetch(HttpRequest(request)) => {
                part(request.method().as_str().as_bytes());
                part(request.uri().to_string().as_bytes());
                for (name, value) in request.headers() {
                    part(name.as_str().as_bytes());
                    part(value.as_bytes());
                }
                part(request.body());
            }
        }
        let hash: [u8; 32] = hash.finalize().into();
        Digest(u64::from_le_bytes([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]]))
    }

    pub(crate) fn fetch(request: http::Request<Bytes>) -> Self {
        Self { method: FETCH.into(), payload: Payload::Fetch(HttpRequest(Arc::new(request))) }
    }
}

/// One end of a connection. A message is written in several parts and read in several, so both directions have a buffer; the
/// RPC system empties it after each message.
pub(crate) fn vat(stream: Stream, side: Side) -> VatNetwork<impl AsyncRead + Unpin> {
    let (reader, writer) = (BufReader::new(stream.reader.compat()), BufWriter::new(stream.writer.compat_write()));
    VatNetwork::new(reader, writer, side, reader_options())
}

/// How much of a message a reader looks at before it takes it for an attack.
pub(crate) fn reader_options() -> capnp::message::ReaderOptions {
    let mut options = capnp::message::ReaderOptions::new();
    // Room for the frame around the longest payload.
    options.traversal_limit_in_words(Some((MESSAGE_BYTES_MAX + (1 << 20)) / 8));
    options
}

impl Request {
    /// How long the parts are that can be long, in bytes.
    pub(crate) fn length(&self) -> usize {
        let payload = match &self.payload {
            Payload::Arguments(arguments) => arguments.len(),
            // An address is never longer than 64 KiB, for which there is room.
            Payload::Fetch(HttpRequest(request)) => request.body().len() + fields_length(request.headers()),
        };
        self.method.len() + payload
    }
}

impl Answer {
    /// How long the parts are that can be long, in bytes.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Value(value) => value.len(),
            Self::Response(response) => response.body().len() + fields_length(response.headers()),
            Self::Thrown { error, message, .. } => error.len() + message.len(),
            Self::Failed(failure) => failure.message.len(),
            Self::Refused(_) => 0,
        }
    }

    /// The answer as bytes, for the record (D5).
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut message = capnp::message::Builder::new_default();
        write_answer(self, message.init_root());
        capnp::serialize::write_message_to_words(&message)
    }

    /// The answer that [`Answer::to_bytes`] wrote.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, reader_options())?;
        read_answer(message.get_root()?)
    }
}

fn fields_length(headers: &http::HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
