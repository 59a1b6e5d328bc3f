//! Durable objects whose calls retry themselves, and never run twice for a retry.
//!
//! A *durable object* is named, single-threaded and stateful, and lives on one host at a time. Calls to it fail when a
//! connection drops, a host restarts or an object moves. Stubs retry them, such that a method which is not marked
//! `#[retryable]` starts at most once a call; what a caller is told when a call has failed never understates doubt.
//!
//! Every decision about retries, identities and claims is taken by the state machines of [`oncemore_protocol`], which a
//! model checker has explored exhaustively. This crate gives them clocks, sockets, threads and SQLite.
//!
//! ```
//! use oncemore::{Context, Directory, Host, Namespace, Never, RetryOptions, durable_object};
//!
//! pub struct Counter {
//!     context: Context,
//! }
//!
//! #[durable_object]
//! impl Counter {
//!     #[construct]
//!     fn new(context: Context) -> Self {
//!         Self { context }
//!     }
//!
//!     /// Not marked: a retry never runs it again.
//!     async fn increment(&self) -> u64 {
//!         let next = self.context.storage().get("count").unwrap().unwrap_or(0) + 1;
//!         self.context.storage().put("count", &next).unwrap();
//!         next
//!     }
//!
//!     /// Marked: running it twice does no harm.
//!     #[retryable]
//!     async fn count(&self) -> u64 {
//!         self.context.storage().get("count").unwrap().unwrap_or(0)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let directory = Directory::open(folder.path().join("directory.db"))?;
//! let host = Host::builder(&directory).class::<Counter>().storage(folder.path().join("data")).start().await?;
//!
//! let counters = Namespace::<Counter>::new(&directory);
//! let counter = counters.get_by_name_with("visits", RetryOptions::new().max_retries(2)?);
//! assert_eq!(counter.increment().await?, 1);
//! assert_eq!(counter.count().await?, 1);
//! host.shut_down().await?;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! * [`Host`] serves objects: each on one thread, one thing at a time, with its own SQLite database ([`Storage`]).
//! * [`Directory`] says which host has which object; [`Registry`] is the trait behind it.
//! * [`Namespace`] makes stubs, and a stub's calls return [`CallError`] when they fail.
//! * [`ClassOptions`] chooses how objects remember what they have let in ([`Remember`]).
//! * [`Network`], [`Executor`], [`Clock`] and [`Entropy`] are all that touches the world, and can be replaced: the same
//!   code runs over sockets on threads and in a deterministic simulation.

mod caller;
mod class;
mod clock;
mod context;
mod directory;
mod entropy;
mod error;
mod executor;
mod host;
mod id;
mod link;
mod namespace;
mod network;
mod object;
#[allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::restriction, clippy::pedantic, clippy::nursery, reason = "generated from schema/oncemore.capnp")]
#[rustfmt::skip]
mod oncemore_capnp;
mod retry;
mod run;
mod storage;
mod stub;
mod wire;

pub use caller::{AbortController, AbortSignal, Caller, CallerBuilder};
pub use class::{ClassOptions, Remember};
pub use clock::Clock;
pub use context::Context;
pub use directory::{Change, Directory, DirectoryError, HostId, HostRecord, Place, Record, Registry};
pub use entropy::Entropy;
pub use error::{CallError, Cause};
pub use executor::Executor;
pub use host::{Host, HostBuilder, HostError, Stop};
pub use id::{IdError, ObjectId};
pub use namespace::Namespace;
pub use network::{InProcess, Listener, Network, Sockets, Stream};
pub use object::{ConstructError, DurableObject, Input, Never, Output, UserError};
pub use oncemore_macros::{construct, durable_object, local, retryable};
pub use oncemore_protocol::backoff::{Schedule, ScheduleError};
pub use oncemore_protocol::failure::{Delivery, Kind, Refusal};
pub use oncemore_protocol::identity::Incarnation;
pub use oncemore_protocol::limits::{LimitError, LimitKey};
pub use oncemore_protocol::marks;
pub use oncemore_protocol::time::WallTime;
pub use retry::RetryOptions;
/// For [`Storage`]'s SQL: its parameters and rows.
pub use rusqlite;
pub use storage::{Durability, Storage, StorageError};
pub use stub::Stub;
pub use wire::{HostFailure, Malformed, Reason};

/// What `fetch` is called with: the body is in memory.
pub type Request = http::Request<bytes::Bytes>;

/// What `fetch` answers: the body is in memory.
pub type Response = http::Response<bytes::Bytes>;

/// What the code that `#[durable_object]` writes refers to.
#[doc(hidden)]
pub mod __private {
    pub use futures_util::future::LocalBoxFuture;
    pub use oncemore_protocol::marks::{Function, MarkTable, Member};
}
