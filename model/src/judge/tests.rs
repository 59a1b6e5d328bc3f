//! The judge on systems of a few states, each of which has one point.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::explore::{BreadthFirst, CutReason, FairClass, Limits};

/// A transition: from, to, whether it must happen, and the tag that it fires.
type Arrow = (u32, u32, bool, u8);

/// States are numbers and a run begins in 0; what is not reached is state `goal`.
struct Toy {
    arrows: &'static [Arrow],
    bad: Option<u32>,
    goal: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Take {
    arrow: usize,
}

impl System for Toy {
    type State = u32;
    type Action = Take;
    type Desk = ();

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, state: &u32, actions: &mut Vec<Take>) {
        let leaving = self.arrows.iter().enumerate().filter(|(_, arrow)| arrow.0 == *state);
        actions.extend(leaving.map(|(arrow, _)| Take { arrow }));
    }

    fn next(&self, _state: &u32, action: &Take, fired: &mut Tags) -> Option<u32> {
        let (_, to, _, tag) = self.arrows[action.arrow];
        fired.insert(tag);
        Some(to)
    }

    fn violated(&self, state: &u32) -> u64 {
        u64::from(self.bad == Some(*state))
    }

    fn pending(&self, state: &u32) -> u64 {
        u64::from(*state != self.goal)
    }

    fn fairness(&self, action: &Take) -> Option<FairClass> {
        self.arrows[action.arrow].2.then_some(FairClass::new(0))
    }
}

impl Subject for Toy {
    fn tell(&self, before: &u32, _action: &Take, after: &u32, fired: Tags) -> Event {
        let taken = |tag| RuleTaken { rule: format!("T{tag}"), branch: String::new(), text: String::new() };
        let rules = fired.iter().map(taken).collect();
        Event { who: "toy".to_owned(), text: format!("{before} to {after}"), fault: false, rules }
    }

    fn goal(&self, goal: u32) -> String {
        format!("goal {goal}")
    }

    fn account(&self, end: &u32) -> Vec<String> {
        vec![format!("it ends in {end}")]
    }

    fn show(&self, state: &u32) -> Value {
        json!({ "at": state })
    }
}

const SAFETY: Ask = Ask::Safety { property: 0 };
const PROGRESS: Ask = Ask::Progress { cycle_states_max: 10 };
const REACH: Ask = Ask::Reach { tag: 7 };

fn question(ask: Ask, expected: Answer) -> Question {
    Question { id: "Q", claim: "a claim", ask, expected: Some(expected), because: None }
}

fn ask(toy: &Toy, ask: Ask, expected: Answer, limits: Limits<'_>) -> Judgement {
    let mut options = JudgeOptions { limits, meter: None, observe: &mut |_, _| {} };
    judge(toy, vec![question(ask, expected)], &BreadthFirst, &mut options).unwrap()
}

fn answer(toy: &Toy, what: Ask) -> (Answer, Option<Ending>) {
    let judgement = ask(toy, what, Answer::Holds, Limits::default());
    let finding = &judgement.findings[0];
    (finding.answer, finding.run.as_ref().map(|run| run.ending))
}

/// 0 → 1 → 2 → 3, and the goal is 3.
const LINE: Toy = Toy { arrows: &[(0, 1, true, 1), (1, 2, true, 7), (2, 3, true, 2)], bad: None, goal: 3 };

fn one_state() -> Limits<'static> {
    Limits { states_max: Some(1), ..Limits::default() }
}

#[test]
fn what_is_exhausted_has_answers() {
    assert_eq!(answer(&LINE, SAFETY), (Answer::Holds, None));
    assert_eq!(answer(&LINE, PROGRESS), (Answer::Holds, None));
    assert_eq!(answer(&LINE, REACH), (Answer::Reached, Some(Ending::Reached)));
    assert_eq!(answer(&LINE, Ask::Reach { tag: 9 }), (Answer::Unreached, None));
    assert_eq!(answer(&Toy { bad: Some(2), ..LINE }, SAFETY), (Answer::Violated, Some(Ending::Violated)));
}

#[test]
fn what_is_cut_holds_nothing() {
    for what in [SAFETY, PROGRESS, REACH, Ask::Reach { tag: 9 }] {
        for expected in [Answer::Holds, Answer::Violated, Answer::Unreached] {
            let judgement = ask(&LINE, what, expected, one_state());
            assert_eq!(judgement.coverage, Coverage::Cut(CutReason::States));
            assert_eq!(judgement.findings[0].answer, Answer::Inconclusive, "{what:?}");
            assert!(judgement.is_unanswered() && judgement.is_as_expected());
        }
    }
}

#[test]
fn what_a_cut_search_found_stands() {
    let bad = Toy { bad: Some(1), ..LINE };
    let limits = Limits { depth_max: Some(1), ..Limits::default() };
    let judgement = ask(&bad, SAFETY, Answer::Holds, limits);
    assert_eq!(judgement.findings[0].answer, Answer::Violated);
    assert!(!judgement.is_as_expected() && !judgement.is_unanswered());
}

#[test]
fn a_run_that_stops_short_of_the_goal_is_stuck() {
    let stuck = Toy { goal: 9, ..LINE };
    assert_eq!(answer(&stuck, PROGRESS), (Answer::Violated, Some(Ending::Stuck { goal: 0 })));
    let judgement = ask(&stuck, PROGRESS, Answer::Holds, Limits::default());
    let run = judgement.findings[0].run.as_ref().unwrap();
    assert_eq!(run.missed.as_deref(), Some("goal 0"));
}

