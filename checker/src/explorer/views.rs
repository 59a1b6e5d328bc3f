//! What the page is told of a state and of the way there.

use std::collections::BTreeMap;

use oncemore_model::judge::{Answer, Ask, Question};
use oncemore_model::property::{Judged, Property};
use oncemore_model::scenario::Scenario;
use oncemore_model::scenario::Table;
use oncemore_model::scenario::fields::FieldInfo;
use oncemore_model::story::{Choice, Lane, Scene, Sight, Story};
use oncemore_model::view::StateView;
use serde::Serialize;

use super::error::ApiError;
use super::subject::Subject;

/// Where a page begins, if the command named something.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Start {
    pub(crate) scenario: StartScenario,
    pub(crate) path: Vec<usize>,
}

/// A scenario, as the page names it in turn.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StartScenario {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    toml: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutant: Option<String>,
}

impl StartScenario {
    /// By name, if that names this very scenario; else by its text.
    pub(crate) fn of(scenario: &Scenario, mutant: Option<String>) -> Result<Self, ApiError> {
        let known = crate::select::Selected::known(&scenario.name).is_some_and(|known| known.scenario == *scenario);
        if known {
            return Ok(Self { name: Some(scenario.name.clone()), mutant, ..Self::default() });
        }
        let toml = scenario.to_toml().map_err(|error| ApiError::Internal(error.to_string()))?;
        Ok(Self { toml: Some(toml), mutant, ..Self::default() })
    }
}

impl Start {
    /// At the beginning of a scenario.
    pub(crate) fn of(selected: &crate::select::Selected) -> Result<Self, ApiError> {
        Ok(Self { scenario: StartScenario::of(&selected.scenario, None)?, path: Vec::new() })
    }
}

/// A state, the way there, and what may happen next.
#[derive(Debug, Serialize)]
pub(crate) struct StateReply<'a> {
    pub(crate) scenario: Summary<'a>,
    /// The fingerprint of the first state.
    pub(crate) initial: String,
    pub(crate) lanes: &'a [Lane],
    pub(crate) steps: Vec<StepReply<'a>>,
    /// Which state is shown: so many steps were taken.
    pub(crate) at: usize,
    pub(crate) fingerprint: String,
    pub(crate) state: StateView,
    pub(crate) before: Option<StateView>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) faults: Vec<FaultReply>,
    pub(crate) properties: Vec<PropertyReply>,
    /// What user code sees of each call, and what really happened.
    pub(crate) sights: Vec<SightReply>,
    pub(crate) account: Vec<String>,
}

/// What a scenario is about.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    pub(crate) name: &'a str,
    pub(crate) about: &'a str,
    pub(crate) mutant: Option<&'a str>,
    pub(crate) design: oncemore_model::matrix::Design,
    pub(crate) fenced: bool,
    pub(crate) suite: bool,
    pub(crate) history: bool,
    pub(crate) callers: usize,
    pub(crate) calls: usize,
    pub(crate) violated: &'a [String],
    pub(crate) reached: &'a [String],
    pub(crate) unreached: &'a [String],
    pub(crate) because: &'a BTreeMap<String, String>,
}

/// A step of the way.
#[derive(Debug, Serialize)]
pub(crate) struct StepReply<'a> {
    #[serde(flatten)]
    pub(crate) scene: &'a Scene,
    /// The choice that was made.
    pub(crate) choice: usize,
    pub(crate) leads_to: String,
    /// What the state after it violates.
    pub(crate) violated: Vec<&'static str>,
}

/// A fault of the palette.
#[derive(Debug, Serialize)]
pub(crate) struct FaultReply {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// How often it might strike at first.
    pub(crate) budget: u8,
    /// How often it may still strike.
    pub(crate) left: u8,
}

