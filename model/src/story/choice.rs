//! What may happen next.

use serde::Serialize;

use super::{Scene, Story};
use crate::action::{Action, Send};
use crate::model::Model;
use crate::world::{Fault, World};

/// Something that may happen next.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// Its place among the state's actions.
    pub choice: usize,
    /// Which fault it is, if it is one.
    pub fault: Option<&'static str>,
    /// What would happen.
    pub scene: Scene,
    /// Safety properties that the state after it violates, and this one does not.
    pub violates: Vec<&'static str>,
    /// What its transition reaches (R1 to R5).
    pub reaches: Vec<&'static str>,
}

/// A kind of fault that a scenario may allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FaultKind {
    /// Its name in a scenario.
    pub name: &'static str,
    /// How often it may still strike.
    pub left: u8,
}

const KINDS: [Fault; 16] = [
    Fault::LoseRequest,
    Fault::LoseReply,
    Fault::Cut,
    Fault::Restart,
    Fault::Drain,
    Fault::Seize,
    Fault::Stale,
    Fault::Overload,
    Fault::Throw,
    Fault::Crash,
    Fault::GiveUp,
    Fault::Abort,
    Fault::Reuse,
    Fault::Forget,
    Fault::Unreachable,
    Fault::Duplicate,
];

/// The kinds of faults, as scenarios call them.
pub const FAULTS: [&str; 16] = [
    "lose_request",
    "lose_reply",
    "cut",
    "restart",
    "drain",
    "seize",
    "stale",
    "overload",
    "throw",
    "crash",
    "give_up",
    "abort",
    "reuse",
    "forget",
    "unreachable",
    "duplicate",
];

impl Story {
    /// What may happen next: every transition, in the model's order.
    #[must_use]
    pub fn choices(&self, model: &Model) -> Vec<Choice> {
        let here = model.violated_here(&self.last().world);
        let actions = self.actions(model).into_iter().enumerate();
        let choice = |(choice, action): (usize, Action)| {
            let (scene, after) = self.after(model, &action)?;
            let there = model.violated_here(&after.world);
            let new = there.iter().filter(|property| !here.contains(property)).map(|property| property.name());
            let reaches = scene.reaches.clone();
            Some(Choice { choice, fault: fault_of(action), violates: new.collect(), reaches, scene })
        };
        actions.filter_map(choice).collect()
    }
}

impl Model {
    /// How often each fault may still strike.
    #[must_use]
    pub fn faults_left(&self, world: &World) -> Vec<FaultKind> {
        let left = |(fault, name): (Fault, &'static str)| FaultKind { name, left: world.budget.left(fault) };
        KINDS.into_iter().zip(FAULTS).map(left).collect()
    }
}

/// The fault that an action is, as scenarios call it.
fn fault_of(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Begin { send: Send::Stale, .. } | Action::Wake { send: Send::Stale, .. } => "stale",
        Action::Begin { send: Send::Unreachable(_), .. } | Action::Wake { send: Send::Unreachable(_), .. } => {
            "unreachable"
        }
        Action::Deliver { full: true, .. } => "overload",
        Action::Finish { throws: true, .. } => "throw",
        Action::Lose { packet } if packet.answer => "lose_reply",
        Action::Lose { .. } => "lose_request",
        Action::Cut { .. } => "cut",
        Action::Duplicate { .. } => "duplicate",
        Action::Restart { .. } => "restart",
        Action::Drain { .. } => "drain",
        Action::Seize { .. } => "seize",
        Action::Crash { reuse: true, .. } => "reuse",
        Action::Crash { .. } => "crash",
        Action::GiveUp { .. } => "give_up",
        Action::Abort { .. } => "abort",
        Action::Forget { .. } => "forget",
        Action::Begin { .. }
        | Action::Wake { .. }
        | Action::Cutoff { .. }
        | Action::Deliver { .. }
        | Action::Start { .. }
        | Action::Stored { .. }
        | Action::Finish { .. }
        | Action::Confirm { .. }
        | Action::Receive { .. }
        | Action::SeeDrop { .. }
        | Action::Succeed { .. }
        | Action::Advance => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::FAULTS;
    use crate::scenario::Faults;

    #[test]
    fn faults_are_called_as_scenarios_call_them() {
        assert_eq!(Faults::default().budgets().map(|(name, _)| name), FAULTS);
    }
}
