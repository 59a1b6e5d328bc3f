//! The object's claim gate: what is let in, what waits, and what is told to those that are not (section 6).
//!
//! One gate serves one incarnation. The driver reports what happens and does what the gate decides:
//!
//! 1. a request arrives: [`Gate::arrive`];
//! 2. the object is free to start something: [`Gate::next`]. A durable claim is stored first: [`Gate::stored`];
//! 3. the method is looked up and runs; it ends: [`Gate::finished`], whose writes are stored with the run's effect;
//! 4. storage says whether this incarnation still holds the epoch: [`Gate::confirmed`], and only then an answer leaves.
//!
//! [`Gate::drain`] hands the object over. The gate runs nothing itself, and an input that makes no sense changes nothing.

mod request;
mod session;
#[cfg(test)]
mod tests;

pub use request::{Answer, Arrival, Decision, Request, Run, Stage, Turn};
pub use session::{Session, SessionId};

use core::time::Duration;

use crate::eligibility::Position;
use crate::failure::Refusal;
use crate::few::{Few, Table};
use crate::identity::{Identity, Incarnation};
use crate::marks::Mark;
use crate::rule::{Branch, Fired};
use crate::rules::{AtBound, ClaimPoint, Rules, Spec};
use crate::store::{Ask, Birth, ClaimStore, Claims, Recall, Slot, Value, Writes};
use crate::time::Time;

/// What holds for a gate's whole life.
#[derive(Debug)]
pub struct GateTerms<R: Rules = Spec, S: ClaimStore = Claims> {
    /// The store's settings.
    pub store: S::Plan,
    /// How many requests may wait (G11).
    pub queue_max: usize,
    /// The rules; [`Spec`] outside a model checker.
    pub rules: R,
}

// Not derived, for then they would ask the store itself to be `Copy`, of which these are only the settings.
impl<R: Rules, S: ClaimStore> Clone for GateTerms<R, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Rules, S: ClaimStore> Copy for GateTerms<R, S> {}

/// One incarnation's gate. `T` is the driver's ticket: where the answer goes.
#[derive(Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gate<T: Ticket, S: ClaimStore = Claims> {
    incarnation: Incarnation,
    draining: bool,
    queue: Few<Request<T>, 1>,
    runs: Few<Run<T>, 1>,
    sessions: Table<SessionId, Session, 1>,
    store: S,
}

impl<T: Ticket, S: ClaimStore> Clone for Gate<T, S> {
    fn clone(&self) -> Self {
        Self {
            incarnation: self.incarnation,
            draining: self.draining,
            queue: self.queue.clone(),
            runs: self.runs.clone(),
            sessions: self.sessions.clone(),
            store: self.store.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { incarnation, draining, queue, runs, sessions, store } = self;
        *incarnation = source.incarnation;
        *draining = source.draining;
        queue.clone_from(&source.queue);
        runs.clone_from(&source.runs);
        sessions.clone_from(&source.sessions);
        store.clone_from(&source.store);
    }
}

/// What a driver may use as a ticket: small, and the same for all of an attempt's life.
pub trait Ticket: Copy + Default + Eq + core::hash::Hash + core::fmt::Debug {}

impl<T: Copy + Default + Eq + core::hash::Hash + core::fmt::Debug> Ticket for T {}

/// What is to be done with a request whose turn may have come.
enum Verdict {
    Admit(Fired, Writes),
    Refuse(Refusal, Fired),
    Recorded(Fired),
    Wait,
    NewEpoch(Fired),
}

impl<T: Ticket, S: ClaimStore> Gate<T, S> {
    /// The gate of an incarnation that begins, with the claims that earlier ones have stored.
    pub fn open<R: Rules>(terms: &GateTerms<R, S>, birth: Birth, stored: impl Iterator<Item = (Slot, Value)>) -> Self {
        Self {
            incarnation: birth.incarnation,
            draining: false,
            queue: Few::default(),
            runs: Few::default(),
            sessions: Table::default(),
            store: S::open(&terms.store, birth, stored),
        }
    }

