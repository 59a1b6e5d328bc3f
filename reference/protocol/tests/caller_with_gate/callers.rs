//! Callers: the driver of their machine, and the link that carries what they send.

use oncemore_protocol::caller::{Call, Input, Next, Settlement, Step, Unsent};
use oncemore_protocol::failure::{Delivery, Failure, Transport};
use oncemore_protocol::identity::{CallerId, Header, Incarnation};
use oncemore_protocol::lane::Lane;
use oncemore_protocol::route::{Route, Subrequests};
use oncemore_protocol::rules::Rules;
use oncemore_protocol::time::WallTime;

use crate::object::Body;
use crate::settings::{CallPlan, SKEW};
use crate::tape::MS;
use crate::world::{Attempt, Event, World};

pub(crate) struct Caller {
    lane: Lane,
    route: Route,
    subrequests: Subrequests,
}

impl Caller {
    pub(crate) const fn new(place: u128) -> Self {
        let lane = Lane::new(CallerId::from_bits(place + 1));
        Self { lane, route: Route::new(), subrequests: Subrequests::new(u32::MAX) }
    }
}

pub(crate) struct CallState {
    plan: CallPlan,
    machine: Option<Call<u32>>,
    /// The attempt whose answer the caller waits for.
    listens: Option<Attempt>,
}

impl CallState {
    pub(crate) const fn new(plan: CallPlan) -> Self {
        Self { plan, machine: None, listens: None }
    }
}

impl<R: Rules> World<R> {
    pub(crate) fn begin_call(&mut self, call: usize) {
        let plan = self.calls[call].plan;
        let (machine, step) = Call::start(&self.terms, plan.eligible, self.now);
        self.calls[call].machine = Some(machine);
        self.ledger.begins(call, machine.cutoff());
        if let Some(ms) = plan.given_up_after_ms {
            self.schedule(ms * MS, Event::GivenUp(call));
        }
        self.follow(call, step, None);
    }

    pub(crate) fn wake(&mut self, call: usize) {
        self.tell(call, Input::Timer, None);
    }

    pub(crate) fn give_up(&mut self, call: usize) {
        self.tell(call, Input::Drop, None);
    }

    /// An answer arrives; nobody hears it unless its attempt is still the caller's.
    pub(crate) fn receive(&mut self, attempt: Attempt, body: Body) {
        if self.calls[attempt.call].listens != Some(attempt) {
            return;
        }
        let payload = attempt.ordinal.0.into();
        let input = match body {
            Body::Value { .. } => Input::Answered,
            Body::Thrown(kind) => Input::Failed(Failure::thrown(kind, payload)),
            Body::Refused(refusal) => {
                self.lose_route(attempt.call, true);
                Input::Refused(refusal, payload)
            }
        };
        self.tell(attempt.call, input, Some(body));
    }

    pub(crate) fn see_failure(&mut self, attempt: Attempt, failure: Failure<u32>) {
        let current = self.calls[attempt.call].machine.is_some_and(|machine| machine.ordinal() == attempt.ordinal);
        let listens = self.calls[attempt.call].listens == Some(attempt);
        // A failure to resolve or connect has nothing to listen to yet.
        if listens || (current && failure.delivery == Delivery::NotDelivered) {
            self.lose_route(attempt.call, false);
            self.tell(attempt.call, Input::Failed(failure), None);
        }
    }

    fn lose_route(&mut self, call: usize, refused: bool) {
        let caller = &mut self.callers[self.calls[call].plan.caller];
        let fired = caller.route.lost(self.terms.rules, refused);
        self.fire(fired);
    }

    fn tell(&mut self, call: usize, input: Input<u32>, body: Option<Body>) {
        let draw = self.tape.draw();
        let Some(machine) = &mut self.calls[call].machine else {
            return;
        };
        let step = machine.handle(&self.terms, self.now, draw, input);
        self.follow(call, step, body);
    }

    fn follow(&mut self, call: usize, step: Step<u32>, body: Option<Body>) {
        self.fire(step.fired);
        if step.cancel {
            self.calls[call].listens = None;
        }
        match step.next {
            Next::Wait => {}
            Next::Sleep { until } => {
                self.calls[call].listens = None;
                // Timers are late at times, if never early.
                let late = if self.tape.chance(10) { self.tape.span(400) } else { 0 };
                self.schedule_at(crate::tape::later(until, late), Event::Wakes(call));
            }
            Next::Resolve(_) => self.attempt(call),
            Next::Settle(settlement) => self.settle(call, settlement, body),
        }
    }

