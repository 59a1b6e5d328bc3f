//! Virtual time: what is to happen, in its order.

use std::collections::BTreeMap;

use oncemore_protocol::caller::Terms;
use oncemore_protocol::directory::Ownership;
use oncemore_protocol::failure::Failure;
use oncemore_protocol::gate::GateTerms;
use oncemore_protocol::identity::{Header, Incarnation, Ordinal};
use oncemore_protocol::rule::Fired;
use oncemore_protocol::rules::Rules;
use oncemore_protocol::store::{Key, Stored};
use oncemore_protocol::time::{Time, WallTime};

use crate::callers::{CallState, Caller};
use crate::ledger::Ledger;
use crate::object::{Body, Life};
use crate::settings::Settings;
use crate::tape::{MS, Tape, later};

/// One attempt of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) call: usize,
    pub(crate) ordinal: Ordinal,
}

/// What can happen.
pub(crate) enum Event {
    Begins(usize),
    Wakes(usize),
    GivenUp(usize),
    /// A copy of a request arrives.
    Arrives(Attempt, Header),
    /// An answer arrives.
    Answered(Attempt, Body),
    /// The attempt's caller sees it fail.
    Fails(Attempt, Failure<u32>),
    /// The object is free to start something.
    Frees(u32),
    ClaimStored {
        life: u32,
        ticket: u32,
        held: bool,
    },
    RunEnds {
        life: u32,
        ticket: u32,
    },
    Confirms {
        life: u32,
        ticket: u32,
    },
    Strikes,
    Succeeds,
    LifeEnds(u32),
}

pub(crate) struct World<R: Rules> {
    pub(crate) settings: Settings,
    pub(crate) terms: Terms<R>,
    pub(crate) gate_terms: GateTerms<R>,
    pub(crate) tape: Tape,
    pub(crate) now: Time,
    events: BTreeMap<(Time, u64), Event>,
    events_made: u64,
    pub(crate) callers: Vec<Caller>,
    pub(crate) calls: Vec<CallState>,
    pub(crate) ownership: Ownership<()>,
    pub(crate) previous: Option<Incarnation>,
    pub(crate) lives: Vec<Life>,
    pub(crate) lives_made: u32,
    pub(crate) tickets: Vec<Attempt>,
    pub(crate) stored: Stored,
    /// D5: what is on record.
    pub(crate) results: BTreeMap<Key, Body>,
    pub(crate) ledger: Ledger,
    fired: Fired,
}

impl<R: Rules> World<R> {
    pub(crate) fn new(settings: &Settings, tape: Tape, rules: R) -> Self {
        let Settings { plan, transport, first_rejection, limits, queue_max, .. } = *settings;
        let mut world = Self {
            settings: settings.clone(),
            terms: Terms { limits, transport, first_rejection, rules, ..Terms::<R>::default() },
            gate_terms: GateTerms { store: plan, queue_max, rules },
            tape,
            // Late enough that a clock which runs behind shows no time before the epoch.
            now: Time::from_nanos(100_000 * MS),
            events: BTreeMap::new(),
            events_made: 0,
            callers: (0..2).map(Caller::new).collect(),
            calls: settings.calls.iter().map(|plan| CallState::new(*plan)).collect(),
            ownership: Ownership::first(()),
            previous: None,
            lives: Vec::new(),
            lives_made: 0,
            tickets: Vec::new(),
            stored: Stored::new(),
            results: BTreeMap::new(),
            ledger: Ledger::new(settings),
            fired: Fired::NONE,
        };
        world.begin_life();
        // D2 lets nothing in that was created before it had lived for its margin.
        world.now = later(world.now, 5_000 * MS);
        for (call, plan) in settings.calls.iter().enumerate() {
            world.schedule(plan.starts_ms * MS, Event::Begins(call));
        }
        for _ in 0..4 {
            let after = world.tape.span(20_000);
            world.schedule(after, Event::Strikes);
        }
        world
    }

    pub(crate) fn schedule(&mut self, after: u64, event: Event) {
        self.schedule_at(later(self.now, after), event);
    }

    pub(crate) fn schedule_at(&mut self, at: Time, event: Event) {
        self.events_made += 1;
        self.events.insert((at.max(self.now), self.events_made), event);
    }

    pub(crate) fn fire(&mut self, fired: Fired) {
        self.fired = self.fired.union(fired);
    }

    pub(crate) const fn fired(&self) -> Fired {
        self.fired
    }

    /// The object's wall clock; callers' run ahead by up to the skew.
    pub(crate) fn wall(&self) -> WallTime {
        WallTime::from_nanos(i64::try_from(self.now.as_nanos()).expect("a short story"))
    }

    /// Until nothing more can happen.
    pub(crate) fn run(&mut self) {
        while let Some(((at, _), event)) = self.events.pop_first() {
            assert!(self.events_made < 20_000, "the story never ends");
            self.now = at;
            match event {
                Event::Begins(call) => self.begin_call(call),
                Event::Wakes(call) => self.wake(call),
                Event::GivenUp(call) => self.give_up(call),
                Event::Arrives(attempt, header) => self.arrive(attempt, header),
                Event::Answered(attempt, body) => self.receive(attempt, body),
                Event::Fails(attempt, failure) => self.see_failure(attempt, failure),
                Event::Frees(life) => self.pump(life),
                Event::ClaimStored { life, ticket, held } => self.claim_stored(life, ticket, held),
                Event::RunEnds { life, ticket } => self.end_run(life, ticket),
                Event::Confirms { life, ticket } => self.confirm(life, ticket),
                Event::Strikes => self.strike(),
                Event::Succeeds => self.succeed(),
                Event::LifeEnds(life) => self.end_life(life),
            }
        }
    }

    pub(crate) fn judge(&self) -> Vec<String> {
        self.ledger.judge(&self.settings)
    }
}
