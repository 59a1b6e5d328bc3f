//! The model: the world as a transition system whose steps drive the machines that ship.
//!
//! A step clones the world, lets the machines of `oncemore-protocol` decide, notes in the ledger what really happened, and
//! renumbers the result. `actions` says what may happen, one file each says what does: `caller`, `object`, `network`.

mod actions;
mod caller;
mod network;
mod object;
mod packing;

pub(crate) use object::value_bit;

use oncemore_protocol::few::Few;
use oncemore_protocol::gate::Gate;
use oncemore_protocol::identity::CallerId;
use oncemore_protocol::lane::Lane;
use oncemore_protocol::route::{Route, Subrequests};
use oncemore_protocol::rule::{Branch, Fired};
use oncemore_protocol::store::{Birth, ClaimStore, Claims};
use oncemore_protocol::time::{Time, WallTime};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::packing::Desk;
use self::packing::Form;
use crate::action::{Action, Draw, Send};
use crate::explore::{FairClass, System, Tags};
use crate::mutant::Broken;
use crate::property::{self, Reach};
use crate::scenario::{Scenario, ScenarioError};
use crate::script::{self, Script};
use crate::world::{Budget, CallState, Caller, Cells, Life, Net, Object, Part, Record, World};

/// "Now" in every state: all times are relative to it.
pub(crate) const NOW: Time = Time::ORIGIN;

/// A scenario under some rules, as a transition system.
#[derive(Clone, Debug)]
pub struct Model<S: ClaimStore = Claims> {
    pub(crate) script: Script<S>,
    budget: Budget,
    /// Whether states let go of what nothing can depend on any more.
    lets_go: bool,
    /// How waiting states are kept; in full without.
    packing: Option<Form<Life<S>>>,
}

impl Model<Claims> {
    /// The model of a scenario, under the rules or with one of them broken.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn new(scenario: &Scenario, broken: Broken) -> Result<Self, ScenarioError> {
        Ok(Self::with_store(scenario, script::plan(scenario), broken)?.packing_states())
    }
}

impl<S: ClaimStore> Model<S> {
    /// The model of a scenario whose objects remember with a store of your own, of these settings.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn with_store(scenario: &Scenario, store: S::Plan, broken: Broken) -> Result<Self, ScenarioError> {
        let limits = scenario.check()?;
        Ok(Self {
            script: Script::new(scenario, limits, store, broken),
            budget: Budget::new(&scenario.faults),
            lets_go: true,
            packing: None,
        })
    }

    fn begin(&self) -> World<S> {
        let mut world = World {
            budget: self.budget,
            callers: self.script.callers.iter().map(|_| Part::new(Caller::default())).collect(),
            calls: self.script.calls.iter().map(|_| Part::new(CallState::default())).collect(),
            net: Part::new(Net::default()),
            objects: (0..self.script.objects).map(|_| self.first_object()).collect(),
            history: Few::default(),
        };
        for caller in 0..self.script.callers.len() {
            let caller = u8::try_from(caller).unwrap_or(u8::MAX);
            self.begin_life(&mut world, caller, Script::<S>::caller_id(caller, 0));
        }
        world.share(&self.script);
        world
    }

    /// A caller's life begins: fresh sequences, fresh stubs.
    fn begin_life(&self, world: &mut World<S>, caller: u8, id: CallerId) {
        let state = world.caller_mut(caller);
        let mut lanes = [None; 2];
        lanes[..usize::from(self.script.objects)].fill(Some(Lane::new(id)));
        *state = Caller {
            life: state.life,
            lanes,
            routes: [Route::new(); 2],
            subrequests: Some(Subrequests::new(self.script.subrequests_max)),
            route_failed: [false; 2],
        };
    }

    fn first_object(&self) -> Object<S> {
        let record = Record::first();
        // The first incarnation began long before anything that a scenario tells of.
        let long_ago = self
            .script
            .wall_margin
            .map_or(0, |margin| -i64::try_from(margin.as_nanos() * 4).unwrap_or(i64::MAX) - (1 << 40));
        let birth = Birth { incarnation: record.ownership.incarnation(), wall: WallTime::from_nanos(long_ago) };
        let gate = Gate::open(&self.script.gate, birth, std::iter::empty());
        let life = Life { gate, cache: Cells::default(), runs: Few::default(), margin_ends: NOW };
        Object { record: Part::new(record), incarnations: vec![Part::new(life)] }
    }
}

/// What one step notes while it happens.
pub(crate) struct Notes {
    pub(crate) fired: Fired,
    pub(crate) tags: Tags,
}

impl Notes {
    pub(crate) fn branch(&mut self, branch: Branch) {
        self.fired.add(branch);
    }

    pub(crate) fn all(&mut self, fired: Fired) {
        self.fired = self.fired.union(fired);
    }

    pub(crate) fn reach(&mut self, reach: Reach) {
        self.tags.insert(reach.tag());
    }
}

