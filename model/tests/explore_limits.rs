//! Searches that end early must say so, and must not pass for more than they were.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use oncemore_model::explore::{
    BreadthFirst, Coverage, CutReason, Engine, Explicit, Exploration, FairClass, Limits, MemoryLimit, Status, System,
    Tags, Verdict,
};

/// Two counters, each of which can be raised to its end: a square of states.
struct Square {
    side: u16,
}

impl System for Square {
    type State = (u16, u16);
    type Action = bool;
    type Desk = ();

    fn initial(&self) -> Vec<(u16, u16)> {
        vec![(0, 0)]
    }

    fn actions(&self, &(left, right): &(u16, u16), actions: &mut Vec<bool>) {
        actions.extend((left + 1 < self.side).then_some(true));
        actions.extend((right + 1 < self.side).then_some(false));
    }

    fn next(&self, &(left, right): &(u16, u16), &is_left: &bool, _: &mut Tags) -> Option<(u16, u16)> {
        Some(if is_left { (left + 1, right) } else { (left, right + 1) })
    }

    fn violated(&self, &state: &(u16, u16)) -> u64 {
        u64::from(state == (self.side - 1, self.side - 1))
    }

    fn pending(&self, _: &(u16, u16)) -> u64 {
        1
    }

    fn fairness(&self, _: &bool) -> Option<FairClass> {
        Some(FairClass::new(0))
    }
}

const CORNER: u32 = 0;

fn explore<S: System>(system: &S, limits: &Limits<'_>) -> Exploration<S> {
    BreadthFirst.explore(system, limits, &mut |_| {}).expect("the system answers alike twice")
}

fn assert_cut(limits: &Limits<'_>, reason: CutReason) -> Exploration<Square> {
    let exploration = explore(&Square { side: 400 }, limits);
    assert_eq!(exploration.coverage, Coverage::Cut(reason));
    assert_eq!(exploration.verdict(CORNER), Verdict::Inconclusive);
    assert!(exploration.counts.states < 160_000);
    exploration
}

#[test]
fn a_square_is_counted_over_several_growths_of_the_table() {
    for threads in [1, 2] {
        let limits = Limits { threads: NonZeroUsize::new(threads).unwrap(), ..Limits::default() };
        let exploration = explore(&Square { side: 400 }, &limits);
        let counts = exploration.counts;
        assert_eq!(exploration.coverage, Coverage::Exhausted);
        assert_eq!((counts.states, counts.generated, counts.depth), (160_000, 319_201, 798));
        assert_eq!(exploration.violation(CORNER).map(|trace| trace.steps.len()), Some(798));
        assert_eq!(exploration.stuck(0).map(|trace| *trace.last()), Some((399, 399)));
        assert!(counts.frontier_peak >= 400 && counts.frontier_peak < 1200, "{counts:?}");
        assert!(counts.table_bytes >= 160_000 * 16 * 10 / 7, "{counts:?}");
    }
}

#[test]
fn the_limit_on_states_cuts() {
    let limits = Limits { states_max: Some(10_000), ..Limits::default() };
    assert!(assert_cut(&limits, CutReason::States).counts.states >= 10_000);
}

#[test]
fn a_limit_that_is_met_by_the_last_state_does_not_cut() {
    let limits = Limits { states_max: Some(9), depth_max: Some(5), ..Limits::default() };
    let exploration = explore(&Square { side: 3 }, &limits);
    assert_eq!(exploration.coverage, Coverage::Cut(CutReason::States), "the corner is not explored yet");
    let limits = Limits { states_max: Some(10), ..limits };
    assert_eq!(explore(&Square { side: 3 }, &limits).coverage, Coverage::Exhausted);
}

#[test]
fn every_counted_state_is_judged_at_the_limit_on_depth() {
    let at = |depth_max| {
        let limits = Limits { depth_max: Some(depth_max), ..Limits::default() };
        let exploration = explore(&Square { side: 10 }, &limits);
        assert_eq!(exploration.coverage, Coverage::Cut(CutReason::Depth));
        (exploration.counts.states, exploration.counts.depth, exploration.verdict(CORNER))
    };
    assert_eq!(at(0), (1, 0, Verdict::Inconclusive));
    assert_eq!(at(17), (99, 17, Verdict::Inconclusive));
    assert_eq!(at(18), (100, 18, Verdict::Violated));
}

