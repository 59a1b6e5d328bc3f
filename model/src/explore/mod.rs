//! Exploration of finite transition systems: every state, every transition, nothing assumed.
//!
//! A [`System`] says which states there are and how one leads to another. An [`Engine`] visits all
//! of them and finds the states that violate a safety property, the runs that get stuck, and the
//! rule branches that were never taken; [`BreadthFirst`] is the engine here. [`liveness`] finds the
//! runs that go round for ever.
//!
//! Nothing in here knows the protocol that is checked.

mod breadth_first;
mod engine;
mod explicit;
mod fingerprint;
mod limits;
pub mod liveness;
pub mod stateright;
mod system;
mod tags;
mod trace;
mod visited;

pub use self::breadth_first::BreadthFirst;
pub use self::engine::{Counts, Engine, Exploration};
pub use self::explicit::{Explicit, ExplicitStep};
pub(crate) use self::fingerprint::Fingerprinter;
pub use self::fingerprint::collision_odds;
pub use self::limits::{Coverage, CutReason, Limits, MemoryLimit, Status, Verdict};
pub use self::system::{FairClass, System};
pub use self::tags::Tags;
pub use self::trace::{ExploreError, Step, Trace, TraceOf};
pub(crate) use self::trace::{stuck, successors};
