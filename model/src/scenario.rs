//! A scenario: who calls what, what may go wrong and how often, and how the object remembers.
//!
//! It is a plain value, written in TOML ([`Scenario::read`]). Everything in it is finite, so that its state space is;
//! [`Scenario::check`] says what is wrong with one before anything is run. `docs/scenarios.md` tells how to write one.

mod check;
mod error;
pub mod fields;
mod library;
mod place;
mod read;
mod spans;

pub use error::{Complaint, Flaw, Problem, ReadError, ScenarioError, Wrong};
pub use library::{Entry, find, library};
pub use place::{Item, Place, Table};
pub use spans::Position;

use std::collections::BTreeMap;

use oncemore_protocol::design::{Design, Retention};
use oncemore_protocol::rules::FirstRejection;
use serde::{Deserialize, Serialize};

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name: lower-case words joined by hyphens or underscores.
    pub name: String,
    /// One sentence: what it asks.
    #[serde(default)]
    pub about: String,
    /// Whether it belongs to the default suite; what takes minutes does not.
    #[serde(default = "yes")]
    pub suite: bool,
    /// How the object remembers what it has let in.
    #[serde(default)]
    pub store: StoreSettings,
    /// How often and until when a call is retried.
    #[serde(default)]
    pub limits: LimitSettings,
    /// How the world around the protocol is bounded.
    #[serde(default)]
    pub world: WorldSettings,
    /// What may go wrong.
    #[serde(default)]
    pub faults: Faults,
    /// Who calls; at least one.
    #[serde(rename = "caller")]
    pub callers: Vec<CallerScript>,
    /// What the properties are expected to say; those not named are expected to hold, or not asked.
    #[serde(default)]
    pub expect: Expect,
}

/// The default of [`Scenario::suite`].
const fn yes() -> bool {
    true
}

impl Scenario {
    /// All calls of all callers, in order; not those that methods make.
    pub fn calls(&self) -> impl Iterator<Item = &CallScript> {
        self.callers.iter().flat_map(|caller| &caller.calls)
    }
}

/// The claim store of every object in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoreSettings {
    /// D0 to D5.
    pub design: Design,
    /// Whether duplicates of marked methods are fenced.
    pub fenced: bool,
    /// How long claims are kept.
    pub retention: Retention,
    /// With retention `time`: how long, in milliseconds.
    pub window_ms: u32,
    /// With D2: what wall clocks may differ by, in milliseconds.
    pub margin_ms: u32,
    /// How many entries (claims and callers) the store may hold; none: as many as there are.
    pub capacity: Option<u32>,
    /// C5: what the caller makes of a rejection of its first attempt.
    pub first_rejection: FirstRejection,
}

impl Default for StoreSettings {
    /// The runtime's default: D3, fenced, watermark, and `fail`, which is safe on any transport.
    fn default() -> Self {
        Self {
            design: Design::VolatileIncarnation,
            fenced: true,
            retention: Retention::Watermark,
            window_ms: 2_000,
            margin_ms: 0,
            capacity: None,
            first_rejection: FirstRejection::Fail,
        }
    }
}

/// The limits of every stub (M4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// 0 to 10.
    pub retries_max: u8,
    /// 500 to 60 000.
    pub timeout_ms: u32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self { retries_max: 2, timeout_ms: 500 }
    }
}

/// How the world is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorldSettings {
    /// Whether time passes. Without it no cutoff falls; designs that know no clock keep their answers.
    pub clock: bool,
    /// How many requests may wait at one gate (G11).
    pub queue_max: u8,
    /// With retention `time`: the longest that a request is under way, in milliseconds; none: for ever.
    pub lifetime_ms: Option<u32>,
    /// With retention `time`: the longest that a request waits at the gate, in milliseconds; none: for ever.
    pub waiting_ms: Option<u32>,
    /// Whether the object's history is kept, so that P13 and P14 can be asked.
    pub history: bool,
    /// How many calls one execution of a caller may make (C1).
    pub subrequests_max: u32,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self { clock: true, queue_max: 2, lifetime_ms: None, waiting_ms: None, history: false, subrequests_max: 50 }
    }
}

/// How often each fault may strike, and how many may strike in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// How many of all the faults below together, those with a budget of their own apart; none: no common bound.
    pub max: Option<u8>,
    /// A request is lost; the caller sees the connection drop.
    pub lose_request: u8,
    /// A reply is lost; the caller sees the connection drop.
    pub lose_reply: u8,
    /// The connection drops while the request is under way, waits or runs: it still arrives, or runs on.
    pub cut: u8,
    /// The object is restarted where it is: its memory is lost.
    pub restart: u8,
    /// The object moves: it drains, then a successor starts (G2).
    pub drain: u8,
    /// The object moves, and its predecessor does not know.
    pub seize: u8,
    /// A resolve names an incarnation that has a successor.
    pub stale: u8,
    /// The object's queue is full (G11).
    pub overload: u8,
    /// User code throws; `dressed` as a retryable error (F3).
    pub throw: u8,
    /// The caller dies, and its next life goes on with the calls that have not begun.
    pub crash: u8,
    /// The caller drops a call's future (C7).
    pub give_up: u8,
    /// The caller aborts a call with a reason (C7).
    pub abort: u8,
    /// Planted: a caller that dies has a next life with the same id.
    pub reuse: u8,
    /// Planted: the object forgets its claims without a word.
    pub forget: u8,
    /// A budget of its own: connecting fails, which only uses up an attempt.
    pub unreachable: u8,
    /// A budget of its own: the network delivers a request twice. A transport that may do so is said to (F2).
    pub duplicate: u8,
}

