//! Runs that show why a goal is missed, rebuilt from the graph on the system itself.

use std::collections::{BTreeMap, VecDeque};

use super::super::trace::{stuck, successors};
use super::super::{ExploreError, Step, System, Trace, TraceOf};
use super::components::Component;
use super::graph::{Classes, Edge, Graph, Node, Origin, class_bit};

/// An infinite run: a way in, and a cycle that is repeated for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso<State, Action> {
    /// A shortest way to a state of the cycle.
    pub stem: Trace<State, Action>,
    /// The cycle, at least one step: it begins and ends in the last state of the stem. It takes an
    /// action of each fairness class or visits a state where the class is disabled, so that
    /// repeating it is fair. It is not always the shortest cycle that does.
    pub cycle: Vec<Step<State, Action>>,
}

/// An infinite run of the system `S`.
pub type LassoOf<S> = Lasso<<S as System>::State, <S as System>::Action>;

/// A shortest run to a node in which runs get stuck.
pub(super) fn stuck_run<S: System>(
    system: &S,
    graph: &Graph,
    end: Node,
    goal: u32,
) -> Result<TraceOf<S>, ExploreError> {
    let trace = run_to(system, graph, end)?;
    if stuck(system, trace.last()) >> goal & 1 == 1 {
        Ok(trace)
    } else {
        Err(ExploreError::FindingLost { steps: trace.steps.len() })
    }
}

/// A run into a fair component and round in it.
pub(super) fn fair_cycle<S: System>(
    system: &S,
    graph: &Graph,
    component: &Component<'_>,
    goal: u32,
) -> Result<LassoOf<S>, ExploreError> {
    let entry = component.entry();
    let stem = run_to(system, graph, entry)?;
    let ordinals = Tour::of(graph, component, entry);
    let mut cycle: Vec<Step<S::State, S::Action>> = Vec::with_capacity(ordinals.len());
    for ordinal in ordinals {
        let from = cycle.last().map_or(stem.last(), |step| &step.state);
        let lost = ExploreError::TraceLost { step: stem.steps.len() + cycle.len() };
        let (_, step) = successors(system, from).nth(ordinal).ok_or(lost)?;
        cycle.push(step);
    }
    let lasso = Lasso { stem, cycle };
    if is_fair_miss(system, &lasso, goal) {
        Ok(lasso)
    } else {
        Err(ExploreError::FindingLost { steps: lasso.stem.steps.len() + lasso.cycle.len() })
    }
}

/// Whether repeating the cycle is possible, fair, and leaves the goal pending throughout. It asks
/// the system only, so that the graph's word need not be taken for it.
fn is_fair_miss<S: System>(system: &S, lasso: &LassoOf<S>, goal: u32) -> bool {
    let mut owed = Classes::MAX;
    for Step { action, state } in &lasso.cycle {
        let enabled =
            successors(system, state).fold(0, |classes, (_, next)| classes | class_bit(system.fairness(&next.action)));
        owed &= enabled & !class_bit(system.fairness(action));
        if system.pending(state) >> goal & 1 == 0 {
            return false;
        }
    }
    owed == 0 && lasso.cycle.last().is_some_and(|step| step.state == *lasso.stem.last())
}

/// The run by which `end` was first reached.
fn run_to<S: System>(system: &S, graph: &Graph, end: Node) -> Result<TraceOf<S>, ExploreError> {
    let mut ordinals = Vec::new();
    let mut node = end;
    let initial = loop {
        match graph.origin(node) {
            Origin::Initial(ordinal) => break ordinal,
            Origin::Step { from, edge } => {
                ordinals.push(edge - graph.edges_of(from).start);
                node = from;
            }
        }
    };
    let initial = system.initial().into_iter().nth(initial as usize);
    let initial = initial.ok_or(ExploreError::TraceLost { step: 0 })?;
    let mut trace = Trace { initial, steps: Vec::with_capacity(ordinals.len()) };
    for (step, ordinal) in ordinals.into_iter().rev().enumerate() {
        let next = successors(system, trace.last()).nth(ordinal);
        trace.steps.push(next.ok_or(ExploreError::TraceLost { step })?.1);
    }
    Ok(trace)
}

/// A walk round in a component which leaves no class owed.
struct Tour<'a> {
    graph: &'a Graph,
    component: &'a Component<'a>,
    at: Node,
    /// The classes that have been enabled at every node and taken by no transition of the walk.
    owed: Classes,
    /// Of each transition of the walk, which of its node's transitions it is.
    ordinals: Vec<usize>,
}

impl<'a> Tour<'a> {
    /// The tour of a fair component that begins and ends in `entry`: always to the nearest
    /// transition that pays a class, and in the end back.
    fn of(graph: &'a Graph, component: &'a Component<'a>, entry: Node) -> Vec<usize> {
        let owed = graph.enabled(entry);
        let mut tour = Self { graph, component, at: entry, owed, ordinals: Vec::new() };
        while tour.owed != 0 {
            let owed = tour.owed;
            let pays = |edge: usize| {
                let edge = graph.edge(edge);
                owed & (class_bit(edge.class) | !graph.enabled(edge.to)) != 0
            };
            if !tour.walk_to(pays) {
                break;
            }
        }
        if tour.at != entry || tour.ordinals.is_empty() {
            tour.walk_to(|edge| graph.edge(edge).to == entry);
        }
        tour.ordinals
    }

    /// Walks the shortest way whose last transition is as wanted. Says whether there is one.
    fn walk_to(&mut self, is_wanted: impl Fn(usize) -> bool) -> bool {
        let mut came_by: BTreeMap<Node, (Node, usize)> = BTreeMap::new();
        let mut waiting = VecDeque::from([self.at]);
        while let Some(node) = waiting.pop_front() {
            for edge in self.graph.edges_of(node) {
                let to = self.graph.edge(edge).to;
                if !self.component.contains(to) {
                    continue;
                }
                if is_wanted(edge) {
                    let mut way = vec![(node, edge)];
                    let mut back = node;
                    while back != self.at {
                        let (from, edge) = came_by[&back];
                        way.push((from, edge));
                        back = from;
                    }
                    way.into_iter().rev().for_each(|(from, edge)| self.take(from, edge));
                    return true;
                }
                if to != self.at && !came_by.contains_key(&to) {
                    came_by.insert(to, (node, edge));
                    waiting.push_back(to);
                }
            }
        }
        false
    }

    fn take(&mut self, from: Node, edge: usize) {
        let Edge { to, class } = self.graph.edge(edge);
        self.ordinals.push(edge - self.graph.edges_of(from).start);
        self.owed &= self.graph.enabled(to) & !class_bit(class);
        self.at = to;
    }
}
