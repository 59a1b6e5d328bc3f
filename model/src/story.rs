//! A run as it is shown: taken step by step, with who did what and where, which messages were under way between whom, and
//! what the step made of calls and incarnations.
//!
//! It decides nothing. Every step is one of the model's; what is shown of it is read off the states before and after.

mod choice;
mod lanes;
mod scene;
mod sight;

use serde::Serialize;
use thiserror::Error;

pub use self::choice::{Choice, FAULTS, FaultKind};
pub use self::lanes::{Lane, LaneKind};
pub use self::scene::{CallStatus, Flight, How, Landing, LifeStatus, Mark, MarkKind, RunStatus, Scene, Stage};
pub use self::sight::{ErrorSight, Sight};

use crate::action::Action;
use crate::explore::{System, Tags};
use crate::model::Model;
use crate::property::{Judged, Property};
use crate::world::World;

/// A state on the way, as engines know it and as it is told.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The state that engines visit: it lets go of what nothing can depend on any more.
    pub world: World,
    /// The same with all that happened still in it.
    pub told: World,
    /// For each object the lane of each of its incarnations.
    lives: Vec<Vec<usize>>,
}

/// A run so far.
#[derive(Clone, Debug)]
pub struct Story {
    moments: Vec<Moment>,
    scenes: Vec<Scene>,
    lanes: Vec<Lane>,
}

/// Why a run does not go on as it should.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoryError {
    /// There are fewer choices.
    #[error("step {step}: choice {chosen} was made, but there are {choices} (from 0) in that state")]
    NoSuchChoice {
        /// Which step, counted from one.
        step: usize,
        /// What was chosen.
        chosen: usize,
        /// How many choices there are.
        choices: usize,
    },
    /// The action cannot be taken, or changes nothing.
    #[error("step {step}: this cannot happen here")]
    NotEnabled {
        /// Which step, counted from one.
        step: usize,
    },
}

impl Story {
    /// The run that has not begun.
    ///
    /// # Panics
    ///
    /// If the model has no initial state, and so is none.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let world = model.initial().into_iter().next().expect("a model begins somewhere");
        let (lanes, lives) = lanes::first(model, &world);
        let moment = Moment { told: world.clone(), world, lives };
        Self { moments: vec![moment], scenes: Vec::new(), lanes }
    }

    /// The run that makes these choices, each the place of an action among those that the state has.
    ///
    /// # Errors
    ///
    /// [`StoryError`] for the first that is none.
    pub fn choosing(model: &Model, choices: &[usize]) -> Result<Self, StoryError> {
        let mut story = Self::new(model);
        for &choice in choices {
            story.choose(model, choice)?;
        }
        Ok(story)
    }

    /// Makes a choice.
    ///
    /// # Errors
    ///
    /// [`StoryError`] if there is no such choice.
    pub fn choose(&mut self, model: &Model, choice: usize) -> Result<(), StoryError> {
        let actions = self.actions(model);
        let step = self.moments.len();
        let action =
            actions.get(choice).ok_or(StoryError::NoSuchChoice { step, chosen: choice, choices: actions.len() })?;
        self.advance(model, action)
    }

    /// Takes a step.
    ///
    /// # Errors
    ///
    /// [`StoryError::NotEnabled`].
    pub fn take(&mut self, model: &Model, action: &Action) -> Result<(), StoryError> {
        // What a state does not offer must not be tried on it.
        if !self.actions(model).contains(action) {
            return Err(StoryError::NotEnabled { step: self.moments.len() });
        }
        self.advance(model, action)
    }

    fn advance(&mut self, model: &Model, action: &Action) -> Result<(), StoryError> {
        let (scene, moment) = self.after(model, action).ok_or(StoryError::NotEnabled { step: self.moments.len() })?;
        let lanes::Growth { ended, begun } = lanes::growth(&self.last().lives, &moment.lives, self.lanes.len());
        let step = self.moments.len();
        for lane in ended {
            self.lanes[lane].ends = Some(step);
        }
        for object in begun {
            self.lanes.push(lanes::incarnation(model, &self.lanes, object, step));
        }
        self.scenes.push(scene);
        self.moments.push(moment);
        Ok(())
    }

    /// The scene of an action and the moment after it, if it can happen.
    fn after(&self, model: &Model, action: &Action) -> Option<(Scene, Moment)> {
        let before = self.last();
        let mut ignored = Tags::EMPTY;
        let world = model.next(&before.world, action, &mut ignored)?;
        let mut fired = Tags::EMPTY;
        let (told, lives) = lanes::tell(model, before, action, &mut fired, self.lanes.len())?;
        let after = Moment { world, told, lives };
        Some((scene::scene(model, before, action, &after, fired), after))
    }

    /// What may be chosen in the last state, whether or not it changes anything.
    #[must_use]
    pub fn actions(&self, model: &Model) -> Vec<Action> {
        let mut actions = Vec::new();
        model.actions(&self.last().world, &mut actions);
        actions
    }

    /// The same run up to its step number `steps`.
    #[must_use]
    pub fn until(&self, steps: usize) -> Self {
        let mut story = self.clone();
        story.moments.truncate(steps + 1);
        story.scenes.truncate(steps);
        story.lanes.retain(|lane| lane.begins <= steps);
        for lane in &mut story.lanes {
            lane.ends = lane.ends.filter(|end| *end <= steps);
        }
        story
    }

    /// The state in which it stands.
    ///
    /// # Panics
    ///
    /// Never: there is always a first.
    #[must_use]
    pub fn last(&self) -> &Moment {
        self.moments.last().expect("a run has a first state")
    }

    /// The states, from the first to the last.
    #[must_use]
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The steps: one fewer than the states.
    #[must_use]
    pub fn scenes(&self) -> &[Scene] {
        &self.scenes
    }

    /// Who and what has a line of its own: callers, the directory, incarnations.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }
}

