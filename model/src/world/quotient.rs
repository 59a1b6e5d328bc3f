//! What no step and no property can depend on any more is let go, so that it tells no states apart.
//!
//! Each of these is a bisimulation on its own: the state with and the state without have the same steps, to states that
//! again differ in nothing else, and satisfy the same properties. A test explores the small scenarios both ways and
//! compares the verdicts.
//!
//! * **Predecessors out of reach.** An incarnation with a successor, with nothing queued and nothing running, to which no
//!   request, no stub, no session and no stale resolve leads, will never do anything again.
//! * **Callers that are done.** Once all its calls have settled, a caller resolves nothing and begins no number.
//! * **What settled calls were told.** P3 to P10, P12, P16 and L2 are judged when it happens, and a flag stays. After that
//!   only P1, P2 and P11 look at a settled call, and P13 and P14 where the history is kept. Of a marked call P1 and P2
//!   promise nothing.
//! * **Faults that cannot strike any more.** Once all calls have settled, no connection drops and no attempt begins; once
//!   nothing is under way either, nothing happens at all.
//! * **Claims that nobody can ask for.** Identities are unique (G10, I1), so a claim whose identity no request under way,
//!   waiting or running carries, and no unsettled call will send again, is never asked for. It still takes room, so it is
//!   kept where the store is bounded (P15); and where a rule is broken on purpose, or an id is reused, since then identities
//!   need not be unique.

use oncemore_protocol::failure::{Delivery, Kind};
use oncemore_protocol::few::Few;
use oncemore_protocol::identity::{CallerId, Incarnation};
use oncemore_protocol::marks::Mark;
use oncemore_protocol::store::{ClaimStore, Key};

use super::mention::{Mentions, Name, small};
use super::{Caller, Cause, Fault, Ledger, Load, Outcome, What, World};
use crate::script::{CallPlan, Role, Script};

impl<S: ClaimStore> World<S> {
    /// Lets go of sessions, callers, faults and predecessors. It moves the places of incarnations, so every telling of a
    /// trace does it too.
    pub(crate) fn let_go_of_ends(&mut self, script: &Script<S>) {
        for call in 0..script.calls.len() {
            if self.calls[call].session.is_some() && !self.session_awaited(script, call) {
                self.calls[call].session = None;
            }
        }
        self.let_go_of_callers(script);
        if self.all_settled(script) {
            self.budget.close(&STRIKE_CALLERS);
            if self.nothing_under_way() {
                self.budget.close_all();
            }
        }
        for object in 0..script.objects {
            self.let_go_of_predecessors(script, object);
        }
    }

    fn let_go_of_callers(&mut self, script: &Script<S>) {
        for (plan, caller) in script.callers.iter().zip(&mut self.callers) {
            let settled = |call: &u8| self.calls[usize::from(*call)].ledger.outcome.settled();
            if plan.calls.iter().all(settled) {
                let done = Caller { life: caller.life, ..Caller::default() };
                if **caller != done {
                    **caller = done;
                }
            }
        }
    }

    fn let_go_of_predecessors(&mut self, script: &Script<S>, object: u8) {
        if self.budget.left(Fault::Stale) == 0 && self.object(object).record.previous.is_some() {
            self.object_mut(object).record.previous = None;
        }
        let owner = self.object(object).incarnations.len() - 1;
        for place in (0..owner).rev() {
            let gate = &self.object(object).incarnations[place].gate;
            let idle = gate.queue().is_empty() && gate.runs().is_empty();
            if idle && !self.leads_to(script, object, gate.incarnation()) {
                self.object_mut(object).incarnations.remove(place);
            }
        }
    }

    /// Whether a request under way, a stub, a session or a stale resolve leads to the incarnation.
    fn leads_to(&self, script: &Script<S>, object: u8, incarnation: Incarnation) -> bool {
        let addressed = self.net.iter().any(|packet| match packet.load {
            Load::Request { header, .. } => {
                script.call(packet.id.call).object == object && header.address == incarnation
            }
            Load::Answer { .. } => false,
        });
        let routed =
            self.callers.iter().any(|caller| caller.routes[usize::from(object)].address() == Some(incarnation));
        let session = script.calls.iter().zip(self.calls.iter()).any(|(plan, state)| {
            plan.object == object && state.session.is_some_and(|session| session.at == incarnation)
        });
        addressed || routed || session || self.object(object).record.previous == Some(incarnation)
    }

    /// Lets go of what settled calls were told; those that have not changed were let go of before.
    pub(super) fn let_go_of_stories(&mut self, script: &Script<S>) {
        for (plan, state) in script.calls.iter().zip(&mut self.calls) {
            if state.is_changed() && state.ledger.outcome.settled() {
                let mut ledger = state.ledger;
                let_go_of_story(&mut ledger, plan, script);
                if ledger != state.ledger {
                    state.ledger = ledger;
                }
            }
        }
    }