    /// Which incarnation's gate it is.
    pub const fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Whether it hands the object over (G2).
    pub const fn draining(&self) -> bool {
        self.draining
    }

    /// What waits, in the order of arrival.
    pub fn queue(&self) -> &[Request<T>] {
        self.queue.as_slice()
    }

    /// What was let in and has not been answered, in the order of starting.
    pub fn runs(&self) -> &[Run<T>] {
        self.runs.as_slice()
    }

    /// What it remembers.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// When time alone changes what the gate would decide.
    pub fn deadline<R: Rules>(&self, terms: &GateTerms<R, S>) -> Option<Time> {
        self.store.deadline(&terms.store)
    }

    /// A request arrives. It waits for its turn, or is refused at once (G2, G11).
    pub fn arrive<R: Rules>(&mut self, terms: &GateTerms<R, S>, request: Request<T>, now: Time) -> Arrival {
        if self.draining {
            let refusal = terms.rules.draining_refusal();
            return Arrival { refused: Some(refusal), fired: Branch::RefusedDraining.into() };
        }
        if terms.rules.claim_point() == ClaimPoint::Arrival
            && let Some(refusal) = self.claim_out_of_order(terms, &request, now)
        {
            return Arrival { refused: Some(refusal), fired: Fired::NONE };
        }
        if self.queue.len() >= terms.queue_max {
            return Arrival { refused: Some(Refusal::Overloaded), fired: Branch::QueueFull.into() };
        }
        self.queue.push(request);
        let waits = request.mark == Mark::Marked
            && request.header.identity.is_some_and(|identity| self.runs_already(terms, identity));
        Arrival { refused: None, fired: if waits { Branch::FenceWaits.into() } else { Fired::NONE } }
    }

    /// The object is free to start something: takes the first request whose turn it is (G1). None: nothing can start now.
    pub fn next<R: Rules>(&mut self, terms: &GateTerms<R, S>, now: Time) -> Option<Turn<T>> {
        if self.draining && terms.rules.drain_empties_queue() {
            return None;
        }
        for index in 0..self.queue.len() {
            let request = *self.queue.as_slice().get(index)?;
            if self.behind_its_session(index, request.session) {
                continue;
            }
            let (decision, fired) = match self.judge(terms, &request, now) {
                Verdict::Wait => continue,
                Verdict::NewEpoch(fired) => return Some(Turn { request, decision: Decision::NewEpoch, fired }),
                Verdict::Refuse(refusal, fired) => (Decision::Refuse(refusal), fired),
                Verdict::Recorded(fired) => {
                    self.runs.push(Run { request, stage: Stage::Confirming });
                    (Decision::AnswerRecorded, fired)
                }
                Verdict::Admit(fired, writes) => self.admit(request, writes, fired),
            };
            self.queue.remove(index);
            return Some(Turn { request, decision, fired });
        }
        None
    }

    /// G8: whether an earlier request of the same session still waits. What opens a session has to be let in first.
    fn behind_its_session(&self, index: usize, session: Option<SessionId>) -> bool {
        session.is_some() && self.queue.iter().take(index).any(|earlier| earlier.session == session)
    }

    fn admit(&mut self, request: Request<T>, writes: Writes, fired: Fired) -> (Decision, Fired) {
        let stage = if writes.is_empty() { Stage::Running } else { Stage::Storing };
        self.runs.push(Run { request, stage });
        if writes.is_empty() { (Decision::Start, fired) } else { (Decision::Store(writes), fired) }
    }

    /// The claim is durable, or could not be stored (`stored` false): start, or refuse without saying "did not run" (G9).
    pub fn stored(&mut self, ticket: T, stored: bool) -> Option<(Decision, Fired)> {
        let index = self.runs.iter().position(|run| run.request.ticket == ticket && run.stage == Stage::Storing)?;
        if stored {
            self.runs.as_mut_slice().get_mut(index)?.stage = Stage::Running;
            return Some((Decision::Start, Branch::ClaimStored.into()));
        }
        self.runs.remove(index);
        Some((Decision::Refuse(Refusal::ClaimNotStored), Branch::StartFailed.into()))
    }

