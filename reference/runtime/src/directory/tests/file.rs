//! Bad files, and several connections to one.

use super::*;
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared").join("directory.db");
    (folder, path)
}

fn refused(path: &Path) -> DirectoryError {
    Directory::open(path).unwrap_err()
}

#[tokio::test]
async fn a_directory_outlives_its_processes() {
    let (_folder, path) = file();
    let registry = Sqlite::open(&path).unwrap();
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    let other = Sqlite::open(&path).unwrap();
    assert_eq!(other.hosts().await.unwrap(), [host(1, "a")]);
    drop((registry, other));
    let again = Sqlite::open(&path).unwrap();
    assert_eq!(again.look(&cart("x")).await.unwrap(), Some(Record::first(HostId(1))));
}

#[tokio::test]
async fn the_greatest_ids_are_kept_as_they_are() {
    let (_folder, registry) = in_file();
    registry.register(&host(u64::MAX, "a"), LEASE).await.unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(u64::MAX, 1));
    assert_eq!(registry.hosts().await.unwrap(), [host(u64::MAX, "a")]);
    assert!(registry.renew(HostId(u64::MAX), Duration::MAX).await.unwrap());
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(u64::MAX, 1));
}

#[test]
fn many_open_a_new_file_at_once() {
    let (_folder, path) = file();
    let barrier = Arc::new(Barrier::new(8));
    let openers = (0..8).map(|id| {
        let (path, barrier) = (path.clone(), barrier.clone());
        thread::spawn(move || {
            barrier.wait();
            let registry = Sqlite::open(&path).unwrap();
            block_on(registry.register(&host(id, &id.to_string()), LEASE)).unwrap();
        })
    });
    openers.collect::<Vec<_>>().into_iter().for_each(|opener| opener.join().unwrap());
    assert_eq!(block_on(Sqlite::open(&path).unwrap().hosts()).unwrap().len(), 8);
}

#[test]
fn a_commit_waits_for_the_disk() {
    let (_folder, registry) = in_file();
    let pragma = |name| registry.pragma(name);
    assert_eq!((pragma("synchronous"), pragma("journal_mode")), (2.into(), "wal".to_owned().into()));
}

#[test]
fn a_file_that_is_no_directory_is_left_alone() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = b"a shopping list: tea, milk, and a database some day".repeat(40);
    fs::write(&path, &text).unwrap();
    let error = refused(&path);
    assert!(matches!(error, DirectoryError::Foreign { .. }), "{error:?}");
    assert!(error.to_string().contains("directory.db"));
    assert_eq!(fs::read(&path).unwrap(), text);

    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let error = refused(&path);
    assert!(matches!(error, DirectoryError::Foreign { .. }), "{error:?}");
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path.parent().unwrap(), b"a file").unwrap();
    assert!(matches!(refused(&path), DirectoryError::Io { .. }));
}

#[test]
fn a_newer_version_is_named() {
    let (_folder, path) = file();
    drop(Sqlite::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let error = refused(&path);
    assert!(matches!(error, DirectoryError::Version { found: 2, known: 1, .. }), "{error:?}");
}

#[tokio::test]
async fn a_damaged_record_is_named_and_not_taken_for_none() {
    let (folder, registry) = in_file();
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    registry.resolve(&cart("x")).await.unwrap();
    let raw = Connection::open(folder.path().join("directory.db")).unwrap();
    for damage in ["x''", "x'ff'", "x'93'"] {
        raw.execute_batch(&format!("UPDATE objects SET record = {damage}")).unwrap();
        let errors = [
            registry.resolve(&cart("x")).await.unwrap_err(),
            registry.look(&cart("x")).await.unwrap_err(),
            registry.change(&cart("x"), Incarnation(1), Change::Drain).await.unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, DirectoryError::Damaged { .. }), "{damage}: {error:?}");
            assert!(error.to_string().contains("Cart(\"x\")"), "{error}");
        }
    }
    assert_eq!(registry.resolve(&cart("y")).await.unwrap(), place(1, 1));
    raw.execute_batch("UPDATE hosts SET classes = x'ff'").unwrap();
    let error = registry.hosts().await.unwrap_err();
    assert!(error.to_string().contains("the host \"a\""), "{error}");
}

#[tokio::test(start_paused = true)]
async fn only_those_who_change_something_need_the_lock() {
    let (folder, registry) = in_file();
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    registry.resolve(&cart("x")).await.unwrap();
    let raw = Connection::open(folder.path().join("directory.db")).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(registry.resolve(&cart("x")).await.unwrap(), place(1, 1));
    assert_eq!(registry.hosts().await.unwrap(), [host(1, "a")]);
    assert!(registry.look(&cart("x")).await.unwrap().is_some());
    let error = registry.resolve(&cart("y")).await.unwrap_err();
    assert!(matches!(error, DirectoryError::File { .. }), "{error:?}");
    assert!(error.to_string().contains("locked"), "{error}");
    raw.execute_batch("ROLLBACK").unwrap();
    assert_eq!(registry.resolve(&cart("y")).await.unwrap(), place(1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_read_on_each_machine_clock() {
    let (folder, registry) = in_file();
    registry.register(&host(1, "a"), LEASE).await.unwrap();
    // Another process, whose clock is the same one.
    let other = Sqlite::open_with(&folder.path().join("directory.db"), paused(), Duration::ZERO).unwrap();
    assert_eq!(other.resolve(&cart("x")).await.unwrap(), place(1, 1));
    advance(LEASE).await;
    assert!(matches!(other.resolve(&cart("x")).await, Err(DirectoryError::NoHost { .. })));
    assert!(registry.renew(HostId(1), LEASE).await.unwrap());
    assert_eq!(other.resolve(&cart("x")).await.unwrap(), place(1, 1));
}
