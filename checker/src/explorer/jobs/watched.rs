//! A model that tells what has been seen in it while it is explored.

use std::sync::atomic::{AtomicU64, Ordering};

use oncemore_model::action::Action;
use oncemore_model::explore::{FairClass, System, Tags};
use oncemore_model::judge::{Event, Subject};
use oncemore_model::model::Model;
use oncemore_model::property::{Judged, Property};
use oncemore_model::world::World;
use serde_json::Value;

/// The model, and what has been seen in it.
#[derive(Debug)]
pub(super) struct Watched<'a> {
    model: &'a Model,
    violated: AtomicU64,
    reached: AtomicU64,
}

impl<'a> Watched<'a> {
    pub(super) const fn new(model: &'a Model) -> Self {
        Self { model, violated: AtomicU64::new(0), reached: AtomicU64::new(0) }
    }

    /// The properties that some state violates, and those that some transition reaches.
    pub(super) fn seen(&self) -> Vec<&'static str> {
        let violated = self.violated.load(Ordering::Relaxed);
        let reached = self.reached.load(Ordering::Relaxed);
        let is_seen = |property: &Property| match property.judged() {
            Judged::InEveryState(bit) => violated >> bit & 1 == 1,
            Judged::ByTransition(_) => reached >> (*property as u32) & 1 == 1,
            Judged::OnTheGraph | Judged::ByCoverage => false,
        };
        Property::ALL.iter().copied().filter(is_seen).map(Property::name).collect()
    }

    fn note(&self, fired: &Tags) {
        for property in [Property::R1, Property::R2, Property::R3, Property::R4, Property::R5] {
            if let Judged::ByTransition(tag) = property.judged()
                && fired.contains(tag)
            {
                add(&self.reached, 1 << property as u32);
            }
        }
    }
}

/// Most states show nothing new, and then nothing is written.
fn add(set: &AtomicU64, bits: u64) {
    if set.load(Ordering::Relaxed) & bits != bits {
        set.fetch_or(bits, Ordering::Relaxed);
    }
}

impl System for Watched<'_> {
    type State = World;
    type Action = Action;
    type Desk = <Model as System>::Desk;

    fn initial(&self) -> Vec<World> {
        self.model.initial()
    }

    fn actions(&self, state: &World, actions: &mut Vec<Action>) {
        self.model.actions(state, actions);
    }

    fn next(&self, state: &World, action: &Action, fired: &mut Tags) -> Option<World> {
        self.model.next(state, action, fired)
    }

    fn next_into(
        &self,
        desk: &mut Self::Desk,
        state: &World,
        action: &Action,
        fired: &mut Tags,
        next: &mut Option<World>,
    ) -> bool {
        let is_there = self.model.next_into(desk, state, action, fired, next);
        if is_there {
            self.note(fired);
        }
        is_there
    }

    fn pack(&self, desk: &mut Self::Desk, first: bool, state: &World, bytes: &mut Vec<u8>) -> bool {
        self.model.pack(desk, first, state, bytes)
    }

    fn unpack(&self, desk: &mut Self::Desk, bytes: &mut &[u8], state: &mut Option<World>) -> bool {
        self.model.unpack(desk, bytes, state)
    }

    fn violated(&self, state: &World) -> u64 {
        let violated = self.model.violated(state);
        add(&self.violated, violated);
        violated
    }

    fn pending(&self, state: &World) -> u64 {
        self.model.pending(state)
    }

    fn fairness(&self, action: &Action) -> Option<FairClass> {
        self.model.fairness(action)
    }
}

impl Subject for Watched<'_> {
    fn next_told(&self, before: &World, action: &Action, fired: &mut Tags) -> Option<World> {
        Subject::next_told(self.model, before, action, fired)
    }

    fn tell(&self, before: &World, action: &Action, after: &World, fired: Tags) -> Event {
        self.model.tell(before, action, after, fired)
    }

    fn goal(&self, goal: u32) -> String {
        self.model.goal(goal)
    }

    fn account(&self, end: &World) -> Vec<String> {
        Subject::account(self.model, end)
    }

    fn show(&self, state: &World) -> Value {
        self.model.show(state)
    }
}