impl Faults {
    /// The budget of each fault under its name, in the order of the fields.
    #[must_use]
    pub const fn budgets(&self) -> [(&'static str, u8); 16] {
        [
            ("lose_request", self.lose_request),
            ("lose_reply", self.lose_reply),
            ("cut", self.cut),
            ("restart", self.restart),
            ("drain", self.drain),
            ("seize", self.seize),
            ("stale", self.stale),
            ("overload", self.overload),
            ("throw", self.throw),
            ("crash", self.crash),
            ("give_up", self.give_up),
            ("abort", self.abort),
            ("reuse", self.reuse),
            ("forget", self.forget),
            ("unreachable", self.unreachable),
            ("duplicate", self.duplicate),
        ]
    }

    /// How often those faults may strike, all together, that [`Faults::max`] bounds; without regard to that bound.
    #[must_use]
    pub fn bounded(&self) -> u32 {
        let apart = u32::from(self.unreachable) + u32::from(self.duplicate);
        self.budgets().iter().map(|(_, budget)| u32::from(*budget)).sum::<u32>() - apart
    }
}

/// One caller and its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerScript {
    /// What its wall clock is ahead by, in milliseconds (D2).
    #[serde(default)]
    pub skew_ms: i32,
    /// Whether its calls run side by side; otherwise each begins when the one before has settled.
    #[serde(default)]
    pub concurrent: bool,
    /// Its calls, in order; at least one.
    #[serde(rename = "call")]
    pub calls: Vec<CallScript>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallScript {
    /// A name for traces and for other calls to refer to; unique in the scenario.
    pub name: String,
    /// Which object, 0 or 1.
    #[serde(default)]
    pub object: u8,
    /// Whether the object's class marks the method as retryable.
    #[serde(default)]
    pub marked: bool,
    /// Whether the caller believes so; the same as `marked` if it is not said.
    #[serde(default)]
    pub believed_marked: Option<bool>,
    /// Which fields of the object it overwrites; none: it reads `x`.
    #[serde(default)]
    pub writes: Vec<Field>,
    /// Whether the method awaits something halfway, so that others run in between.
    #[serde(default)]
    pub awaits: bool,
    /// Whether looking the method up runs user code, as a getter does.
    #[serde(default)]
    pub getter: bool,
    /// Whether the object has no such method.
    #[serde(default)]
    pub unknown: bool,
    /// Whether the call may be retried, or why not.
    #[serde(default)]
    pub kind: CallKind,
    /// The call whose session this one is a later call of (G8).
    #[serde(default)]
    pub session_of: Option<String>,
    /// The call whose pending result this one uses (E4).
    #[serde(default)]
    pub pipelined_on: Option<String>,
    /// The calls that the method itself makes, one after the other (F2, M5): each names an object's method.
    #[serde(default, rename = "inner")]
    pub inner: Vec<InnerScript>,
}

impl CallScript {
    /// Whether it is made on another call: in its session, or on its pending result. Such a call is never retried.
    #[must_use]
    pub const fn depends(&self) -> bool {
        self.session_of.is_some() || self.pipelined_on.is_some()
    }
}

/// A call that a method makes while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InnerScript {
    /// Which object, not the one that runs the outer method.
    pub object: u8,
    /// Whether that object's class marks the method.
    #[serde(default)]
    pub marked: bool,
    /// Which fields it overwrites.
    #[serde(default)]
    pub writes: Vec<Field>,
}

/// A field of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// One that P13 speaks of, if only unmarked methods write it.
    X,
    /// Another.
    Y,
}

impl Field {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
        }
    }
}

/// Whether a call may be retried, or why not (section 3 of the specification).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// A method call with plain arguments through a stub of a namespace.
    #[default]
    Method,
    /// A fetch whose body is held in memory.
    Fetch,
    /// A fetch with a streaming body (E2).
    StreamBody,
    /// A stream among the arguments (E3).
    StreamArgument,
    /// A function among the arguments (E3).
    FunctionArgument,
    /// Through a stub that came as an argument or a return value (E1).
    ReceivedStub,
}

/// What is expected of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Properties (`P1` to `P16`, `L1`, `L2`) that are violated; all others hold.
    pub violated: Vec<String>,
    /// Rules (`R1` to `R5`) that are reached; those not named may or may not be.
    pub reached: Vec<String>,
    /// Rules (`R1` to `R5`) that must not be reached.
    pub unreached: Vec<String>,
    /// Why a property is expected to be violated, by property.
    pub because: BTreeMap<String, String>,
}