#[test]
fn a_stop_flag_cuts() {
    let stop = AtomicBool::new(true);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    assert_eq!(assert_cut(&limits, CutReason::Stopped).counts.states, 1);
}

#[test]
fn a_stop_flag_that_is_set_on_the_way_cuts_there() {
    let stop = AtomicBool::new(false);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let mut observe = |status: &Status| {
        if status.states > 5_000 {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let exploration = BreadthFirst.explore(&Square { side: 400 }, &limits, &mut observe).unwrap();
    assert_eq!(exploration.coverage, Coverage::Cut(CutReason::Stopped));
    assert!((5_000..6_000).contains(&exploration.counts.states), "{:?}", exploration.counts);
}

#[test]
fn a_deadline_cuts() {
    let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    assert_cut(&limits, CutReason::Deadline);
}

#[test]
fn memory_in_use_cuts() {
    let memory = MemoryLimit { in_use: || 2, bytes_max: 1 };
    assert_cut(&Limits { memory: Some(memory), ..Limits::default() }, CutReason::Memory);
}

#[test]
fn a_table_that_would_exceed_the_memory_is_not_grown() {
    let memory = MemoryLimit { in_use: || 0, bytes_max: 1 << 20 };
    let exploration = assert_cut(&Limits { memory: Some(memory), ..Limits::default() }, CutReason::Memory);
    assert!(exploration.counts.table_bytes <= 1 << 20);
    assert!(exploration.counts.states > 40_000, "{:?}", exploration.counts);
}

#[test]
fn the_observer_sees_the_counts_rise_to_the_result() {
    let mut statuses: Vec<Status> = Vec::new();
    let mut observe = |status: &Status| statuses.push(*status);
    let exploration = BreadthFirst.explore(&Square { side: 50 }, &Limits::default(), &mut observe).unwrap();
    assert!(statuses.windows(2).all(|pair| pair[0].states <= pair[1].states && pair[0].depth <= pair[1].depth));
    let last = statuses.last().expect("there was a barrier");
    assert_eq!((last.states, last.generated), (exploration.counts.states, exploration.counts.generated));
    assert_eq!(last.frontier, 0);
}

#[test]
fn a_state_with_more_successors_than_the_table_has_room_for_is_explored() {
    let star = (1..=100_000).fold(Explicit::new(100_001), |star, to| star.step(0, to, None));
    let exploration = explore(&star, &Limits::default());
    assert_eq!((exploration.counts.states, exploration.counts.depth), (100_001, 1));
}

#[test]
fn a_chain_longer_than_the_stamps_of_the_table_keeps_its_parents() {
    // From every state the run may also fall back to any state 255 levels, and so one round of
    // stamps, before. That must not make a later state the parent of an earlier one.
    let mut chain = Explicit::new(2_000).violates(1_999, 0);
    for state in 0..1_999u32 {
        chain = chain.step(state, state + 1, None);
        for back in [254, 255, 256, 510] {
            chain = chain.step(state, state.saturating_sub(back), None);
        }
    }
    let exploration = explore(&chain, &Limits::default());
    assert_eq!(exploration.counts.depth, 1_999);
    let trace = exploration.violation(0).expect("the end of the chain is bad");
    assert!(trace.steps.iter().zip(1..).all(|(step, state)| step.state == state));
    assert_eq!(trace.steps.len(), 1_999);
}

#[test]
#[should_panic(expected = "a property is a number below 64")]
fn a_property_that_cannot_exist_does_not_hold() {
    let _ = explore(&Square { side: 2 }, &Limits::default()).verdict(64);
}

#[test]
fn a_witness_is_not_taken_from_another_system() {
    let system = Explicit::new(3).tagged_step(0, 1, None, 1).tagged_step(1, 2, None, 250);
    let exploration = explore(&system, &Limits::default());
    let witness = exploration.witness(&system, 250).unwrap().expect("the tag was fired");
    assert_eq!(witness.actions().map(|action| action.tag).collect::<Vec<_>>(), [1, 250]);
    assert_eq!(exploration.witness(&system, 2).unwrap(), None);
    assert!(exploration.witness(&Explicit::new(3), 250).is_err());
    let other = Explicit::new(3).tagged_step(0, 1, None, 1).tagged_step(1, 2, None, 7);
    assert!(exploration.witness(&other, 250).is_err());
}
