//! The object: its lives, the drivers of their gates, its storage, and what befalls it.

use oncemore_protocol::failure::{Failure, Kind, Refusal};
use oncemore_protocol::gate::{Answer, Decision, Gate, Request, Turn};
use oncemore_protocol::identity::Header;
use oncemore_protocol::rules::Rules;
use oncemore_protocol::store::{Birth, Digest, Writes};

use crate::tape::MS;
use crate::world::{Attempt, Event, World};

/// What an answer carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// The method's value; whether what it wrote was stored is for the ledger alone.
    Value {
        stored: bool,
    },
    Thrown(Kind),
    Refused(Refusal),
}

/// One life of the object.
pub(crate) struct Life {
    pub(crate) id: u32,
    pub(crate) gate: Gate<u32>,
    /// What the runs that have ended came to, by ticket.
    ended: Vec<(u32, Body)>,
}

impl<R: Rules> World<R> {
    pub(crate) fn begin_life(&mut self) {
        self.lives_made += 1;
        let birth = Birth { incarnation: self.ownership.incarnation(), wall: self.wall() };
        let gate = Gate::open(&self.gate_terms, birth, self.stored.iter());
        self.lives.push(Life { id: self.lives_made, gate, ended: Vec::new() });
    }

    fn life(&mut self, id: u32) -> Option<&mut Life> {
        self.lives.iter_mut().find(|life| life.id == id)
    }

    /// Whether storage takes what this life writes.
    fn holds(&mut self, id: u32) -> bool {
        let Some(life) = self.lives.iter().find(|life| life.id == id) else {
            return false;
        };
        let (held, fired) = self.ownership.holds(self.terms.rules, life.gate.incarnation());
        self.fire(fired);
        held
    }

    /// At the life that it is addressed to, if that still goes on; else at the owner's.
    pub(crate) fn arrive(&mut self, attempt: Attempt, header: Header) {
        let named = self.lives.iter().position(|life| life.gate.incarnation() == header.address);
        let place = named.unwrap_or(self.lives.len() - 1);
        let ticket = u32::try_from(self.tickets.len()).expect("few tickets");
        self.tickets.push(attempt);
        let request = Request {
            ticket,
            header,
            mark: self.settings.calls[attempt.call].mark,
            digest: Digest(u64::try_from(attempt.call).expect("few calls")),
            ..Request::default()
        };
        let now = self.now;
        let life = &mut self.lives[place];
        let id = life.id;
        let arrival = life.gate.arrive(&self.gate_terms, request, now);
        self.fire(arrival.fired);
        if let Some(refusal) = arrival.refused {
            self.answer(ticket, Body::Refused(refusal));
        }
        // The object may be busy for a while, so that others come in between.
        if self.tape.chance(30) {
            let after = self.tape.span(3_000);
            self.schedule(after, Event::Frees(id));
        } else {
            self.pump(id);
        }
    }

    /// Everything starts whose turn it is.
    pub(crate) fn pump(&mut self, id: u32) {
        let now = self.now;
        loop {
            let Some(life) = self.lives.iter_mut().find(|life| life.id == id) else {
                return;
            };
            let Some(turn) = life.gate.next(&self.gate_terms, now) else {
                return;
            };
            let kept = life.gate.store().clone();
            self.ledger.remembers(&kept);
            self.take_turn(id, turn);
        }
    }

    fn take_turn(&mut self, id: u32, turn: Turn<u32>) {
        self.fire(turn.fired);
        let ticket = turn.request.ticket;
        match turn.decision {
            Decision::Start => self.start(id, ticket),
            Decision::Store(writes) => {
                let held = self.holds(id);
                if held {
                    self.stored.apply(&writes);
                }
                let after = self.tape.span(200);
                self.schedule(after, Event::ClaimStored { life: id, ticket, held });
            }
            Decision::Refuse(refusal) => self.answer(ticket, Body::Refused(refusal)),
            Decision::AnswerRecorded => {
                let key = turn.request.header.identity.map(|identity| self.terms.rules.key(identity));
                let recorded = key.and_then(|key| self.results.get(&key).copied());
                self.ledger.answered_from_record(recorded.is_some());
                if let (Some(life), Some(recorded)) = (self.life(id), recorded) {
                    life.ended.push((ticket, recorded));
                }
                self.schedule(MS, Event::Confirms { life: id, ticket });
            }
            Decision::NewEpoch => self.new_epoch(id),
        }
    }

    fn new_epoch(&mut self, id: u32) {
        let Some(life) = self.lives.iter().find(|life| life.id == id) else {
            return;
        };
        let owner = life.gate.incarnation();
        let Some(incarnation) = self.ownership.next_epoch(self.terms.rules, owner) else {
            return self.drain(id);
        };
        self.previous = Some(owner);
        let birth = Birth { incarnation, wall: self.wall() };
        let terms = self.gate_terms;
        if let Some(life) = self.life(id) {
            let writes = life.gate.begin_epoch(&terms, birth);
            self.stored.apply(&writes);
        }
    }

    fn start(&mut self, id: u32, ticket: u32) {
        let attempt = self.tickets[usize::try_from(ticket).expect("few tickets")];
        self.ledger.starts(attempt, ticket, self.now);
        let takes = self.tape.span(3_000);
        self.schedule(takes, Event::RunEnds { life: id, ticket });
    }

