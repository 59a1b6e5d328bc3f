//! One step as it is drawn.

mod marks;

use oncemore_protocol::gate::Stage as GateStage;
use oncemore_protocol::store::ClaimStore;
use serde::Serialize;

use super::Moment;
use super::lanes::directory;
use crate::action::{Action, PacketId};
use crate::explore::Tags;
use crate::model::Model;
use crate::narrate::Event;
use crate::property::{Judged, Property};
use crate::world::{Body, Connection, Load, Outcome, Packet, World};

pub use self::marks::{Mark, MarkKind};

/// One step.
#[derive(Clone, Debug, Serialize)]
pub struct Scene {
    /// What happens.
    pub action: Action,
    /// The same in words.
    pub event: Event,
    /// The lane on which it happens.
    pub lane: usize,
    /// Messages that leave.
    pub sent: Vec<Flight>,
    /// Messages that end.
    pub ended: Vec<Landing>,
    /// What is marked, and where.
    pub marks: Vec<Mark>,
    /// What its transition reaches (R1 to R5).
    pub reaches: Vec<&'static str>,
    /// The calls after it, those that have begun.
    pub calls: Vec<CallStatus>,
    /// The incarnations after it.
    pub lives: Vec<LifeStatus>,
}

/// A message that leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flight {
    /// Which: no two that are under way at once have the same.
    pub id: String,
    /// The call's name.
    pub call: String,
    /// The attempt.
    pub attempt: u8,
    /// 0, or the number of the network's copy.
    pub copy: u8,
    /// Whether it is an answer.
    pub answer: bool,
    /// What it says.
    pub says: String,
    /// Whether it refuses.
    pub refusal: bool,
    /// The lane that it leaves.
    pub from: usize,
}

/// A message that ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Landing {
    /// Which.
    pub id: String,
    /// How.
    pub how: How,
    /// The lane where it ends, or to which it was under way.
    pub at: usize,
    /// Whether nobody waited for it any more.
    pub late: bool,
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It arrives.
    Arrives,
    /// It is lost.
    Lost,
    /// The network gives it up.
    Expired,
    /// Its connection is gone.
    Dropped,
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallStatus {
    /// Its place in the scenario.
    pub call: u8,
    /// Its name.
    pub name: String,
    /// Its caller's lane.
    pub lane: usize,
    /// Attempts begun.
    pub attempt: u8,
    /// Where it stands.
    pub stage: Stage,
    /// Milliseconds to its cutoff.
    pub cutoff_ms: Option<i32>,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// An attempt is under way.
    Attempting,
    /// The connection of the attempt has dropped, and the caller does not know.
    Cut,
    /// It waits before the next attempt.
    BackingOff,
    /// It was answered.
    Answered,
    /// It failed.
    Failed,
    /// It was aborted, dropped, or its caller died.
    Ended,
}

/// How a lane of an incarnation looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LifeStatus {
    /// The lane.
    pub lane: usize,
    /// Whether the directory names it.
    pub owner: bool,
    /// Whether it drains.
    pub draining: bool,
    /// What it has let in.
    pub runs: Vec<RunStatus>,
    /// How many requests wait.
    pub queue: usize,
    /// How many claims it holds.
    pub claims: usize,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunStatus {
    /// The attempt that it is of; the same as that of its request.
    pub id: String,
    /// Whether user code has started, and not ended.
    pub running: bool,
}

/// The scene of a step.
pub(super) fn scene(model: &Model, before: &Moment, action: &Action, after: &Moment, fired: Tags) -> Scene {
    let event = model.narrate(&before.told, action, &after.told, fired);
    let ended = Ended { model, before, action }.landings(&after.told);
    let lane = lane_of(model, before, after, action);
    let sent = flights(model, before, after, action, lane);
    let marks = marks::Marks { model, before, after, action, fired }.all(lane);
    Scene {
        action: *action,
        event,
        lane,
        sent,
        ended,
        marks,
        reaches: reaches(fired),
        calls: calls(model, &after.told),
        lives: lives(model, after),
    }
}

fn reaches(fired: Tags) -> Vec<&'static str> {
    let is_reached = |property: &Property| match property.judged() {
        Judged::ByTransition(tag) => fired.contains(tag),
        Judged::InEveryState(_) | Judged::OnTheGraph | Judged::ByCoverage => false,
    };
    Property::ALL.iter().copied().filter(is_reached).map(Property::name).collect()
}

/// Where a step happens.
fn lane_of(model: &Model, before: &Moment, after: &Moment, action: &Action) -> usize {
    let caller = |call: u8| usize::from(model.script.call(call).caller);
    let owner = |moment: &Moment, object: u8| moment.lives[usize::from(object)].last().copied().unwrap_or(0);
    match *action {
        Action::Begin { call, .. }
        | Action::Wake { call, .. }
        | Action::Cutoff { call }
        | Action::SeeDrop { call, .. }
        | Action::Cut { call }
        | Action::GiveUp { call }
        | Action::Abort { call } => caller(call),
        Action::Receive { packet, .. } => caller(packet.call),
        Action::Crash { caller, .. } => usize::from(caller),
        Action::Deliver { packet, .. } => destination(model, before, packet),
        Action::Lose { packet } | Action::Duplicate { packet } => {
            if packet.answer {
                caller(packet.call)
            } else {
                destination(model, before, packet)
            }
        }
        Action::Start { at } | Action::Stored { at, .. } | Action::Finish { at, .. } | Action::Confirm { at, .. } => {
            lane_at(before, at)
        }
        Action::Succeed { object } | Action::Seize { object } | Action::Restart { object } => owner(after, object),
        Action::Drain { object } | Action::Forget { object } => owner(before, object),
        Action::Advance => directory(model),
    }
}