/// A property at this very state.
#[derive(Debug, Serialize)]
pub(crate) struct PropertyReply {
    pub(crate) id: &'static str,
    pub(crate) claim: &'static str,
    /// `safety`, `liveness` or `reach`.
    pub(crate) kind: &'static str,
    pub(crate) expected: Option<Answer>,
    pub(crate) because: Option<String>,
    /// `holds` or `violated`; `waiting`, `settled` or `stuck`; `reached` or `not-yet`.
    pub(crate) here: &'static str,
    /// The step since which it is violated, or with which it was first reached.
    pub(crate) since: Option<usize>,
    /// The calls that it is about, if it is about some.
    pub(crate) calls: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SightReply {
    pub(crate) call: String,
    #[serde(flatten)]
    pub(crate) sight: Sight,
}

impl<'a> Summary<'a> {
    pub(crate) fn new(scenario: &'a Scenario, mutant: Option<&'a str>) -> Self {
        Self {
            name: &scenario.name,
            about: &scenario.about,
            mutant,
            design: scenario.store.design,
            fenced: scenario.store.fenced,
            suite: scenario.suite,
            history: scenario.world.history,
            callers: scenario.callers.len(),
            calls: scenario.calls().count(),
            violated: &scenario.expect.violated,
            reached: &scenario.expect.reached,
            unreached: &scenario.expect.unreached,
            because: &scenario.expect.because,
        }
    }
}

impl<'a> StateReply<'a> {
    /// Tells of the state after `at` steps of the whole way; `here` is the same way up to there.
    pub(crate) fn new(subject: &'a Subject, whole: &'a Story, here: &'a Story, path: &[usize]) -> Self {
        let model = &subject.model;
        let at = here.scenes().len();
        let moment = here.last();
        let before = at.checked_sub(1).map(|before| model.view(&here.moments()[before].told));
        Self {
            scenario: Summary::new(subject.scenario(), subject.mutant.as_deref()),
            initial: model.fingerprint(&whole.moments()[0].world),
            lanes: whole.lanes(),
            steps: steps(subject, whole, path),
            at,
            fingerprint: model.fingerprint(&moment.world),
            state: model.view(&moment.told),
            before,
            choices: here.choices(model),
            faults: faults(subject, here),
            properties: properties(subject, here),
            sights: sights(subject, here),
            account: model.account(&moment.told),
        }
    }
}

pub(crate) fn steps<'a>(subject: &Subject, story: &'a Story, path: &[usize]) -> Vec<StepReply<'a>> {
    let after = story.moments().iter().skip(1);
    let step = |((scene, moment), choice): ((&'a Scene, _), &usize)| {
        let moment: &oncemore_model::story::Moment = moment;
        StepReply {
            scene,
            choice: *choice,
            leads_to: subject.model.fingerprint(&moment.world),
            violated: subject.model.violated_here(&moment.world).into_iter().map(Property::name).collect(),
        }
    };
    story.scenes().iter().zip(after).zip(path).map(step).collect()
}

fn faults(subject: &Subject, story: &Story) -> Vec<FaultReply> {
    let budgets = subject.scenario().faults.budgets();
    let left = subject.model.faults_left(&story.last().world);
    let reply = |((name, budget), kind): ((&'static str, u8), oncemore_model::story::FaultKind)| FaultReply {
        name,
        about: FieldInfo::find(Table::Faults, name).map_or("", |field| field.about),
        budget,
        left: kind.left,
    };
    budgets.into_iter().zip(left).map(reply).collect()
}

pub(crate) fn sights(subject: &Subject, story: &Story) -> Vec<SightReply> {
    let sights = subject.model.sights(&story.last().told).into_iter();
    sights.map(|(call, sight)| SightReply { call: call.to_owned(), sight }).collect()
}

/// Every property that the scenario raises, at the state in which the story ends.
pub(crate) fn properties(subject: &Subject, story: &Story) -> Vec<PropertyReply> {
    let questions = Question::all_of(subject.scenario(), 0);
    questions.into_iter().map(|question| property(subject, story, question)).collect()
}

fn property(subject: &Subject, story: &Story, question: Question) -> PropertyReply {
    let model = &subject.model;
    let mut calls = Vec::new();
    let (kind, here, since) = match question.ask {
        Ask::Safety { .. } => {
            let is_violated = |moment: &oncemore_model::story::Moment| {
                model.violated_here(&moment.world).iter().any(|property| property.name() == question.id)
            };
            let held = story.moments().iter().rposition(|moment| !is_violated(moment)).map_or(0, |last| last + 1);
            let is_here = held < story.moments().len();
            ("safety", if is_here { "violated" } else { "holds" }, is_here.then_some(held))
        }
        Ask::Progress { .. } => {
            let world = &story.last().world;
            let (pending, stuck) = (model.pending_here(world), model.stuck_here(world));
            let here = match (pending.is_empty(), stuck.is_empty()) {
                (true, _) => "settled",
                (false, true) => "waiting",
                (false, false) => "stuck",
            };
            let about = if stuck.is_empty() { pending } else { stuck };
            calls = about.into_iter().map(str::to_owned).collect();
            ("liveness", here, None)
        }
        Ask::Reach { .. } => {
            let reached = story.scenes().iter().position(|scene| scene.reaches.contains(&question.id));
            ("reach", if reached.is_some() { "reached" } else { "not-yet" }, reached.map(|step| step + 1))
        }
    };
    let Question { id, claim, expected, because, .. } = question;
    PropertyReply { id, claim, kind, expected, because, here, since, calls }
}

/// The bit or the tag by which engines know a property.
pub(crate) fn judged(id: &str) -> Option<Judged> {
    Property::ALL.iter().copied().find(|property| property.name() == id).map(Property::judged)
}
