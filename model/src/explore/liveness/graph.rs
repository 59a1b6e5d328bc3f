//! Every state by number, and every transition.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::time::Instant;

use super::super::fingerprint::Fingerprinter;
use super::super::{Coverage, CutReason, FairClass, Limits, Status, System, Tags};

/// How many states are explored between two barriers.
const CHUNK_STATES: u32 = 4096;

/// No graph has more states, and the successors of the last one. Nodes are numbered in 32 bits.
const STATES_MAX: u64 = 1 << 31;

/// A state, numbered in breadth-first order: a lesser number is never farther from the start.
pub(super) type Node = u32;

/// A transition. It is the n-th of its state if n others of that state precede it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: Node,
    pub(super) class: Option<FairClass>,
}

/// Sets of fairness classes, one bit each.
pub(super) type Classes = u128;

/// The set with just this class, or the empty one.
pub(super) fn class_bit(class: Option<FairClass>) -> Classes {
    class.map_or(0, |class| 1 << class.index())
}

/// How a state was first reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// It is initial: which of the initial states it is.
    Initial(u32),
    /// By a transition, given by its number among all.
    Step { from: Node, edge: usize },
}

/// The reachable part of a system. Nodes whose transitions a cut left unknown come last.
#[derive(Debug)]
pub(super) struct Graph {
    origins: Vec<Origin>,
    pending: Vec<u64>,
    /// Where each explored node's transitions begin in `edges`, and where the last one's end.
    offsets: Vec<usize>,
    edges: Vec<Edge>,
}

impl Graph {
    /// Explores the system breadth first, as far as the limits let it.
    pub(super) fn build<S: System>(
        system: &S,
        limits: &Limits<'_>,
        began: Instant,
        observe: &mut dyn FnMut(&Status),
    ) -> (Self, Coverage) {
        let mut builder = Builder::begin(system);
        let coverage = builder.run(limits, began, observe);
        (builder.graph, coverage)
    }

    /// How many states there are, explored or not.
    pub(super) fn states(&self) -> usize {
        self.origins.len()
    }

    /// How many states have been explored.
    pub(super) fn explored(&self) -> Node {
        (self.offsets.len() - 1) as Node
    }

    /// How many transitions there are.
    pub(super) fn transitions(&self) -> usize {
        self.edges.len()
    }

    /// How `node` was first reached.
    pub(super) fn origin(&self, node: Node) -> Origin {
        self.origins[node as usize]
    }

    /// Which of all transitions are those of `node`.
    pub(super) fn edges_of(&self, node: Node) -> Range<usize> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    /// The transition with this number.
    pub(super) fn edge(&self, edge: usize) -> Edge {
        self.edges[edge]
    }

    /// The classes enabled in `node`.
    pub(super) fn enabled(&self, node: Node) -> Classes {
        let edges = &self.edges[self.edges_of(node)];
        edges.iter().fold(0, |classes, edge| classes | class_bit(edge.class))
    }

    /// Whether `node` is explored and leaves the goal pending.
    pub(super) fn is_pending(&self, node: Node, goal: u32) -> bool {
        node < self.explored() && self.pending[node as usize] >> goal & 1 == 1
    }

    /// The goals that are pending somewhere, in ascending order.
    pub(super) fn goals(&self) -> impl Iterator<Item = u32> + use<> {
        let somewhere = self.pending.iter().fold(0, |goals, pending| goals | pending);
        (0..u64::BITS).filter(move |goal| somewhere >> goal & 1 == 1)
    }

    /// The first state in which a run may end with the goal pending.
    pub(super) fn first_stuck(&self, goal: u32) -> Option<Node> {
        (0..self.explored()).find(|&node| self.is_pending(node, goal) && self.enabled(node) == 0)
    }
}

/// A graph under construction.
struct Builder<'a, S: System> {
    system: &'a S,
    graph: Graph,
    fingerprinter: Fingerprinter,
    initial_count: usize,
    nodes: HashMap<u64, Node, BuildHasherDefault<AlreadyHashed>>,
    /// The states of the nodes that are not explored yet, in order.
    waiting: VecDeque<S::State>,
    desk: S::Desk,
    /// The state that a transition led to, if it was known before: its memory is used again.
    next: Option<S::State>,
    /// States that have been explored, for the same use.
    spare: Vec<S::State>,
}

