//! Bad files, locks and full disks: a clear error, and nothing lost.

use super::*;
use std::fs;

fn refused(path: &Path) -> StorageError {
    Storage::open(path, Incarnation(9), impatient()).unwrap_err()
}

fn write_file(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn an_error_can_be_sent_and_kept() {
    fn sent<T: Send + Sync + std::error::Error + 'static>() {}
    sent::<StorageError>();
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let (_folder, path) = folder();
    let text = b"Dear diary, this is not a database, however long it gets. ".repeat(40);
    write_file(&path, &text);
    let error = refused(&path);
    assert!(matches!(error, StorageError::NotAStorage { .. }), "{error:?}");
    assert!(error.to_string().contains("object.db"));
    assert_eq!(fs::read(&path).unwrap(), text);
}

#[test]
fn another_programs_database_is_left_alone() {
    let (_folder, path) = folder();
    write_file(&path, b"");
    raw(&path).execute_batch("CREATE TABLE theirs (a); PRAGMA application_id = 7").unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(refused(&path), StorageError::NotAStorage { .. }));
    raw(&path).execute_batch("PRAGMA application_id = 0").unwrap();
    assert!(matches!(refused(&path), StorageError::NotAStorage { .. }));
    raw(&path).execute_batch("PRAGMA application_id = 7").unwrap();
    assert_eq!(fs::read(&path).unwrap().len(), before.len());
    let mode: String = raw(&path).pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
}

#[test]
fn another_version_is_named() {
    let (_folder, path) = folder();
    drop(open(&path, 1));
    raw(&path).pragma_update(None, "user_version", 2).unwrap();
    let error = refused(&path);
    assert!(matches!(error, StorageError::Version { found: 2, known: 1, .. }), "{error:?}");
    raw(&path).pragma_update(None, "user_version", 1).unwrap();
    drop(open(&path, 2));
}

#[test]
fn a_folder_in_the_way_is_named() {
    let (_folder, path) = folder();
    fs::create_dir_all(&path).unwrap();
    let error = refused(&path);
    assert!(matches!(error, StorageError::Sqlite { .. }), "{error:?}");
    let (_folder, path) = folder();
    fs::write(path.parent().unwrap(), b"a file").unwrap();
    let error = refused(&path);
    assert!(matches!(error, StorageError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("object.db"));
}

#[test]
fn a_database_without_its_epoch_is_damaged_and_not_new() {
    for damage in ["DELETE FROM oncemore_epoch", "DROP TABLE oncemore_epoch"] {
        let (_folder, path) = folder();
        drop(open(&path, 1));
        raw(&path).execute_batch(damage).unwrap();
        let error = refused(&path);
        assert!(matches!(error, StorageError::Corrupt { .. } | StorageError::Sqlite { .. }), "{error:?}");
    }
}

#[test]
fn a_damaged_page_is_an_error_and_not_an_empty_table() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    for number in 0..200 {
        storage.store_claims(&put_claim(key(1, number))).unwrap();
    }
    drop(storage);
    // Everything but the file's header and schema.
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let error = refused(&path);
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_locked_database_is_an_error_and_can_be_used_afterwards() {
    let (_folder, path) = folder();
    let (storage, _) = Storage::open(&path, Incarnation(1), impatient()).unwrap();
    let other = raw(&path);
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let locked = |error: StorageError| {
        assert!(matches!(error, StorageError::Locked { .. }), "{error:?}");
        assert!(error.to_string().contains("object.db"));
    };
    locked(storage.put("quantity", &1).unwrap_err());
    locked(storage.store_claims(&put_claim(key(1, 1))).unwrap_err());
    locked(storage.finish(&put_claim(key(1, 1)), None).unwrap_err());
    locked(refused(&path));
    // Reads do not wait for whoever writes.
    assert_eq!(storage.get::<i32>("quantity").unwrap(), None);
    assert!(storage.finish(&nothing(), None).unwrap());
    other.execute_batch("ROLLBACK").unwrap();

    storage.put("quantity", &1).unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());
    assert_eq!(storage.get("quantity").unwrap(), Some(1));
}

/// A storage that has room for little.
fn cramped(path: &Path) -> Storage {
    Storage::open(path, Incarnation(1), Settings { pages_max: Some(8), ..impatient() }).unwrap().0
}