fn lane_at(moment: &Moment, at: crate::action::At) -> usize {
    moment.lives[usize::from(at.object)].get(usize::from(at.place)).copied().unwrap_or(0)
}

/// The incarnation that a request is on its way to.
fn destination(model: &Model, moment: &Moment, packet: PacketId) -> usize {
    let object = model.script.call(packet.call).object;
    let lives = &moment.lives[usize::from(object)];
    let place = match moment.told.packet(packet).map(|packet| packet.load) {
        Some(Load::Request { header, .. }) => moment.told.object(object).place_of(header.address),
        Some(Load::Answer { .. }) | None => lives.len().saturating_sub(1),
    };
    lives.get(place).copied().unwrap_or(0)
}

fn key(id: PacketId) -> String {
    format!("{}.{}.{}{}", id.call, id.attempt, id.copy, if id.answer { "a" } else { "" })
}

fn flights(model: &Model, before: &Moment, after: &Moment, action: &Action, lane: usize) -> Vec<Flight> {
    let is_new = |packet: &&Packet| before.told.packet(packet.id).is_none();
    let flight = |packet: &Packet| {
        let (says, refusal) = match packet.load {
            Load::Request { .. } => ("request".to_owned(), false),
            Load::Answer { body, .. } => (says(body), matches!(body, Body::Refused(_))),
        };
        let from = if packet.id.answer { lane } else { usize::from(model.script.call(packet.id.call).caller) };
        // What is drained or ended sends back what it had queued.
        let from = if let Action::Drain { object } = action
            && packet.id.answer
        {
            before.lives[usize::from(*object)].last().copied().unwrap_or(from)
        } else {
            from
        };
        Flight {
            id: key(packet.id),
            call: model.call_name(packet.id.call).to_owned(),
            attempt: packet.id.attempt,
            copy: packet.id.copy,
            answer: packet.id.answer,
            says,
            refusal,
            from,
        }
    };
    after.told.net.iter().filter(is_new).map(flight).collect()
}

fn says(body: Body) -> String {
    match body {
        Body::Value(_) => "value".to_owned(),
        Body::Thrown { .. } => "user error".to_owned(),
        Body::NoMethod => "no such method".to_owned(),
        Body::Refused(refusal) => crate::narrate::refused(refusal).to_owned(),
    }
}

/// The messages that a step ends.
struct Ended<'a> {
    model: &'a Model,
    before: &'a Moment,
    action: &'a Action,
}

impl Ended<'_> {
    fn landings(&self, after: &World) -> Vec<Landing> {
        let is_gone = |packet: &&Packet| after.packet(packet.id).is_none();
        self.before.told.net.iter().filter(is_gone).map(|packet| self.landing(packet.id)).collect()
    }

    fn landing(&self, id: PacketId) -> Landing {
        let caller = usize::from(self.model.script.call(id.call).caller);
        let arrives = matches!(
            *self.action,
            Action::Deliver { packet, .. } | Action::Receive { packet, .. } if packet == id
        );
        let how = if arrives {
            How::Arrives
        } else if *self.action == (Action::Lose { packet: id }) {
            How::Lost
        } else if *self.action == Action::Advance {
            How::Expired
        } else {
            How::Dropped
        };
        let at = if id.answer { caller } else { destination(self.model, self.before, id) };
        let late = !id.answer && !self.before.told.awaits(id);
        Landing { id: key(id), how, at, late }
    }
}

/// The calls that have begun.
pub(super) fn calls(model: &Model, world: &World) -> Vec<CallStatus> {
    let begun = (0u8..).zip(world.calls.iter()).filter(|(_, state)| state.ledger.outcome != Outcome::NotBegun);
    begun.map(|(call, state)| status(model, call, state)).collect()
}

fn status(model: &Model, call: u8, state: &crate::world::CallState) -> CallStatus {
    CallStatus {
        call,
        name: model.call_name(call).to_owned(),
        lane: usize::from(model.script.call(call).caller),
        attempt: state.ledger.attempts,
        stage: match state.ledger.outcome {
            Outcome::NotBegun | Outcome::Pending => match (&state.machine, state.connection) {
                (Some(machine), _) if !machine.attempting() => Stage::BackingOff,
                (_, Connection::Dropped) => Stage::Cut,
                (_, Connection::Open | Connection::Closed) => Stage::Attempting,
            },
            Outcome::Answered(_) => Stage::Answered,
            Outcome::Failed { .. } => Stage::Failed,
            Outcome::Aborted | Outcome::Gone => Stage::Ended,
        },
        cutoff_ms: state.cutoff_ms,
    }
}

fn lives(model: &Model, moment: &Moment) -> Vec<LifeStatus> {
    let mut all = Vec::new();
    for (object, lanes) in (0..model.script.objects).zip(&moment.lives) {
        let incarnations = &moment.told.object(object).incarnations;
        for (place, (life, lane)) in incarnations.iter().zip(lanes).enumerate() {
            let run = |run: &oncemore_protocol::gate::Run<crate::world::Ticket>| RunStatus {
                id: key(run.request.ticket.id),
                running: run.stage == GateStage::Running,
            };
            all.push(LifeStatus {
                lane: *lane,
                owner: place + 1 == incarnations.len(),
                draining: life.gate.draining(),
                runs: life.gate.runs().iter().map(run).collect(),
                queue: life.gate.queue().len(),
                claims: life.gate.store().len(),
            });
        }
    }
    all
}
