//! One incarnation of an object: drives its gate, runs its code, and lets answers out.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use oncemore_protocol::failure::{Delivery, Kind, Refusal};
use oncemore_protocol::gate::{self, Decision, Gate, GateTerms};
use oncemore_protocol::identity::{Identity, Incarnation};
use oncemore_protocol::marks::Target;
use oncemore_protocol::rule::Fired;
use oncemore_protocol::rules::{Rules, Spec};
use oncemore_protocol::store::{Birth, Digest, Key, Slot, Value, Writes};
use tokio::sync::oneshot;
use tracing::{debug, error, warn};

use super::served::Served;
use crate::class::AnyObject;
use crate::context::{Aborted, Context};
use crate::directory::Change;
use crate::object::{Input, Output};
use crate::run::{Panicked, Run, Ticket, Turn};
use crate::storage::Storage;
use crate::wire::{Answer, Attempt, HostFailure, MESSAGE_BYTES_MAX, Payload, Reason, Request};

/// An attempt that has arrived, and where its answer goes. Dropping it tells the caller that its connection was lost.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) attempt: Attempt,
    pub(crate) answer: oneshot::Sender<Answer>,
}

impl Arrived {
    /// If nobody waits any more, the caller has given the attempt up.
    pub(super) fn tell(self, answer: Answer) {
        self.answer.send(answer).ok();
    }
}

/// One incarnation.
pub(super) struct Life<'a> {
    served: &'a Served,
    terms: GateTerms,
    gate: Gate<Ticket>,
    object: Rc<dyn AnyObject>,
    storage: Storage,
    turn: Rc<Turn>,
    pub(super) aborted: Rc<Aborted>,
    runs: FuturesUnordered<Run<Output>>,
    waiting: HashMap<Ticket, Waiting>,
    last_ticket: Ticket,
    ending: Option<Ending>,
}

/// A request that is not answered yet.
struct Waiting {
    answer: oneshot::Sender<Answer>,
    identity: Option<Identity>,
    request: Request,
}

/// Why an incarnation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It hands the object over, or has lost it already: what runs may run to its end.
    Leaving,
    /// Its memory can't be trusted any more: it ends at once, and the next one begins here.
    Restarting,
}

impl<'a> Life<'a> {
    pub(super) fn new(
        served: &'a Served,
        incarnation: Incarnation,
        storage: Storage,
        claims: Vec<(Slot, Value)>,
        (object, aborted): (Rc<dyn AnyObject>, Rc<Aborted>),
    ) -> Self {
        let terms = served.options.gate();
        let birth = Birth::of(incarnation, served.host.clock.wall());
        Self {
            served,
            terms,
            gate: Gate::open(&terms, birth, claims.into_iter()),
            object,
            storage,
            turn: Rc::default(),
            aborted,
            runs: FuturesUnordered::new(),
            waiting: HashMap::new(),
            last_ticket: 0,
            ending: None,
        }
    }

    pub(super) fn incarnation(&self) -> Incarnation {
        self.gate.incarnation()
    }

    pub(super) const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Whether nothing runs and nobody waits.
    pub(super) fn idle(&self) -> bool {
        self.runs.is_empty() && self.waiting.is_empty() && self.ending.is_none()
    }

    /// Whether nothing runs.
    pub(super) fn at_rest(&self) -> bool {
        self.runs.is_empty()
    }

    /// An attempt arrives at the gate.
    pub(super) fn arrive(&mut self, arrived: Arrived) {
        let Arrived { attempt: Attempt { header, request, .. }, answer } = arrived;
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        // Only D5 ever looks at it, and it costs a pass over the arguments.
        let remembers_results = self.terms.store.design.records_results();
        let asked = gate::Request {
            ticket,
            header,
            mark: self.served.class.marks().mark(Target::Call(&request.method)),
            digest: if remembers_results { request.digest() } else { Digest::default() },
            ..gate::Request::default()
        };
        self.waiting.insert(ticket, Waiting { answer, identity: header.identity, request });
        let arrival = self.gate.arrive(&self.terms, asked, self.served.host.clock.now());
        self.trace(ticket, arrival.fired);
        if let Some(refusal) = arrival.refused {
            self.answer(ticket, Answer::Refused(refusal));
        }
    }

    /// Starts what may start now.
    pub(super) async fn pump(&mut self) {
        while self.turn.free() && self.ending.is_none() {
            let Some(turn) = self.gate.next(&self.terms, self.served.host.clock.now()) else { return };
            let ticket = turn.request.ticket;
            self.trace(ticket, turn.fired);
            match turn.decision {
                Decision::Start => self.start(ticket),
                Decision::Store(writes) => self.store_claim(ticket, &writes),
                Decision::Refuse(refusal) => self.answer(ticket, Answer::Refused(refusal)),
                Decision::AnswerRecorded => self.answer_recorded(ticket),
                Decision::NewEpoch => self.new_epoch().await,
            }
        }
    }