    pub(crate) fn claim_stored(&mut self, id: u32, ticket: u32, held: bool) {
        let Some(life) = self.life(id) else {
            return;
        };
        let Some((decision, fired)) = life.gate.stored(ticket, held) else {
            return;
        };
        self.fire(fired);
        match decision {
            Decision::Start => self.start(id, ticket),
            Decision::Refuse(refusal) => self.answer(ticket, Body::Refused(refusal)),
            Decision::Store(_) | Decision::AnswerRecorded | Decision::NewEpoch => unreachable!("{decision:?}"),
        }
        self.pump(id);
    }

    /// User code ends; its effect and what belongs to it are one transaction.
    pub(crate) fn end_run(&mut self, id: u32, ticket: u32) {
        let throws = self.tape.chance(10);
        let held = self.holds(id);
        let (now, terms) = (self.now, self.gate_terms);
        let Some(life) = self.life(id) else {
            return;
        };
        let writes = life.gate.finished(&terms, ticket, now);
        let body = if throws { Body::Thrown(Kind::Disconnected) } else { Body::Value { stored: held } };
        life.ended.push((ticket, body));
        self.ledger.ends(ticket, now, held && !throws);
        if held {
            self.put_on_record(id, ticket, &writes, body);
        }
        let after = self.tape.span(200);
        self.schedule(after, Event::Confirms { life: id, ticket });
    }

    fn put_on_record(&mut self, id: u32, ticket: u32, writes: &Writes, body: Body) {
        self.stored.apply(writes);
        let rules = self.terms.rules;
        let Some(life) = self.life(id) else {
            return;
        };
        let run = life.gate.runs().iter().find(|run| run.request.ticket == ticket);
        let identity = run.and_then(|run| run.request.header.identity);
        if let (Some(identity), false) = (identity, writes.is_empty()) {
            self.results.insert(rules.key(identity), body);
        }
    }

    /// G12: the answer leaves once storage has confirmed the epoch.
    pub(crate) fn confirm(&mut self, id: u32, ticket: u32) {
        let held = self.holds(id);
        let terms = self.gate_terms;
        let Some(life) = self.life(id) else {
            return;
        };
        let ended = life.ended.iter().find(|(known, _)| *known == ticket).map(|(_, body)| *body);
        let Some((answer, fired)) = life.gate.confirmed(&terms, ticket, held) else {
            return;
        };
        life.ended.retain(|(known, _)| *known != ticket);
        self.fire(fired);
        let body = match (answer, ended) {
            (Answer::Run, Some(body)) => body,
            (Answer::Run, None) => Body::Refused(Refusal::EpochLost),
            (Answer::Refused(refusal), _) => Body::Refused(refusal),
        };
        self.answer(ticket, body);
        self.pump(id);
    }

    fn answer(&mut self, ticket: u32, body: Body) {
        let attempt = self.tickets[usize::try_from(ticket).expect("few tickets")];
        let back = self.tape.span(300);
        self.schedule(back, Event::Answered(attempt, body));
    }

    // ---- What befalls it ----

    pub(crate) fn strike(&mut self) {
        if !self.settings.survives_restarts() {
            return;
        }
        match self.tape.one_of(4) {
            1 => self.restart(),
            2 if !self.ownership.draining() => {
                self.ownership.drain();
                if let Some(id) = self.lives.last().map(|life| life.id) {
                    self.drain(id);
                }
                let after = self.tape.span(2_000);
                self.schedule(after, Event::Succeeds);
            }
            3 if self.settings.survives_zombies() => self.seize(),
            _ => {}
        }
    }

    fn drain(&mut self, id: u32) {
        let terms = self.gate_terms;
        let mut refused = Vec::new();
        if let Some(life) = self.life(id) {
            let fired = life.gate.drain(&terms, |request, refusal| refused.push((request.ticket, refusal)));
            self.fire(fired);
        }
        for (ticket, refusal) in refused {
            self.answer(ticket, Body::Refused(refusal));
        }
    }

    /// The owner's memory is lost.
    fn restart(&mut self) {
        if let Some(id) = self.lives.last().map(|life| life.id) {
            self.end_life(id);
        }
        self.previous = Some(self.ownership.incarnation());
        self.ownership.take_over(self.terms.rules, ());
        self.begin_life();
    }

    /// A graceful move's second half. A drained predecessor goes on with what it had let in.
    pub(crate) fn succeed(&mut self) {
        let before = self.ownership.incarnation();
        if self.ownership.hand_over(self.terms.rules, ()).is_ok() {
            self.succeeded(before);
        }
    }

    /// Somebody believes that the owner is dead, who is not.
    fn seize(&mut self) {
        let before = self.ownership.incarnation();
        self.ownership.take_over(self.terms.rules, ());
        self.succeeded(before);
    }

    fn succeeded(&mut self, before: oncemore_protocol::identity::Incarnation) {
        self.previous = Some(before);
        if let Some(id) = self.lives.last().map(|life| life.id) {
            let after = self.tape.span(20_000);
            self.schedule(after, Event::LifeEnds(id));
        }
        self.begin_life();
    }

    /// A life is over: its connections drop. The last one never ends of itself.
    pub(crate) fn end_life(&mut self, id: u32) {
        let Some(place) = self.lives.iter().position(|life| life.id == id) else {
            return;
        };
        let life = self.lives.remove(place);
        let queued = life.gate.queue().iter().map(|request| request.ticket);
        let running = life.gate.runs().iter().map(|run| run.request.ticket);
        for ticket in queued.chain(running) {
            let attempt = self.tickets[usize::try_from(ticket).expect("few tickets")];
            let after = self.tape.span(300);
            self.schedule(after, Event::Fails(attempt, Failure::dropped(attempt.ordinal.0.into())));
        }
    }
}
