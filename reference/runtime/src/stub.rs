//! What calls are made on.

use std::sync::Arc;

use bytes::Bytes;
use oncemore_protocol::eligibility::{self, Body, Contents, Position, Through};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;

use crate::caller::{AbortSignal, Caller, Failed, Target, drive, observe};
use crate::error::{CallError, Cause};
use crate::id::ObjectId;
use crate::object::{Never, UserError};
use crate::retry::RetryOptions;
use crate::run;
use crate::wire::{Answer, MESSAGE_BYTES_MAX, Payload, Request};

/// A stub for one object, without the names of its methods. `#[durable_object]` writes a typed one around it.
///
/// A clone shares what the stub knows of where the object is. Whatever fails, the next call through it looks again (C8).
#[derive(Clone, Debug)]
pub struct Stub {
    target: Arc<Target>,
    options: RetryOptions,
    signal: Option<AbortSignal>,
}

impl Stub {
    pub(crate) fn new(object: ObjectId, caller: Caller, options: RetryOptions) -> Self {
        Self { target: Arc::new(Target::new(object, caller)), options, signal: None }
    }

    /// The object.
    #[must_use]
    pub fn id(&self) -> &ObjectId {
        &self.target.object
    }

    /// A stub for the same object, whose calls have these limits.
    #[must_use]
    pub fn with_options(&self, options: RetryOptions) -> Self {
        Self { options, ..self.clone() }
    }

    /// A stub for the same object, whose calls this signal aborts (C7).
    #[must_use]
    pub fn with_signal(&self, signal: &AbortSignal) -> Self {
        Self { signal: Some(signal.clone()), ..self.clone() }
    }

    /// Calls a method. The arguments are a tuple, written once (E5).
    ///
    /// # Errors
    /// What the method threw, or why it could not be called.
    pub async fn call<A, T, E>(&self, method: &str, arguments: &A) -> Result<T, CallError<E>>
    where
        A: Serialize,
        T: DeserializeOwned,
        E: UserError,
    {
        let method: Arc<str> = method.into();
        let written = rmp_serde::to_vec_named(arguments);
        let arguments = written.map_err(|error| CallError::unsent(self.id(), &method, Cause::Arguments(error)))?;
        let request = Request { method: method.clone(), payload: Payload::Arguments(arguments.into()) };
        // Whatever serde can write is plain (E3).
        let (answer, attempts) = self.send(request, Contents::Method(&[])).await?;
        let value = match &answer {
            Answer::Value(value) => &value[..],
            // Not what was asked for, so not readable as that either.
            Answer::Response(_) | Answer::Thrown { .. } | Answer::Refused(_) | Answer::Failed(_) => &[],
        };
        rmp_serde::from_slice(value).map_err(|error| CallError::unreadable(self.id(), &method, attempts, error))
    }

    /// Sends a request to the object's `fetch`. An HTTP error status is an answer like any other (F4).
    ///
    /// # Errors
    /// What `fetch` threw, or why it could not be called.
    pub async fn fetch<E: UserError>(
        &self,
        request: http::Request<impl Into<Bytes>>,
    ) -> Result<http::Response<Bytes>, CallError<E>> {
        let request = request.map(Into::into);
        let body = if request.body().is_empty() { Body::Absent } else { Body::Bytes };
        let request = Request::fetch(request);
        let method = request.method.clone();
        match self.send(request, Contents::Fetch(body)).await? {
            (Answer::Response(response), _) => Ok(*response),
            (answer, attempts) => {
                let what = format!("{answer:?} is no response");
                let error = rmp_serde::decode::Error::Uncategorized(what);
                Err(CallError::unreadable(self.id(), &method, attempts, error))
            }
        }
    }

    async fn send<E: UserError>(&self, request: Request, contents: Contents<'_>) -> Result<(Answer, u8), CallError<E>> {
        let unsent = |cause| CallError::unsent(self.id(), &request.method, cause);
        let length = request.length() + self.id().name().map_or(0, str::len);
        if length > MESSAGE_BYTES_MAX {
            return Err(unsent(Cause::TooLong { length }));
        }
        // Only a namespace makes stubs here (E1).
        let call = eligibility::Call { through: Through::Namespace, position: Position::First, contents };
        let eligible = call.eligibility().carries_identity();
        run::before_leaving().map_err(|error| unsent(Cause::Storage(Arc::new(error))))?;
        let span = observe::call_span(self.id(), &request.method);
        let driven = drive(&self.target, self.options, self.signal.clone(), &request, eligible).instrument(span);
        match run::outside(driven).await {
            Ok(answered) => Ok(answered),
            Err(Failed::Subrequests(error)) => Err(unsent(Cause::Subrequests(error))),
            Err(Failed::Settled { attempts, failure }) => {
                Err(CallError::settled(self.id(), &request.method, attempts, failure))
            }
        }
    }
}

const _: fn() = || {
    // Calls may be made from any thread.
    fn send<T: Send>(_: T) {}
    fn check(stub: Stub) {
        send(async move { stub.call::<_, (), Never>("method", &()).await });
    }
    let _ = check;
};
