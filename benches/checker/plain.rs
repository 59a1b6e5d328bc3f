//! Two-phase commit for Stateright alone, as its users write it: messages in a set, one vector for the managers.
//!
//! The protocol and its counts are those of Stateright's own example; what is published of other checkers is of the same.

use std::collections::BTreeSet;

use stateright::{Model, Property};

pub(crate) struct Plain {
    pub(crate) managers: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    managers: Vec<Manager>,
    coordinator: Coordinator,
    known_prepared: Vec<bool>,
    said: BTreeSet<Message>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Coordinator {
    Deciding,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Message {
    Prepared(usize),
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Commit,
    Abort,
    NotePrepared(usize),
    Prepare(usize),
    ChooseAbort(usize),
    ObeyCommit(usize),
    ObeyAbort(usize),
}

impl Model for Plain {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            managers: vec![Manager::Working; self.managers],
            coordinator: Coordinator::Deciding,
            known_prepared: vec![false; self.managers],
            said: BTreeSet::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let deciding = state.coordinator == Coordinator::Deciding;
        if deciding && state.known_prepared.iter().all(|known| *known) {
            actions.push(Action::Commit);
        }
        if deciding {
            actions.push(Action::Abort);
        }
        for (place, manager) in state.managers.iter().enumerate() {
            if deciding && state.said.contains(&Message::Prepared(place)) {
                actions.push(Action::NotePrepared(place));
            }
            if *manager == Manager::Working {
                actions.extend([Action::Prepare(place), Action::ChooseAbort(place)]);
            }
            if state.said.contains(&Message::Commit) {
                actions.push(Action::ObeyCommit(place));
            }
            if state.said.contains(&Message::Abort) {
                actions.push(Action::ObeyAbort(place));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Commit => {
                state.coordinator = Coordinator::Committed;
                state.said.insert(Message::Commit);
            }
            Action::Abort => {
                state.coordinator = Coordinator::Aborted;
                state.said.insert(Message::Abort);
            }
            Action::NotePrepared(place) => state.known_prepared[place] = true,
            Action::Prepare(place) => {
                state.managers[place] = Manager::Prepared;
                state.said.insert(Message::Prepared(place));
            }
            Action::ChooseAbort(place) | Action::ObeyAbort(place) => state.managers[place] = Manager::Aborted,
            Action::ObeyCommit(place) => state.managers[place] = Manager::Committed,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("no manager aborts where another commits", |_, state: &State| {
            !(state.managers.contains(&Manager::Aborted) && state.managers.contains(&Manager::Committed))
        })]
    }
}
