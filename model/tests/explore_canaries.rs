//! Systems whose verdict is known, and which checkers of liveness are known to get wrong.
//!
//! Goal 0 is that the call settles. Class 0 are the caller's own steps, class 1 its timers.

use oncemore_model::explore::liveness::{ProgressCheck, check_progress};
use oncemore_model::explore::{
    BreadthFirst, Coverage, CutReason, Engine, Explicit, ExploreError, FairClass, Limits, System, Tags, Verdict,
};

const SETTLES: u32 = 0;
const CALLER: Option<u8> = Some(0);
const TIMER: Option<u8> = Some(1);
const FAULT: Option<u8> = None;

fn check<S: System>(system: &S) -> ProgressCheck<S> {
    check_within(system, &Limits::default())
}

fn check_within<S: System>(system: &S, limits: &Limits<'_>) -> ProgressCheck<S> {
    check_progress(system, limits, &mut |_| {}).expect("the system answers alike twice")
}

/// How many steps the way in and the cycle have.
fn lengths(check: &ProgressCheck<Explicit>) -> (usize, usize) {
    let lasso = check.cycle(SETTLES).expect("there is a cycle");
    (lasso.stem.steps.len(), lasso.cycle.len())
}

/// A call that is sent (1) and fails (2) and is sent again, for ever.
fn uncapped_retries() -> Explicit {
    Explicit::new(3).step(0, 1, CALLER).step(1, 2, TIMER).step(2, 1, CALLER).pends(0..3, SETTLES)
}

#[test]
fn an_uncapped_retry_loop_is_reported() {
    let check = check(&uncapped_retries());
    assert_eq!(check.verdict(SETTLES), Verdict::Violated);
    assert_eq!(lengths(&check), (1, 2));
    assert!(check.stuck(SETTLES).is_none());
}

#[test]
fn a_loop_beyond_the_depth_limit_is_inconclusive() {
    for depth_max in 0..3 {
        let limits = Limits { depth_max: Some(depth_max), ..Limits::default() };
        let check = check_within(&uncapped_retries(), &limits);
        assert_eq!(check.coverage, Coverage::Cut(CutReason::Depth));
        assert_eq!(check.verdict(SETTLES), Verdict::Inconclusive);
        assert_eq!(check.states, u64::from(depth_max) + 1);
    }
    let limits = Limits { depth_max: Some(3), ..Limits::default() };
    assert_eq!(check_within(&uncapped_retries(), &limits).verdict(SETTLES), Verdict::Violated);
}

#[test]
fn a_loop_beyond_the_limit_on_states_is_inconclusive() {
    let limits = Limits { states_max: Some(2), ..Limits::default() };
    let check = check_within(&uncapped_retries(), &limits);
    assert_eq!(check.coverage, Coverage::Cut(CutReason::States));
    assert_eq!(check.verdict(SETTLES), Verdict::Inconclusive);
}

#[test]
fn a_cycle_within_a_limit_is_reported_though_more_lies_beyond() {
    let limits = Limits { depth_max: Some(2), ..Limits::default() };
    let system = uncapped_retries().step(0, 0, FAULT);
    let check = check_within(&system, &limits);
    assert_eq!(check.coverage, Coverage::Cut(CutReason::Depth));
    assert_eq!(check.verdict(SETTLES), Verdict::Inconclusive, "waiting in 0 starves the caller");
    let system = uncapped_retries().step(1, 0, TIMER);
    let check = check_within(&system, &limits);
    assert_eq!(check.verdict(SETTLES), Verdict::Violated);
    assert_eq!(lengths(&check), (0, 2));
}

/// One branch, 1, settles on its way to the join 3; the other, 2, does not. A checker that keeps, at
/// a join, what held on the path by which it first came there passes it.
fn diamond() -> Explicit {
    Explicit::new(4)
        .step(0, 1, CALLER)
        .step(0, 2, CALLER)
        .step(1, 3, CALLER)
        .step(2, 3, CALLER)
        .pends([0, 2, 3], SETTLES)
}

#[test]
fn a_diamond_with_one_bad_branch_is_reported() {
    let system = diamond();
    let check = check(&system);
    assert_eq!(check.verdict(SETTLES), Verdict::Violated);
    assert_eq!(check.stuck(SETTLES).expect("3 is an end").steps.len(), 2);
    let parted = Explicit::new(4).step(0, 1, CALLER).step(0, 2, CALLER).step(1, 3, CALLER).pends([0, 1, 2], SETTLES);
    let check = self::check(&parted);
    assert_eq!(*check.stuck(SETTLES).expect("2 is an end").last(), 2);
}

