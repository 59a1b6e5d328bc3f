//! The lines on which a run is drawn: callers, the directory, and each incarnation of each object.
//!
//! Incarnations are renumbered from state to state, so that a number says nothing over a run. A lane does: it is found out
//! while a step has happened and the numbers have not changed yet.

use oncemore_protocol::identity::Incarnation;
use serde::Serialize;

use super::Moment;
use crate::action::Action;
use crate::explore::Tags;
use crate::model::Model;
use crate::script::Role;
use crate::world::World;

/// A line on which a run is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// Whose.
    pub kind: LaneKind,
    /// What it is called.
    pub name: String,
    /// The caller or the object.
    pub index: u8,
    /// The step with which it begins; 0: it is there from the beginning.
    pub begins: usize,
    /// The step with which it ends, if it has.
    pub ends: Option<usize>,
}

/// What a lane is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaneKind {
    /// A caller.
    Caller,
    /// A run that makes calls of its own.
    Run,
    /// The directory.
    Directory,
    /// An incarnation.
    Incarnation,
}

/// For each object the lanes of its incarnations.
pub(super) type Lives = Vec<Vec<usize>>;

/// Lanes that a step ended, and the objects of those that it began.
#[derive(Debug)]
pub(super) struct Growth {
    pub(super) ended: Vec<usize>,
    pub(super) begun: Vec<u8>,
}

/// Where the directory is drawn: after the callers.
pub(super) fn directory(model: &Model) -> usize {
    model.script.callers.len()
}

/// The lanes that are there from the beginning.
pub(super) fn first(model: &Model, world: &World) -> (Vec<Lane>, Lives) {
    let lane = |kind, name, index| Lane { kind, name, index, begins: 0, ends: None };
    let mut lanes: Vec<Lane> = (0u8..)
        .zip(&model.script.callers)
        .map(|(caller, plan)| {
            let inner = plan.calls.iter().any(|call| matches!(model.script.call(*call).role, Role::Inner { .. }));
            let name = model.caller_name(caller);
            if inner {
                lane(LaneKind::Run, name, caller)
            } else {
                lane(LaneKind::Caller, format!("caller {name}"), caller)
            }
        })
        .collect();
    lanes.push(lane(LaneKind::Directory, "directory".to_owned(), 0));
    let mut lives = Vec::new();
    for object in 0..model.script.objects {
        let count = world.object(object).incarnations.len();
        lives.push((lanes.len()..lanes.len() + count).collect());
        for _ in 0..count {
            lanes.push(incarnation(model, &lanes, object, 0));
        }
    }
    (lanes, lives)
}

/// The lane of an object's next incarnation.
pub(super) fn incarnation(model: &Model, lanes: &[Lane], object: u8, step: usize) -> Lane {
    let is_of_it = |lane: &&Lane| lane.kind == LaneKind::Incarnation && lane.index == object;
    let number = lanes.iter().filter(is_of_it).count() + 1;
    let whose = if model.script.objects == 1 { "object".to_owned() } else { format!("object {object}") };
    let name = format!("{whose}, incarnation {number}");
    Lane { kind: LaneKind::Incarnation, name, index: object, begins: step, ends: None }
}

/// Takes the step in the state as it is told, and says which incarnation after it is which before it.
pub(super) fn tell(
    model: &Model,
    before: &Moment,
    action: &Action,
    fired: &mut Tags,
    lanes: usize,
) -> Option<(World, Lives)> {
    let mut told = before.told.clone();
    model.step(&mut told, *action, fired)?;
    let mut next = lanes;
    let lives = (0u8..).zip(&before.lives).map(|(object, was)| {
        let numbers = numbers(&before.told, object);
        let mut is = Vec::new();
        for number in self::numbers(&told, object) {
            let known = numbers.iter().position(|known| *known == number).and_then(|place| was.get(place)).copied();
            // A claim epoch (G6) gives the same incarnation a new number.
            let renamed = if let Action::Start { at } = action
                && at.object == object
            {
                was.get(usize::from(at.place)).copied()
            } else {
                None
            };
            is.push(known.or(renamed).unwrap_or_else(|| {
                next += 1;
                next - 1
            }));
        }
        is
    });
    let lives = lives.collect();
    told.renumber(&model.script);
    Some((told, lives))
}

/// What changed from one state to the next.
pub(super) fn growth(before: &Lives, after: &Lives, lanes: usize) -> Growth {
    let stays = |lane: &usize| after.iter().flatten().any(|other| other == lane);
    let ended = before.iter().flatten().copied().filter(|lane| !stays(lane)).collect();
    let new = |(object, lives): (u8, &Vec<usize>)| vec![object; lives.iter().filter(|lane| **lane >= lanes).count()];
    Growth { ended, begun: (0u8..).zip(after).flat_map(new).collect() }
}

fn numbers(world: &World, object: u8) -> Vec<Incarnation> {
    world.object(object).incarnations.iter().map(|life| life.gate.incarnation()).collect()
}
