//! A step in words: who did what, what came of it, and which rules were taken.

use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::rule::Branch;
use oncemore_protocol::store::ClaimStore;
use serde::{Deserialize, Serialize};

use crate::action::{Action, At, PacketId, Send};
use crate::explore::Tags;
use crate::model::Model;
use crate::script::Role;
use crate::world::{Body, Load, Outcome, What, World};

/// One step, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Who acts: a caller, an object, or the world around them.
    pub who: String,
    /// What happens and what comes of it, in one sentence.
    pub text: String,
    /// Whether it is a fault rather than a step of the protocol.
    pub fault: bool,
    /// The branches of the rules that were taken, in the order of the rules.
    pub rules: Vec<RuleTaken>,
}

/// A branch of a rule that a step took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTaken {
    /// The rule's number.
    pub rule: String,
    /// The branch's name in code.
    pub branch: String,
    /// What the branch does.
    pub text: String,
}

impl<S: ClaimStore> Model<S> {
    /// A step in words.
    #[must_use]
    pub fn narrate(&self, before: &World<S>, action: &Action, after: &World<S>, fired: Tags) -> Event {
        let (who, mut text, fault) = self.happens(before, action, after);
        for consequence in self.consequences(before, after) {
            text.push_str("; ");
            text.push_str(&consequence);
        }
        let taken = Branch::ALL.iter().filter(|branch| fired.contains(**branch as u8));
        let rules = taken.map(|branch| RuleTaken {
            rule: branch.rule().to_owned(),
            branch: branch.name().to_owned(),
            text: branch.text().to_owned(),
        });
        Event { who, text, fault, rules: rules.collect() }
    }

    /// What is wrong in a state that violates something, call by call: what user code was told, beside what really happened.
    #[must_use]
    pub fn account(&self, world: &World<S>) -> Vec<String> {
        let calls = self.script.calls.iter().zip(world.calls.iter());
        calls
            .filter(|(_, state)| state.ledger.outcome != Outcome::NotBegun)
            .map(|(plan, state)| {
                let ledger = &state.ledger;
                format!(
                    "{} ({}): {}; {} sent, user code started {}, effect stored {}",
                    plan.name,
                    if plan.mark == oncemore_protocol::marks::Mark::Marked { "marked" } else { "unmarked" },
                    self.told(ledger.outcome),
                    counted(ledger.attempts, "attempt"),
                    times(ledger.starts),
                    times(ledger.effects),
                )
            })
            .collect()
    }

    /// The name of a call, as the scenario gives it.
    #[must_use]
    pub fn call_name(&self, call: u8) -> &str {
        &self.script.call(call).name
    }

    /// The name of a caller: a letter, or the call whose runs it stands for.
    #[must_use]
    pub fn caller_name(&self, caller: u8) -> String {
        let calls = &self.script.callers[usize::from(caller)].calls;
        let role = calls.first().map(|call| self.script.call(*call).role);
        match role {
            Some(Role::Inner { outer, run, .. }) => format!("{}, run {}", self.call_name(outer), run + 1),
            Some(Role::Plain | Role::Later(_) | Role::Pipelined(_)) | None => {
                char::from(b'A' + caller % 26).to_string()
            }
        }
    }

    fn object_name(&self, object: u8) -> String {
        if self.script.objects == 1 { "object".to_owned() } else { format!("object {object}") }
    }

    fn caller_of(&self, call: u8) -> String {
        self.caller_name(self.script.call(call).caller)
    }

    pub(crate) fn attempt_name(&self, id: PacketId) -> String {
        let copy = if id.copy == 0 { "" } else { " (the network's copy)" };
        format!("attempt {} of {}{copy}", id.attempt, self.call_name(id.call))
    }

    /// Which incarnation it is, seen from the owner.
    fn incarnation(&self, world: &World<S>, at: At) -> String {
        let object = world.object(at.object);
        let life = object.incarnations.get(usize::from(at.place));
        let name = self.object_name(at.object);
        let owner = usize::from(at.place) + 1 == object.incarnations.len();
        match life {
            Some(life) if life.gate.draining() => format!("{name}, draining"),
            Some(_) if owner => name,
            Some(_) | None => format!("{name}, a predecessor that does not know"),
        }
    }

    /// The incarnation at which a request arrives.
    fn destination(&self, world: &World<S>, packet: PacketId) -> String {
        let object = self.script.call(packet.call).object;
        let place = match world.packet(packet).map(|packet| packet.load) {
            Some(Load::Request { header, .. }) => world.object(object).place_of(header.address),
            Some(Load::Answer { .. }) | None => 0,
        };
        self.incarnation(world, At { object, place: u8::try_from(place).unwrap_or(0) })
    }

