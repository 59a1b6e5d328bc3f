//! A run as it is shown says what the run is.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use oncemore_model::action::Action;
use oncemore_model::explore::{BreadthFirst, Limits, System as _, Tags};
use oncemore_model::judge::{JudgeOptions, Question, judge};
use oncemore_model::model::Model;
use oncemore_model::mutant::Broken;
use oncemore_model::scenario::{find, library};
use oncemore_model::story::{How, MarkKind, Stage, Story, StoryError};

fn model(name: &str) -> Model {
    let entry = find(name).expect("a scenario of the library");
    Model::new(&entry.scenario, Broken::default()).expect("a sound scenario")
}

/// A generator of the kind that numerical recipes name.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}

#[test]
fn every_message_that_ends_has_begun_and_every_lane_is_there() {
    for entry in library() {
        let model = model(&entry.scenario.name);
        for seed in 0..4 {
            let (mut story, mut draw) = (Story::new(&model), Draw(seed));
            for _ in 0..60 {
                let choices = story.choices(&model);
                assert_eq!(choices.len(), transitions(&model, &story), "{}", entry.scenario.name);
                if choices.is_empty() {
                    break;
                }
                let choice = choices[draw.below(choices.len())].choice;
                story.choose(&model, choice).expect("a choice that was offered");
            }
            sound(&story, &entry.scenario.name);
        }
    }
}

/// How many transitions engines see.
fn transitions(model: &Model, story: &Story) -> usize {
    let world = &story.last().world;
    let actions = story.actions(model);
    actions.iter().filter(|action| model.next(world, action, &mut Tags::default()).is_some()).count()
}

fn sound(story: &Story, name: &str) {
    let mut under_way = BTreeSet::new();
    for (step, scene) in story.scenes().iter().enumerate() {
        for landing in &scene.ended {
            assert!(under_way.remove(&landing.id), "{name}, step {}: {landing:?}", step + 1);
        }
        for flight in &scene.sent {
            assert!(under_way.insert(flight.id.clone()), "{name}, step {}: {flight:?}", step + 1);
        }
        let lanes = scene.marks.iter().map(|mark| mark.lane).chain(scene.ended.iter().map(|landing| landing.at));
        for lane in lanes.chain([scene.lane]).chain(scene.lives.iter().map(|life| life.lane)) {
            assert!(story.lanes()[lane].begins <= step + 1, "{name}, step {}", step + 1);
        }
        let owners = scene.lives.iter().filter(|life| life.owner).count();
        assert_eq!(
            owners,
            scene.lives.iter().map(|life| story.lanes()[life.lane].index).collect::<BTreeSet<_>>().len()
        );
    }
}

#[test]
fn a_counterexample_is_shown_as_it_is_told() {
    let entry = find("late-write").expect("a scenario of the library");
    let model = model("late-write");
    let questions = Question::all_of(&entry.scenario, 0).into_iter().filter(|question| question.id == "P14").collect();
    let limits = Limits { threads: NonZeroUsize::MIN, ..Limits::default() };
    let mut options = JudgeOptions { limits, meter: None, observe: &mut |_, _| {} };
    let judgement = judge(&model, questions, &BreadthFirst, &mut options).expect("a judgement");
    let run = judgement.findings[0].run.clone().expect("a counterexample");
    let mut story = Story::new(&model);
    for step in &run.steps {
        let action = serde_json::from_value(step.action.clone()).expect("an action");
        story.take(&model, &action).expect("a step");
        let scene = story.scenes().last().expect("a scene");
        assert_eq!(scene.event, step.event);
        assert_eq!(model.fingerprint(&story.last().world), step.leads_to);
    }
    assert!(model.violated_here(&story.last().world).iter().any(|property| property.name() == "P14"));
    let before = story.until(run.steps.len() - 1);
    assert!(model.violated_here(&before.last().world).is_empty());
    // The late request is drawn as late, and user code starts again.
    let late =
        story.scenes().iter().flat_map(|scene| &scene.ended).any(|landing| landing.late && landing.how == How::Arrives);
    let again =
        story.scenes().iter().flat_map(|scene| &scene.marks).any(|mark| mark.kind == MarkKind::Start && mark.again);
    assert!(late && again);
    let stages: BTreeSet<_> =
        story.scenes().iter().flat_map(|scene| &scene.calls).map(|call| format!("{:?}", call.stage)).collect();
    assert!(stages.contains(&format!("{:?}", Stage::BackingOff)), "{stages:?}");
}

#[test]
fn each_incarnation_keeps_its_lane() {
    let model = model("zombie");
    let mut story = Story::new(&model);
    for wanted in ["begin", "deliver", "start", "seize"] {
        let choices = story.choices(&model);
        let is_wanted = |scene: &oncemore_model::story::Scene| {
            serde_json::to_value(scene.action).expect("plain data")["step"] == wanted
        };
        let choice = choices.iter().find(|choice| is_wanted(&choice.scene)).expect(wanted).choice;
        story.choose(&model, choice).expect("a choice that was offered");
    }
    let lives = &story.scenes().last().expect("a scene").lives;
    assert_eq!(lives.iter().map(|life| (life.owner, life.runs.len())).collect::<Vec<_>>(), [(false, 1), (true, 0)]);
    assert_eq!(story.lanes()[lives[1].lane].begins, 4);
}

#[test]
fn a_choice_that_is_none_is_refused() {
    let model = model("doubt");
    let error = Story::choosing(&model, &[0, 99]).expect_err("there is no such choice");
    assert!(matches!(error, StoryError::NoSuchChoice { step: 2, chosen: 99, .. }), "{error}");
    // Nor is an action taken that the state does not offer, such as a fault whose budget is used up.
    let mut story = Story::new(&model);
    let error = story.take(&model, &Action::Restart { object: 0 }).expect_err("this scenario has no restarts");
    assert_eq!(error, StoryError::NotEnabled { step: 1 });
}
