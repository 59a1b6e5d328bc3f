//! Small random systems, against explorers too naive to be wrong.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use oncemore_model::explore::liveness::check_progress;
use oncemore_model::explore::stateright::{StaterightSearch, count_with_stateright};
use oncemore_model::explore::{BreadthFirst, Engine, Explicit, Exploration, FairClass, Limits, System, Tags, Verdict};
use proptest::prelude::*;

const GOALS: u32 = 2;
const CLASSES: u8 = 3;

/// A system of up to `states` states, with up to `steps` transitions.
fn systems(states: u32, steps: usize) -> impl Strategy<Value = Explicit> {
    (1..=states).prop_flat_map(move |states| {
        let class = proptest::option::of(0..CLASSES);
        let step = (0..states, 0..states, class, 0..4u8);
        let mark = (0..states, 0..GOALS);
        let steps = proptest::collection::vec(step, 0..=steps);
        let marks = || proptest::collection::vec(mark.clone(), 0..=2 * states as usize);
        (steps, marks(), marks()).prop_map(move |(steps, violated, pending)| {
            let system = Explicit::new(states);
            let system = steps
                .into_iter()
                .fold(system, |system, (from, to, class, tag)| system.tagged_step(from, to, class, tag));
            let system =
                violated.into_iter().fold(system, |system, (state, property)| system.violates(state, property));
            pending.into_iter().fold(system, |system, (state, goal)| system.pends([state], goal))
        })
    })
}

/// What an edge of the graph is: from, to, class, tag.
type NaiveEdge = (u32, u32, Option<u8>, u8);

/// A system explored by relaxing distances until nothing changes.
struct Naive {
    distances: BTreeMap<u32, usize>,
    edges: Vec<NaiveEdge>,
}

impl Naive {
    fn explore(system: &Explicit) -> Self {
        let mut distances = BTreeMap::from([(0, 0)]);
        loop {
            let edges = edges_from(system, distances.keys().copied());
            let mut is_stable = true;
            for &(from, to, ..) in &edges {
                let distance = distances[&from] + 1;
                let known = distances.entry(to).or_insert(usize::MAX);
                if distance < *known {
                    *known = distance;
                    is_stable = false;
                }
            }
            if is_stable {
                return Self { distances, edges };
            }
        }
    }

    /// The least distance of a state for which this is so.
    fn nearest(&self, is_so: impl Fn(u32) -> bool) -> Option<usize> {
        self.distances.iter().filter(|&(&state, _)| is_so(state)).map(|(_, &distance)| distance).min()
    }

    fn is_enabled(&self, state: u32, class: u8) -> bool {
        self.edges.iter().any(|&(from, _, of, _)| from == state && of == Some(class))
    }

    fn may_rest(&self, state: u32) -> bool {
        !(0..CLASSES).any(|class| self.is_enabled(state, class))
    }

    /// Whether some set of states in which the goal is pending can be toured for ever, fairly. It
    /// tries every set, not only the largest.
    fn has_fair_cycle(&self, system: &Explicit, goal: u32) -> bool {
        let pending: Vec<_> = self.distances.keys().filter(|state| system.pending(state) >> goal & 1 == 1).collect();
        (1u32..1 << pending.len()).any(|mask| {
            let set: Vec<u32> =
                pending.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &&s)| s).collect();
            self.is_fair_tour(&set)
        })
    }

    fn is_fair_tour(&self, set: &[u32]) -> bool {
        let within: Vec<_> =
            self.edges.iter().filter(|(from, to, ..)| set.contains(from) && set.contains(to)).collect();
        let reaches_all = |start: u32| {
            let mut reached = Vec::new();
            for _ in 0..=set.len() {
                for (from, to, ..) in &within {
                    if (*from == start || reached.contains(from)) && !reached.contains(to) {
                        reached.push(*to);
                    }
                }
            }
            set.iter().all(|state| reached.contains(state))
        };
        let is_fair = |class| {
            within.iter().any(|(_, _, of, _)| *of == Some(class))
                || set.iter().any(|&state| !self.is_enabled(state, class))
        };
        set.iter().all(|&state| reaches_all(state)) && (0..CLASSES).all(is_fair)
    }
}

fn edges_from(system: &Explicit, states: impl Iterator<Item = u32>) -> Vec<NaiveEdge> {
    let mut edges = Vec::new();
    for state in states {
        let mut actions = Vec::new();
        system.actions(&state, &mut actions);
        edges.extend(actions.iter().map(|step| (state, step.to, step.class.map(|class| class.index()), step.tag)));
    }
    edges
}