#[test]
fn stateright_misses_what_is_reported_here() {
    // The two misses that its own documentation admits, against the same two systems.
    use stateright::{Checker, Model, Property};
    #[derive(Clone)]
    struct Eventually(Explicit);
    impl Model for Eventually {
        type State = u32;
        type Action = oncemore_model::explore::ExplicitStep;
        fn init_states(&self) -> Vec<u32> {
            self.0.initial()
        }
        fn actions(&self, state: &u32, actions: &mut Vec<Self::Action>) {
            self.0.actions(state, actions);
        }
        fn next_state(&self, state: &u32, action: Self::Action) -> Option<u32> {
            self.0.next(state, &action, &mut Tags::default())
        }
        fn properties(&self) -> Vec<Property<Self>> {
            vec![Property::eventually("settles", |model: &Self, state| model.0.pending(state) == 0)]
        }
    }
    for system in [uncapped_retries(), diamond()] {
        let checker = Eventually(system.clone()).checker().spawn_bfs().join();
        assert!(checker.discoveries().is_empty());
        assert_eq!(check(&system).verdict(SETTLES), Verdict::Violated);
    }
}

#[test]
fn a_timer_that_need_not_fire_leaves_the_call_unsettled() {
    let waiting = |timer| Explicit::new(3).step(0, 1, CALLER).step(1, 2, timer).pends([0, 1], SETTLES);
    let unfair = check(&waiting(FAULT));
    assert_eq!(unfair.verdict(SETTLES), Verdict::Violated);
    assert_eq!(*unfair.stuck(SETTLES).expect("it waits for ever").last(), 1);
    let fair = check(&waiting(TIMER));
    assert_eq!(fair.coverage, Coverage::Exhausted);
    assert_eq!(fair.verdict(SETTLES), Verdict::Holds);
}

#[test]
fn a_timer_that_need_not_fire_does_not_end_a_busy_wait() {
    let polling = |timer| Explicit::new(2).step(0, 0, CALLER).step(0, 1, timer).pends([0], SETTLES);
    let unfair = check(&polling(FAULT));
    assert_eq!(unfair.verdict(SETTLES), Verdict::Violated);
    assert_eq!(lengths(&unfair), (0, 1));
    assert_eq!(check(&polling(TIMER)).verdict(SETTLES), Verdict::Holds);
}

#[test]
fn a_cycle_that_only_an_unfair_scheduler_takes_is_not_reported() {
    // 0 and 1 alternate, and in both of them the timer could fire.
    let system = Explicit::new(3)
        .step(0, 1, CALLER)
        .step(1, 0, CALLER)
        .step(0, 2, TIMER)
        .step(1, 2, TIMER)
        .pends([0, 1], SETTLES);
    assert_eq!(check(&system).verdict(SETTLES), Verdict::Holds);
}

#[test]
fn a_cycle_that_disables_the_timer_now_and_then_is_reported() {
    // As above, but in 1 the timer cannot fire. Strong fairness would forbid it, weak does not.
    let system = Explicit::new(3).step(0, 1, CALLER).step(1, 0, CALLER).step(0, 2, TIMER).pends([0, 1], SETTLES);
    let check = check(&system);
    assert_eq!(check.verdict(SETTLES), Verdict::Violated);
    assert_eq!(lengths(&check), (0, 2));
}

#[test]
fn a_cycle_goes_out_of_its_way_to_take_what_fairness_demands() {
    // The short cycle 0 -> 0 starves the timer, which fires only in 2 and leads back.
    let system = Explicit::new(3)
        .step(0, 0, CALLER)
        .step(0, 1, FAULT)
        .step(1, 2, FAULT)
        .step(2, 0, TIMER)
        .tagged_step(0, 2, TIMER, 9)
        .step(1, 1, TIMER)
        .pends(0..3, SETTLES);
    let check = check(&system);
    let lasso = check.cycle(SETTLES).expect("there is a fair cycle");
    let fires = |class| lasso.cycle.iter().any(|step| step.action.class == Some(FairClass::new(class)));
    assert!(fires(1));
    assert!(fires(0) || lasso.cycle.iter().any(|step| step.state != 0), "{lasso:?}");
    assert_eq!(lasso.cycle.last().map(|step| step.state), Some(0));
}

#[test]
fn a_cycle_of_faults_alone_is_not_fair_while_the_caller_could_act() {
    let system = Explicit::new(2).step(0, 0, FAULT).step(0, 1, CALLER).pends([0], SETTLES);
    assert_eq!(check(&system).verdict(SETTLES), Verdict::Holds);
    let helpless = Explicit::new(1).step(0, 0, FAULT).pends([0], SETTLES);
    let check = check(&helpless);
    assert!(check.stuck(SETTLES).is_some() && check.cycle(SETTLES).is_some());
}

