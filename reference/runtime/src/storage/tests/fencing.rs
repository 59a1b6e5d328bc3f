//! G2, G12, D3: numbers only rise, and only the last one writes.

use super::*;

#[test]
fn a_life_begins_only_under_a_number_that_none_had_before() {
    let (_folder, path) = folder();
    assert_eq!(open(&path, 3).incarnation(), Incarnation(3));
    for used in [1, 2, 3] {
        let refused = Storage::open(&path, Incarnation(used), Durability::Off).unwrap_err();
        assert!(matches!(refused, StorageError::Fenced { held: Incarnation(3), .. }), "{used}: {refused}");
    }
    assert_eq!(open(&path, 4).incarnation(), Incarnation(4));
}

#[test]
fn the_greatest_numbers_are_kept_as_they_are() {
    let (_folder, path) = folder();
    drop(open(&path, u64::MAX - 1));
    assert!(Storage::open(&path, Incarnation(1), Durability::Off).is_err());
    drop(open(&path, u64::MAX));
    let refused = Storage::open(&path, Incarnation(u64::MAX - 1), Durability::Off).unwrap_err();
    assert!(matches!(refused, StorageError::Fenced { held: Incarnation(u64::MAX), .. }));
}

#[test]
fn a_predecessor_can_write_nothing_and_then_do_nothing() {
    let (_folder, path) = folder();
    let old = open(&path, 1);
    old.put("quantity", &1).unwrap();
    assert!(old.finish(&nothing(), None).unwrap());
    let new = open(&path, 2);

    let refused = old.put("quantity", &2).unwrap_err();
    assert!(matches!(refused, StorageError::Fenced { held: Incarnation(2), .. }), "{refused}");
    assert!(refused.to_string().contains("incarnation 2"));
    assert!(matches!(old.get::<i32>("quantity"), Err(StorageError::Fenced { .. })));
    assert!(matches!(old.execute("CREATE TABLE t (a)", ()), Err(StorageError::Fenced { .. })));
    assert!(matches!(old.query("SELECT 1", (), |_| Ok(())), Err(StorageError::Fenced { .. })));
    assert!(matches!(old.clear(), Err(StorageError::Fenced { .. })));
    assert!(matches!(old.transaction(|_| Ok::<_, StorageError>(())), Err(StorageError::Fenced { .. })));
    assert!(matches!(old.result(key(1, 1)), Err(StorageError::Fenced { .. })));
    assert!(!old.store_claims(&put_claim(key(1, 1))).unwrap());
    assert!(!old.commit().unwrap());
    assert!(!old.finish(&nothing(), None).unwrap());
    old.roll_back();
    assert!(!old.finish(&finish_claim(key(1, 1)), Some((key(1, 1), b"x"))).unwrap());

    assert_eq!(new.get::<i32>("quantity").unwrap(), Some(1));
    assert!(new.finish(&nothing(), None).unwrap());
}

#[test]
fn each_way_of_writing_finds_out_by_itself() {
    type Step = fn(&Storage) -> Result<bool, StorageError>;
    let steps: [(&str, Step); 4] = [
        ("claims", |storage| storage.store_claims(&put_claim(key(1, 1)))),
        ("an end with writes", |storage| storage.finish(&put_claim(key(1, 1)), None)),
        ("an end with nothing but reads", |storage| storage.finish(&nothing(), None)),
        ("an epoch", |storage| storage.begin_epoch(Incarnation(3), &nothing())),
    ];
    for (what, step) in steps {
        let (_folder, path) = folder();
        let old = open(&path, 1);
        let new = open(&path, 2);
        assert!(!step(&old).unwrap(), "{what}");
        assert_eq!(old.incarnation(), Incarnation(1));
        let (_, claims) = Storage::open(&path, Incarnation(9), Durability::Off).unwrap();
        assert_eq!(claims, [], "{what}");
        assert!(!new.finish(&nothing(), None).unwrap());
    }
}

#[test]
fn a_segment_that_is_open_keeps_a_successor_out_until_it_is_committed() {
    let (_folder, path) = folder();
    let old = open(&path, 1);
    old.put("quantity", &1).unwrap();
    let locked = Storage::open(&path, Incarnation(2), impatient()).unwrap_err();
    assert!(matches!(locked, StorageError::Locked { .. }), "{locked}");
    assert!(old.finish(&nothing(), None).unwrap());

    let new = open(&path, 2);
    assert_eq!(new.get::<i32>("quantity").unwrap(), Some(1));
}

#[test]
fn the_same_life_goes_on_under_a_new_number() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    storage.store_claims(&put_claim(key(1, 1))).unwrap();
    let epoch = writes([(Slot::Epoch, Some(Value::Epoch(Incarnation(2))))]);
    assert!(storage.begin_epoch(Incarnation(2), &epoch).unwrap());
    assert_eq!(storage.incarnation(), Incarnation(2));
    storage.put("quantity", &1).unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());

    assert!(matches!(storage.begin_epoch(Incarnation(2), &epoch), Err(StorageError::Fenced { .. })));
    assert!(storage.finish(&nothing(), None).unwrap());
    assert!(Storage::open(&path, Incarnation(2), Durability::Off).is_err());
    let (_, claims) = Storage::open(&path, Incarnation(3), Durability::Off).unwrap();
    assert_eq!(claims, [(Slot::Epoch, Value::Epoch(Incarnation(2)))]);
}

#[test]
fn deleting_the_data_deletes_neither_the_epoch_nor_the_claims() {
    let (_folder, path) = folder();
    let storage = open(&path, 5);
    storage.store_claims(&put_claim(key(1, 1))).unwrap();
    storage.put("quantity", &1).unwrap();
    storage.clear().unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());
    assert_eq!(storage.list::<i32>("").unwrap(), []);

    assert!(Storage::open(&path, Incarnation(5), Durability::Off).is_err());
    let (_, claims) = Storage::open(&path, Incarnation(6), Durability::Off).unwrap();
    assert_eq!(claims, [(Slot::Claim(key(1, 1)), claim(false))]);
}