    /// The next run that ends, or whatever else may let something start; never, if nothing can.
    pub(super) async fn progress(&mut self) -> Option<(Ticket, Result<Output, Panicked>)> {
        if self.runs.is_empty() {
            return std::future::pending().await;
        }
        let turn = self.turn.clone();
        tokio::select! {
            ended = self.runs.next() => ended,
            () = turn.freed() => None,
        }
    }

    /// D4: the claim is made durable before user code starts (G9).
    fn store_claim(&mut self, ticket: Ticket, writes: &Writes) {
        let stored = self.storage.store_claims(writes);
        let held = stored.as_ref().is_ok_and(|held| *held);
        match stored {
            Ok(true) => {}
            Ok(false) => self.lost(),
            Err(error) => error!(object = %self.served.object, %error, "a claim could not be stored"),
        }
        let Some((decision, fired)) = self.gate.stored(ticket, held) else { return };
        self.trace(ticket, fired);
        match decision {
            Decision::Start => self.start(ticket),
            Decision::Refuse(refusal) => self.answer(ticket, Answer::Refused(refusal)),
            Decision::Store(_) | Decision::AnswerRecorded | Decision::NewEpoch => {}
        }
    }

    /// User code starts (G9).
    fn start(&mut self, ticket: Ticket) {
        let Some(Waiting { request, .. }) = self.waiting.get(&ticket) else { return };
        let input = match &request.payload {
            Payload::Arguments(arguments) => Input::Arguments(arguments.clone()),
            Payload::Fetch(request) => Input::Fetch(request.0.clone()),
        };
        let code = self.object.clone().run(request.method.clone(), input);
        self.turn.begin(ticket);
        self.runs.push(Run::new(ticket, self.storage.clone(), self.turn.clone(), code));
    }

    /// User code has ended: its effect is stored, the epoch is confirmed, and only then the answer leaves (G12).
    pub(super) fn ended(&mut self, ticket: Ticket, output: Result<Output, Panicked>) {
        match output {
            Ok(output) => {
                let method = self.waiting.get(&ticket).map(|waiting| waiting.request.method.clone());
                let answer = answer_of(output, &method.unwrap_or_default());
                self.finish(ticket, answer);
            }
            Err(message) => {
                error!(object = %self.served.object, message, "the object's code panicked");
                self.storage.roll_back();
                let text = format!("the object's code panicked: {message}");
                self.confirm_nothing_written(ticket, failed(Kind::Failed, Reason::Panicked, text));
                self.ending = Some(Ending::Restarting);
            }
        }
        self.turn.release(ticket);
    }

    fn finish(&mut self, ticket: Ticket, answer: Answer) {
        let writes = self.gate.finished(&self.terms, ticket, self.served.host.clock.now());
        let key = self.key(ticket).filter(|_| !writes.is_empty());
        let record = key.map(|key| (key, answer.to_bytes()));
        let stored = self.storage.finish(&writes, record.as_ref().map(|(key, bytes)| (*key, &bytes[..])));
        match stored {
            Ok(held) => self.confirm(ticket, held, answer),
            Err(error) => {
                error!(object = %self.served.object, %error, "what a call wrote could not be stored");
                let text = format!("what the call wrote could not be stored: {error}");
                self.confirm_nothing_written(ticket, failed(Kind::Failed, Reason::Storage, text));
                // The object's memory is ahead of its storage.
                self.ending = Some(Ending::Restarting);
            }
        }
    }

    /// The answer leaves if this incarnation still holds the epoch (G12).
    fn confirm(&mut self, ticket: Ticket, held: bool, answer: Answer) {
        let Some((leaves, fired)) = self.gate.confirmed(&self.terms, ticket, held) else { return };
        self.trace(ticket, fired);
        match leaves {
            gate::Answer::Run => self.answer(ticket, answer),
            gate::Answer::Refused(refusal) => self.answer(ticket, Answer::Refused(refusal)),
        }
        if !held {
            self.lost();
        }
    }

    /// D5: a retry of a call that has finished is answered with its recorded result.
    fn answer_recorded(&mut self, ticket: Ticket) {
        let recorded = self.key(ticket).and_then(|key| self.storage.result(key).ok().flatten());
        let answer = recorded.and_then(|bytes| Answer::from_bytes(&bytes).ok());
        let answer = answer.unwrap_or_else(|| {
            error!(object = %self.served.object, "a recorded result cannot be read");
            failed(Kind::Failed, Reason::Storage, "the call ran before, and its recorded result cannot be read".into())
        });
        self.confirm_nothing_written(ticket, answer);
    }

    /// G12 for an answer that rests on no write of its run. If storage can't tell, the epoch counts as lost.
    fn confirm_nothing_written(&mut self, ticket: Ticket, answer: Answer) {
        let held = self.storage.finish(&Writes::default(), None).unwrap_or(false);
        self.confirm(ticket, held, answer);
    }

