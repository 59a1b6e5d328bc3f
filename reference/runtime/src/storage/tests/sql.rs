//! SQL: what users may do, and what is refused.

use super::*;

fn storage() -> (TempDir, Storage) {
    let (folder, path) = folder();
    let storage = open(&path, 1);
    storage.execute_batch("CREATE TABLE items (name TEXT PRIMARY KEY, quantity INTEGER)").unwrap();
    storage.put("kept", &1).unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());
    (folder, storage)
}

fn count(storage: &Storage) -> i64 {
    storage.query_one("SELECT count(*) FROM items", (), |row| row.get(0)).unwrap().unwrap()
}

#[test]
fn rows_are_written_and_read() {
    let (_folder, storage) = storage();
    for (name, quantity) in [("tea", 2), ("milk", 1)] {
        assert_eq!(storage.execute("INSERT INTO items VALUES (?1, ?2)", (name, quantity)).unwrap(), 1);
    }
    let names = storage.query("SELECT name FROM items ORDER BY name", (), |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(names, ["milk", "tea"]);
    let one =
        |name| storage.query_one("SELECT quantity FROM items WHERE name = ?1", (name,), |row| row.get::<_, u32>(0));
    assert_eq!(one("tea").unwrap(), Some(2));
    assert_eq!(one("salt").unwrap(), None);
    assert_eq!(storage.execute("UPDATE items SET quantity = 9", ()).unwrap(), 2);
    storage.roll_back();
    assert_eq!(count(&storage), 0);
}

#[test]
fn reading_takes_no_lock_and_writing_through_a_query_does() {
    let (_folder, storage) = storage();
    assert_eq!(count(&storage), 0);
    assert_eq!(storage.0.segment.get(), Segment::Closed);
    let insert = "INSERT INTO items VALUES ('tea', 1), ('milk', 2) RETURNING name";
    assert_eq!(storage.query_one(insert, (), |row| row.get::<_, String>(0)).unwrap().as_deref(), Some("tea"));
    assert_eq!(storage.0.segment.get(), Segment::Open);
    assert_eq!(count(&storage), 2);
    storage.roll_back();
    assert_eq!(count(&storage), 0);
}

#[test]
fn what_the_runtime_rests_on_is_out_of_reach() {
    let (_folder, storage) = storage();
    let statements = [
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "END",
        "SAVEPOINT mine",
        "RELEASE oncemore",
        "ROLLBACK TO oncemore",
        "ATTACH 'other.db' AS other",
        "DETACH other",
        "PRAGMA synchronous = OFF",
        "PRAGMA journal_mode",
        "PRAGMA writable_schema = 1",
        "PRAGMA data_version = 1",
        "SELECT * FROM pragma_journal_mode",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "SELECT * FROM oncemore_kv",
        "SELECT incarnation FROM main.OnceMore_Epoch",
        "SELECT value FROM oncemore_kv WHERE key = ?1",
        "UPDATE oncemore_epoch SET incarnation = 9",
        "DELETE FROM oncemore_claims",
        "INSERT INTO oncemore_kv VALUES ('a', x'01')",
        "DROP TABLE oncemore_claims",
        "ALTER TABLE oncemore_claims RENAME TO mine",
        "CREATE INDEX mine ON oncemore_claims (value)",
        "CREATE TRIGGER mine AFTER INSERT ON oncemore_kv BEGIN DELETE FROM items; END",
        "CREATE TABLE oncemore_mine (a)",
        "CREATE VIEW oncemore_mine AS SELECT 1",
        "CREATE TABLE copy AS SELECT * FROM oncemore_kv",
        "CREATE TEMP TABLE oncemore_kv (key, value)",
        "CREATE TEMP TABLE mine (a)",
        "CREATE TEMP VIEW mine AS SELECT 1",
        "WITH x AS (SELECT * FROM oncemore_epoch) SELECT * FROM x",
        "EXPLAIN DELETE FROM oncemore_claims",
        "INSERT INTO items SELECT key, 1 FROM oncemore_kv",
    ];
    for statement in statements {
        for (way, error) in [
            ("execute", storage.execute(statement, ()).unwrap_err()),
            ("query", storage.query(statement, (), |_| Ok(())).unwrap_err()),
            ("batch", storage.execute_batch(statement).unwrap_err()),
        ] {
            // VACUUM is refused by SQLite itself within a transaction.
            let vacuum = statement.starts_with("VACUUM") && matches!(error, StorageError::Sqlite { .. });
            assert!(matches!(error, StorageError::Forbidden { .. }) || vacuum, "{way} {statement}: {error:?}");
        }
    }
    assert_eq!(storage.get("kept").unwrap(), Some(1));
    assert!(storage.finish(&nothing(), None).unwrap());
    assert_eq!(storage.get("kept").unwrap(), Some(1));
}

#[test]
fn views_and_triggers_hide_nothing() {
    let (_folder, storage) = storage();
    let roundabout = "CREATE VIEW epochs AS SELECT * FROM oncemore_epoch;
                      CREATE TRIGGER forget AFTER INSERT ON items BEGIN DELETE FROM oncemore_kv; END";
    // Whether SQLite asks when they are made or when they are used, they do nothing.
    drop(storage.execute_batch(roundabout));
    assert!(storage.query("SELECT * FROM epochs", (), |_| Ok(())).is_err());
    drop(storage.execute("INSERT INTO items VALUES ('tea', 1)", ()));
    assert_eq!(storage.get("kept").unwrap(), Some(1));
}

#[test]
fn the_cache_does_not_lend_our_statements_to_users() {
    let (_folder, storage) = storage();
    let ours = "SELECT value FROM oncemore_kv WHERE key = ?1";
    assert_eq!(storage.get("kept").unwrap(), Some(1));
    for text in [ours.to_owned(), format!("/**/{ours}"), format!(" {ours} ")] {
        let error = storage.query(&text, ("kept",), |_| Ok(())).unwrap_err();
        assert!(matches!(error, StorageError::Forbidden { .. }), "{text}: {error:?}");
    }
    assert_eq!(storage.get("kept").unwrap(), Some(1));
}

#[test]
fn rows_may_be_mapped_with_the_help_of_storage() {
    let (_folder, storage) = storage();
    storage.execute("INSERT INTO items VALUES ('kept', 1)", ()).unwrap();
    let mapped = storage.query("SELECT name FROM items", (), |row| {
        let name: String = row.get(0)?;
        let value = storage.get::<i32>(&name).unwrap();
        storage.put("seen", &name).unwrap();
        assert!(matches!(
            storage.query("SELECT * FROM oncemore_kv", (), |_| Ok(())),
            Err(StorageError::Forbidden { .. })
        ));
        Ok((name, value))
    });
    assert_eq!(mapped.unwrap(), [("kept".to_owned(), Some(1))]);
    assert_eq!(storage.get("seen").unwrap(), Some("kept".to_owned()));
    // Afterwards it is again the user's statements that are watched.
    assert!(storage.execute("COMMIT", ()).is_err());
}

#[test]
fn a_wrong_statement_says_so() {
    let (_folder, storage) = storage();
    for wrong in ["SELECT", "nonsense", "", "-- nothing", "SELECT * FROM missing", "SELECT 1; SELECT 2"] {
        let error = storage.query(wrong, (), |_| Ok(())).unwrap_err();
        assert!(matches!(error, StorageError::Sqlite { .. }), "{wrong}: {error:?}");
        assert!(error.to_string().contains("object.db"), "{error}");
    }
    assert!(storage.execute("INSERT INTO items VALUES (?1, ?2)", ("tea",)).is_err());
    assert!(storage.execute("SELECT 1", ()).is_err());
    storage.execute_batch("INSERT INTO items VALUES ('tea', 1); INSERT INTO items VALUES ('tea', 1)").unwrap_err();
    assert_eq!(count(&storage), 1);
    assert!(storage.finish(&nothing(), None).unwrap());
}

#[test]
fn all_data_can_be_deleted_whatever_it_is() {
    let (_folder, storage) = storage();
    let schema = "CREATE TABLE parents (id INTEGER PRIMARY KEY AUTOINCREMENT);
                  CREATE TABLE children (id INTEGER REFERENCES parents);
                  CREATE TABLE \"od\"\"d; name\" (a);
                  CREATE INDEX by_quantity ON items (quantity);
                  CREATE VIEW names AS SELECT name FROM items;
                  CREATE TRIGGER added AFTER INSERT ON items BEGIN INSERT INTO parents VALUES (NULL); END;
                  CREATE VIRTUAL TABLE texts USING fts5 (body);
                  INSERT INTO items VALUES ('tea', 1);
                  INSERT INTO children VALUES (1);
                  INSERT INTO texts VALUES ('a cup of tea');
                  ANALYZE";
    storage.execute_batch(schema).unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());
    let found = storage.query_one("SELECT body FROM texts WHERE texts MATCH 'cup'", (), |row| row.get::<_, String>(0));
    assert_eq!(found.unwrap().as_deref(), Some("a cup of tea"));

    storage.clear().unwrap();
    storage.roll_back();
    assert_eq!(count(&storage), 1);
    storage.clear().unwrap();
    assert!(storage.finish(&nothing(), None).unwrap());
    let left = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
    let left = storage.query(left, (), |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(left, ["oncemore_claims", "oncemore_epoch", "oncemore_kv"]);
    assert_eq!(storage.list::<i32>("").unwrap(), []);
}
