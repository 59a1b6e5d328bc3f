//! What user code is told when a call has failed.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use oncemore_protocol::failure::{Delivery, Failure, Kind, Refusal};

use crate::directory::DirectoryError;
use crate::id::ObjectId;
use crate::object::{Never, UserError};
use crate::storage::StorageError;
use crate::wire::{HostFailure, MESSAGE_BYTES_MAX, Malformed};

/// A call that failed, as its user sees it.
///
/// `E` is the error type of the method. Kind and message are those of the failure that C4 picks, and the delivery is that
/// of the whole call, which never understates doubt (C9).
pub struct CallError<E = Never>(Box<Inner<E>>);

struct Inner<E> {
    kind: Kind,
    delivery: Delivery,
    remote: bool,
    object: ObjectId,
    method: Arc<str>,
    attempts: u8,
    cause: Cause<E>,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause<E> {
    /// The object's code threw this.
    #[error("its code threw: {0}")]
    Thrown(E),
    /// The object's code threw something that this program cannot read as the method's error type.
    #[error("its code threw an error that this program cannot read: {message}")]
    ThrownUnreadable {
        /// The error as text.
        message: String,
        /// Why it cannot be read.
        source: rmp_serde::decode::Error,
    },
    /// The object's gate did not run the attempt.
    #[error("{}", told(*.0))]
    Refused(Refusal),
    /// Something on the object's host went wrong, around the object's code.
    #[error("{0}")]
    Host(HostFailure),
    /// The directory could not say where the object is.
    #[error("the object could not be found: {0}")]
    Directory(Arc<DirectoryError>),
    /// The object's host could not be reached.
    #[error("its host at {address} could not be reached: {source}")]
    Connect {
        /// Where.
        address: String,
        /// Why.
        source: Arc<io::Error>,
    },
    /// The connection was lost while the call was under way.
    #[error("the connection to its host was lost: {0}")]
    Dropped(String),
    /// The host answered something that is no answer.
    #[error("its host answered something that cannot be read: {0}")]
    Answer(Arc<Malformed>),
    /// What the method returned is not what this program expects.
    #[error("what it returned cannot be read as the method's type: {0}")]
    Returned(rmp_serde::decode::Error),
    /// The arguments cannot be written; nothing was sent.
    #[error("the arguments cannot be written: {0}")]
    Arguments(rmp_serde::encode::Error),
    /// The arguments, or the request, or the names of object and method, are too long; nothing was sent.
    #[error("the request is {length} bytes long, and at most {MESSAGE_BYTES_MAX} can be sent")]
    TooLong {
        /// In bytes.
        length: usize,
    },
    /// The caller has made as many calls as it may (C1); nothing was sent.
    #[error("{0}")]
    Subrequests(oncemore_protocol::route::SubrequestsUsedUp),
    /// The caller is an object, and what it wrote before it made the call could not be stored; nothing was sent.
    #[error("the calling object's own writes could not be stored: {0}")]
    Storage(Arc<StorageError>),
    /// The caller's abort signal fired, with this reason (C7).
    #[error("the caller aborted it: {0}")]
    Aborted(Arc<str>),
}

impl<E> CallError<E> {
    /// What went wrong (F1).
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// How far the request got, over all attempts (C9). Only `NotDelivered` says that the method did not run and never will.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        self.0.delivery
    }

    /// Whether the connection to the object was lost (F1). It does not say that calling again is safe: see
    /// [`CallError::delivery`].
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.0.kind == Kind::Disconnected
    }

    /// Whether the object or its host had too much to do (F1).
    #[must_use]
    pub fn overloaded(&self) -> bool {
        self.0.kind == Kind::Overloaded
    }

    /// Whether the object's code threw it (F1).
    #[must_use]
    pub fn remote(&self) -> bool {
        self.0.remote
    }

    /// The object that was called.
    #[must_use]
    pub fn object(&self) -> &ObjectId {
        &self.0.object
    }

    /// The method that was called.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.0.method
    }

    /// How many attempts began, the first included; 0 if nothing was to be sent.
    #[must_use]
    pub fn attempts(&self) -> u8 {
        self.0.attempts
    }

    /// Why it failed.
    #[must_use]
    pub fn cause(&self) -> &Cause<E> {
        &self.0.cause
    }

    /// What the object's code threw, if it did.
    #[must_use]
    pub fn thrown(&self) -> Option<&E> {
        match &self.0.cause {
            Cause::Thrown(error) => Some(error),
            Cause::ThrownUnreadable { .. }
            | Cause::Refused(_)
            | Cause::Host(_)
            | Cause::Directory(_)
            | Cause::Connect { .. }
            | Cause::Dropped(_)
            | Cause::Answer(_)
            | Cause::Returned(_)
            | Cause::Arguments(_)
            | Cause::TooLong { .. }
            | Cause::Subrequests(_)
            | Cause::Storage(_)
            | Cause::Aborted(_) => None,
        }
    }
}

