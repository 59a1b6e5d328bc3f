//! The store against memories that never forget: one that knows what was ever let in, one that keeps plain lists.

mod doubles;
mod plain;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use proptest::prelude::*;

use super::*;
use crate::design::{Design, Plan, Retention};
use crate::lane::Lane;
use crate::rules::Spec;

fn caller(bits: u128) -> CallerId {
    CallerId::from_bits(bits)
}

fn ask(who: u128, number: u64, ordinal: u8) -> Ask {
    let identity =
        Identity { caller: caller(who), number: Number(number), born: Incarnation(1), created: WallTime::default() };
    Ask { identity, ordinal: Ordinal(ordinal), unsettled: Unsettled(u64::MAX), digest: Digest(number) }
}

fn birth(incarnation: u64) -> Birth {
    Birth { incarnation: Incarnation(incarnation), wall: WallTime::default() }
}

fn empty(plan: &Plan) -> Claims {
    Claims::open(plan, birth(1), core::iter::empty())
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn time_plan(window: u64) -> Plan {
    Plan {
        design: Design::VolatileOpen,
        retention: Retention::Time,
        window: Duration::from_nanos(window),
        ..Plan::default()
    }
}

#[test]
fn a_store_is_small() {
    // A model copies it all day; a host holds one for each object.
    assert!(size_of::<Claims>() <= 180, "{} bytes", size_of::<Claims>());
}

#[test]
fn a_claim_recorded_anew_expires_anew() {
    let plan = time_plan(10);
    let mut store = empty(&plan);
    // Enough of them to be kept in order.
    for number in 0..40 {
        store.record(&plan, Spec, &ask(1, number, 1), Time::from_nanos(number));
    }
    store.record(&plan, Spec, &ask(1, 0, 2), Time::from_nanos(39));
    assert_eq!(store.deadline(&plan), Some(Time::from_nanos(11)));
    let (recall, fired) = store.recall(&plan, Spec, &ask(1, 0, 3), Time::from_nanos(48));
    assert_eq!((recall, fired), (Recall::Claimed { highest: Ordinal(2) }, Branch::ClaimExpires.into()));
    assert_eq!((store.len(), store.deadline(&plan)), (2, Some(Time::from_nanos(49))));
}

/// The order of expiry is kept for a reason: a full default store is asked at each request.
#[test]
fn recalls_stay_quick_in_a_large_store() {
    let plan = time_plan(1_000_000);
    let mut store = empty(&plan);
    // A scan of every claim at each of these would be twenty thousand million steps.
    for number in 0..200_000 {
        let now = Time::from_nanos(number);
        assert_eq!(store.recall(&plan, Spec, &ask(1, number, 1), now).0, Recall::Never);
        store.record(&plan, Spec, &ask(1, number, 1), now);
        assert_eq!(store.deadline(&plan), Some(Time::from_nanos(1_000_000)));
    }
}

#[test]
fn a_claim_remembers_the_highest_ordinal_let_in() {
    let plan = Plan { fenced: false, ..Plan::default() };
    let mut store = empty(&plan);
    for ordinal in [3, 1] {
        store.record(&plan, Spec, &ask(1, 0, ordinal), Time::ORIGIN);
    }
    let recall = store.recall(&plan, Spec, &ask(1, 0, 2), Time::ORIGIN).0;
    assert_eq!(recall, Recall::Claimed { highest: Ordinal(3) });
}

#[test]
fn an_epoch_erases_what_the_store_had_forgotten_in_memory() {
    let plan = Plan { design: Design::Durable, capacity: 3, ..Plan::default() };
    let mut store = empty(&plan);
    let mut stored = Stored::new();
    for number in 0..2 {
        stored.apply(&store.record(&plan, Spec, &ask(1, number, 1), Time::ORIGIN));
    }
    // A refused retry tells that number 0 is settled: forgotten here, and nothing is written.
    let retry = Ask { unsettled: Unsettled(0), ..ask(1, 1, 2) };
    assert_eq!(store.recall(&plan, Spec, &retry, Time::ORIGIN).1, Branch::WatermarkForgets.into());
    assert_eq!((store.len(), stored.iter().count()), (2, 3));
    stored.apply(&store.begin_epoch(&plan, birth(2)));
    assert_eq!(stored.iter().collect::<Vec<_>>(), [(Slot::Epoch, Value::Epoch(Incarnation(2)))]);
}

#[test]
fn no_more_is_loaded_than_fits_and_the_rest_is_doubted() {
    let large = Plan { design: Design::Durable, ..Plan::default() };
    let mut stored = Stored::new();
    let mut store = empty(&large);
    for number in 0..10 {
        stored.apply(&store.record(&large, Spec, &ask(1, number, 1), Time::ORIGIN));
    }
    let small = Plan { capacity: 4, ..large };
    let mut store = Claims::open(&small, birth(2), stored.iter());
    assert_eq!(store.len(), 4);
    for number in 0..12 {
        let recall = store.recall(&small, Spec, &ask(1, number, 2), Time::ORIGIN).0;
        assert!(matches!(recall, Recall::Claimed { .. } | Recall::MayHave(Doubt::BeforeEpoch)), "{number}: {recall:?}");
    }
    let mut young = ask(1, 20, 1);
    young.identity.born = Incarnation(2);
    assert_eq!(store.recall(&small, Spec, &young, Time::ORIGIN).0, Recall::Never);
    assert_eq!(store.bound(&small, Spec, &young), Some(AtBound::BeginEpoch));
}

#[test]
fn a_damaged_slot_makes_everything_older_doubtful_wherever_it_is_read() {
    let plan = Plan { design: Design::Durable, ..Plan::default() };
    let epoch = (Slot::Epoch, Value::Epoch(Incarnation(1)));
    let damaged = (Slot::Caller(caller(1)), Value::Claim(Claim::default()));
    for stored in [[epoch, damaged], [damaged, epoch]] {
        let mut store = Claims::open(&plan, birth(5), stored.into_iter());
        let recall = store.recall(&plan, Spec, &ask(1, 0, 2), Time::ORIGIN).0;
        assert_eq!(recall, Recall::MayHave(Doubt::BeforeEpoch));
    }
}

#[test]
fn a_number_that_no_lane_hands_out_opens_nothing() {
    let mut window = Window::default();
    window.told(Number(70), Unsettled(0));
    for _ in 0..3 {
        window.told(Number(u64::MAX), Unsettled(u64::MAX));
    }
    assert!((0..70).all(|number| !window.open(Number(number))));
}

proptest! {
    /// Far jumps too: 64 numbers are kept apart, the highest that was heard of included, and what lies below is settled.
    #[test]
    fn a_window_never_opens_again(
        told in proptest::collection::vec((0..300u64, any::<u64>()), 1..12),
    ) {
        let mut window = Window::default();
        let mut settled = std::collections::BTreeSet::new();
        let mut highest = 0;
        for (own, bits) in told {
            window.told(Number(own), Unsettled(bits));
            settled.extend((0..own).filter(|&n| !Unsettled(bits).has(Number(own), Number(n))));
            highest = highest.max(own);
            settled.extend(0..(highest + 1).saturating_sub(Unsettled::WINDOW));
            for n in 0..310 {
                prop_assert_eq!(window.open(Number(n)), !settled.contains(&n), "number {}", n);
            }
        }
    }

    /// What a lane hands out and tells never closes a number that it has not settled, however late the telling arrives.
    #[test]
    fn a_window_keeps_open_what_a_lane_has_not_settled(
        ops in proptest::collection::vec((0..4u8, 0..80u64), 1..300),
    ) {
        let mut lane = Lane::new(caller(1));
        let mut window = Window::default();
        let mut unsettled = std::collections::BTreeSet::new();
        let mut under_way = Vec::new();
        for (op, back) in ops {
            let next = lane.next().0;
            match op {
                0 | 1 => match lane.begin() {
                    Ok(number) => {
                        unsettled.insert(number);
                        under_way.push((number, lane.unsettled_below(number)));
                    }
                    Err(_) => prop_assert!(unsettled.contains(&Number(next - Unsettled::WINDOW))),
                },
                2 => {
                    let number = Number(next.saturating_sub(back + 1));
                    lane.settle(number);
                    unsettled.remove(&number);
                }
                _ => {
                    if let Some((own, told)) = under_way.iter().rev().nth(usize::try_from(back).unwrap()) {
                        window.told(*own, *told);
                    }
                }
            }
            prop_assert!(unsettled.iter().all(|number| window.open(*number)));
        }
    }

    /// Against a list that is looked through from end to end.
    #[test]
    fn claims_expire_as_in_a_plain_list(
        ops in proptest::collection::vec((0..60u64, 0..4u64, any::<bool>()), 1..150),
    ) {
        let plan = time_plan(40);
        let mut store = empty(&plan);
        let mut list: BTreeMap<u64, u64> = BTreeMap::new();
        let mut now = 0;
        for (number, passes, record) in ops {
            now += passes;
            let (recall, fired) = store.recall(&plan, Spec, &ask(1, number, 1), Time::from_nanos(now));
            let before = list.len();
            list.retain(|_, expires| *expires > now);
            prop_assert_eq!(fired.has(Branch::ClaimExpires), list.len() < before);
            prop_assert_eq!(matches!(recall, Recall::Claimed { .. }), list.contains_key(&number));
            if record {
                store.record(&plan, Spec, &ask(1, number, 1), Time::from_nanos(now));
                list.insert(number, now + 40);
            }
            prop_assert_eq!(store.len(), list.len());
            prop_assert_eq!(store.deadline(&plan), list.values().min().map(|nanos| Time::from_nanos(*nanos)));
        }
    }

    #[test]
    fn stores_compare_and_hash_alike_in_whatever_order_they_were_filled(
        (sorted, shuffled) in proptest::collection::btree_map((0..3u64, 0..30u64), 0..50u64, 0..40)
            .prop_map(|map| map.into_iter().collect::<Vec<_>>())
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        time in any::<bool>(),
    ) {
        let retention = if time { Retention::Time } else { Retention::Watermark };
        let plan = Plan { retention, design: Design::Durable, ..time_plan(1_000) };
        let fill = |entries: &[((u64, u64), u64)]| {
            let mut store = empty(&plan);
            let mut stored = Stored::new();
            for ((who, number), at) in entries {
                let all_open = ask(u128::from(*who), *number, 1);
                store.recall(&plan, Spec, &all_open, Time::from_nanos(*at));
                stored.apply(&store.record(&plan, Spec, &all_open, Time::from_nanos(*at)));
            }
            (store, stored)
        };
        let (a, b) = (fill(&sorted), fill(&shuffled));
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(hash(&a), hash(&b));
        // And the same again from storage, order of expiry included.
        let reopened = Claims::open(&plan, birth(1), a.1.iter());
        prop_assert_eq!(reopened.deadline(&plan), a.0.deadline(&plan));
        prop_assert_eq!(reopened, a.0);
    }
}

#[test]
fn nothing_is_older_than_an_objects_first_life() {
    let plan = Plan { design: Design::VolatileClock, ..Plan::default() };
    let wall = WallTime::from_nanos(1_000);
    for (number, doubtful) in [(1, false), (2, true)] {
        let mut store = Claims::open(&plan, Birth::of(Incarnation(number), wall), core::iter::empty());
        let identity = Identity {
            caller: CallerId::from_bits(1),
            number: Number(0),
            born: Incarnation(number),
            created: WallTime::from_nanos(999),
        };
        let ask = Ask { identity, ordinal: Ordinal(1), unsettled: Unsettled(0), digest: Digest::default() };
        let (recall, _) = store.recall(&plan, Spec, &ask, Time::ORIGIN);
        assert_eq!(recall == Recall::MayHave(Doubt::BornBefore), doubtful, "incarnation {number}: {recall:?}");
    }
}