#[test]
fn a_cycle_through_a_state_in_which_the_goal_is_reached_is_not_reported() {
    let system = Explicit::new(2).step(0, 1, CALLER).step(1, 0, CALLER).pends([0], SETTLES);
    assert_eq!(check(&system).verdict(SETTLES), Verdict::Holds);
}

#[test]
fn a_cycle_of_very_many_states_does_not_exhaust_the_stack() {
    let states = 200_000;
    let ring = (0..states).fold(Explicit::new(states), |ring, state| ring.step(state, (state + 1) % states, CALLER));
    let check = check(&ring.pends(0..states, SETTLES));
    assert_eq!(lengths(&check), (0, states as usize));
}

#[test]
fn an_action_that_is_no_transition_is_not_enabled() {
    /// A call whose only action changes nothing.
    struct Idle;
    impl System for Idle {
        type State = u8;
        type Action = ();
        type Desk = ();
        fn initial(&self) -> Vec<u8> {
            vec![0]
        }
        fn actions(&self, _: &u8, actions: &mut Vec<()>) {
            actions.push(());
        }
        fn next(&self, _: &u8, (): &(), fired: &mut Tags) -> Option<u8> {
            fired.insert(7);
            None
        }
        fn violated(&self, _: &u8) -> u64 {
            0
        }
        fn pending(&self, _: &u8) -> u64 {
            1
        }
        fn fairness(&self, (): &()) -> Option<FairClass> {
            Some(FairClass::new(0))
        }
    }
    assert!(check(&Idle).stuck(0).is_some());
    let explored = BreadthFirst.explore(&Idle, &Limits::default(), &mut |_| {}).expect("it is stable");
    assert!(explored.stuck(0).is_some() && explored.fired.is_empty());
    assert_eq!(explored.counts.generated, 1);
}

#[test]
fn a_system_that_answers_differently_twice_is_an_error_and_not_a_wrong_trace() {
    use std::sync::atomic::{AtomicU8, Ordering};
    /// Each time it is asked, the next state is another.
    struct Fickle(AtomicU8);
    impl System for Fickle {
        type State = u8;
        type Action = ();
        type Desk = ();
        fn initial(&self) -> Vec<u8> {
            vec![0]
        }
        fn actions(&self, state: &u8, actions: &mut Vec<()>) {
            if *state == 0 {
                actions.push(());
            }
        }
        fn next(&self, _: &u8, (): &(), _: &mut Tags) -> Option<u8> {
            Some(1 + self.0.fetch_add(1, Ordering::Relaxed))
        }
        fn violated(&self, state: &u8) -> u64 {
            u64::from(*state == 1)
        }
        fn pending(&self, _: &u8) -> u64 {
            1
        }
        fn fairness(&self, (): &()) -> Option<FairClass> {
            None
        }
    }
    let fickle = || Fickle(AtomicU8::new(0));
    let explored = BreadthFirst.explore(&fickle(), &Limits::default(), &mut |_| {});
    assert_eq!(explored.err(), Some(ExploreError::TraceLost { step: 0 }));
}

#[test]
fn a_finding_that_its_trace_does_not_show_is_an_error() {
    use std::sync::atomic::{AtomicU8, Ordering};
    /// Takes one step. The first time it is asked, the last state is bad and the step need not be
    /// taken; afterwards it is not so.
    struct Fickle {
        is_about_safety: bool,
        answers: AtomicU8,
    }
    impl Fickle {
        fn is_first(&self) -> bool {
            self.answers.fetch_add(1, Ordering::Relaxed) == 0
        }
    }
    impl System for Fickle {
        type State = u8;
        type Action = ();
        type Desk = ();
        fn initial(&self) -> Vec<u8> {
            vec![0]
        }
        fn actions(&self, state: &u8, actions: &mut Vec<()>) {
            actions.extend((*state == 0).then_some(()));
        }
        fn next(&self, _: &u8, (): &(), _: &mut Tags) -> Option<u8> {
            Some(1)
        }
        fn violated(&self, state: &u8) -> u64 {
            u64::from(self.is_about_safety && *state == 1 && self.is_first())
        }
        fn pending(&self, state: &u8) -> u64 {
            u64::from(!self.is_about_safety && *state == 0)
        }
        fn fairness(&self, (): &()) -> Option<FairClass> {
            (self.is_about_safety || !self.is_first()).then_some(FairClass::new(0))
        }
    }
    for (is_about_safety, steps) in [(true, 1), (false, 0)] {
        let fickle = Fickle { is_about_safety, answers: AtomicU8::new(0) };
        let explored = BreadthFirst.explore(&fickle, &Limits::default(), &mut |_| {});
        assert_eq!(explored.err(), Some(ExploreError::FindingLost { steps }));
    }
}
