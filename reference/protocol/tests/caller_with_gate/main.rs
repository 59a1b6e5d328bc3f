//! Callers and an object, joined by a link that loses, delays, reorders and duplicates, on virtual time.
//!
//! The machines are the real ones; the world around them restarts the object, moves it with and without its knowledge, and
//! overfills its queue and its memory. A ledger that knows nothing of the machines notes what really ran and what callers
//! were told, and judges both. Every choice comes from a tape, so that a failure shrinks to its shortest story, and a world
//! that has used its tape up is a kind one: everything arrives, and ends.

mod broken;
mod callers;
mod ledger;
mod object;
mod settings;
mod tape;
mod world;

use broken::{Broken, Rule};
use oncemore_protocol::rule::{Branch, Fired};
use oncemore_protocol::rules::{Rules, Spec};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use settings::Settings;
use tape::Tape;
use world::World;

/// One whole story; what is wrong with it, and which rules it took.
fn story<R: Rules>(settings: &Settings, tape: Vec<u8>, rules: R) -> (Vec<String>, Fired) {
    let mut world = World::new(settings, Tape::new(tape), rules);
    world.run();
    (world.judge(), world.fired())
}

fn tapes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..250)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, ..ProptestConfig::default() })]

    #[test]
    fn callers_and_objects_keep_their_promises(settings in settings::settings(), tape in tapes()) {
        let (wrong, _) = story(&settings, tape, Spec);
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// So many stories, always the same ones.
fn stories(count: usize) -> impl Iterator<Item = (Settings, Vec<u8>)> {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (settings::settings(), tapes());
    (0..count).map(move |_| strategy.new_tree(&mut runner).expect("a story").current())
}

/// The stories are worth telling: between them they take every branch that this world can take.
#[test]
fn the_world_is_not_dull() {
    let fired = stories(4_000).fold(Fired::NONE, |all, (settings, tape)| all.union(story(&settings, tape, Spec).1));
    let elsewhere = [
        // No design without claims, no sessions, no pipelining, and no damaged requests here.
        Branch::NothingKept,
        Branch::SessionOpensUnmarked,
        Branch::SessionOpensMarked,
        Branch::SessionRunsLater,
        Branch::SessionRefusesUnmarked,
        Branch::SessionRejected,
        Branch::SessionUnknown,
        Branch::CommittedInFlight,
        Branch::CommittedInBackoff,
        Branch::CommittedFails,
        Branch::OtherRequest,
        // The caller's windows are longer than anything that can happen here.
        Branch::ClaimExpires,
        Branch::Aborted,
    ];
    let missing: Vec<_> =
        Branch::ALL.iter().filter(|branch| !fired.has(**branch) && !elsewhere.contains(branch)).collect();
    assert!(missing.is_empty(), "never taken: {missing:?}");
}

/// And the ledger sees what is wrong: each broken rule is found, for what it breaks.
#[test]
fn broken_rules_are_found() {
    for rule in Rule::ALL {
        let found = stories(6_000).any(|(settings, tape)| {
            let (wrong, _) = story(&settings, tape, Broken(rule));
            wrong.iter().any(|complaint| complaint.starts_with(rule.breaks()))
        });
        assert!(found, "{rule:?} does not break {}", rule.breaks());
    }
}
