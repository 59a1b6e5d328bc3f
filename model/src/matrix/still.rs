use oncemore_protocol::store::ClaimStore;

use crate::action::{Action, Draw, Send};
use crate::explore::{FairClass, System, Tags};
use crate::model::{Desk, Model, NOW};
use crate::world::World;

/// A model in which no more time passes than it takes to tell an old identity from a new one (D2).
///
/// Its runs are runs of the model. No cutoff falls and no window ends in them, and neither has a part in what the matrix
/// asks: a cutoff only ends calls early, and a window that is long enough outlives all that it is kept for. Where windows
/// and cutoffs do matter, scenarios of the library ask after them.
#[derive(Debug)]
pub(super) struct Still<S: ClaimStore>(pub(super) Model<S>);

impl<S> System for Still<S>
where
    S: ClaimStore<Plan: std::marker::Send + Sync> + std::marker::Send + Sync,
{
    type State = World<S>;
    type Action = Action;
    type Desk = Desk<S>;

    fn initial(&self) -> Vec<World<S>> {
        self.0.initial()
    }

    fn actions(&self, world: &World<S>, actions: &mut Vec<Action>) {
        let before = actions.len();
        self.0.actions(world, actions);
        let mut place = 0;
        actions.retain(|action| {
            place += 1;
            place <= before || is_taken(world, action)
        });
    }

    fn next(&self, world: &World<S>, action: &Action, fired: &mut Tags) -> Option<World<S>> {
        self.0.next(world, action, fired)
    }

    fn next_into(
        &self,
        desk: &mut Desk<S>,
        world: &World<S>,
        action: &Action,
        fired: &mut Tags,
        next: &mut Option<World<S>>,
    ) -> bool {
        self.0.next_into(desk, world, action, fired, next)
    }

    fn pack(&self, desk: &mut Desk<S>, first: bool, world: &World<S>, bytes: &mut Vec<u8>) -> bool {
        self.0.pack(desk, first, world, bytes)
    }

    fn unpack(&self, desk: &mut Desk<S>, bytes: &mut &[u8], world: &mut Option<World<S>>) -> bool {
        self.0.unpack(desk, bytes, world)
    }

    fn violated(&self, world: &World<S>) -> u64 {
        self.0.violated(world)
    }

    fn pending(&self, world: &World<S>) -> u64 {
        self.0.pending(world)
    }

    fn fairness(&self, action: &Action) -> Option<FairClass> {
        self.0.fairness(action)
    }
}

fn is_taken<S: ClaimStore>(world: &World<S>, action: &Action) -> bool {
    match *action {
        // A margin ends before anything else does.
        Action::Advance => margin_is_pending(world),
        Action::Receive { draw, .. } | Action::SeeDrop { draw, .. } => draw == Draw::Soon,
        Action::Begin { send, .. } | Action::Wake { send, .. } => send != Send::Unreachable(Draw::AtCutoff),
        Action::Cutoff { .. }
        | Action::Deliver { .. }
        | Action::Start { .. }
        | Action::Stored { .. }
        | Action::Finish { .. }
        | Action::Confirm { .. }
        | Action::Succeed { .. }
        | Action::Lose { .. }
        | Action::Cut { .. }
        | Action::Duplicate { .. }
        | Action::Restart { .. }
        | Action::Drain { .. }
        | Action::Seize { .. }
        | Action::Crash { .. }
        | Action::GiveUp { .. }
        | Action::Abort { .. }
        | Action::Forget { .. } => true,
    }
}

/// Whether what is made now would still count as older than some incarnation (D2).
fn margin_is_pending<S: ClaimStore>(world: &World<S>) -> bool {
    world.objects.iter().flat_map(|object| &object.incarnations).any(|life| life.margin_ends > NOW)
}
