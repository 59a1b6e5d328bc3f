//! The maximal strongly connected components of a part of a graph.

use super::graph::{Classes, Graph, Node, class_bit};

/// No number yet, or none at all for a node outside the part.
const NONE: u32 = u32::MAX;

/// The components of the part of a graph whose nodes satisfy some predicate.
#[derive(Debug)]
pub(super) struct Components {
    /// The component of each node of the part.
    component_of: Vec<u32>,
    /// The nodes, component by component.
    members: Vec<Node>,
    /// Where each component begins in `members`.
    begins: Vec<usize>,
}

/// One component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component<'a> {
    number: u32,
    components: &'a Components,
    /// Its nodes; never none.
    pub(super) members: &'a [Node],
}

impl Components {
    /// Finds the components of the nodes within the part (Tarjan 1972, without recursion).
    pub(super) fn of(graph: &Graph, within: impl Fn(Node) -> bool) -> Self {
        let mut search = Tarjan {
            graph,
            within,
            visits: 0,
            lowest: vec![NONE; graph.explored() as usize],
            path: Vec::new(),
            open: Vec::new(),
            found: Self {
                component_of: vec![NONE; graph.explored() as usize],
                members: Vec::new(),
                begins: Vec::new(),
            },
        };
        for node in 0..graph.explored() {
            if (search.within)(node) && search.lowest[node as usize] == NONE {
                search.visit_from(node);
            }
        }
        search.found
    }

    /// Every component.
    pub(super) fn iter(&self) -> impl Iterator<Item = Component<'_>> {
        let ends = self.begins.iter().skip(1).copied().chain([self.members.len()]);
        self.begins.iter().copied().zip(ends).enumerate().map(|(number, (begin, end))| Component {
            number: number as u32,
            components: self,
            members: &self.members[begin..end],
        })
    }
}

/// A depth-first search under way.
struct Tarjan<'a, F> {
    graph: &'a Graph,
    within: F,
    visits: u32,
    /// The number of a node's visit, or of the earliest open node known to be reachable from it.
    lowest: Vec<u32>,
    /// The nodes from where the search began to where it is.
    path: Vec<Visit>,
    /// The visited nodes whose component is not closed yet.
    open: Vec<Node>,
    found: Components,
}

struct Visit {
    node: Node,
    number: u32,
    /// The next transition to look at.
    edge: usize,
}

impl<F: Fn(Node) -> bool> Tarjan<'_, F> {
    fn visit_from(&mut self, start: Node) {
        self.enter(start);
        while let Some(visit) = self.path.last_mut() {
            let node = visit.node;
            if visit.edge == self.graph.edges_of(node).end {
                self.leave();
                continue;
            }
            let to = self.graph.edge(visit.edge).to;
            visit.edge += 1;
            if !(self.within)(to) {
                continue;
            }
            if self.lowest[to as usize] == NONE {
                self.enter(to);
            } else if self.found.component_of[to as usize] == NONE {
                self.lower(node, to);
            }
        }
    }

    fn enter(&mut self, node: Node) {
        self.lowest[node as usize] = self.visits;
        let edge = self.graph.edges_of(node).start;
        self.path.push(Visit { node, number: self.visits, edge });
        self.open.push(node);
        self.visits += 1;
    }

    /// Closes the component of the node at the end of the path if the search entered it there.
    fn leave(&mut self) {
        let Some(visit) = self.path.pop() else {
            return;
        };
        if let Some(previous) = self.path.last() {
            self.lower(previous.node, visit.node);
        }
        if self.lowest[visit.node as usize] < visit.number {
            return;
        }
        let number = self.found.begins.len() as u32;
        self.found.begins.push(self.found.members.len());
        while let Some(member) = self.open.pop() {
            self.found.component_of[member as usize] = number;
            self.found.members.push(member);
            if member == visit.node {
                break;
            }
        }
    }

    /// Notes that `node` reaches what `other` reaches.
    fn lower(&mut self, node: Node, other: Node) {
        let lowest = self.lowest[other as usize];
        let own = &mut self.lowest[node as usize];
        *own = lowest.min(*own);
    }
}

impl Component<'_> {
    /// Whether `node` belongs to it.
    pub(super) fn contains(&self, node: Node) -> bool {
        self.components.component_of.get(node as usize) == Some(&self.number)
    }

    /// The first of its nodes, and so one of the nearest.
    pub(super) fn entry(&self) -> Node {
        self.members.iter().copied().min().unwrap_or(NONE)
    }

    /// Whether a fair run can stay in it for ever: it has a transition, and each class that is
    /// enabled throughout is taken by one of its transitions.
    pub(super) fn is_fair(&self, graph: &Graph) -> bool {
        let mut has_transition = false;
        let mut enabled_throughout = Classes::MAX;
        let mut taken: Classes = 0;
        for &node in self.members {
            enabled_throughout &= graph.enabled(node);
            for edge in graph.edges_of(node).map(|edge| graph.edge(edge)) {
                if self.contains(edge.to) {
                    has_transition = true;
                    taken |= class_bit(edge.class);
                }
            }
        }
        has_transition && enabled_throughout & !taken == 0
    }
}