impl<E: UserError> CallError<E> {
    pub(crate) fn settled(object: &ObjectId, method: &Arc<str>, attempts: u8, failure: Failure<Problem>) -> Self {
        let Failure { kind, delivery, remote, payload } = failure;
        Self(Box::new(Inner {
            kind,
            delivery,
            remote,
            object: object.clone(),
            method: method.clone(),
            attempts,
            cause: payload.into_cause(),
        }))
    }

    /// The object answered, but its answer cannot be read: it ran, and is not called again.
    pub(crate) fn unreadable(
        object: &ObjectId,
        method: &Arc<str>,
        attempts: u8,
        error: rmp_serde::decode::Error,
    ) -> Self {
        Self(Box::new(Inner {
            kind: Kind::Failed,
            delivery: Delivery::Delivered,
            remote: false,
            object: object.clone(),
            method: method.clone(),
            attempts,
            cause: Cause::Returned(error),
        }))
    }

    /// The call was refused before anything was sent.
    pub(crate) fn unsent(object: &ObjectId, method: &Arc<str>, cause: Cause<E>) -> Self {
        Self(Box::new(Inner {
            kind: Kind::Failed,
            delivery: Delivery::NotDelivered,
            remote: false,
            object: object.clone(),
            method: method.clone(),
            attempts: 0,
            cause,
        }))
    }
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { delivery, object, method, attempts, cause, .. } = &*self.0;
        write!(f, "{object:?}.{method} failed: {cause}")?;
        let plural = if *attempts == 1 { "" } else { "s" };
        match delivery {
            Delivery::NotDelivered => write!(f, " (it did not run; {attempts} attempt{plural})"),
            Delivery::Unknown => write!(f, " (it may have run; {attempts} attempt{plural})"),
            Delivery::Delivered => write!(f, " (it reached the object; {attempts} attempt{plural})"),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, delivery, remote, object, method, attempts, cause } = &*self.0;
        f.debug_struct("CallError")
            .field("kind", kind)
            .field("delivery", delivery)
            .field("remote", remote)
            .field("object", object)
            .field("method", method)
            .field("attempts", attempts)
            .field("cause", cause)
            .finish()
    }
}

impl<E: Error + 'static> Error for CallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match &self.0.cause {
            Cause::Thrown(error) => error,
            Cause::ThrownUnreadable { source, .. } | Cause::Returned(source) => source,
            Cause::Host(failure) => failure,
            Cause::Directory(error) => &**error,
            Cause::Connect { source, .. } => &**source,
            Cause::Answer(error) => &**error,
            Cause::Arguments(error) => error,
            Cause::Subrequests(error) => error,
            Cause::Storage(error) => &**error,
            Cause::Refused(_) | Cause::Dropped(_) | Cause::TooLong { .. } | Cause::Aborted(_) => return None,
        })
    }
}

/// What a refusal says to people.
const fn told(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Draining => "the object is being handed to another host",
        Refusal::Elsewhere => "the object has moved or restarted",
        Refusal::Overloaded => "too many calls wait for the object",
        Refusal::Claimed => {
            "an earlier attempt of this call was let in already, and the method is not marked as retryable"
        }
        Refusal::Doubtful => "an earlier attempt of this call may have run before the object restarted or moved",
        Refusal::Settled => "the caller itself has given this call up before",
        Refusal::Older => "a later attempt of this call was let in before",
        Refusal::StoreFull => {
            "the object remembers as many calls as it can, and could not tell this one from an old one"
        }
        Refusal::SessionRejected => "the first call of this session was rejected",
        Refusal::SessionMarked => "the session may be a duplicate, and the method is not marked as retryable",
        Refusal::OtherRequest => "the call's identity was used for another request before",
        Refusal::ClaimNotStored => "the object could not store that it let the call in",
        Refusal::EpochLost => "the object was taken over by another host during the call",
    }
}

/// What a failure carries inside the caller's machine.
#[derive(Clone, Debug)]
pub(crate) enum Problem {
    Thrown { error: Bytes, message: String },
    Refused(Refusal),
    Host(HostFailure),
    Directory(Arc<DirectoryError>),
    Connect { address: String, source: Arc<io::Error> },
    Dropped(String),
    Answer(Arc<Malformed>),
    Aborted(Arc<str>),
}

impl Problem {
    fn into_cause<E: UserError>(self) -> Cause<E> {
        match self {
            Self::Thrown { error, message } => match rmp_serde::from_slice(&error) {
                Ok(error) => Cause::Thrown(error),
                Err(source) => Cause::ThrownUnreadable { message, source },
            },
            Self::Refused(refusal) => Cause::Refused(refusal),
            Self::Host(failure) => Cause::Host(failure),
            Self::Directory(error) => Cause::Directory(error),
            Self::Connect { address, source } => Cause::Connect { address, source },
            Self::Dropped(why) => Cause::Dropped(why),
            Self::Answer(error) => Cause::Answer(error),
            Self::Aborted(reason) => Cause::Aborted(reason),
        }
    }
}