    /// Whether every call that can still be made has been, and has settled.
    fn all_settled(&self, script: &Script<S>) -> bool {
        script.calls.iter().zip(self.calls.iter()).all(|(plan, state)| {
            let never_made = match plan.role {
                Role::Plain | Role::Later(_) => false,
                Role::Pipelined(producer) => self.call(producer).ledger.outcome.settled(),
                // A late run of the outer method may make it yet.
                Role::Inner { .. } => self.nothing_under_way(),
            };
            state.ledger.outcome.settled() || (state.ledger.outcome == Outcome::NotBegun && never_made)
        })
    }

    fn nothing_under_way(&self) -> bool {
        let mut gates = self.objects.iter().flat_map(|object| &object.incarnations).map(|life| &life.gate);
        self.net.is_empty() && gates.all(|gate| gate.queue().is_empty() && gate.runs().is_empty())
    }

    /// G8: whether a later call of the session that the call opened may still be made, or is under way.
    fn session_awaited(&self, script: &Script<S>, call: usize) -> bool {
        script.calls.iter().zip(self.calls.iter()).any(|(plan, state)| {
            matches!(plan.role, Role::Later(opener) if usize::from(opener) == call) && !state.ledger.outcome.settled()
        })
    }

    /// Whether claims that nobody can ask for make no difference.
    #[inline]
    pub(super) fn lets_go_of_claims(script: &Script<S>) -> bool {
        S::capacity(&script.gate.store) == UNBOUNDED && script.ids_unique
    }

    /// Lets go of claims that nobody can ask for, and says whether there were any.
    pub(super) fn let_go_of_claims(&mut self, script: &Script<S>, asked: &Asked) -> bool {
        let mut went = false;
        for (place, object) in self.objects.iter_mut().enumerate() {
            if asked.lacks_any(object.record.mentions(script, place)) {
                object.record.stored.retain(|key| asked.has(key), |caller| asked.has_any_of(caller));
                object.record.results.retain(|(key, _)| asked.has(*key));
                went = true;
            }
            for life in &mut object.incarnations {
                if asked.lacks_any(life.mentions(script, place)) {
                    let (_, _, _, store) = life.gate.parts_mut();
                    store.retain(|key| asked.has(key), |caller| asked.has_any_of(caller));
                    went = true;
                }
            }
        }
        went
    }
}

/// The identities that can still be asked for.
#[derive(Default)]
pub(super) struct Asked(Few<Name, 8>);

impl Asked {
    #[inline]
    pub(super) fn add(&mut self, mentions: &Mentions) {
        mentions.asked.iter().for_each(|name| self.0.push(*name));
    }

    fn has(&self, key: Key) -> bool {
        self.0.iter().any(|asked| *asked == Name::new(key.caller, key.number))
    }

    fn has_any_of(&self, caller: CallerId) -> bool {
        self.0.iter().any(|asked| asked.life == small(caller.bits()))
    }

    /// Whether something is remembered that cannot be asked for.
    #[inline]
    fn lacks_any(&self, mentions: &Mentions) -> bool {
        mentions.claimed.iter().any(|name| !self.0.iter().any(|asked| asked == name))
            || mentions.told.iter().any(|life| !self.0.iter().any(|asked| asked.life == *life))
    }
}

/// The faults that only strike callers, their attempts and their connections.
const STRIKE_CALLERS: [Fault; 9] = [
    Fault::LoseRequest,
    Fault::LoseReply,
    Fault::Cut,
    Fault::Stale,
    Fault::Crash,
    Fault::Reuse,
    Fault::GiveUp,
    Fault::Abort,
    Fault::Unreachable,
];

/// The capacity of a scenario that does not bound its stores.
const UNBOUNDED: usize = u32::MAX as usize;

/// Of a settled call, what no property asks for.
fn let_go_of_story<S: ClaimStore>(ledger: &mut Ledger, plan: &CallPlan, script: &Script<S>) {
    ledger.returned = 0;
    ledger.admitted = 0;
    if !script.history && ledger.attempts <= script.terms.limits.attempts_max() && ledger.attempts > 0 {
        ledger.attempts = 1;
    }
    let promised = plan.eligible || script.terms.transport == oncemore_protocol::failure::Transport::Exact;
    if (plan.mark == Mark::Marked || !promised) && !not_delivered(ledger.outcome) {
        ledger.starts = ledger.starts.min(1);
        if !(script.effects_once && promised) {
            ledger.effects = 0;
        }
    }
    ledger.outcome = match ledger.outcome {
        Outcome::Failed { delivery: Delivery::NotDelivered, .. } => failed(Delivery::NotDelivered, false),
        Outcome::Failed { remote, .. } if script.history => failed(Delivery::Unknown, remote),
        Outcome::Answered(seen) if script.history => Outcome::Answered(seen),
        Outcome::Answered(_) | Outcome::Failed { .. } | Outcome::Aborted | Outcome::Gone => Outcome::Gone,
        Outcome::NotBegun | Outcome::Pending => ledger.outcome,
    };
}

const fn not_delivered(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed { delivery: Delivery::NotDelivered, .. })
}

const fn failed(delivery: Delivery, remote: bool) -> Outcome {
    Outcome::Failed { kind: Kind::Disconnected, delivery, remote, cause: Cause { attempt: 0, what: What::Dropped } }
}
