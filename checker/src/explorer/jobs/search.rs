//! A search from where somebody stands: the nearest state or step of some kind.

use std::sync::atomic::{AtomicBool, Ordering};

use oncemore_model::action::Action;
use oncemore_model::explore::{BreadthFirst, Coverage, CutReason, Engine, FairClass, Limits, System, Tags, TraceOf};
use oncemore_model::judge::Branch;
use oncemore_model::model::Model;
use oncemore_model::property::Judged;
use oncemore_model::query::Query;
use oncemore_model::story::{path_of, walk};
use oncemore_model::world::World;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::subject::Subject;
use super::super::views::judged;
use super::Job;
use crate::report::check_json::cut;

/// What is looked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Goal {
    /// A state that violates a property, or a step that reaches one.
    Property(String),
    /// A step that takes this branch of a rule.
    Branch(String),
    /// A state of which this is so.
    Query(String),
}

/// What to look for, and where from.
#[derive(Debug)]
pub(super) struct Search {
    /// How many choices led here.
    taken: Vec<Action>,
    start: World,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    Violation(u32),
    /// In a model that keeps all that happened: a question may ask for it.
    So(Query),
    Step(u8),
    Stuck,
}

impl Search {
    pub(super) fn new(subject: &Subject, path: &[usize], goal: &Goal) -> Result<Self, ApiError> {
        let target = match goal {
            Goal::Property(id) => match judged(id) {
                Some(Judged::InEveryState(bit)) => Target::Violation(bit),
                Some(Judged::ByTransition(tag)) => Target::Step(tag),
                Some(Judged::OnTheGraph) => Target::Stuck,
                Some(Judged::ByCoverage) | None => return Err(ApiError::UnknownProperty(id.clone())),
            },
            Goal::Branch(name) => {
                let found = Branch::ALL.iter().copied().find(|branch| branch.name() == name);
                Target::Step(found.ok_or_else(|| ApiError::UnknownBranch(name.clone()))? as u8)
            }
            Goal::Query(text) => Target::So(Query::parse(&subject.model, text)?),
        };
        let (start, taken) = match target {
            Target::So(_) => (subject.story(path)?.last().told.clone(), walk(&subject.model, path)?.1),
            Target::Violation(_) | Target::Step(_) | Target::Stuck => walk(&subject.model, path)?,
        };
        Ok(Self { taken, start, target })
    }

    /// Looks, and says what was found: the choices that lead there, or how much was looked at.
    pub(super) fn run(self, subject: &Subject, limits: &Limits<'_>, job: &Job) -> Result<Value, ApiError> {
        let Self { taken, start, target } = self;
        let keeping = subject.model.clone().keeping_all();
        let model = if matches!(target, Target::So(_)) { &keeping } else { &subject.model };
        let found = AtomicBool::new(false);
        let stop_at = u64::from(matches!(target, Target::Violation(_) | Target::So(_)));
        let tag = if let Target::Step(tag) = target { tag } else { 0 };
        let is_stuck = matches!(target, Target::Stuck);
        let is_state = stop_at == 1;
        let system = From { model, start, target, found: &found, stop: &job.stop };
        let limits = Limits { stop_at, ..*limits };
        let observe = &mut |status: &_| job.observe("searching", status, Vec::new());
        let exploration = BreadthFirst.explore(&system, &limits, observe).map_err(explore_error)?;
        let steps: Option<Vec<Action>> = if is_state {
            exploration.violation(0).map(actions)
        } else if is_stuck {
            let nearest = exploration.stuck_goals().map(|(_, trace)| trace).min_by_key(|trace| trace.steps.len());
            nearest.map(actions)
        } else {
            exploration.witness(&system, tag).map_err(explore_error)?.as_ref().map(actions)
        };
        if found.load(Ordering::Relaxed) {
            job.stop.store(false, Ordering::Relaxed);
        }
        let mut result = json!({
            "found": steps.is_some(),
            "exhausted": exploration.coverage == Coverage::Exhausted,
            "cut": cut(exploration.coverage),
            "states": exploration.counts.states,
            "seconds": exploration.counts.elapsed.as_secs_f64(),
        });
        if is_stuck {
            // A search looks at states, and a run that never ends has no last one.
            result["reservation"] = json!("No run gets stuck; those that go round for ever are looked for by a check.");
        }
        if let Some(steps) = steps {
            result["cut"] = Value::Null;
            result["steps"] = json!(steps.len());
            let whole: Vec<_> = taken.into_iter().chain(steps).collect();
            result["path"] = json!(path_of(&subject.model, &whole)?);
        } else if exploration.coverage == Coverage::Cut(CutReason::Violation) {
            return Err(ApiError::Internal("the search ended at nothing".to_owned()));
        }
        Ok(result)
    }
}

fn actions<'a>(trace: &'a TraceOf<From<'a>>) -> Vec<Action> {
    trace.actions().copied().collect()
}

fn explore_error(error: oncemore_model::explore::ExploreError) -> ApiError {
    ApiError::Judge(error.into())
}

/// The model from one of its states on, with one thing to look for.
struct From<'a> {
    model: &'a Model,
    start: World,
    target: Target,
    found: &'a AtomicBool,
    stop: &'a AtomicBool,
}

impl System for From<'_> {
    type State = World;
    type Action = Action;
    type Desk = <Model as System>::Desk;

    fn initial(&self) -> Vec<World> {
        vec![self.start.clone()]
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
        if let Target::Step(tag) = self.target
            && is_there
            && fired.contains(tag)
        {
            // What has been seen so far is kept, and nothing more is wanted.
            self.found.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
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
        match &self.target {
            Target::Violation(bit) => self.model.violated(state) >> bit & 1,
            Target::So(query) => u64::from(query.holds(self.model, state)),
            Target::Step(_) | Target::Stuck => 0,
        }
    }

    fn pending(&self, state: &World) -> u64 {
        if matches!(self.target, Target::Stuck) { self.model.pending(state) } else { 0 }
    }

    fn fairness(&self, action: &Action) -> Option<FairClass> {
        self.model.fairness(action)
    }
}
