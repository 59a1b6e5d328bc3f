//! What a question can name.

use oncemore_protocol::failure::{Delivery, Kind};
use serde::Serialize;

use super::Value;
use crate::explore::System;
use crate::model::Model;
use crate::property::{Judged, Property};
use crate::world::{Load, Outcome, World};

/// Something of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Call(u8, CallTerm),
    Object(u8, ObjectTerm),
    Network(NetworkTerm),
    /// Whether the state violates the property with this bit.
    Violated(Property),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallTerm {
    Attempts,
    Starts,
    Effects,
    CutoffMs,
    Stage,
    Kind,
    Delivery,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectTerm {
    Owner,
    Incarnations,
    Waiting,
    Runs,
    Claims,
    Draining,
    X,
    Y,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkTerm {
    Requests,
    Answers,
    Late,
}

const CALL: [(&str, CallTerm, &[&str]); 7] = [
    ("attempts", CallTerm::Attempts, &[]),
    ("starts", CallTerm::Starts, &[]),
    ("effects", CallTerm::Effects, &[]),
    ("cutoff_ms", CallTerm::CutoffMs, &[]),
    ("stage", CallTerm::Stage, &["not-begun", "pending", "backing-off", "answered", "failed", "aborted", "gone"]),
    ("kind", CallTerm::Kind, &["none", "disconnected", "overloaded", "failed", "unimplemented"]),
    ("delivery", CallTerm::Delivery, &["none", "not-delivered", "unknown", "delivered"]),
];

const OBJECT: [(&str, ObjectTerm, &[&str]); 8] = [
    ("owner", ObjectTerm::Owner, &[]),
    ("incarnations", ObjectTerm::Incarnations, &[]),
    ("waiting", ObjectTerm::Waiting, &[]),
    ("runs", ObjectTerm::Runs, &[]),
    ("claims", ObjectTerm::Claims, &[]),
    ("draining", ObjectTerm::Draining, FLAG),
    ("x", ObjectTerm::X, &[]),
    ("y", ObjectTerm::Y, &[]),
];

const NETWORK: [(&str, NetworkTerm); 3] =
    [("requests", NetworkTerm::Requests), ("answers", NetworkTerm::Answers), ("late", NetworkTerm::Late)];

const FLAG: &[&str] = &["true", "false"];

/// What can be named, and what it may be compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TermInfo {
    /// As it is written.
    pub name: String,
    /// The words that it may be; empty for a number.
    pub words: Vec<String>,
}

impl Model {
    /// Everything that a question about states of this model can name.
    #[must_use]
    pub fn terms(&self) -> Vec<TermInfo> {
        self.all_terms().into_iter().map(|(term, words)| TermInfo { name: term.name(self), words }).collect()
    }

    pub(super) fn all_terms(&self) -> Vec<(Term, Vec<String>)> {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let mut terms = Vec::new();
        for call in 0..u8::try_from(self.script.calls.len()).unwrap_or(u8::MAX) {
            terms.extend(CALL.iter().map(|(_, term, words)| (Term::Call(call, *term), owned(words))));
        }
        for object in 0..self.script.objects {
            terms.extend(OBJECT.iter().map(|(_, term, words)| {
                let is_field = matches!(term, ObjectTerm::X | ObjectTerm::Y);
                let words = if is_field { self.writers() } else { owned(words) };
                (Term::Object(object, *term), words)
            }));
        }
        terms.extend(NETWORK.iter().map(|(_, term)| (Term::Network(*term), Vec::new())));
        let judged = Property::ALL.iter().filter(|it| matches!(it.judged(), Judged::InEveryState(_)));
        terms.extend(judged.map(|property| (Term::Violated(*property), owned(FLAG))));
        terms
    }

    fn writers(&self) -> Vec<String> {
        let names = self.script.calls.iter().map(|call| call.name.clone());
        std::iter::once("nobody".to_owned()).chain(names).collect()
    }
}

impl Term {
    /// As it is written.
    pub(super) fn name(self, model: &Model) -> String {
        fn of<T: PartialEq + Copy>(all: impl IntoIterator<Item = (&'static str, T)>, term: T) -> &'static str {
            all.into_iter().find(|(_, known)| *known == term).map_or("", |(name, _)| name)
        }
        match self {
            Self::Call(call, term) => {
                format!("{}.{}", model.call_name(call), of(CALL.map(|(name, term, _)| (name, term)), term))
            }
            Self::Object(object, term) => {
                let number = if model.script.objects == 1 { String::new() } else { object.to_string() };
                format!("object{number}.{}", of(OBJECT.map(|(name, term, _)| (name, term)), term))
            }
            Self::Network(term) => format!("network.{}", of(NETWORK, term)),
            Self::Violated(property) => format!("violated.{}", property.name()),
        }
    }

    /// What it comes to; none, if there is no such thing in this state.
    pub(super) fn value(self, model: &Model, world: &World) -> Option<Value> {
        match self {
            Self::Call(call, term) => call_value(world, call, term),
            Self::Object(object, term) => Some(object_value(model, world, object, term)),
            Self::Network(term) => Some(network_value(world, term)),
            Self::Violated(property) => {
                let Judged::InEveryState(bit) = property.judged() else { return None };
                Some(flag(model.violated(world) >> bit & 1 == 1))
            }
        }
    }
}

fn flag(is: bool) -> Value {
    Value::Word(if is { "true" } else { "false" }.to_owned())
}

fn number(count: usize) -> Value {
    Value::Number(i64::try_from(count).unwrap_or(i64::MAX))
}

fn word(word: &str) -> Value {
    Value::Word(word.to_owned())
}

fn call_value(world: &World, call: u8, term: CallTerm) -> Option<Value> {
    let state = world.call(call);
    let ledger = &state.ledger;
    Some(match term {
        CallTerm::Attempts => Value::Number(ledger.attempts.into()),
        CallTerm::Starts => Value::Number(ledger.starts.into()),
        CallTerm::Effects => Value::Number(ledger.effects.into()),
        CallTerm::CutoffMs => Value::Number(state.cutoff_ms?.into()),
        CallTerm::Stage => word(match ledger.outcome {
            Outcome::NotBegun => "not-begun",
            Outcome::Pending if state.machine.as_ref().is_some_and(|machine| !machine.attempting()) => "backing-off",
            Outcome::Pending => "pending",
            Outcome::Answered(_) => "answered",
            Outcome::Failed { .. } => "failed",
            Outcome::Aborted => "aborted",
            Outcome::Gone => "gone",
        }),
        CallTerm::Kind => word(match ledger.outcome {
            Outcome::Failed { kind, .. } => match kind {
                Kind::Disconnected => "disconnected",
                Kind::Overloaded => "overloaded",
                Kind::Failed => "failed",
                Kind::Unimplemented => "unimplemented",
            },
            Outcome::NotBegun | Outcome::Pending | Outcome::Answered(_) | Outcome::Aborted | Outcome::Gone => "none",
        }),
        CallTerm::Delivery => word(match ledger.outcome {
            Outcome::Failed { delivery, .. } => match delivery {
                Delivery::NotDelivered => "not-delivered",
                Delivery::Unknown => "unknown",
                Delivery::Delivered => "delivered",
            },
            Outcome::NotBegun | Outcome::Pending | Outcome::Answered(_) | Outcome::Aborted | Outcome::Gone => "none",
        }),
    })
}

fn object_value(model: &Model, world: &World, object: u8, term: ObjectTerm) -> Value {
    let state = world.object(object);
    let lives = || state.incarnations.iter();
    let writer = |call: u8| match call.checked_sub(1) {
        Some(call) => word(model.call_name(call)),
        None => word("nobody"),
    };
    match term {
        ObjectTerm::Owner => Value::Number(i64::try_from(state.record.ownership.incarnation().0).unwrap_or(i64::MAX)),
        ObjectTerm::Incarnations => number(state.incarnations.len()),
        ObjectTerm::Waiting => number(lives().map(|life| life.gate.queue().len()).sum()),
        ObjectTerm::Runs => number(lives().map(|life| life.gate.runs().len()).sum()),
        ObjectTerm::Claims => {
            number(lives().map(|life| oncemore_protocol::store::ClaimStore::claims(life.gate.store()).count()).sum())
        }
        ObjectTerm::Draining => flag(state.record.ownership.draining()),
        ObjectTerm::X => writer(state.record.fields.x),
        ObjectTerm::Y => writer(state.record.fields.y),
    }
}

fn network_value(world: &World, term: NetworkTerm) -> Value {
    let is_request = |packet: &&crate::world::Packet| matches!(packet.load, Load::Request { .. });
    match term {
        NetworkTerm::Requests => number(world.net.iter().filter(is_request).count()),
        NetworkTerm::Answers => number(world.net.iter().filter(|packet| !is_request(packet)).count()),
        NetworkTerm::Late => number(world.net.iter().filter(is_request).filter(|it| !world.awaits(it.id)).count()),
    }
}