#[test]
fn a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest() {
    let (_folder, path) = folder();
    let storage = cramped(&path);
    storage.put("small", &1).unwrap();
    let error = storage.put("large", &"x".repeat(100_000)).unwrap_err();
    assert!(matches!(error, StorageError::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("no room"));
    assert!(matches!(
        storage.execute("CREATE TABLE t AS SELECT zeroblob(100000)", ()),
        Err(StorageError::Full { .. } | StorageError::RolledBack { .. })
    ));
    // Whether SQLite undid the statement or everything: what is said to be stored is stored.
    let finished = storage.finish(&nothing(), None);
    let kept = storage.get::<i32>("small").unwrap();
    assert_eq!(finished.is_ok_and(|held| held), kept == Some(1));
    storage.put("small", &2).unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());
    drop(storage);
    assert_eq!(open(&path, 2).get::<i32>("small").unwrap(), Some(2));
}

#[test]
fn a_result_that_does_not_fit_undoes_the_run() {
    let (_folder, path) = folder();
    let storage = cramped(&path);
    storage.store_claims(&put_claim(key(1, 1))).unwrap();
    storage.put("small", &1).unwrap();
    let result = vec![0; 100_000];
    let error = storage.finish(&finish_claim(key(1, 1)), Some((key(1, 1), &result))).unwrap_err();
    assert!(matches!(error, StorageError::Full { .. }), "{error:?}");
    assert_eq!(storage.get::<i32>("small").unwrap(), None);
    assert_eq!(storage.result(key(1, 1)).unwrap(), None);
    drop(storage);
    let (_, claims) = Storage::open(&path, Incarnation(2), Durability::Off).unwrap();
    assert_eq!(claims, [(Slot::Claim(key(1, 1)), claim(false))]);
}

/// Makes SQLite undo the whole transaction by itself.
fn undo_everything(storage: &Storage) {
    storage.execute("CREATE TABLE t (a UNIQUE)", ()).unwrap();
    storage.put("quantity", &1).unwrap();
    storage.execute("INSERT INTO t VALUES (1)", ()).unwrap();
    let error = storage.execute("INSERT OR ROLLBACK INTO t VALUES (1)", ()).unwrap_err();
    assert!(matches!(error, StorageError::Sqlite { .. }), "{error:?}");
}

fn lost<R: std::fmt::Debug>(result: Result<R, StorageError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, StorageError::RolledBack { .. }), "{error:?}");
}

#[test]
fn a_segment_that_sqlite_undid_is_not_taken_for_stored() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    undo_everything(&storage);
    // The run must not see a world in which it did not write, and must not write the second half alone.
    lost(storage.get::<i32>("quantity"));
    lost(storage.put("quantity", &2));
    lost(storage.list::<i32>(""));
    lost(storage.query("SELECT 1", (), |_| Ok(())));
    lost(storage.execute_batch("SELECT 1"));
    lost(storage.finish(&finish_claim(key(1, 1)), Some((key(1, 1), b"done"))));

    // The run is over, and the next one begins with what there is.
    assert_eq!(storage.get::<i32>("quantity").unwrap(), None);
    assert_eq!(storage.result(key(1, 1)).unwrap(), None);
    storage.put("quantity", &3).unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());

    undo_everything(&storage);
    storage.roll_back();
    assert_eq!(storage.get::<i32>("quantity").unwrap(), Some(3));
}

#[test]
fn a_loss_that_others_may_have_seen_ends_the_life() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    undo_everything(&storage);
    // The run makes a call to another object, and others run meanwhile.
    lost(storage.commit());
    for _ in 0..2 {
        lost(storage.store_claims(&put_claim(key(1, 1))));
        lost(storage.finish(&nothing(), None));
        storage.roll_back();
    }
    assert_eq!(storage.0.segment.get(), Segment::Broken);
    assert_eq!(open(&path, 2).get::<i32>("quantity").unwrap(), None);
}

#[test]
fn a_commit_that_a_constraint_refuses_undoes_the_run() {
    let (_folder, path) = folder();
    let storage = open(&path, 1);
    let tables = "CREATE TABLE parents (id INTEGER PRIMARY KEY);
                  CREATE TABLE children (id REFERENCES parents DEFERRABLE INITIALLY DEFERRED)";
    storage.execute_batch(tables).unwrap();
    storage.finish(&nothing(), None).unwrap();
    storage.execute("INSERT INTO children VALUES (1)", ()).unwrap();
    let error = storage.finish(&nothing(), None).unwrap_err();
    assert!(matches!(error, StorageError::Sqlite { .. }), "{error:?}");
    assert_eq!(storage.query_one("SELECT count(*) FROM children", (), |row| row.get::<_, i64>(0)).unwrap(), Some(0));
    assert!(storage.finish(&nothing(), None).unwrap());
}