    /// The store is full and the directory has given the object a new number: begin a claim epoch (G6).
    ///
    /// Returns what must be durable before the next [`Gate::next`].
    pub fn begin_epoch<R: Rules>(&mut self, terms: &GateTerms<R, S>, birth: Birth) -> Writes {
        self.incarnation = birth.incarnation;
        self.store.begin_epoch(&terms.store, birth)
    }

    /// The method has been looked up. By now the claim has been looked at (G1), so a refusal comes from broken rules only.
    pub fn looked_up<R: Rules>(&mut self, terms: &GateTerms<R, S>, ticket: T, now: Time) -> Option<Refusal> {
        self.claim_late(terms, ticket, now, ClaimPoint::AfterLookup)
    }

    /// User code has ended. Returns what must be stored in the same transaction as its effect (D5).
    pub fn finished<R: Rules>(&mut self, terms: &GateTerms<R, S>, ticket: T, now: Time) -> Writes {
        let run = self.runs.as_mut_slice().iter_mut().find(|run| run.request.ticket == ticket);
        let identity = run.filter(|run| run.stage != Stage::Storing).and_then(|run| {
            run.stage = Stage::Confirming;
            run.request.header.identity
        });
        let late = self.claim_late(terms, ticket, now, ClaimPoint::AfterRun);
        match identity {
            Some(identity) if late.is_none() => self.store.finish(&terms.store, terms.rules, identity),
            Some(_) | None => Writes::default(),
        }
    }

    /// Storage has confirmed that this incarnation still holds the epoch, or not (`held` false): the answer leaves, or the
    /// caller learns that it was disconnected after delivery (G12). None: no such run.
    pub fn confirmed<R: Rules>(&mut self, terms: &GateTerms<R, S>, ticket: T, held: bool) -> Option<(Answer, Fired)> {
        let ended = |run: &Run<T>| run.request.ticket == ticket && run.stage != Stage::Storing;
        let index = self.runs.iter().position(ended)?;
        let run = self.runs.remove(index)?;
        if let (true, Stage::Confirming, Some(identity)) = (held, run.stage, run.request.header.identity) {
            self.store.on_record(&terms.store, terms.rules, identity);
        }
        if held || !terms.rules.confirms_epoch() {
            return Some((Answer::Run, Branch::EpochConfirmed.into()));
        }
        Some((Answer::Refused(Refusal::EpochLost), Branch::EpochLost.into()))
    }

    /// Hands the object over: from now on nothing is let in, and what was queued and not claimed is refused (G2).
    pub fn drain<R: Rules>(&mut self, terms: &GateTerms<R, S>, mut refuse: impl FnMut(Request<T>, Refusal)) -> Fired {
        self.draining = true;
        if self.queue.is_empty() {
            return Fired::NONE;
        }
        for request in self.queue.iter() {
            refuse(*request, terms.rules.draining_refusal());
        }
        if terms.rules.drain_empties_queue() {
            self.queue = Few::default();
        }
        Branch::QueueDrained.into()
    }

    /// A connection is gone: its queued requests stay, since nobody can tell them from late ones; its session ends (G8).
    pub fn session_ended(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }

    /// Forgets claims without a word: a planted fault.
    pub fn forget_claims(&mut self) {
        self.store.forget();
    }