/// The choices that take these actions, one after the other.
///
/// # Errors
///
/// [`StoryError::NotEnabled`] for the first that cannot be taken.
pub fn path_of(model: &Model, actions: &[Action]) -> Result<Vec<usize>, StoryError> {
    let mut world = model.initial().into_iter().next();
    let mut path = Vec::with_capacity(actions.len());
    for action in actions {
        let error = StoryError::NotEnabled { step: path.len() + 1 };
        let here = world.take().ok_or_else(|| error.clone())?;
        let mut enabled = Vec::new();
        model.actions(&here, &mut enabled);
        path.push(enabled.iter().position(|other| other == action).ok_or_else(|| error.clone())?);
        world = Some(model.next(&here, action, &mut Tags::default()).ok_or(error)?);
    }
    Ok(path)
}

/// Where choices lead, and by which actions, without all that is there to be shown.
///
/// # Errors
///
/// [`StoryError`] for the first choice that is none.
pub fn walk(model: &Model, path: &[usize]) -> Result<(World, Vec<Action>), StoryError> {
    let mut world = model.initial().into_iter().next().ok_or(StoryError::NotEnabled { step: 0 })?;
    let mut taken = Vec::with_capacity(path.len());
    for (step, &chosen) in path.iter().enumerate() {
        let mut enabled = Vec::new();
        model.actions(&world, &mut enabled);
        let step = step + 1;
        let action = enabled.get(chosen).copied();
        let action = action.ok_or(StoryError::NoSuchChoice { step, chosen, choices: enabled.len() })?;
        world = model.next(&world, &action, &mut Tags::default()).ok_or(StoryError::NotEnabled { step })?;
        taken.push(action);
    }
    Ok((world, taken))
}

impl Model {
    /// The safety properties that this very state violates.
    #[must_use]
    pub fn violated_here(&self, world: &World) -> Vec<Property> {
        let bits = self.violated(world);
        let is_violated = |property: &Property| match property.judged() {
            Judged::InEveryState(bit) => bits >> bit & 1 == 1,
            Judged::OnTheGraph | Judged::ByTransition(_) | Judged::ByCoverage => false,
        };
        Property::ALL.iter().copied().filter(is_violated).collect()
    }

    /// Whether nothing that must happen can happen in this state, though a call waits: its names.
    #[must_use]
    pub fn stuck_here(&self, world: &World) -> Vec<&str> {
        let goals = crate::explore::stuck(self, world);
        let calls = self.script.calls.iter().enumerate();
        calls.filter(|(call, _)| goals >> (call & 63) & 1 == 1).map(|(_, plan)| plan.name.as_str()).collect()
    }

    /// The calls that have not settled.
    #[must_use]
    pub fn pending_here(&self, world: &World) -> Vec<&str> {
        let goals = self.pending(world);
        let calls = self.script.calls.iter().enumerate();
        calls.filter(|(call, _)| goals >> (call & 63) & 1 == 1).map(|(_, plan)| plan.name.as_str()).collect()
    }

    /// The 64 bits by which engines know a state, as 16 hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self, world: &World) -> String {
        format!("{:016x}", crate::explore::Fingerprinter::default().of(world).get())
    }
}
