//! A state as people and tools read it: a tree of names and numbers, for traces and for the explorer.

use oncemore_protocol::gate::Stage;
use oncemore_protocol::identity::{Header, Incarnation};
use oncemore_protocol::store::ClaimStore;
use serde::Serialize;

use crate::model::Model;
use crate::world::{Body, Connection, Load, Outcome, World};

/// One state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateView {
    /// The calls that user code has made.
    pub calls: Vec<CallView>,
    /// What is under way.
    pub network: Vec<PacketView>,
    /// The objects.
    pub objects: Vec<ObjectView>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallView {
    /// Its name in the scenario.
    pub name: String,
    /// Its caller.
    pub caller: String,
    /// Attempts begun.
    pub attempts: u8,
    /// Where it stands: `pending`, `backing-off`, `answered`, `failed`, `aborted` or `gone`.
    pub stage: String,
    /// The connection of its last attempt: `closed`, `open` or `dropped`.
    pub connection: String,
    /// The identity that its last attempt carried.
    pub identity: Option<String>,
    /// Milliseconds to its cutoff.
    pub cutoff_ms: Option<i32>,
    /// How often user code started.
    pub starts: u8,
    /// How often its effect was stored.
    pub effects: u8,
    /// What user code was told, if it was.
    pub told: Option<String>,
}

/// Something under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketView {
    /// The call.
    pub call: String,
    /// The attempt.
    pub attempt: u8,
    /// 0, or the network's copy.
    pub copy: u8,
    /// `request`, or what the answer says.
    pub load: String,
    /// A request's identity.
    pub identity: Option<String>,
    /// The incarnation that a request is addressed to.
    pub address: Option<u64>,
    /// Whether nobody waits for it any more.
    pub late: bool,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectView {
    /// The incarnation that the directory names.
    pub owner: u64,
    /// Whether it drains.
    pub draining: bool,
    /// Which call wrote each field last.
    pub x: Option<String>,
    /// Which call wrote each field last.
    pub y: Option<String>,
    /// Its incarnations, from the oldest that is still there.
    pub incarnations: Vec<IncarnationView>,
}

/// One incarnation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IncarnationView {
    /// Its number; numbers are ranks, so that a number that nothing refers to is taken by the next.
    pub incarnation: u64,
    /// Whether it drains.
    pub draining: bool,
    /// What waits at its gate.
    pub queue: Vec<String>,
    /// What it has let in.
    pub runs: Vec<String>,
    /// The identities that it holds claims of.
    pub claims: Vec<String>,
}

impl<S: ClaimStore> Model<S> {
    /// The state as a tree.
    #[must_use]
    pub fn view(&self, world: &World<S>) -> StateView {
        let calls = (0u8..).zip(world.calls.iter()).filter(|(_, state)| state.ledger.outcome != Outcome::NotBegun);
        StateView {
            calls: calls.map(|(call, _)| self.call_view(world, call)).collect(),
            network: world.net.iter().map(|packet| self.packet_view(world, packet.id)).collect(),
            objects: (0..self.script.objects).map(|object| self.object_view(world, object)).collect(),
        }
    }

    fn call_view(&self, world: &World<S>, call: u8) -> CallView {
        let plan = self.script.call(call);
        let state = world.call(call);
        let stage = match state.ledger.outcome {
            Outcome::NotBegun => "not-begun",
            Outcome::Pending if state.machine.as_ref().is_some_and(|machine| !machine.attempting()) => "backing-off",
            Outcome::Pending => "pending",
            Outcome::Answered(_) => "answered",
            Outcome::Failed { .. } => "failed",
            Outcome::Aborted => "aborted",
            Outcome::Gone => "gone",
        };
        let identity = state.machine.as_ref().and_then(oncemore_protocol::caller::Call::identity);
        CallView {
            name: plan.name.clone(),
            caller: self.caller_name(plan.caller),
            attempts: state.ledger.attempts,
            stage: stage.to_owned(),
            connection: match state.connection {
                Connection::Closed => "closed",
                Connection::Open => "open",
                Connection::Dropped => "dropped",
            }
            .to_owned(),
            identity: identity
                .map(|identity| identity_name(&self.caller_name(plan.caller), identity.number.0, identity.born)),
            cutoff_ms: state.cutoff_ms,
            starts: state.ledger.starts,
            effects: state.ledger.effects,
            told: state.ledger.outcome.settled().then(|| self.told(state.ledger.outcome)),
        }
    }

    fn packet_view(&self, world: &World<S>, id: crate::action::PacketId) -> PacketView {
        let load = world.packet(id).map(|packet| packet.load);
        let caller = self.caller_name(self.script.call(id.call).caller);
        let (load, header): (String, Option<Header>) = match load {
            Some(Load::Request { header, .. }) => ("request".to_owned(), Some(header)),
            Some(Load::Answer { body, .. }) => (body_name(body), None),
            None => (String::new(), None),
        };
        PacketView {
            call: self.call_name(id.call).to_owned(),
            attempt: id.attempt,
            copy: id.copy,
            load,
            identity: header
                .and_then(|header| header.identity)
                .map(|identity| identity_name(&caller, identity.number.0, identity.born)),
            address: header.map(|header| header.address.0),
            late: !world.awaits(crate::action::PacketId { answer: false, ..id }),
        }
    }

    fn object_view(&self, world: &World<S>, object: u8) -> ObjectView {
        let state = world.object(object);
        let writer = |call: u8| call.checked_sub(1).map(|call| self.call_name(call).to_owned());
        let incarnations = state.incarnations.iter().map(|life| IncarnationView {
            incarnation: life.gate.incarnation().0,
            draining: life.gate.draining(),
            queue: life.gate.queue().iter().map(|request| self.attempt_name(request.ticket.id)).collect(),
            runs: life
                .gate
                .runs()
                .iter()
                .map(|run| format!("{}: {}", self.attempt_name(run.request.ticket.id), stage_name(run.stage)))
                .collect(),
            claims: life.gate.store().claims().map(|key| self.claim_name(key)).collect(),
        });
        ObjectView {
            owner: state.record.ownership.incarnation().0,
            draining: state.record.ownership.draining(),
            x: writer(state.record.fields.x),
            y: writer(state.record.fields.y),
            incarnations: incarnations.collect(),
        }
    }

    fn claim_name(&self, key: oncemore_protocol::store::Key) -> String {
        let (caller, life) = crate::script::caller_and_life(key.caller);
        let name = self.caller_name(caller);
        let life = if life == 0 { String::new() } else { format!(", life {}", life + 1) };
        format!("{name}{life} n{}", key.number.0 + 1)
    }
}

fn identity_name(caller: &str, number: u64, born: Incarnation) -> String {
    format!("{caller} n{} born for {}", number + 1, born.0)
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Storing => "its claim is being stored",
        Stage::Running => "runs",
        Stage::Confirming => "ended, the epoch is being confirmed",
    }
}

fn body_name(body: Body) -> String {
    match body {
        Body::Value(_) => "value".to_owned(),
        Body::Thrown { .. } => "user error".to_owned(),
        Body::NoMethod => "no such method".to_owned(),
        Body::Refused(refusal) => format!("refused: {}", crate::narrate::refused(refusal)),
    }
}
