//! The model as a subject.

use oncemore_protocol::store::ClaimStore;
use serde_json::Value;

use super::{Event, Subject};
use crate::action::Action;
use crate::explore::Tags;
use crate::model::Model;
use crate::world::World;

impl<S: ClaimStore + Send + Sync> Subject for Model<S>
where
    S::Plan: Send + Sync,
{
    fn next_told(&self, before: &World<S>, action: &Action, fired: &mut Tags) -> Option<World<S>> {
        self.tell_next(before, action, fired)
    }

    fn tell(&self, before: &World<S>, action: &Action, after: &World<S>, fired: Tags) -> Event {
        self.narrate(before, action, after, fired)
    }

    fn goal(&self, goal: u32) -> String {
        u8::try_from(goal).map_or_else(|_| format!("call {goal}"), |call| self.call_name(call).to_owned())
    }

    fn account(&self, end: &World<S>) -> Vec<String> {
        Self::account(self, end)
    }

    fn show(&self, state: &World<S>) -> Value {
        // A view is made of names, numbers and lists.
        serde_json::to_value(self.view(state)).unwrap_or_default()
    }
}
