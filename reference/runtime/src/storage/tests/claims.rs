//! D4, D5: claims and results as rows.

use super::*;
use oncemore_protocol::design::{Design, Plan};
use oncemore_protocol::identity::{Identity, Unsettled};
use oncemore_protocol::rules::Spec;
use oncemore_protocol::store::{Ask, Birth, ClaimStore, Claims, Doubt, Recall, Stored, Window};
use oncemore_protocol::time::{Time, WallTime};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn window() -> impl Strategy<Value = Window> {
    proptest::collection::vec((0..9u64, any::<u64>()), 0..4).prop_map(|told| {
        let mut window = Window::default();
        told.into_iter().for_each(|(own, bits)| window.told(Number(own), Unsettled(bits)));
        window
    })
}

fn slot() -> impl Strategy<Value = Slot> {
    // Callers whose bits differ in either half, and the numbers at both ends.
    let caller = prop_oneof![Just(0), Just(1), Just(1 << 64), Just(u128::MAX)];
    let number = prop_oneof![0..8u64, Just(u64::MAX)];
    let caller_id = caller.clone().prop_map(CallerId::from_bits);
    prop_oneof![
        1 => Just(Slot::Epoch),
        4 => caller_id.prop_map(Slot::Caller),
        8 => (caller, number).prop_map(|(caller, number)| Slot::Claim(key(caller, number))),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let claim = (any::<u8>(), any::<bool>(), any::<u64>(), any::<u64>());
    let claim = claim.prop_map(|(highest, finished, digest, expires)| Claim {
        highest: Ordinal(highest),
        finished,
        digest: Digest(digest),
        expires: Time::from_nanos(expires),
    });
    prop_oneof![
        any::<u64>().prop_map(|epoch| Value::Epoch(Incarnation(epoch))),
        window().prop_map(Value::Caller),
        claim.prop_map(Value::Claim),
    ]
}

/// Mostly the value that belongs into the slot, sometimes another's, sometimes none.
fn write() -> impl Strategy<Value = Write> {
    let fits = |slot: &Slot, value: &Value| {
        matches!(
            (slot, value),
            (Slot::Epoch, Value::Epoch(_)) | (Slot::Caller(_), Value::Caller(_)) | (Slot::Claim(_), Value::Claim(_))
        )
    };
    let fitting = (slot(), proptest::collection::vec(value(), 8))
        .prop_map(move |(slot, values)| (slot, values.into_iter().find(|value| fits(&slot, value))));
    prop_oneof![6 => fitting, 1 => (slot(), value()).prop_map(|(slot, value)| (slot, Some(value)))]
}

#[derive(Clone, Debug)]
enum Step {
    Store(Vec<Write>),
    Finish(Vec<Write>, Option<(Key, Vec<u8>)>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let writes = || proptest::collection::vec(write(), 0..5);
    let result = (slot(), proptest::collection::vec(any::<u8>(), 0..4));
    let result = result.prop_map(|(slot, bytes)| match slot {
        Slot::Claim(key) => Some((key, bytes)),
        Slot::Epoch | Slot::Caller(_) => None,
    });
    prop_oneof![
        4 => writes().prop_map(Step::Store),
        4 => (writes(), result).prop_map(|(writes, result)| Step::Finish(writes, result)),
        1 => Just(Step::Reopen),
    ]
}

/// The reference: claims as the protocol keeps them, and each result no longer than its claim.
#[derive(Default)]
struct Reference {
    stored: Stored,
    results: BTreeMap<Key, Vec<u8>>,
}

impl Reference {
    fn apply(&mut self, all: &Writes, result: Option<(Key, Vec<u8>)>) {
        for write in all {
            self.stored.apply(&writes([*write]));
            self.results.retain(|key, _| has(&self.stored, *key));
        }
        self.results.extend(result.filter(|(key, _)| has(&self.stored, *key)));
    }
}

fn has(stored: &Stored, key: Key) -> bool {
    stored.iter().any(|(slot, _)| slot == Slot::Claim(key))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn storage_keeps_what_the_protocol_says(steps in proptest::collection::vec(step(), 1..25)) {
        let (_folder, path) = folder();
        let (mut storage, mut incarnation) = (open(&path, 1), 1);
        let mut reference = Reference::default();
        for step in steps {
            match step {
                Step::Store(writes) => {
                    let writes = writes.into_iter().collect();
                    prop_assert!(storage.store_claims(&writes).unwrap());
                    reference.apply(&writes, None);
                }
                Step::Finish(writes, result) => {
                    let writes = writes.into_iter().collect();
                    let bytes = result.as_ref().map(|(key, bytes)| (*key, &bytes[..]));
                    prop_assert!(storage.finish(&writes, bytes).unwrap());
                    reference.apply(&writes, result);
                }
                Step::Reopen => {
                    incarnation += 1;
                    let (next, claims) = Storage::open(&path, Incarnation(incarnation), Durability::Off).unwrap();
                    storage = next;
                    prop_assert_eq!(claims, reference.stored.iter().collect::<Vec<_>>());
                }
            }
            let rows = super::super::claims::load(&storage.0.connection).unwrap();
            prop_assert_eq!(rows, reference.stored.iter().collect::<Vec<_>>());
            for caller in [0, 1, 1 << 64, u128::MAX] {
                for number in (0..8).chain([u64::MAX]) {
                    let key = key(caller, number);
                    prop_assert_eq!(storage.result(key).unwrap(), reference.results.get(&key).cloned());
                }
            }
        }
    }
}

#[test]
fn a_result_is_kept_no_longer_than_its_claim() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    let (this, other) = (key(1, 3), key(2, 3));
    for key in [this, other] {
        storage.store_claims(&put_claim(key)).unwrap();
        assert_eq!(storage.result(key).unwrap(), None);
        storage.finish(&finish_claim(key), Some((key, b"done"))).unwrap();
    }
    let mut settled = Window::default();
    settled.told(Number(9), Unsettled(0));
    storage.store_claims(&writes([(Slot::Caller(this.caller), Some(Value::Caller(settled)))])).unwrap();
    assert_eq!(storage.result(this).unwrap(), None);
    assert_eq!(storage.result(other).unwrap().as_deref(), Some(&b"done"[..]));

    storage.store_claims(&writes([(Slot::Epoch, Some(Value::Epoch(Incarnation(1))))])).unwrap();
    assert_eq!(storage.result(other).unwrap(), None);
    // The claim was erased while its call ran.
    assert!(storage.finish(&nothing(), Some((other, b"late"))).unwrap());
    assert_eq!(storage.result(other).unwrap(), None);
}

/// What the protocol's store says of an identity after a restart.
fn recalled(path: &Path, incarnation: u64, asked: Key, born: u64) -> Recall {
    let plan = Plan { design: Design::Durable, ..Plan::default() };
    let (_, stored) = Storage::open(path, Incarnation(incarnation), Durability::Off).unwrap();
    let birth = Birth { incarnation: Incarnation(incarnation), wall: WallTime::default() };
    let mut claims = Claims::open(&plan, birth, stored.into_iter());
    let identity =
        Identity { caller: asked.caller, number: asked.number, born: Incarnation(born), created: WallTime::default() };
    let ask = Ask { identity, ordinal: Ordinal(2), unsettled: Unsettled(0), digest: Digest(0) };
    claims.recall(&plan, Spec, &ask, Time::ORIGIN).0
}

#[test]
fn a_damaged_claim_makes_the_gate_doubt_everything() {
    let damages = [
        "UPDATE oncemore_claims SET value = x'ff'",
        "UPDATE oncemore_claims SET value = x''",
        "UPDATE oncemore_claims SET slot = x'02ff'",
        "UPDATE oncemore_claims SET slot = x''",
        "UPDATE oncemore_claims SET slot = x'09'",
    ];
    for damage in damages {
        let (_folder, path) = folder();
        open(&path, 1).store_claims(&put_claim(key(1, 1))).unwrap();
        assert_eq!(recalled(&path, 2, key(1, 1), 1), Recall::Claimed { highest: Ordinal(1) });
        assert_eq!(recalled(&path, 3, key(1, 2), 1), Recall::Never);
        raw(&path).execute(damage, ()).unwrap();
        assert_eq!(recalled(&path, 4, key(1, 1), 1), Recall::MayHave(Doubt::BeforeEpoch), "{damage}");
        assert_eq!(recalled(&path, 5, key(1, 2), 1), Recall::MayHave(Doubt::BeforeEpoch), "{damage}");
        assert_eq!(recalled(&path, 6, key(1, 2), 6), Recall::Never, "{damage}");
    }
}