    fn happens(&self, before: &World<S>, action: &Action, after: &World<S>) -> (String, String, bool) {
        let world = || "world".to_owned();
        match *action {
            Action::Begin { call, send } => (self.caller_of(call), self.begins(after, call, send), send != Send::Sent),
            Action::Wake { call, send } => {
                let began = after.call(call).ledger.attempts > before.call(call).ledger.attempts;
                let text = if began { self.begins(after, call, send) } else { "wakes from its backoff".to_owned() };
                (self.caller_of(call), text, send != Send::Sent)
            }
            Action::Cutoff { call } => (
                self.caller_of(call),
                format!("the cutoff falls on attempt {}", before.call(call).ledger.attempts),
                false,
            ),
            Action::SeeDrop { call, .. } => {
                (self.caller_of(call), format!("sees the connection of {} drop", self.call_name(call)), false)
            }
            Action::GiveUp { call } => {
                (self.caller_of(call), format!("drops the future of {}", self.call_name(call)), true)
            }
            Action::Abort { call } => (self.caller_of(call), format!("aborts {}", self.call_name(call)), true),
            Action::Receive { packet, .. } => (self.caller_of(packet.call), self.receives(before, packet), false),
            Action::Crash { caller, reuse } => {
                let life = if reuse { "its next life has the same id (planted)" } else { "its next life begins" };
                (self.caller_name(caller), format!("dies; {life}"), true)
            }
            Action::Deliver { packet, full } => self.arrives(before, after, packet, full),
            Action::Start { at } => (self.incarnation(before, at), self.takes(before, after, at), false),
            Action::Stored { at, run } => (
                self.incarnation(before, at),
                format!("storage answers for the claim of {}", self.attempt_name(run)),
                false,
            ),
            Action::Finish { at, run, throws } => {
                let how = if throws { "throws an error dressed as retryable" } else { "ends" };
                (self.incarnation(before, at), format!("{} {how}", self.attempt_name(run)), throws)
            }
            Action::Confirm { at, run } => (
                self.incarnation(before, at),
                format!("storage answers for the epoch; {} is answered", self.attempt_name(run)),
                false,
            ),
            Action::Succeed { object } => (self.object_name(object), "the successor starts".to_owned(), false),
            Action::Advance => (world(), self.time_passes(before), false),
            Action::Lose { packet } => {
                let what = if packet.answer { "the answer to " } else { "" };
                (world(), format!("{what}{} is lost", self.attempt_name(packet)), true)
            }
            Action::Cut { call } => {
                (world(), format!("the connection of {} drops; what was sent goes on", self.call_name(call)), true)
            }
            Action::Duplicate { packet } => {
                (world(), format!("the network repeats {}", self.attempt_name(packet)), true)
            }
            Action::Restart { object } => {
                (self.object_name(object), "restarts: a new incarnation begins, memory is lost".to_owned(), true)
            }
            Action::Drain { object } => (self.object_name(object), "is told to move: it drains".to_owned(), true),
            Action::Seize { object } => (
                self.object_name(object),
                "moves: a successor starts, and the predecessor does not know".to_owned(),
                true,
            ),
            Action::Forget { object } => (self.object_name(object), "forgets its claims (planted)".to_owned(), true),
        }
    }

    fn begins(&self, after: &World<S>, call: u8, send: Send) -> String {
        let name = self.call_name(call);
        let attempt = after.call(call).ledger.attempts;
        match send {
            Send::Sent => format!("sends attempt {attempt} of {name}"),
            Send::Stale => format!("resolves a stale address and sends attempt {attempt} of {name} there"),
            Send::Unreachable(_) => format!("cannot connect for attempt {attempt} of {name}"),
        }
    }

    fn receives(&self, before: &World<S>, packet: PacketId) -> String {
        let attempt = self.attempt_name(packet);
        match before.packet(packet).map(|packet| packet.load) {
            Some(Load::Answer { body, .. }) => match body {
                Body::Value(_) => format!("receives the value of {attempt}"),
                Body::Thrown { .. } => format!("receives the error that {attempt} threw"),
                Body::NoMethod => format!("learns that there is no such method for {attempt}"),
                Body::Refused(refusal) => format!("receives the refusal of {attempt}: {}", refused(refusal)),
            },
            Some(Load::Request { .. }) | None => format!("receives nothing of {attempt}"),
        }
    }

    fn arrives(&self, before: &World<S>, after: &World<S>, packet: PacketId, full: bool) -> (String, String, bool) {
        let late = if before.awaits(packet) { "" } else { " late" };
        let answer = after.packet(packet.answered()).map(|packet| packet.load);
        let fate = match answer {
            Some(Load::Answer { body: Body::Refused(refusal), .. }) => format!(" and is refused: {}", refused(refusal)),
            _ if full => " at a full queue".to_owned(),
            _ => String::new(),
        };
        (self.destination(before, packet), format!("{} arrives{late}{fate}", self.attempt_name(packet)), full)
    }