    fn settle(&mut self, call: usize, settlement: Settlement<u32>, body: Option<Body>) {
        let state = &mut self.calls[call];
        state.listens = None;
        let identity = state.machine.take().and_then(|machine| machine.identity());
        let caller = &mut self.callers[state.plan.caller];
        if let Some(identity) = identity.filter(|identity| identity.caller == caller.lane.caller()) {
            caller.lane.settle(identity.number);
        }
        self.ledger.settled(call, self.now, settlement, body);
    }

    fn attempt(&mut self, call: usize) {
        let Some(machine) = self.calls[call].machine else {
            return;
        };
        let attempt = Attempt { call, ordinal: machine.ordinal() };
        let plan = self.calls[call].plan;
        let caller = &mut self.callers[plan.caller];
        let left = caller.subrequests.left();
        caller.subrequests.charge(self.terms.rules, attempt.ordinal).expect("a large budget");
        let charged = caller.subrequests.left() < left;
        self.ledger.attempt_begins(call, self.now, charged);
        if let Some(deadline) = machine.deadline(&self.terms) {
            let late = if self.tape.chance(10) { self.tape.span(400) } else { 0 };
            self.schedule_at(crate::tape::later(deadline, late), Event::Wakes(call));
        }
        // Resolving or connecting may fail before the attempt has chosen its identity, or after.
        if self.tape.chance(10) {
            return self.unreachable(attempt);
        }
        let address = self.resolve(plan.caller);
        let Some(header) = self.transmission(call, plan.caller, address) else {
            return;
        };
        if self.tape.chance(10) {
            return self.unreachable(attempt);
        }
        self.calls[call].listens = Some(attempt);
        self.send(attempt, header);
    }

    fn unreachable(&mut self, attempt: Attempt) {
        let after = self.tape.span(300);
        self.schedule(after, Event::Fails(attempt, Failure::unreachable(attempt.ordinal.0.into())));
    }

    /// Where the stub last found the object, else what the directory says, or said a while ago.
    fn resolve(&mut self, caller: usize) -> Incarnation {
        if let Some(address) = self.callers[caller].route.address() {
            return address;
        }
        let stale = self.settings.survives_zombies() && self.tape.chance(15);
        let current = self.ownership.incarnation();
        let address = self.previous.filter(|_| stale).unwrap_or(current);
        self.callers[caller].route.found(address);
        address
    }

    fn transmission(&mut self, call: usize, caller: usize, address: Incarnation) -> Option<Header> {
        let wall = self.caller_wall();
        let lane = &mut self.callers[caller].lane;
        let sent = self.calls[call].machine.as_mut()?.resolved(&self.terms, lane, address, wall);
        match sent {
            Ok(sent) => {
                self.fire(sent.fired);
                Some(sent.header)
            }
            Err(Unsent::LaneFull | Unsent::NotResolving) => None,
        }
    }

    /// D2: callers' clocks run ahead or behind by no more than the margin.
    fn caller_wall(&mut self) -> WallTime {
        let ahead = u64::try_from(SKEW.as_nanos()).expect("a short time") / 4 * u64::from(self.tape.one_of(5));
        self.wall().after(std::time::Duration::from_nanos(ahead))
    }

    /// What the link makes of a request.
    fn send(&mut self, attempt: Attempt, header: Header) {
        let there = self.tape.span(300);
        let dropped = Failure::dropped(attempt.ordinal.0.into());
        match self.tape.one_of(8) {
            // Lost.
            1 => self.schedule(there, Event::Fails(attempt, dropped)),
            // The connection drops, and yet the request arrives, much later.
            2 => {
                self.schedule(there, Event::Fails(attempt, dropped));
                let late = self.tape.span(15_000);
                self.schedule(there + late, Event::Arrives(attempt, header));
            }
            // The connection drops some time after the request has arrived: before, during or after the run.
            3 | 4 => {
                self.schedule(there, Event::Arrives(attempt, header));
                let drops = self.tape.span(3_000);
                self.schedule(there + drops, Event::Fails(attempt, dropped));
            }
            5 if self.terms.transport == Transport::MayDuplicate => {
                self.schedule(there, Event::Arrives(attempt, header));
                let late = self.tape.span(15_000);
                self.schedule(there + late, Event::Arrives(attempt, header));
            }
            _ => self.schedule(there, Event::Arrives(attempt, header)),
        }
    }
}
