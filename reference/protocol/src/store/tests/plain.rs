//! Retention `watermark` against plain sets: every claim a number in a map, every settled number in a set.

use std::collections::BTreeSet;

use super::*;

#[derive(Default)]
struct Plain {
    claims: BTreeMap<Key, Claim>,
    settled: BTreeMap<CallerId, BTreeSet<u64>>,
    highest: BTreeMap<CallerId, u64>,
}

impl Plain {
    /// What the caller told, if it was let in before, and whether claims were forgotten.
    fn told(&mut self, ask: &Ask) -> bool {
        let Identity { caller, number, .. } = ask.identity;
        let before = self.claims.len();
        if let Some(settled) = self.settled.get_mut(&caller) {
            tell(settled, self.highest.get_mut(&caller).unwrap(), number, ask.unsettled);
            self.claims.retain(|key, _| key.caller != caller || !settled.contains(&key.number.0));
        }
        self.claims.len() < before
    }

    fn recall(&self, plan: &Plan, ask: &Ask) -> Recall {
        let key = Spec.key(ask.identity);
        match self.claims.get(&key) {
            _ if self.settled.get(&key.caller).is_some_and(|settled| settled.contains(&key.number.0)) => {
                Recall::Settled
            }
            Some(claim) if plan.design == Design::DurableResults && claim.digest != ask.digest => Recall::OtherRequest,
            Some(claim) if claim.finished => Recall::Finished,
            Some(claim) => Recall::Claimed { highest: claim.highest },
            None => Recall::Never,
        }
    }

    fn record(&mut self, plan: &Plan, ask: &Ask) {
        let key = Spec.key(ask.identity);
        let settled = self.settled.entry(key.caller).or_insert_with(|| {
            let (mut settled, mut highest) = (BTreeSet::new(), 0);
            tell(&mut settled, &mut highest, key.number, ask.unsettled);
            self.highest.insert(key.caller, highest);
            settled
        });
        assert!(!settled.contains(&key.number.0));
        let highest = self.claims.get(&key).map_or(ask.ordinal, |claim| claim.highest.max(ask.ordinal));
        let digest = if plan.design == Design::DurableResults { ask.digest } else { Digest(0) };
        self.claims.insert(key, Claim { highest, finished: false, digest, expires: Time::ORIGIN });
    }

    fn len(&self) -> usize {
        self.claims.len() + self.settled.len()
    }
}

fn tell(settled: &mut BTreeSet<u64>, highest: &mut u64, own: Number, unsettled: Unsettled) {
    settled.extend((0..own.0).filter(|&number| !unsettled.has(own, Number(number))));
    *highest = own.0.max(*highest);
    settled.extend(0..(*highest + 1).saturating_sub(Unsettled::WINDOW));
}

#[derive(Clone, Copy, Debug)]
struct Op {
    who: u128,
    number: u64,
    ordinal: u8,
    unsettled: u64,
    finishes: bool,
}

fn op() -> impl Strategy<Value = Op> {
    let unsettled = prop_oneof![Just(u64::MAX), any::<u64>(), Just(u64::MAX << 1), Just(u64::MAX << 20)];
    let number = prop_oneof![5 => 0..70u64, 1 => 0..200u64];
    (1..4u128, number, 1..4u8, unsettled, any::<bool>()).prop_map(|(who, number, ordinal, unsettled, finishes)| Op {
        who,
        number,
        ordinal,
        unsettled,
        finishes,
    })
}

proptest! {
    #[test]
    fn claims_until_settled_are_as_in_plain_sets(
        design in prop_oneof![Just(Design::VolatileOpen), Just(Design::DurableResults)],
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        let plan = Plan { design, ..Plan::default() };
        let (mut store, mut plain, mut stored) = (empty(&plan), Plain::default(), Stored::new());
        for op in ops {
            let ask = Ask { unsettled: Unsettled(op.unsettled), ..ask(op.who, op.number, op.ordinal) };
            let (recall, fired) = store.recall(&plan, Spec, &ask, Time::ORIGIN);
            prop_assert_eq!(plain.told(&ask), fired.has(Branch::WatermarkForgets));
            prop_assert_eq!(recall, plain.recall(&plan, &ask), "{:?}", op);
            // A mark lets a duplicate in: it is recorded once more.
            if matches!(recall, Recall::Never | Recall::Claimed { .. }) {
                stored.apply(&store.record(&plan, Spec, &ask, Time::ORIGIN));
                plain.record(&plan, &ask);
            }
            if op.finishes && design == Design::DurableResults && recall != Recall::Settled {
                stored.apply(&store.finish(&plan, Spec, ask.identity));
                store.on_record(&plan, Spec, ask.identity);
                plain.claims.entry(Spec.key(ask.identity)).and_modify(|claim| claim.finished = true);
            }
            prop_assert_eq!(store.len(), plain.len());
            prop_assert!(store.claims().collect::<BTreeSet<_>>().iter().eq(plain.claims.keys()));
        }
        if design == Design::DurableResults {
            let mut reopened = Claims::open(&plan, birth(2), stored.iter());
            for key in plain.claims.keys() {
                let ask = ask(key.caller.bits(), key.number.0, 4);
                prop_assert_eq!(reopened.recall(&plan, Spec, &ask, Time::ORIGIN).0, plain.recall(&plan, &ask));
            }
        }
    }
}

/// An epoch forgets at once; what it forgot is freed little by little, and never comes back.
#[test]
fn an_epoch_forgets_everything_at_once() {
    for retention in [Retention::Watermark, Retention::Time] {
        let plan = Plan { retention, design: Design::VolatileIncarnation, ..Plan::default() };
        let mut store = empty(&plan);
        for who in 0..500 {
            store.record(&plan, Spec, &ask(who, 0, 1), Time::ORIGIN);
        }
        store.begin_epoch(&plan, birth(2));
        assert_eq!((store.len(), store.claims().count()), (0, 0));
        for who in 0..500 {
            let recall = store.recall(&plan, Spec, &ask(who, 0, 2), Time::ORIGIN).0;
            assert_eq!(recall, Recall::MayHave(Doubt::BornElsewhere));
            let mut young = ask(who + 1_000, 0, 1);
            young.identity.born = Incarnation(2);
            assert_eq!(store.recall(&plan, Spec, &young, Time::ORIGIN).0, Recall::Never);
            store.record(&plan, Spec, &young, Time::ORIGIN);
        }
        assert_eq!(store.claims().count(), 500);
    }
}

/// A burst that expires at once is forgotten at once, though no admission has to take all of it out.
#[test]
fn what_expires_with_many_others_is_forgotten_in_time() {
    let plan = time_plan(10);
    let mut store = empty(&plan);
    for number in 0..1_000 {
        store.record(&plan, Spec, &ask(1, number, 7), Time::ORIGIN);
    }
    let later = Time::from_nanos(10);
    assert_eq!(store.recall(&plan, Spec, &ask(1, 999, 8), later).0, Recall::Never);
    assert!(store.len() > 0, "an admission took out a thousand claims");
    store.record(&plan, Spec, &ask(1, 999, 1), later);
    assert_eq!(store.recall(&plan, Spec, &ask(1, 999, 2), later).0, Recall::Claimed { highest: Ordinal(1) });
    for _ in 0..20 {
        store.recall(&plan, Spec, &ask(2, 0, 1), later);
    }
    assert_eq!(store.len(), 1);
}
