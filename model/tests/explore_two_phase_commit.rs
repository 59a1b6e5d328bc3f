//! Two-phase commit, the yardstick of model checkers: its counts are known from several of them.

mod two_phase_commit;

use std::num::NonZeroUsize;

use oncemore_model::explore::stateright::{StaterightSearch, count_with_stateright};
use oncemore_model::explore::{BreadthFirst, Coverage, CutReason, Engine, Exploration, Limits, Verdict};
use two_phase_commit::{CONSISTENT, LAST_TO_PREPARE, NOBODY_COMMITS, TwoPhaseCommit};

fn explore<const N: usize>(limits: &Limits<'_>) -> Exploration<TwoPhaseCommit<N>> {
    BreadthFirst.explore(&TwoPhaseCommit, limits, &mut |_| {}).expect("two-phase commit answers alike twice")
}

fn on_threads(threads: usize) -> Limits<'static> {
    Limits { threads: NonZeroUsize::new(threads).expect("at least one thread"), ..Limits::default() }
}

#[test]
fn counts_are_those_of_other_checkers_on_any_number_of_threads() {
    for threads in [1, 2, 3] {
        let counts = explore::<5>(&on_threads(threads)).counts;
        assert_eq!((counts.states, counts.generated), (8_832, 58_146));
        let counts = explore::<7>(&on_threads(threads)).counts;
        assert_eq!((counts.states, counts.generated), (296_448, 2_744_706));
    }
}

#[test]
fn findings_are_the_same_on_any_number_of_threads() {
    let one = explore::<6>(&on_threads(1));
    let two = explore::<6>(&on_threads(2));
    assert_eq!(one.coverage, Coverage::Exhausted);
    assert_eq!(one.counts.depth, two.counts.depth);
    assert_eq!(one.verdict(CONSISTENT), Verdict::Holds);
    assert_eq!(one.verdict(NOBODY_COMMITS), Verdict::Violated);
    let shortest = one.violation(NOBODY_COMMITS).expect("all can commit");
    assert_eq!(shortest.steps.len(), 6 + 6 + 1 + 6);
    assert_eq!(two.violation(NOBODY_COMMITS), Some(shortest));
    let witness = |exploration: &Exploration<TwoPhaseCommit<6>>| {
        exploration.witness(&TwoPhaseCommit, LAST_TO_PREPARE).expect("it can be replayed")
    };
    assert_eq!(witness(&one), witness(&two));
    assert_eq!(witness(&one).expect("the last one can prepare").steps.len(), 6);
    assert_eq!(one.fired.iter().collect::<Vec<_>>(), [LAST_TO_PREPARE]);
}

#[test]
fn a_search_that_stops_at_a_violation_has_seen_the_same_on_any_number_of_threads() {
    let stop = |threads| {
        let limits = Limits { stop_at: 1 << NOBODY_COMMITS, ..on_threads(threads) };
        let exploration = explore::<6>(&limits);
        assert_eq!(exploration.coverage, Coverage::Cut(CutReason::Violation));
        assert_eq!(exploration.verdict(NOBODY_COMMITS), Verdict::Violated);
        assert_eq!(exploration.verdict(CONSISTENT), Verdict::Inconclusive);
        (exploration.counts.states, exploration.counts.generated, exploration.counts.depth)
    };
    assert_eq!(stop(1), stop(2));
    assert_eq!(stop(1).2, 19);
}

#[test]
fn stateright_counts_the_same_space() {
    use StaterightSearch::{BreadthFirst, DepthFirst};
    let ours = explore::<5>(&on_threads(2)).counts;
    for (search, threads) in [(BreadthFirst, 1), (BreadthFirst, 2), (DepthFirst, 1), (DepthFirst, 2)] {
        let theirs = count_with_stateright(TwoPhaseCommit::<5>, search, threads);
        assert_eq!((theirs.states, theirs.generated), (ours.states, ours.generated));
        assert!(!theirs.is_safe, "all can commit");
        if (search, threads) == (BreadthFirst, 1) {
            assert_eq!(theirs.depth, ours.depth);
        }
    }
    let theirs = count_with_stateright(TwoPhaseCommit::<7>, DepthFirst, 2);
    assert_eq!((theirs.states, theirs.generated), (296_448, 2_744_706));
}