impl<S: ClaimStore + std::marker::Send + Sync> System for Model<S>
where
    S::Plan: std::marker::Send + Sync,
{
    type State = World<S>;
    type Action = Action;
    type Desk = Desk<S>;

    fn initial(&self) -> Vec<World<S>> {
        vec![self.begin()]
    }

    fn actions(&self, world: &World<S>, actions: &mut Vec<Action>) {
        self.enabled(world, actions);
    }

    fn next(&self, world: &World<S>, action: &Action, fired: &mut Tags) -> Option<World<S>> {
        let mut next = world.clone();
        if !self.change(&mut next, *action, fired) {
            return None;
        }
        next.share(&self.script);
        Some(next)
    }

    fn next_into(
        &self,
        desk: &mut Desk<S>,
        world: &World<S>,
        action: &Action,
        fired: &mut Tags,
        next: &mut Option<World<S>>,
    ) -> bool {
        if self.packing.is_none() {
            // It may have to wait as it is, and then others are made of it.
            *next = self.next(world, action, fired);
            return next.is_some();
        }
        let next = match next {
            Some(next) => {
                next.clone_from(world);
                next
            }
            None => next.insert(world.clone()),
        };
        let is_next = self.change(next, *action, fired);
        if is_next {
            next.seal(&mut desk.fingerprinter);
        }
        is_next
    }

    fn pack(&self, desk: &mut Desk<S>, first: bool, world: &World<S>, bytes: &mut Vec<u8>) -> bool {
        let Some(lives) = self.packing else {
            return false;
        };
        desk.pack(&self.script, lives, first, world, bytes);
        true
    }

    fn unpack(&self, desk: &mut Desk<S>, bytes: &mut &[u8], world: &mut Option<World<S>>) -> bool {
        self.packing.and_then(|lives| desk.unpack(&self.script, lives, bytes, world)).is_some()
    }

    fn violated(&self, world: &World<S>) -> u64 {
        property::violated(&self.script, world)
    }

    fn pending(&self, world: &World<S>) -> u64 {
        property::pending(&self.script, world)
    }

    fn fairness(&self, action: &Action) -> Option<FairClass> {
        actions::fairness(action, &self.script)
    }
}

impl<S: ClaimStore> Model<S> {
    /// The state that an action leads to, with all that happened so far still in it: for telling a trace.
    ///
    /// [`System::next`] lets go of what no later step and no property depends on; here a settled call keeps what it was told.
    pub fn tell_next(&self, world: &World<S>, action: &Action, fired: &mut Tags) -> Option<World<S>> {
        let mut next = world.clone();
        self.step(&mut next, *action, fired)?;
        next.renumber(&self.script);
        Some(next)
    }

    /// Turns the state into the one that the action leads to. False: there is none, and the state is good for nothing.
    fn change(&self, world: &mut World<S>, action: Action, fired: &mut Tags) -> bool {
        if self.step(world, action, fired).is_none() {
            return false;
        }
        if self.lets_go {
            world.let_go_and_renumber(&self.script);
        } else {
            world.renumber(&self.script);
        }
        true
    }

    pub(crate) fn step(&self, world: &mut World<S>, action: Action, fired: &mut Tags) -> Option<()> {
        let mut notes = Notes { fired: Fired::NONE, tags: *fired };
        self.take(world, action, &mut notes)?;
        world.let_go_of_ends(&self.script);
        *fired = notes.tags;
        for branch in notes.fired.iter() {
            fired.insert(branch as u8);
        }
        Some(())
    }

    /// The same model whose waiting states take a tenth of the memory: for stores that can be written down.
    #[must_use]
    pub fn packing_states(mut self) -> Self
    where
        S: Serialize + DeserializeOwned,
    {
        self.packing = Some(Form::new());
        self
    }

    /// The same model that lets go of nothing: more states, the same verdicts.
    #[must_use]
    pub const fn keeping_all(mut self) -> Self {
        self.lets_go = false;
        self
    }

    /// Does what the action says. None: it turns out to change nothing.
    fn take(&self, world: &mut World<S>, action: Action, notes: &mut Notes) -> Option<()> {
        match action {
            Action::Begin { call, send } => self.begin_call(world, call, send, notes),
            Action::Wake { call, send } => self.wake(world, call, send, notes),
            Action::Cutoff { call } => self.cut_off(world, call, notes),
            Action::Deliver { packet, full } => self.deliver(world, packet, full, notes),
            Action::Start { at } => self.start(world, at, notes),
            Action::Stored { at, run } => self.claim_stored(world, at, run, notes),
            Action::Finish { at, run, throws } => self.finish(world, at, run, throws, notes),
            Action::Confirm { at, run } => self.confirm(world, at, run, notes),
            Action::Receive { packet, draw } => self.receive(world, packet, draw, notes),
            Action::SeeDrop { call, draw } => self.see_drop(world, call, draw, notes),
            Action::Succeed { object } => self.succeed(world, object, notes),
            Action::Advance => self.advance(world),
            Action::Lose { packet } => self.lose(world, packet),
            Action::Cut { call } => self.cut(world, call),
            Action::Duplicate { packet } => self.duplicate(world, packet),
            Action::Restart { object } => self.restart(world, object, notes),
            Action::Drain { object } => self.drain(world, object, notes),
            Action::Seize { object } => self.seize(world, object, notes),
            Action::Crash { caller, reuse } => self.crash(world, caller, reuse),
            Action::GiveUp { call } => self.give_up(world, call, notes),
            Action::Abort { call } => self.abort(world, call, notes),
            Action::Forget { object } => self.forget(world, object),
        }
    }
}

/// The delay that an attempt's failure may draw.
pub(crate) const fn draw_of(send: Send) -> Draw {
    match send {
        Send::Unreachable(draw) => draw,
        Send::Sent | Send::Stale => Draw::Soon,
    }
}
