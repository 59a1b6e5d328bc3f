//! What is there after the process died: a copy of the files as they are at that point, opened by the next life.

use super::*;
use std::fs;

/// The files as the operating system has them. The index of the log is rebuilt from it after a crash.
fn crashed(path: &Path) -> (TempDir, PathBuf) {
    let (copy, there) = folder();
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    for end in ["", "-wal"] {
        let name = |path: &Path| format!("{}{end}", path.display());
        if fs::exists(name(path)).unwrap() {
            fs::copy(name(path), name(&there)).unwrap();
        }
    }
    (copy, there)
}

/// What the next life finds: the value and the claims.
fn found(path: &Path) -> (Option<i32>, Vec<(Slot, Value)>) {
    let (_copy, path) = crashed(path);
    let (next, claims) = Storage::open(&path, Incarnation(100), Durability::Full).unwrap();
    (next.get("quantity").unwrap(), claims)
}

#[test]
fn a_commit_waits_for_the_disk() {
    let (_folder, path) = folder();
    let (storage, _) = Storage::open(&path, Incarnation(1), Durability::default()).unwrap();
    let pragma =
        |name| storage.0.connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
    assert_eq!(pragma("synchronous").unwrap(), 2.into());
    assert_eq!(pragma("journal_mode").unwrap(), "wal".to_owned().into());
    let (_folder, path) = folder();
    assert_eq!(open(&path, 1).0.connection.pragma_query_value(None, "synchronous", |row| row.get(0)), Ok(0));
}

#[test]
fn what_was_finished_is_there_and_what_was_not_is_not() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    assert_eq!(found(&path), (None, vec![]));

    // D4: the claim is durable before user code starts.
    assert!(storage.store_claims(&put_claim(key(1, 1))).unwrap());
    let claimed = vec![(Slot::Claim(key(1, 1)), claim(false))];
    assert_eq!(found(&path), (None, claimed.clone()));

    storage.put("quantity", &1).unwrap();
    assert_eq!(found(&path), (None, claimed.clone()));

    // A call to another object: what was written so far has to be durable.
    assert!(storage.commit().unwrap());
    assert_eq!(found(&path), (Some(1), claimed.clone()));

    storage.put("quantity", &2).unwrap();
    assert_eq!(found(&path), (Some(1), claimed));

    // D5: the effect and the result are durable together.
    assert!(storage.finish(&finish_claim(key(1, 1)), Some((key(1, 1), b"two"))).unwrap());
    assert_eq!(found(&path), (Some(2), vec![(Slot::Claim(key(1, 1)), claim(true))]));
    let (_copy, copy) = crashed(&path);
    assert_eq!(open(&copy, 2).result(key(1, 1)).unwrap().as_deref(), Some(&b"two"[..]));
}

#[test]
fn the_number_of_a_life_is_durable_once_it_has_begun() {
    let (_folder, path) = folder();
    let storage = open(&path, 7);
    let begun = |path: &Path| {
        let (_copy, path) = crashed(path);
        let error = Storage::open(&path, Incarnation(1), Durability::Off).unwrap_err();
        let StorageError::Fenced { held, .. } = error else { panic!("{error}") };
        held
    };
    assert_eq!(begun(&path), Incarnation(7));
    assert!(storage.begin_epoch(Incarnation(8), &nothing()).unwrap());
    assert_eq!(begun(&path), Incarnation(8));
}

#[test]
fn a_run_that_is_given_up_leaves_nothing() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    storage.put("quantity", &1).unwrap();
    storage.roll_back();
    assert_eq!(storage.get::<i32>("quantity").unwrap(), None);
    storage.put("quantity", &2).unwrap();
    drop(storage);
    assert_eq!(found(&path).0, None);
}

#[test]
fn a_file_that_was_made_but_not_filled_is_a_new_one() {
    let (_folder, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, b"").unwrap();
    assert_eq!(open(&path, 1).incarnation(), Incarnation(1));
    // Only the mode of its journal was set.
    let (_folder, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    raw(&path).pragma_update(None, "journal_mode", "WAL").unwrap();
    assert_eq!(open(&path, 1).incarnation(), Incarnation(1));
}
