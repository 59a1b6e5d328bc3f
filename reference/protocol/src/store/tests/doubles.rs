//! No identity is let in twice: each design against a memory of everything that was ever let in.
//!
//! A design is safe as long as what it assumes of the world holds. Each assumption is a switch here; with all of them on
//! no sequence may find a double, and with the one that a design needs turned off, some sequence must.

use std::collections::BTreeSet;

use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::lane::Lane;

/// What a world promises.
#[derive(Clone, Copy, Debug)]
struct World {
    plan: Plan,
    /// Objects never lose their memory.
    no_restarts: bool,
    /// What callers' clocks differ from the object's by.
    skew: u64,
    /// How long after its first sending a copy may still arrive.
    lifetime: u64,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    /// A copy of a call's attempt arrives; the call begins if it is a new one.
    Arrives {
        lane: usize,
        call: usize,
    },
    Settles {
        lane: usize,
        call: usize,
    },
    Restarts,
    Passes(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => (0..2usize, 0..6usize).prop_map(|(lane, call)| Op::Arrives { lane, call }),
        3 => (0..2usize, 0..6usize).prop_map(|(lane, call)| Op::Settles { lane, call }),
        1 => Just(Op::Restarts),
        2 => (0..30u64).prop_map(Op::Passes),
    ]
}

/// One caller's calls, the latest last, and when each was first sent.
struct Caller {
    lane: Lane,
    calls: Vec<(Identity, u64)>,
}

struct Run {
    world: World,
    store: Claims,
    stored: Stored,
    callers: [Caller; 2],
    incarnation: u64,
    now: u64,
    /// The memory that never forgets.
    let_in: BTreeSet<Key>,
}

impl Run {
    fn new(world: World) -> Self {
        let caller = |bits| Caller { lane: Lane::new(caller(bits)), calls: Vec::new() };
        let store =
            Claims::open(&world.plan, Birth { incarnation: Incarnation(1), wall: wall(0) }, core::iter::empty());
        Self {
            world,
            store,
            stored: Stored::new(),
            callers: [caller(1), caller(2)],
            incarnation: 1,
            now: 0,
            let_in: BTreeSet::new(),
        }
    }

    fn birth(&mut self) -> Birth {
        self.incarnation += 1;
        Birth { incarnation: Incarnation(self.incarnation), wall: wall(self.now) }
    }

    /// Whether an identity was let in twice.
    fn apply(&mut self, op: Op) -> bool {
        match op {
            Op::Arrives { lane, call } => return self.arrives(lane, call),
            Op::Settles { lane, call } => {
                let caller = &mut self.callers[lane];
                if let Some((identity, _)) = back(&caller.calls, call) {
                    caller.lane.settle(identity.number);
                }
            }
            Op::Restarts if self.world.no_restarts => {}
            Op::Restarts => {
                let birth = self.birth();
                self.store = Claims::open(&self.world.plan, birth, self.stored.iter());
            }
            Op::Passes(nanos) => self.now += nanos,
        }
        false
    }

    fn arrives(&mut self, lane: usize, call: usize) -> bool {
        let caller = &mut self.callers[lane];
        let Some((identity, sent)) = back(&caller.calls, call).or_else(|| {
            let number = caller.lane.begin().ok()?;
            let created = wall(self.now + self.world.skew);
            let born = Incarnation(self.incarnation);
            caller.calls.push((Identity { caller: caller.lane.caller(), number, born, created }, self.now));
            caller.calls.last().copied()
        }) else {
            return false;
        };
        if self.now > sent + self.world.lifetime {
            return false;
        }
        let unsettled = caller.lane.unsettled_below(identity.number);
        let ask = Ask { identity, ordinal: Ordinal(1), unsettled, digest: Digest(identity.number.0) };
        self.let_in(&ask)
    }

    fn let_in(&mut self, ask: &Ask) -> bool {
        let (plan, now) = (self.world.plan, Time::from_nanos(self.now));
        // A second turn, if the first one had to make room.
        for _ in 0..2 {
            let recall = self.store.recall(&plan, Spec, ask, now).0;
            let key = Spec.key(ask.identity);
            match recall {
                Recall::Never | Recall::Untracked => {}
                Recall::Claimed { .. } => {
                    assert!(self.let_in.contains(&key), "a first-time call was refused as a duplicate (G10)");
                    return false;
                }
                Recall::MayHave(_) | Recall::Settled | Recall::Finished | Recall::OtherRequest => return false,
            }
            match self.store.bound(&plan, Spec, ask) {
                None => {
                    self.stored.apply(&self.store.record(&plan, Spec, ask, now));
                    assert!(self.store.len() <= Claims::capacity(&plan), "P15");
                    return !self.let_in.insert(key);
                }
                Some(AtBound::BeginEpoch) => {
                    let birth = self.birth();
                    let writes = self.store.begin_epoch(&plan, birth);
                    self.stored.apply(&writes);
                }
                Some(AtBound::Refuse | AtBound::Forget) => return false,
            }
        }
        false
    }
}

fn wall(nanos: u64) -> WallTime {
    WallTime::from_nanos(i64::try_from(nanos).unwrap())
}

fn back<T: Copy>(items: &[T], index: usize) -> Option<T> {
    items.iter().rev().nth(index).copied()
}

/// How many of so many random runs let an identity in twice.
fn doubles(world: World) -> usize {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let ops = proptest::collection::vec(op(), 60);
    let runs = (0..600).map(|_| ops.new_tree(&mut runner).unwrap().current());
    runs.filter(|ops| {
        let mut run = Run::new(world);
        ops.iter().any(|op| run.apply(*op))
    })
    .count()
}

const FOREVER: u64 = u64::MAX / 2;

fn world(design: Design, retention: Retention) -> World {
    let plan = Plan {
        design,
        fenced: true,
        retention,
        window: Duration::from_nanos(100),
        margin: Duration::from_nanos(10),
        capacity: 6,
    };
    let lifetime = match retention {
        Retention::Time => 99,
        Retention::Watermark => FOREVER,
    };
    World { plan, no_restarts: design == Design::VolatileOpen, skew: 10, lifetime }
}

const RETENTIONS: [Retention; 2] = [Retention::Time, Retention::Watermark];

#[test]
fn no_design_lets_an_identity_in_twice_in_the_world_that_it_is_made_for() {
    for design in Design::ALL.into_iter().skip(1) {
        for retention in RETENTIONS {
            for capacity in [2, 6, 1_000] {
                let mut world = world(design, retention);
                world.plan.capacity = capacity;
                assert_eq!(doubles(world), 0, "{design:?} {retention:?} {capacity}");
            }
        }
    }
}

#[test]
fn d0_lets_everything_in_twice() {
    assert!(doubles(world(Design::None, Retention::Watermark)) > 0);
}

#[test]
fn d1_does_not_survive_a_restart() {
    for retention in RETENTIONS {
        assert!(doubles(World { no_restarts: false, ..world(Design::VolatileOpen, retention) }) > 0);
    }
}

#[test]
fn d2_does_not_survive_clocks_that_differ_by_more_than_its_margin() {
    for retention in RETENTIONS {
        // A clock that runs ahead makes an old identity look young.
        assert!(doubles(World { skew: 40, ..world(Design::VolatileClock, retention) }) > 0);
    }
}

#[test]
fn retention_by_time_does_not_survive_a_copy_that_is_later_than_its_window() {
    for design in Design::ALL.into_iter().skip(1) {
        let late = World { lifetime: FOREVER, ..world(design, Retention::Time) };
        assert!(doubles(late) > 0, "{design:?}");
    }
}