    /// G6: the store is full. The object gets a new number, and forgets what was let in under the old one.
    async fn new_epoch(&mut self) {
        let old = self.gate.incarnation();
        let changed = self.served.change(old, Change::NextIncarnation).await;
        let Ok(Some(record)) = changed else { return self.lost() };
        let birth = Birth::of(record.incarnation(), self.served.host.clock.wall());
        let writes = self.gate.begin_epoch(&self.terms, birth);
        if !self.storage.begin_epoch(birth.incarnation, &writes).unwrap_or(false) {
            self.lost();
        }
    }

    /// Another incarnation has the object: nothing more is let in, and what waits goes there.
    fn lost(&mut self) {
        warn!(object = %self.served.object, incarnation = self.gate.incarnation().0, "the object is served elsewhere");
        self.drain();
    }

    /// G2: hands the object over. What was queued is sent to the successor; what runs goes on.
    pub(super) fn drain(&mut self) {
        let mut queued = Vec::new();
        self.gate.drain(&self.terms, |request, refusal| queued.push((request.ticket, refusal)));
        for (ticket, refusal) in queued {
            self.answer(ticket, Answer::Refused(refusal));
        }
        self.ending.get_or_insert(Ending::Leaving);
    }

    /// The incarnation is over: what was queued goes to the next one, and who waits for a run sees the connection drop.
    pub(super) fn end(mut self) {
        self.drain();
    }

    fn key(&self, ticket: Ticket) -> Option<Key> {
        self.waiting.get(&ticket)?.identity.map(|identity| Spec.key(identity))
    }

    fn answer(&mut self, ticket: Ticket, answer: Answer) {
        if let Some(waiting) = self.waiting.remove(&ticket) {
            // As in `Arrived::tell`.
            waiting.answer.send(answer).ok();
        }
    }

    fn trace(&self, ticket: Ticket, fired: Fired) {
        if !fired.is_empty() {
            debug!(object = %self.served.object, incarnation = self.gate.incarnation().0, ticket, ?fired, "gate");
        }
    }
}

impl Drop for Life<'_> {
    /// What its code left behind, in tasks of its own, must not keep the next one out.
    fn drop(&mut self) {
        self.storage.close();
    }
}

/// Makes the object, before anything is let in (G1).
pub(super) async fn construct(
    served: &Served,
    incarnation: Incarnation,
    storage: Storage,
) -> Result<(Rc<dyn AnyObject>, Rc<Aborted>), String> {
    let aborted = Rc::new(Aborted::default());
    let (object, caller) = (served.object.clone(), served.host.caller.clone());
    let context = Context::new(object, incarnation, storage.clone(), caller, aborted.clone());
    // It has the turn, as a run has: nothing else can start before it has ended.
    let construction = Run::new(0, storage, Rc::default(), served.class.construct(context));
    let ended = tokio::select! {
        ended = construction => ended,
        reason = aborted.reason() => return Err(format!("its own code aborted it: {reason}")),
    };
    match ended {
        (_, Ok(Ok(object))) => Ok((object, aborted)),
        (_, Ok(Err(error))) => Err(error.to_string()),
        (_, Err(panic)) => Err(format!("it panicked: {panic}")),
    }
}

fn answer_of(output: Output, method: &Arc<str>) -> Answer {
    let answer = match output {
        Output::Value(value) => Answer::Value(value),
        Output::Response(response) => Answer::Response(Box::new(response)),
        Output::Thrown { kind, error, message } => Answer::Thrown { kind, error, message },
        Output::UnknownMethod => {
            failed(Kind::Unimplemented, Reason::UnknownMethod, format!("the class has no method {method}"))
        }
        Output::MalformedArguments(what) => {
            let text = format!("the method {method} does not take these arguments: {what}");
            failed(Kind::Failed, Reason::MalformedArguments, text)
        }
        Output::Unwritable(what) => {
            let text = format!("what the method {method} returned cannot be written: {what}");
            failed(Kind::Failed, Reason::AnswerUnwritable, text)
        }
    };
    if answer.length() > MESSAGE_BYTES_MAX {
        let text = format!(
            "what the method {method} returned is {} bytes long, and at most {MESSAGE_BYTES_MAX} can be sent",
            answer.length()
        );
        return failed(Kind::Failed, Reason::AnswerTooLong, text);
    }
    answer
}

/// Something went wrong after the attempt had reached the object (F2).
pub(super) fn failed(kind: Kind, reason: Reason, message: String) -> Answer {
    Answer::Failed(HostFailure { kind, delivery: Delivery::Delivered, reason, message })
}

/// The attempt did not get as far as the object (F2).
pub(super) fn not_delivered(kind: Kind, reason: Reason, message: String) -> Answer {
    Answer::Failed(HostFailure { kind, delivery: Delivery::NotDelivered, reason, message })
}

/// The object is on its way to another host.
pub(super) const fn draining() -> Answer {
    Answer::Refused(Refusal::Draining)
}