/// How many explored states are kept for their memory. Few transitions lead to states that are new.
const SPARE_MAX: usize = 64;

impl<'a, S: System> Builder<'a, S> {
    fn begin(system: &'a S) -> Self {
        let initial = system.initial();
        let mut builder = Self {
            system,
            initial_count: initial.len(),
            graph: Graph { origins: Vec::new(), pending: Vec::new(), offsets: vec![0], edges: Vec::new() },
            fingerprinter: Fingerprinter::default(),
            nodes: HashMap::default(),
            waiting: VecDeque::new(),
            desk: S::Desk::default(),
            next: None,
            spare: Vec::new(),
        };
        for (ordinal, state) in initial.into_iter().enumerate() {
            builder.next = Some(state);
            builder.node_of_next(Origin::Initial(ordinal as u32));
        }
        builder
    }

    /// Explores every state, level by level, unless a limit is met first.
    fn run(&mut self, limits: &Limits<'_>, began: Instant, observe: &mut dyn FnMut(&Status)) -> Coverage {
        let mut depth = 0;
        let mut level_end = self.graph.states();
        let mut actions = Vec::new();
        while let Some(state) = self.waiting.pop_front() {
            let node = self.graph.explored();
            if node as usize == level_end {
                depth += 1;
                level_end = self.graph.states();
            }
            if limits.depth_max.is_some_and(|depth_max| depth >= depth_max) {
                return Coverage::Cut(CutReason::Depth);
            }
            if node.is_multiple_of(CHUNK_STATES) {
                observe(&self.status(depth, began));
            }
            if let Some(reason) = self.cut(node, limits) {
                return Coverage::Cut(reason);
            }
            self.explore(node, &state, &mut actions);
            if self.spare.len() < SPARE_MAX {
                self.spare.push(state);
            }
        }
        Coverage::Exhausted
    }

    /// Why the search must not go on, if so. Only the number of states is looked at every time.
    fn cut(&self, node: Node, limits: &Limits<'_>) -> Option<CutReason> {
        let states = self.graph.states() as u64;
        let states_max = limits.states_max.unwrap_or(STATES_MAX).min(STATES_MAX);
        if states >= states_max {
            return Some(CutReason::States);
        }
        let is_barrier = node.is_multiple_of(CHUNK_STATES);
        is_barrier.then(|| limits.exceeded(states, 0)).flatten()
    }

    fn explore(&mut self, node: Node, state: &S::State, actions: &mut Vec<S::Action>) {
        actions.clear();
        self.system.actions(state, actions);
        for action in &*actions {
            self.next = self.next.take().or_else(|| self.spare.pop());
            if !self.system.next_into(&mut self.desk, state, action, &mut Tags::default(), &mut self.next) {
                continue;
            }
            let class = self.system.fairness(action);
            let edge = self.graph.edges.len();
            if let Some(to) = self.node_of_next(Origin::Step { from: node, edge }) {
                self.graph.edges.push(Edge { to, class });
            }
        }
        self.graph.offsets.push(self.graph.edges.len());
    }

    /// The node of the state in `next`, which is made if there is none. None: `next` is empty.
    fn node_of_next(&mut self, origin: Origin) -> Option<Node> {
        let fingerprint = self.fingerprinter.of(self.next.as_ref()?);
        match self.nodes.entry(fingerprint.get()) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(vacant) => {
                let state = self.next.take()?;
                let node = self.graph.origins.len() as Node;
                vacant.insert(node);
                self.graph.origins.push(origin);
                self.graph.pending.push(self.system.pending(&state));
                self.waiting.push_back(state);
                Some(node)
            }
        }
    }

    fn status(&self, depth: u32, began: Instant) -> Status {
        let slot_bytes = size_of::<(u64, Node)>() + 1;
        Status {
            states: self.graph.states() as u64,
            generated: (self.graph.transitions() + self.initial_count) as u64,
            depth,
            frontier: self.waiting.len() as u64 + 1,
            table_bytes: (self.nodes.capacity() * slot_bytes) as u64,
            elapsed: began.elapsed(),
        }
    }
}

/// Passes a fingerprint on as its own hash.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
