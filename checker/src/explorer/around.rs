//! What lies around a state: a few random runs from it, and the states a few steps away.

use std::collections::BTreeMap;

use oncemore_model::action::Action;
use oncemore_model::explore::{System, Tags};
use oncemore_model::property::{Judged, Property};
use oncemore_model::story::{Story, walk};
use oncemore_model::world::World;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::subject::{Naming, Subject};

/// Random runs from a state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleWish {
    pub(crate) scenario: Naming,
    #[serde(default)]
    pub(crate) path: Vec<usize>,
    /// How many.
    #[serde(default = "runs")]
    pub(crate) runs: u64,
    /// The same number gives the same runs.
    #[serde(default)]
    pub(crate) seed: u64,
}

const fn runs() -> u64 {
    12
}

/// A run that was made at random.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    path: Vec<usize>,
    steps: usize,
    violated: Vec<&'static str>,
    reached: Vec<&'static str>,
    /// What was told of each call in the end.
    account: Vec<String>,
}

const RUNS_MAX: u64 = 60;
const SAMPLE_STEPS_MAX: usize = 200;

/// Runs made at random, each until nothing more can happen.
pub(crate) fn sample(wish: &SampleWish) -> Result<Vec<Sample>, ApiError> {
    if !(1..=RUNS_MAX).contains(&wish.runs) {
        return Err(ApiError::OutOfRange { what: "`runs`", found: wish.runs, least: 1, most: RUNS_MAX });
    }
    let subject = wish.scenario.subject()?;
    let here = subject.story(&wish.path)?;
    let mut draw = Draw(wish.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..wish.runs).map(|_| one(&subject, &here, &wish.path, &mut draw)).collect()
}

fn one(subject: &Subject, here: &Story, path: &[usize], draw: &mut Draw) -> Result<Sample, ApiError> {
    let model = &subject.model;
    let (mut story, mut path) = (here.clone(), path.to_vec());
    for _ in 0..SAMPLE_STEPS_MAX {
        let actions = story.actions(model);
        let mut left: Vec<usize> = (0..actions.len()).collect();
        let mut took = false;
        while !left.is_empty() && !took {
            let choice = left.swap_remove(draw.below(left.len()));
            took = story.take(model, &actions[choice]).is_ok();
            if took {
                path.push(choice);
            }
        }
        if !took {
            break;
        }
    }
    let mut violated: Vec<_> =
        story.moments().iter().flat_map(|moment| model.violated_here(&moment.world)).map(Property::name).collect();
    let mut reached: Vec<_> = story.scenes().iter().flat_map(|scene| scene.reaches.iter().copied()).collect();
    for names in [&mut violated, &mut reached] {
        names.sort_unstable();
        names.dedup();
    }
    let account = model.account(&story.last().told);
    Ok(Sample { steps: path.len(), path, violated, reached, account })
}

/// Numbers that look random; the same seed gives the same ones.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % bound
    }
}

/// The states a few steps away.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphWish {
    pub(crate) scenario: Naming,
    #[serde(default)]
    pub(crate) path: Vec<usize>,
    /// How many steps.
    #[serde(default = "depth")]
    pub(crate) depth: u64,
}

const fn depth() -> u64 {
    2
}

const DEPTH_MAX: u64 = 5;
const NODES_MAX: usize = 160;

/// States and what leads from one to another.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Whether some were left out.
    cut: bool,
}

#[derive(Debug, Serialize)]
struct Node {
    fingerprint: String,
    depth: u64,
    path: Vec<usize>,
    violated: Vec<&'static str>,
    /// Whether nothing can happen there.
    last: bool,
}

#[derive(Debug, Serialize)]
struct Edge {
    from: usize,
    to: usize,
    text: String,
    fault: bool,
    reaches: Vec<&'static str>,
}

/// The states within so many steps.
pub(crate) fn graph(wish: &GraphWish) -> Result<Graph, ApiError> {
    if !(1..=DEPTH_MAX).contains(&wish.depth) {
        return Err(ApiError::OutOfRange { what: "`depth`", found: wish.depth, least: 1, most: DEPTH_MAX });
    }
    let subject = wish.scenario.subject()?;
    let (start, _) = walk(&subject.model, &wish.path)?;
    let mut growing =
        Growing { subject: &subject, graph: Graph::default(), worlds: Vec::new(), places: BTreeMap::new() };
    growing.node(start, 0, wish.path.clone());
    let mut next = 0;
    while next < growing.worlds.len() {
        if growing.graph.nodes[next].depth < wish.depth {
            growing.expand(next);
        }
        next += 1;
    }
    Ok(growing.graph)
}

struct Growing<'a> {
    subject: &'a Subject,
    graph: Graph,
    worlds: Vec<World>,
    places: BTreeMap<String, usize>,
}

impl Growing<'_> {
    /// The place of a state, new or not; none if there is no room.
    fn node(&mut self, world: World, depth: u64, path: Vec<usize>) -> Option<usize> {
        let model = &self.subject.model;
        let fingerprint = model.fingerprint(&world);
        if let Some(place) = self.places.get(&fingerprint) {
            return Some(*place);
        }
        if self.worlds.len() >= NODES_MAX {
            self.graph.cut = true;
            return None;
        }
        let violated = model.violated_here(&world).into_iter().map(Property::name).collect();
        self.places.insert(fingerprint.clone(), self.worlds.len());
        self.graph.nodes.push(Node { fingerprint, depth, path, violated, last: false });
        self.worlds.push(world);
        Some(self.worlds.len() - 1)
    }

    fn expand(&mut self, from: usize) {
        let model = &self.subject.model;
        let world = self.worlds[from].clone();
        let mut actions: Vec<Action> = Vec::new();
        model.actions(&world, &mut actions);
        let mut is_last = true;
        for (choice, action) in actions.iter().enumerate() {
            let mut fired = Tags::default();
            let Some(next) = model.next(&world, action, &mut fired) else { continue };
            is_last = false;
            let event = model.narrate(&world, action, &next, fired);
            let mut path = self.graph.nodes[from].path.clone();
            path.push(choice);
            let depth = self.graph.nodes[from].depth + 1;
            if let Some(to) = self.node(next, depth, path) {
                let text = format!("{}: {}", event.who, event.text);
                let reached =
                    |property: &Property| matches!(property.judged(), Judged::ByTransition(tag) if fired.contains(tag));
                let reaches = Property::ALL.iter().copied().filter(reached).map(Property::name).collect();
                self.graph.edges.push(Edge { from, to, text, fault: event.fault, reaches });
            }
        }
        self.graph.nodes[from].last = is_last;
    }
}
