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
use oncemore_protocol::identity::{Identity, Incarnation};
use oncemore_protocol::marks::Mark;
use oncemore_protocol::route::Route;
use oncemore_protocol::rules::Rules;
use oncemore_protocol::store::{ClaimStore, Key};

use super::{Cause, Fault, Ledger, Load, Outcome, What, World};
use crate::script::{CallPlan, Role, Script};

impl<S: ClaimStore> World<S> {
    /// Lets go of sessions, callers, faults and predecessors. It moves the places of incarnations, so every telling of a
    /// trace does it too.
    pub(crate) fn let_go_of_ends(&mut self, script: &Script<S>) {
        for call in 0..script.calls.len() {
            if !self.session_awaited(script, call) {
                self.calls.as_mut_slice()[call].session = None;
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
        for (plan, caller) in script.callers.iter().zip(self.callers.as_mut_slice()) {
            let settled = |call: &u8| self.calls.as_slice()[usize::from(*call)].ledger.outcome.settled();
            if plan.calls.iter().all(settled) {
                caller.routes = [Route::new(); 2];
                caller.route_failed = [false; 2];
                caller.lanes = [None; 2];
                caller.subrequests = None;
            }
        }
    }

    fn let_go_of_predecessors(&mut self, script: &Script<S>, object: u8) {
        if self.budget.left(Fault::Stale) == 0 {
            self.object_mut(object).previous = None;
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
        addressed || routed || session || self.object(object).previous == Some(incarnation)
    }

    /// Lets go of what settled calls were told, and of claims that nobody can ask for.
    pub(crate) fn let_go(&mut self, script: &Script<S>) {
        for (plan, state) in script.calls.iter().zip(self.calls.as_mut_slice()) {
            if state.ledger.outcome.settled() {
                let_go_of_story(&mut state.ledger, plan, script);
            }
        }
        if S::capacity(&script.gate.store) == UNBOUNDED && script.ids_unique {
            self.let_go_of_claims(script);
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

    fn let_go_of_claims(&mut self, script: &Script<S>) {
        let mut asked = Few::<Key, 6>::default();
        let mut ask = |identity: Option<Identity>| {
            if let Some(identity) = identity {
                asked.push(script.terms.rules.key(identity));
            }
        };
        for packet in self.net.iter() {
            if let Load::Request { header, .. } = packet.load {
                ask(header.identity);
            }
        }
        for state in self.calls.iter() {
            ask(state.machine.as_ref().and_then(oncemore_protocol::caller::Call::identity));
            ask(state.session.and_then(|session| session.identity));
        }
        for gate in self.objects.iter().flat_map(|object| &object.incarnations).map(|life| &life.gate) {
            gate.queue().iter().for_each(|request| ask(request.header.identity));
            gate.runs().iter().for_each(|run| ask(run.request.header.identity));
        }
        let keep = |key: Key| asked.iter().any(|asked| *asked == key);
        let keep_caller = |caller| asked.iter().any(|asked| asked.caller == caller);
        for object in &mut self.objects {
            object.stored.retain(keep, keep_caller);
            object.results.retain(|(key, _)| keep(*key));
            for life in &mut object.incarnations {
                let (_, _, _, store) = life.gate.parts_mut();
                store.retain(keep, keep_caller);
            }
        }
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
