//! One state of the world: callers, network and objects, and a ledger of what really happened.
//!
//! Nothing in here decides anything: callers and gates are the machines of `oncemore-protocol`, and the ledger is written
//! where things happen and read by properties alone.

mod budget;
mod canonical;
mod glance;
pub(crate) mod ledger;
mod mention;
mod part;
mod quotient;

pub(crate) use budget::{Budget, Fault};
pub(crate) use ledger::{Cause, Flag, Ledger, Outcome, What};
pub(crate) use mention::Show;
pub(crate) use part::{Known, Part};

use std::hash::Hash;

use oncemore_protocol::caller::Call;
use oncemore_protocol::directory::Ownership;
use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::few::Few;
use oncemore_protocol::gate::{Gate, SessionId};
use oncemore_protocol::identity::{Header, Identity, Incarnation};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::route::{Route, Subrequests};
use oncemore_protocol::store::{ClaimStore, Claims, Key, Stored};
use oncemore_protocol::time::Time;
use serde::{Deserialize, Serialize};

use crate::action::PacketId;
use crate::explore::Fingerprinter;
use crate::script::Script;

/// One of each of an object's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Cells<T> {
    pub(crate) x: T,
    pub(crate) y: T,
}

/// One state.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct World<S: ClaimStore = Claims> {
    pub(crate) budget: Budget,
    pub(crate) callers: Vec<Part<Caller>>,
    pub(crate) calls: Vec<Part<CallState>>,
    pub(crate) net: Part<Net>,
    pub(crate) objects: Vec<Object<S>>,
    /// Beginnings and ends of calls in order, where P13 is asked: twice the call, plus one for an end.
    pub(crate) history: Few<u8, 8>,
}

/// What is under way, sorted by id; the network delivers in any order.
pub(crate) type Net = Few<Packet, 2>;

/// A caller's side of all its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Caller {
    /// How often it died.
    pub(crate) life: u8,
    /// Its sequences and stubs, one for each object.
    pub(crate) lanes: [Option<Lane>; 2],
    pub(crate) routes: [Route; 2],
    pub(crate) subrequests: Option<Subrequests>,
    /// P16: a call through the stub failed, and nothing was resolved since.
    pub(crate) route_failed: [bool; 2],
}

/// One call of user code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct CallState {
    pub(crate) machine: Option<Call<Cause>>,
    pub(crate) connection: Connection,
    /// G8: where its session lives, and under which identity it was opened.
    pub(crate) session: Option<SessionState>,
    /// The run that makes this call, if a run does.
    pub(crate) host: Option<PacketId>,
    /// Milliseconds to its cutoff, by a clock of the world's own; negative after it, none before it begins.
    pub(crate) cutoff_ms: Option<i32>,
    pub(crate) ledger: Ledger,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SessionState {
    pub(crate) id: SessionId,
    pub(crate) at: Incarnation,
    pub(crate) identity: Option<Identity>,
    /// Whether the call that opened it was rejected.
    pub(crate) rejected: bool,
}

/// The connection of the attempt that began last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Connection {
    /// There is none.
    #[default]
    Closed,
    /// Answers reach the caller.
    Open,
    /// It has dropped, and the caller has not seen that yet.
    Dropped,
}

/// Something under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Packet {
    pub(crate) id: PacketId,
    /// When the network gives it up, where that is bounded.
    pub(crate) due: Time,
    pub(crate) load: Load,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Load {
    Request { header: Header, session: Option<SessionId> },
    Answer { body: Body, sent_back: bool },
}

impl Default for Load {
    fn default() -> Self {
        Self::Answer { body: Body::Refused(Refusal::Draining), sent_back: false }
    }
}

/// What an answer says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Body {
    Value(Seen),
    Thrown {
        kind: Kind,
        delivery: Delivery,
    },
    #[default]
    NoMethod,
    Refused(Refusal),
}

/// What a method returns: who wrote its fields last (0: nobody, else the call's place plus 1).
pub(crate) type Seen = Cells<u8>;

/// An object and its incarnations.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object<S: ClaimStore> {
    pub(crate) record: Part<Record>,
    /// From the oldest to the owner.
    pub(crate) incarnations: Vec<Part<Life<S>>>,
}

/// What outlives an object's incarnations: its directory record and its storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) ownership: Ownership<()>,
    /// The owner before this one, for stale resolves.
    pub(crate) previous: Option<Incarnation>,
    /// Who wrote each field last.
    pub(crate) fields: Cells<u8>,
    pub(crate) stored: Stored,
    /// D5: results on record.
    pub(crate) results: Few<(Key, Body), 1>,
    /// P15: a gate kept a claim that its caller had told it was settled.
    pub(crate) kept_settled: bool,
}

/// One incarnation.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Life<S: ClaimStore> {
    pub(crate) gate: Gate<Ticket, S>,
    /// The fields as this incarnation believes them to be.
    pub(crate) cache: Cells<u8>,
    /// What goes on in the runs that the gate let in, in the order of the gate.
    pub(crate) runs: Few<RunState, 1>,
    /// D2: until then, whatever a caller begins is taken for older than this incarnation.
    pub(crate) margin_ends: Time,
}

/// Where an answer goes, and until when a request may wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) id: PacketId,
    pub(crate) due: Time,
}

/// What goes on in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct RunState {
    pub(crate) id: PacketId,
    /// Whether storage took the claim (D4).
    pub(crate) claim_held: bool,
    /// Which of the call's runs it is, for its inner calls.
    pub(crate) number: u8,
    /// Inner calls that have ended well.
    pub(crate) inner_done: u8,
    /// What user code ended with.
    pub(crate) result: Option<Body>,
}

