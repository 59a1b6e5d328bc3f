//! Two-phase commit as a system: that of Gray and Lamport, "Consensus on Transaction Commit", section 3, as in Stateright's
//! `examples/2pc.rs`. Tests and benchmarks share it.

use oncemore_model::explore::{FairClass, System, Tags};

/// The resource managers of a transaction.
pub(crate) struct TwoPhaseCommit<const N: usize>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State<const N: usize> {
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
pub(crate) enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coordinator {
    Deciding,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Commit,
    Abort,
    NotePrepared(usize),
    Prepare(usize),
    ChooseAbort(usize),
    ObeyCommit(usize),
    ObeyAbort(usize),
}

/// Violated where one manager has aborted and another has committed.
pub(crate) const CONSISTENT: u32 = 0;
/// Violated, on purpose, where every manager has committed.
pub(crate) const NOBODY_COMMITS: u32 = 1;

/// The tag of a manager that prepares when it is the last to do so.
pub(crate) const LAST_TO_PREPARE: u8 = 200;

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