    fn takes(&self, before: &World<S>, after: &World<S>, at: At) -> String {
        let life = |world: &World<S>| world.object(at.object).incarnations.get(usize::from(at.place)).cloned();
        let (Some(was), Some(is)) = (life(before), life(after)) else {
            return "takes the next request".to_owned();
        };
        let left: Vec<PacketId> = is.gate.queue().iter().map(|request| request.ticket.id).collect();
        let taken = was.gate.queue().iter().map(|request| request.ticket.id).find(|id| !left.contains(id));
        let Some(taken) = taken else {
            return "begins a new claim epoch".to_owned();
        };
        let attempt = self.attempt_name(taken);
        let answer = after.packet(taken.answered()).map(|packet| packet.load);
        match answer {
            _ if is.gate.runs().iter().any(|run| run.request.ticket.id == taken) => format!("lets {attempt} in"),
            Some(Load::Answer { body: Body::Refused(refusal), .. }) => {
                format!("refuses {attempt}: {}", refused(refusal))
            }
            Some(Load::Answer { .. }) => format!("answers {attempt} from its record"),
            Some(Load::Request { .. }) | None => format!("refuses {attempt}, which nobody waits for"),
        }
    }

    fn time_passes(&self, before: &World<S>) -> String {
        self.next_instant(before).map_or_else(String::new, |span| format!("{} ms pass", span.as_millis()))
    }

    /// What the ledger and user code learn from the step.
    fn consequences(&self, before: &World<S>, after: &World<S>) -> Vec<String> {
        let mut all = Vec::new();
        for (call, (was, is)) in before.calls.iter().zip(after.calls.iter()).enumerate() {
            let name = &self.script.calls[call].name;
            if is.ledger.starts > was.ledger.starts {
                all.push(format!("{name} starts{}", if is.ledger.starts > 1 { " AGAIN" } else { "" }));
            }
            if is.ledger.effects > was.ledger.effects {
                all.push(format!("its effect is stored{}", if is.ledger.effects > 1 { " AGAIN" } else { "" }));
            }
            if is.ledger.outcome != was.ledger.outcome && is.ledger.outcome.settled() {
                all.push(format!("{name} {}", self.told(is.ledger.outcome)));
            }
        }
        all
    }

    pub(crate) fn told(&self, outcome: Outcome) -> String {
        match outcome {
            Outcome::NotBegun => "has not begun".to_owned(),
            Outcome::Pending => "has no answer yet".to_owned(),
            Outcome::Answered(_) => "is answered".to_owned(),
            Outcome::Failed { kind, delivery, cause, .. } => format!(
                "fails: {}, {}, with attempt {}'s failure ({})",
                kind_name(kind),
                delivery_name(delivery),
                cause.attempt,
                what(cause.what)
            ),
            Outcome::Aborted => "ends with its abort's reason".to_owned(),
            Outcome::Gone => "is gone: nobody is told".to_owned(),
        }
    }
}

fn times(count: u8) -> &'static str {
    match count {
        0 => "never",
        1 => "once",
        _ => "more than once",
    }
}

fn counted(count: u8, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Disconnected => "disconnected",
        Kind::Overloaded => "overloaded",
        Kind::Failed => "failed",
        Kind::Unimplemented => "unimplemented",
    }
}

pub(crate) fn delivery_name(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::NotDelivered => "did not run",
        Delivery::Unknown => "may have run",
        Delivery::Delivered => "reached the object",
    }
}

pub(crate) fn what(what: What) -> &'static str {
    match what {
        What::Dropped => "connection dropped",
        What::Unreachable => "could not connect",
        What::Thrown => "user error",
        What::NoMethod => "no such method",
        What::Refused(refusal) => refused(refusal),
        What::Producer => "the call whose result it needs failed",
        What::Abort => "aborted",
    }
}

pub(crate) fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Draining => "draining",
        Refusal::Elsewhere => "addressed to another incarnation",
        Refusal::Overloaded => "overloaded",
        Refusal::Claimed => "claim rejected: already let in here",
        Refusal::Doubtful => "claim rejected: an earlier incarnation may have let it in",
        Refusal::Settled => "claim rejected: its caller has settled it",
        Refusal::Older => "claim rejected: a later attempt was let in",
        Refusal::StoreFull => "claim rejected: the store is full",
        Refusal::SessionRejected => "claim rejected: its session was",
        Refusal::SessionMarked => "its session was let in as marked, and it is not",
        Refusal::OtherRequest => "its identity belongs to another request",
        Refusal::ClaimNotStored => "the claim could not be stored",
        Refusal::EpochLost => "the epoch was lost",
    }
}