fn explore(system: &Explicit, threads: usize) -> Exploration<Explicit> {
    let limits = Limits { threads: NonZeroUsize::new(threads).expect("at least one thread"), ..Limits::default() };
    BreadthFirst.explore(system, &limits, &mut |_| {}).expect("a list of transitions answers alike twice")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_counted_and_found_is_what_a_naive_explorer_counts_and_finds(system in systems(12, 30)) {
        let naive = Naive::explore(&system);
        let found = explore(&system, 1);
        prop_assert_eq!(found.counts.states, naive.distances.len() as u64);
        prop_assert_eq!(found.counts.generated, naive.edges.len() as u64 + 1);
        prop_assert_eq!(found.counts.depth as usize, *naive.distances.values().max().unwrap());
        for bit in 0..GOALS {
            let violated = naive.nearest(|state| system.violated(&state) >> bit & 1 == 1);
            prop_assert_eq!(found.violation(bit).map(|trace| trace.steps.len()), violated);
            let is_stuck = |state| naive.may_rest(state) && system.pending(&state) >> bit & 1 == 1;
            prop_assert_eq!(found.stuck(bit).map(|trace| trace.steps.len()), naive.nearest(is_stuck));
        }
        for tag in 0..4 {
            let fires = |state| naive.edges.iter().any(|&(from, _, _, fired)| (from, fired) == (state, tag));
            let witness = found.witness(&system, tag).unwrap();
            prop_assert_eq!(witness.map(|trace| trace.steps.len()), naive.nearest(fires).map(|distance| distance + 1));
        }
    }

    #[test]
    fn stateright_counts_the_same(system in systems(12, 30)) {
        let ours = explore(&system, 1).counts;
        for search in [StaterightSearch::BreadthFirst, StaterightSearch::DepthFirst] {
            let theirs = count_with_stateright(system.clone(), search, 1);
            prop_assert_eq!((theirs.states, theirs.generated), (ours.states, ours.generated));
        }
    }

    #[test]
    fn a_goal_is_missed_where_trying_every_set_of_states_finds_a_fair_tour(system in systems(7, 16)) {
        let naive = Naive::explore(&system);
        let check = check_progress(&system, &Limits::default(), &mut |_| {}).unwrap();
        prop_assert_eq!(check.states, naive.distances.len() as u64);
        prop_assert_eq!(check.transitions, naive.edges.len() as u64);
        for goal in 0..GOALS {
            let is_stuck = |state| naive.may_rest(state) && system.pending(&state) >> goal & 1 == 1;
            let stuck = naive.nearest(is_stuck);
            let has_cycle = naive.has_fair_cycle(&system, goal);
            prop_assert_eq!(check.stuck(goal).map(|trace| trace.steps.len()), stuck);
            prop_assert_eq!(check.cycle(goal).is_some(), has_cycle);
            let is_missed = stuck.is_some() || has_cycle;
            prop_assert_eq!(check.verdict(goal) == Verdict::Violated, is_missed);
            if let Some(lasso) = check.cycle(goal) {
                let toured: Vec<u32> = lasso.cycle.iter().map(|step| step.state).collect();
                prop_assert_eq!(toured.last(), Some(lasso.stem.last()));
                prop_assert!(toured.iter().all(|state| system.pending(state) >> goal & 1 == 1));
                let taken = |class| lasso.cycle.iter().any(|step| step.action.class.map(|of| of.index()) == Some(class));
                let rests = |class| toured.iter().any(|&state| !naive.is_enabled(state, class));
                prop_assert!((0..CLASSES).all(|class| taken(class) || rests(class)));
            }
        }
    }
}

/// States are numbers below a bound, and each leads to a few others that look chosen at random.
#[derive(Clone)]
struct Scattered;

impl Scattered {
    const STATES: u64 = 60_000;
}

impl System for Scattered {
    type State = u64;
    type Action = u64;
    type Desk = ();

    fn initial(&self) -> Vec<u64> {
        vec![1, 2]
    }

    fn actions(&self, state: &u64, actions: &mut Vec<u64>) {
        actions.extend(0..1 + state % 4);
    }

    fn next(&self, state: &u64, action: &u64, fired: &mut Tags) -> Option<u64> {
        let mixed = (state * 4 + action).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let next = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20;
        fired.insert((next % 251) as u8);
        (!next.is_multiple_of(7)).then_some(next % Self::STATES)
    }

    fn violated(&self, state: &u64) -> u64 {
        (0..64).filter(|bit| state % (1_000 + 37 * bit) == 999).fold(0, |mask, bit| mask | 1 << bit)
    }

    fn pending(&self, state: &u64) -> u64 {
        1 << (state % 64)
    }

    fn fairness(&self, action: &u64) -> Option<FairClass> {
        (action % 2 == 1).then_some(FairClass::new(0))
    }
}

#[test]
fn everything_found_is_the_same_on_any_number_of_threads() {
    let on = |threads| {
        let limits = Limits { threads: NonZeroUsize::new(threads).expect("at least one thread"), ..Limits::default() };
        let found = BreadthFirst.explore(&Scattered, &limits, &mut |_| {}).unwrap();
        let violations: Vec<_> = found.violations().map(|(bit, trace)| (bit, trace.clone())).collect();
        let stuck: Vec<_> = found.stuck_goals().map(|(bit, trace)| (bit, trace.clone())).collect();
        let witnesses: Vec<_> = found.fired.iter().map(|tag| found.witness(&Scattered, tag).unwrap()).collect();
        assert!(violations.len() == 64 && stuck.len() > 10 && witnesses.len() > 200);
        let counts = (found.counts.states, found.counts.generated, found.counts.depth);
        (counts, found.fired, violations, stuck, witnesses)
    };
    let one = on(1);
    assert!(one.0.0 > 40_000, "{:?}", one.0);
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
    let theirs = count_with_stateright(Scattered, StaterightSearch::DepthFirst, 1);
    assert_eq!((theirs.states, theirs.generated), (one.0.0, one.0.1));
}