/// A copy of each part, into the memory of what was there: states are copied far more often than they are kept.
macro_rules! clone_by_part {
    ($($of:ident { $($part:ident),* })*) => {
        $(impl<S: ClaimStore> Clone for $of<S> {
            fn clone(&self) -> Self {
                Self { $($part: self.$part.clone(),)* }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$part.clone_from(&source.$part);)*
            }
        })*
    };
}

clone_by_part! {
    World { budget, callers, calls, net, objects, history }
    Object { record, incarnations }
    Life { gate, cache, runs, margin_ends }
}

/// Something done to each part of a state.
pub(crate) trait EachPart<S: ClaimStore> {
    fn part<T: Show<S> + Clone + Hash>(&mut self, place: usize, part: &mut Part<T>);
}

impl<S: ClaimStore> World<S> {
    pub(crate) fn each_part(&mut self, each: &mut impl EachPart<S>) {
        for (place, call) in self.calls.iter_mut().enumerate() {
            each.part(place, call);
        }
        each.part(0, &mut self.net);
        for (place, caller) in self.callers.iter_mut().enumerate() {
            each.part(place, caller);
        }
        for (place, object) in self.objects.iter_mut().enumerate() {
            each.part(place, &mut object.record);
            for life in &mut object.incarnations {
                each.part(place, life);
            }
        }
    }

    /// No state at all, to be made one.
    pub(crate) fn nothing() -> Self {
        Self {
            budget: Budget::none(),
            callers: Vec::new(),
            calls: Vec::new(),
            net: Part::new(Net::default()),
            objects: Vec::new(),
            history: Few::default(),
        }
    }

    /// Works out the fingerprints of what has changed.
    pub(crate) fn seal(&mut self, fingerprinter: &mut Fingerprinter) {
        struct Seal<'a>(&'a mut Fingerprinter);
        impl<S: ClaimStore> EachPart<S> for Seal<'_> {
            fn part<T: Show<S> + Clone + Hash>(&mut self, _place: usize, part: &mut Part<T>) {
                part.seal(self.0);
            }
        }
        self.each_part(&mut Seal(fingerprinter));
    }

    /// Lets copies of the state share what has changed.
    pub(crate) fn share(&mut self, script: &Script<S>) {
        struct Share<'a, S: ClaimStore>(&'a Script<S>);
        impl<S: ClaimStore> EachPart<S> for Share<'_, S> {
            fn part<T: Show<S> + Clone + Hash>(&mut self, place: usize, part: &mut Part<T>) {
                part.share(self.0, place);
            }
        }
        self.each_part(&mut Share(script));
    }

    pub(crate) fn call(&self, call: u8) -> &CallState {
        &self.calls[usize::from(call)]
    }

    pub(crate) fn call_mut(&mut self, call: u8) -> &mut CallState {
        &mut self.calls[usize::from(call)]
    }

    pub(crate) fn caller_mut(&mut self, caller: u8) -> &mut Caller {
        &mut self.callers[usize::from(caller)]
    }

    pub(crate) fn caller(&self, caller: u8) -> &Caller {
        &self.callers[usize::from(caller)]
    }

    pub(crate) fn object_mut(&mut self, object: u8) -> &mut Object<S> {
        &mut self.objects[usize::from(object)]
    }

    pub(crate) fn object(&self, object: u8) -> &Object<S> {
        &self.objects[usize::from(object)]
    }

    pub(crate) fn packet(&self, id: PacketId) -> Option<&Packet> {
        self.net.iter().find(|packet| packet.id == id)
    }

    /// Puts a packet under way. A packet with the same id must not be under way.
    pub(crate) fn put(&mut self, packet: Packet) {
        let place = self.net.as_slice().partition_point(|other| other.id < packet.id);
        self.net.insert(place, packet);
    }

    pub(crate) fn take(&mut self, id: PacketId) -> Option<Packet> {
        let place = self.net.iter().position(|packet| packet.id == id)?;
        self.net.remove(place)
    }

    /// Whether the caller still waits for the answer to this very attempt.
    pub(crate) fn awaits(&self, id: PacketId) -> bool {
        let call = self.call(id.call);
        call.connection == Connection::Open && call.machine.is_some() && call.ledger.attempts == id.attempt
    }

    /// Nobody listens any more to answers to this call.
    pub(crate) fn drop_answers(&mut self, call: u8) {
        let dropped = |packet: &Packet| packet.id.answer && packet.id.call == call;
        if self.net.iter().any(dropped) {
            self.net.retain(|packet| !dropped(packet));
        }
    }

    /// The connection of this attempt drops, if it is the one that the caller waits for.
    pub(crate) fn drop_connection(&mut self, id: PacketId) {
        if self.awaits(id) {
            self.call_mut(id.call).connection = Connection::Dropped;
            self.drop_answers(id.call);
        }
    }
}

impl Record {
    /// Of an object that nothing has happened to.
    pub(crate) fn first() -> Self {
        Self {
            ownership: Ownership::first(()),
            previous: None,
            fields: Cells::default(),
            stored: Stored::new(),
            results: Few::default(),
            kept_settled: false,
        }
    }
}

impl<S: ClaimStore> Object<S> {
    /// The place of the incarnation that a request with this address reaches: the one that it names, else the owner.
    pub(crate) fn place_of(&self, address: Incarnation) -> usize {
        let named = self.incarnations.iter().position(|life| life.gate.incarnation() == address);
        named.unwrap_or(self.incarnations.len() - 1)
    }
}

impl<S: ClaimStore> Life<S> {
    pub(crate) fn run_mut(&mut self, id: PacketId) -> Option<&mut RunState> {
        self.runs.as_mut_slice().iter_mut().find(|run| run.id == id)
    }

    pub(crate) fn run(&self, id: PacketId) -> Option<&RunState> {
        self.runs.iter().find(|run| run.id == id)
    }
}
