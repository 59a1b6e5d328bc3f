//! Two-phase commit, the yardstick of model checkers: its counts are known from several of them.
//!
//! The model is that of Gray and Lamport, "Consensus on Transaction Commit", section 3, as in
//! Stateright's `examples/2pc.rs`.

use std::num::NonZeroUsize;

use oncemore_model::explore::stateright::{StaterightSearch, count_with_stateright};
use oncemore_model::explore::{
    BreadthFirst, Coverage, CutReason, Engine, Exploration, FairClass, Limits, System, Tags, Verdict,
};

/// The resource managers of a transaction.
struct TwoPhaseCommit<const N: usize>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<const N: usize> {
    managers: [Manager; N],
    coordinator: Coordinator,
    /// Which managers the coordinator knows to be prepared.
    known_prepared: [bool; N],
    /// Which managers have said that they are prepared. A message once sent can always be received.
    said_prepared: [bool; N],
    said_commit: bool,
    said_abort: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Coordinator {
    Deciding,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Commit,
    Abort,
    NotePrepared(usize),
    Prepare(usize),
    ChooseAbort(usize),
    ObeyCommit(usize),
    ObeyAbort(usize),
}

/// Violated where one manager has aborted and another has committed.
const CONSISTENT: u32 = 0;
/// Violated, on purpose, where every manager has committed.
const NOBODY_COMMITS: u32 = 1;

/// The tag of a manager that prepares when it is the last to do so.
const LAST_TO_PREPARE: u8 = 200;

impl<const N: usize> System for TwoPhaseCommit<N> {
    type State = State<N>;
    type Action = Action;
    type Desk = ();

    fn initial(&self) -> Vec<State<N>> {
        vec![State {
            managers: [Manager::Working; N],
            coordinator: Coordinator::Deciding,
            known_prepared: [false; N],
            said_prepared: [false; N],
            said_commit: false,
            said_abort: false,
        }]
    }

    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        let is_deciding = state.coordinator == Coordinator::Deciding;
        if is_deciding && state.known_prepared == [true; N] {
            actions.push(Action::Commit);
        }
        if is_deciding {
            actions.push(Action::Abort);
        }
        for manager in 0..N {
            if is_deciding && state.said_prepared[manager] {
                actions.push(Action::NotePrepared(manager));
            }
            if state.managers[manager] == Manager::Working {
                actions.push(Action::Prepare(manager));
                actions.push(Action::ChooseAbort(manager));
            }
            if state.said_commit {
                actions.push(Action::ObeyCommit(manager));
            }
            if state.said_abort {
                actions.push(Action::ObeyAbort(manager));
            }
        }
    }

    fn next(&self, state: &State<N>, action: &Action, fired: &mut Tags) -> Option<State<N>> {
        let mut next = state.clone();
        match *action {
            Action::Commit => {
                next.coordinator = Coordinator::Committed;
                next.said_commit = true;
            }
            Action::Abort => {
                next.coordinator = Coordinator::Aborted;
                next.said_abort = true;
            }
            Action::NotePrepared(manager) => next.known_prepared[manager] = true,
            Action::Prepare(manager) => {
                next.managers[manager] = Manager::Prepared;
                next.said_prepared[manager] = true;
                if next.said_prepared == [true; N] {
                    fired.insert(LAST_TO_PREPARE);
                }
            }
            Action::ChooseAbort(manager) | Action::ObeyAbort(manager) => {
                next.managers[manager] = Manager::Aborted;
            }
            Action::ObeyCommit(manager) => next.managers[manager] = Manager::Committed,
        }
        Some(next)
    }

    fn violated(&self, state: &State<N>) -> u64 {
        let some = |outcome| state.managers.contains(&outcome);
        let is_torn = some(Manager::Aborted) && some(Manager::Committed);
        u64::from(is_torn) << CONSISTENT | u64::from(state.managers == [Manager::Committed; N]) << NOBODY_COMMITS
    }

    fn pending(&self, state: &State<N>) -> u64 {
        let is_settled = |manager: &Manager| matches!(manager, Manager::Committed | Manager::Aborted);
        u64::from(!state.managers.iter().all(is_settled))
    }

    fn fairness(&self, _: &Action) -> Option<FairClass> {
        Some(FairClass::new(0))
    }
}

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
