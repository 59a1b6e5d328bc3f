//! What user code sees: a value, or an error with its fields.

use oncemore_protocol::failure::Kind;
use serde::Serialize;

use crate::model::Model;
use crate::narrate::{delivery_name, kind_name, what};
use crate::world::{Outcome, World};

/// What the user code that made a call sees of it now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "sees", rename_all = "kebab-case")]
pub enum Sight {
    /// It has not made the call.
    NotBegun,
    /// It waits.
    Nothing,
    /// The value: which call wrote each field last, before this one.
    Value {
        /// Of `x`.
        x: Option<String>,
        /// Of `y`.
        y: Option<String>,
    },
    /// An error.
    Error(ErrorSight),
    /// The reason of its own abort.
    Reason,
    /// It is not there any more, or does not listen.
    Gone,
}

/// An error, with the fields that it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorSight {
    /// `disconnected`, `overloaded`, `failed` or `unimplemented`.
    pub kind: &'static str,
    /// Whether the method may have run.
    pub delivery: &'static str,
    /// Whether the connection was lost.
    pub retryable: bool,
    /// Whether there was too much to do.
    pub overloaded: bool,
    /// Whether the object's code threw it.
    pub remote: bool,
    /// How many attempts began.
    pub attempts: u8,
    /// Which attempt's failure it is.
    pub attempt: u8,
    /// What happened to that attempt.
    pub message: &'static str,
}

impl Model {
    /// What user code sees of each call, by name, in the order of the scenario.
    #[must_use]
    pub fn sights(&self, told: &World) -> Vec<(&str, Sight)> {
        let calls = self.script.calls.iter().zip(told.calls.iter());
        let writer = |call: u8| call.checked_sub(1).map(|call| self.call_name(call).to_owned());
        let sight = |state: &crate::world::CallState| match state.ledger.outcome {
            Outcome::NotBegun => Sight::NotBegun,
            Outcome::Pending => Sight::Nothing,
            Outcome::Answered(seen) => Sight::Value { x: writer(seen.x), y: writer(seen.y) },
            Outcome::Failed { kind, delivery, remote, cause } => Sight::Error(ErrorSight {
                kind: kind_name(kind),
                delivery: delivery_name(delivery),
                retryable: kind == Kind::Disconnected,
                overloaded: kind == Kind::Overloaded,
                remote,
                attempts: state.ledger.attempts,
                attempt: cause.attempt,
                message: what(cause.what),
            }),
            Outcome::Aborted => Sight::Reason,
            Outcome::Gone => Sight::Gone,
        };
        calls.map(|(plan, state)| (plan.name.as_str(), sight(state))).collect()
    }
}