    /// G1 to G4, G6, G8 and the designs: may this request start now?
    fn judge<R: Rules>(&mut self, terms: &GateTerms<R, S>, request: &Request<T>, now: Time) -> Verdict {
        let Some(identity) = request.header.identity else {
            return self.judge_without_identity(terms, request);
        };
        let mark = terms.rules.mark(request.mark, request.believed);
        if S::checks_address(&terms.store) && terms.rules.elsewhere(request.header.address, self.incarnation, mark) {
            return Verdict::Refuse(Refusal::Elsewhere, Branch::AddressedElsewhere.into());
        }
        if terms.rules.claim_point() != ClaimPoint::BeforeLookup {
            return Verdict::Admit(Fired::NONE, Writes::default());
        }
        let mut verdict = self.claim(terms, request, identity, mark, now);
        match &mut verdict {
            Verdict::Admit(fired, _) | Verdict::Recorded(fired) => {
                *fired = fired.union(self.open_session(request, Session::of(mark)));
            }
            Verdict::Refuse(_, fired) => *fired = fired.union(self.open_session(request, Session::Rejected)),
            Verdict::Wait | Verdict::NewEpoch(_) => {}
        }
        verdict
    }

    /// G3, G4, G6, `fenced`: what the store's memory and the mark make of an identity.
    fn claim<R: Rules>(
        &mut self,
        terms: &GateTerms<R, S>,
        request: &Request<T>,
        identity: Identity,
        mark: Mark,
        now: Time,
    ) -> Verdict {
        let rules = terms.rules;
        let ask = request.ask(identity);
        let (recall, forgot) = self.store.recall(&terms.store, rules, &ask, now);
        let mut fired = forgot;
        let recall = rules.trusts(recall, request.header.retry);
        let waived = mark == Mark::Marked && rules.mark_waives(recall);
        match recall {
            Recall::Untracked => return Verdict::Admit(fired.with(Branch::NothingKept), Writes::default()),
            Recall::Finished => return Verdict::Recorded(fired.with(Branch::AnsweredFromRecord)),
            Recall::OtherRequest => {
                return Verdict::Refuse(Refusal::OtherRequest, fired.with(Branch::OtherRequest));
            }
            Recall::Settled if !waived => {
                return Verdict::Refuse(Refusal::Settled, fired.with(Branch::WatermarkRefuses));
            }
            Recall::Claimed { .. } if !waived => {
                return Verdict::Refuse(Refusal::Claimed, fired.with(Branch::RejectedClaimed));
            }
            Recall::MayHave(doubt) if !waived => {
                return Verdict::Refuse(Refusal::Doubtful, fired.with(doubt.branch()).with(Branch::RejectedDoubtful));
            }
            Recall::Never => fired.add(Branch::AdmittedNew),
            Recall::Claimed { .. } | Recall::Settled => fired.add(Branch::MarkAdmitsDuplicate),
            Recall::MayHave(doubt) => {
                fired.add(doubt.branch());
                fired.add(Branch::MarkAdmitsDoubtful);
            }
        }
        if let Some(verdict) = self.fence(terms, &ask, mark, recall, forgot) {
            return verdict;
        }
        if let Some(verdict) = self.make_room(terms, &ask, forgot) {
            return verdict;
        }
        Verdict::Admit(fired, self.store.record(&terms.store, terms.rules, &ask, now))
    }

    /// `fenced`: a duplicate is let in only after the earlier run here has ended, and only if it is later than all before.
    /// A run that goes on is remembered as such, also when its claim has expired.
    fn fence<R: Rules>(
        &self,
        terms: &GateTerms<R, S>,
        ask: &Ask,
        mark: Mark,
        recall: Recall,
        fired: Fired,
    ) -> Option<Verdict> {
        if !S::fenced(&terms.store) || mark == Mark::Unmarked {
            return None;
        }
        if let Recall::Claimed { highest } = recall
            && !terms.rules.fence_passes(ask.ordinal, highest)
        {
            return Some(Verdict::Refuse(Refusal::Older, fired.with(Branch::FenceRefusesOlder)));
        }
        self.runs_already(terms, ask.identity).then_some(Verdict::Wait)
    }

    /// `fenced`: whether an earlier run of this call goes on here.
    fn runs_already<R: Rules>(&self, terms: &GateTerms<R, S>, identity: Identity) -> bool {
        S::fenced(&terms.store)
            && terms.rules.fence_waits()
            && self.runs.iter().any(|run| run.request.header.identity == Some(identity))
    }

