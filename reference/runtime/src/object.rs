//! What a class of objects is to the runtime. `#[durable_object]` writes the implementation.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use oncemore_protocol::failure::Kind;
use oncemore_protocol::marks::MarkTable;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::stub::Stub;

/// A class of durable objects: named, single-threaded, stateful.
///
/// One instance is one incarnation. Its methods take `&self`, run on one thread and one at a time: a second one starts when
/// the first has ended, or waits for an answer from another object.
pub trait DurableObject: Sized + 'static {
    /// The name under which hosts serve the class.
    const CLASS: &'static str;

    /// What callers call its methods on.
    type Stub: From<Stub>;

    /// Which of its methods are marked (M2).
    const MARKS: MarkTable<'static>;

    /// An incarnation begins: before it answers anything, and after every restart and move.
    fn construct(context: Context) -> LocalBoxFuture<'static, Result<Self, ConstructError>>;

    /// Runs a method.
    fn dispatch<'a>(&'a self, method: &'a str, input: Input) -> LocalBoxFuture<'a, Output>;
}

/// Why an object could not be constructed.
pub type ConstructError = Box<dyn Error>;

/// What a method is called with.
#[derive(Clone, Debug)]
pub enum Input {
    /// MessagePack: a list with one element for each argument, nil where there are none.
    Arguments(Bytes),
    /// A request, for `fetch`.
    Fetch(Arc<http::Request<Bytes>>),
}

impl Input {
    /// The arguments, as a tuple.
    ///
    /// # Errors
    /// What is wrong with them, as the answer that the caller gets.
    #[allow(clippy::result_large_err, reason = "the error is the method's output, made once and moved once")]
    pub fn arguments<A: DeserializeOwned>(&self) -> Result<A, Output> {
        match self {
            Self::Arguments(bytes) => {
                rmp_serde::from_slice(bytes).map_err(|error| Output::MalformedArguments(error.to_string()))
            }
            Self::Fetch(_) => Err(Output::MalformedArguments("a request, where a method call was expected".into())),
        }
    }

    /// The request of a fetch.
    ///
    /// # Errors
    /// The answer that the caller gets, if this is no fetch.
    #[allow(clippy::result_large_err, reason = "the error is the method's output, made once and moved once")]
    pub fn request(self) -> Result<http::Request<Bytes>, Output> {
        match self {
            Self::Fetch(request) => Ok(Arc::unwrap_or_clone(request)),
            Self::Arguments(_) => Err(Output::MalformedArguments("a method call, where a request was expected".into())),
        }
    }
}

/// How a method ended.
#[derive(Debug)]
pub enum Output {
    /// MessagePack: what it returned.
    Value(Bytes),
    /// What `fetch` answered.
    Response(http::Response<Bytes>),
    /// What it threw.
    Thrown {
        /// What it is dressed as (F3).
        kind: Kind,
        /// MessagePack: the error.
        error: Bytes,
        /// The error, for those who cannot read it.
        message: String,
    },
    /// The class has no such method.
    UnknownMethod,
    /// The method does not take these arguments.
    MalformedArguments(String),
    /// What it returned, or threw, cannot be written.
    Unwritable(String),
}

impl Output {
    /// What a method returned.
    #[must_use]
    pub fn returned<T: Serialize>(value: &T) -> Self {
        match rmp_serde::to_vec_named(value) {
            Ok(bytes) => Self::Value(bytes.into()),
            Err(error) => Self::Unwritable(error.to_string()),
        }
    }

    /// What a method threw.
    #[must_use]
    pub fn thrown<E: UserError>(error: &E) -> Self {
        match rmp_serde::to_vec_named(error) {
            Ok(bytes) => Self::Thrown { kind: error.kind(), error: bytes.into(), message: error.to_string() },
            Err(unwritable) => Self::Unwritable(unwritable.to_string()),
        }
    }

    /// How a method that may throw ended.
    #[must_use]
    pub fn ended<T: Serialize, E: UserError>(result: &Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::returned(value),
            Err(error) => Self::thrown(error),
        }
    }

    /// How a `fetch` ended.
    #[must_use]
    pub fn responded<E: UserError>(result: Result<http::Response<Bytes>, E>) -> Self {
        match result {
            Ok(response) => Self::Response(response),
            Err(error) => Self::thrown(&error),
        }
    }
}

/// An error of user code that may travel: it keeps its type, through serde.
#[diagnostic::on_unimplemented(
    note = "the error of a method travels to its caller: it needs `std::error::Error`, serde's `Serialize` and `Deserialize`, and `impl oncemore::UserError for {Self} {{}}`"
)]
pub trait UserError: Error + Serialize + DeserializeOwned + 'static {
    /// What callers see it as (F3). Whatever it is, it was delivered, it is remote, and it is never retried.
    fn kind(&self) -> Kind {
        Kind::Failed
    }
}

/// The error of a method that cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub enum Never {}

impl std::fmt::Display for Never {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

impl Error for Never {}
impl UserError for Never {}