#[test]
fn a_cycle_short_of_the_goal_is_a_violation_only_if_it_is_fair() {
    // From 1 the run may go back for ever; the way to the goal is one that must be taken, or a fault.
    let fair = Toy { arrows: &[(0, 1, true, 0), (1, 0, true, 0), (1, 2, false, 0)], bad: None, goal: 2 };
    assert_eq!(answer(&fair, PROGRESS), (Answer::Violated, Some(Ending::Cycle { goal: 0, from: 0 })));
    let unfair = Toy { arrows: &[(0, 0, false, 0), (0, 1, true, 0)], bad: None, goal: 1 };
    assert_eq!(answer(&unfair, PROGRESS), (Answer::Holds, None));
}

#[test]
fn without_a_search_for_cycles_nothing_is_said_to_settle() {
    let judgement = ask(&LINE, Ask::Progress { cycle_states_max: 3 }, Answer::Holds, Limits::default());
    let finding = &judgement.findings[0];
    assert_eq!((finding.answer, finding.question.expected), (Answer::Inconclusive, None));
    assert_eq!(
        finding.reservation.as_deref(),
        Some("no run gets stuck; cycles were not looked for in more than 3 states")
    );
    // Nobody set out to answer it, so nothing is missing.
    assert!(judgement.is_as_expected() && !judgement.is_unanswered());
    // What can be seen without it is seen.
    let stuck = Toy { goal: 9, ..LINE };
    assert_eq!(answer(&stuck, Ask::Progress { cycle_states_max: 0 }).0, Answer::Violated);
}

#[test]
fn an_answer_is_the_same_on_two_threads() {
    let bad = Toy { bad: Some(2), ..LINE };
    let two = Limits { threads: NonZeroUsize::new(2).unwrap(), ..Limits::default() };
    let [one, two] = [Limits::default(), two].map(|limits| ask(&bad, SAFETY, Answer::Violated, limits));
    assert_eq!(one.findings[0].run, two.findings[0].run);
    assert_eq!(one.findings[0].trace_length(), Some(2));
}

/// Every kind of run there is, each with its question.
fn runs() -> Vec<(Toy, Question, Run)> {
    let circle = Toy { arrows: &[(0, 1, true, 0), (1, 2, true, 7), (2, 1, true, 0)], bad: None, goal: 9 };
    let cases = [
        (Toy { bad: Some(2), ..LINE }, SAFETY),
        (LINE, REACH),
        (Toy { goal: 9, ..LINE }, PROGRESS),
        (circle, PROGRESS),
    ];
    let run = |(toy, what)| {
        let mut judgement = ask(&toy, what, Answer::Holds, Limits::default());
        let finding = judgement.findings.remove(0);
        (toy, finding.question, finding.run.expect("a run"))
    };
    cases.into_iter().map(run).collect()
}

#[test]
fn every_kind_of_run_survives_a_file_and_replays() {
    for (toy, question, run) in runs() {
        let text = serde_json::to_string(&run).unwrap();
        let read: Run = serde_json::from_str(&text).unwrap();
        assert_eq!((&read.ending, &read.steps), (&run.ending, &run.steps));
        assert_eq!(run.states.len(), run.steps.len() + 1);
        assert_eq!(replay(&toy, &question, &read), Ok(()), "{:?}", run.ending);
    }
}

#[test]
fn a_run_that_was_changed_does_not_replay() {
    for (toy, question, run) in runs() {
        let changed = |change: fn(&mut Run)| {
            let mut run = run.clone();
            change(&mut run);
            replay(&toy, &question, &run).expect_err("a divergence")
        };
        assert_eq!(changed(|run| run.initial = "0".repeat(16)), Divergence::NoSuchBeginning);
        assert!(matches!(changed(|run| run.steps[0].action = json!("x")), Divergence::UnknownAction { step: 1, .. }));
        assert!(matches!(
            changed(|run| run.steps[0].action = json!({"arrow": 1})),
            Divergence::NotEnabled { step: 1, .. }
        ));
        assert!(matches!(changed(|run| run.steps[1].leads_to.clear()), Divergence::LeadsElsewhere { step: 2, .. }));
        assert!(matches!(changed(|run| run.steps[0].event.rules.clear()), Divergence::ToldOtherwise { step: 1, .. }));
        assert!(matches!(changed(|run| run.account.clear()), Divergence::EndsOtherwise { .. }));
        let cut_short = changed(|run| {
            run.steps.truncate(1);
            run.account = vec!["it ends in 1".to_owned()];
        });
        assert!(matches!(cut_short, Divergence::NotShown { steps: 1, .. }));
        let elsewhere = Ending::Cycle { goal: 0, from: 9 };
        let mut run = run.clone();
        run.ending = elsewhere;
        assert!(matches!(replay(&toy, &question, &run), Err(Divergence::NotShown { .. })));
    }
}

#[test]
fn a_meter_is_reset_once_and_read_after_each_search() {
    static RESETS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let meter = Meter {
        reset: || {
            RESETS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        },
        peak_bytes: || RESETS.load(std::sync::atomic::Ordering::Relaxed) * 100,
    };
    let mut phases = Vec::new();
    let mut observe = |phase, _: &crate::explore::Status| phases.push(phase);
    let mut options = JudgeOptions { limits: Limits::default(), meter: Some(meter), observe: &mut observe };
    let judgement = judge(&LINE, vec![question(PROGRESS, Answer::Holds)], &BreadthFirst, &mut options).unwrap();
    assert_eq!((judgement.explore_peak_bytes, judgement.peak_bytes), (Some(100), Some(100)));
    assert!(phases.contains(&Phase::Exploring) && phases.contains(&Phase::LookingForCycles));
}