    /// G6: none if the store has room for one more claim.
    fn make_room<R: Rules>(&mut self, terms: &GateTerms<R, S>, ask: &Ask, fired: Fired) -> Option<Verdict> {
        match self.store.bound(&terms.store, terms.rules, ask)? {
            AtBound::BeginEpoch if !self.store.is_empty() => {
                Some(Verdict::NewEpoch(fired.with(Branch::BoundBeginsEpoch)))
            }
            AtBound::BeginEpoch | AtBound::Refuse => {
                Some(Verdict::Refuse(Refusal::StoreFull, fired.with(Branch::BoundRefuses)))
            }
            AtBound::Forget => {
                self.store.forget();
                None
            }
        }
    }

    /// E6, G8: a request without an identity claims nothing; a later call of a session follows its first.
    fn judge_without_identity<R: Rules>(&mut self, terms: &GateTerms<R, S>, request: &Request<T>) -> Verdict {
        let mark = terms.rules.mark(request.mark, request.believed);
        let session = match (request.session, request.position) {
            (Some(id), Position::Later) => match self.session(id) {
                Some(session) => Some(session),
                // Its session was opened elsewhere, or has ended: what it was let in as, nobody here can tell.
                None => return Verdict::Refuse(Refusal::Elsewhere, Branch::SessionUnknown.into()),
            },
            (Some(_) | None, Position::First | Position::Later) => None,
        };
        let (verdict, fired) = Session::later(session, terms.rules, mark);
        match verdict {
            Ok(()) if request.position == Position::First => {
                // An ineligible first call is sent once, so its session is no duplicate.
                let opened = self.open_session(request, Session::Unmarked);
                Verdict::Admit(fired.union(opened), Writes::default())
            }
            Ok(()) => Verdict::Admit(fired, Writes::default()),
            Err(refusal) => Verdict::Refuse(refusal, fired),
        }
    }

    /// What is known of a session.
    pub fn session(&self, id: SessionId) -> Option<Session> {
        self.sessions.get(&id).copied()
    }

    fn open_session(&mut self, request: &Request<T>, session: Session) -> Fired {
        let Some(id) = request.session else {
            return Fired::NONE;
        };
        self.sessions.insert(id, session);
        session.branch().into()
    }

    /// A claim at a point where the rules have none: only rules that are broken on purpose get here.
    fn claim_late<R: Rules>(
        &mut self,
        terms: &GateTerms<R, S>,
        ticket: T,
        now: Time,
        point: ClaimPoint,
    ) -> Option<Refusal> {
        if terms.rules.claim_point() != point {
            return None;
        }
        let index = self.runs.iter().position(|run| run.request.ticket == ticket)?;
        let request = self.runs.as_slice().get(index)?.request;
        self.claim_out_of_order(terms, &request, now)
    }

    fn claim_out_of_order<R: Rules>(
        &mut self,
        terms: &GateTerms<R, S>,
        request: &Request<T>,
        now: Time,
    ) -> Option<Refusal> {
        let identity = request.header.identity?;
        let mark = terms.rules.mark(request.mark, request.believed);
        match self.claim(terms, request, identity, mark, now) {
            Verdict::Refuse(refusal, _) => Some(refusal),
            Verdict::Admit(..) | Verdict::Recorded(_) | Verdict::Wait | Verdict::NewEpoch(_) => None,
        }
    }

    /// Moves the origin of time (see [`Time::rebased`]).
    pub fn rebase<R: Rules>(&mut self, terms: &GateTerms<R, S>, elapsed: Duration) {
        self.store.rebase(&terms.store, elapsed);
    }

    /// Shows the gate's parts that hold identifiers, for models that renumber them.
    pub fn parts_mut(&mut self) -> (&mut Incarnation, &mut [Request<T>], &mut [Run<T>], &mut S) {
        (&mut self.incarnation, self.queue.as_mut_slice(), self.runs.as_mut_slice(), &mut self.store)
    }
}
