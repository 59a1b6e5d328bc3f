//! Values under keys, and transactions of a part of a run.

use super::*;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    name: String,
    quantity: u32,
}

#[derive(Debug, PartialEq, Deserialize)]
struct LaterItem {
    name: String,
    quantity: u32,
    #[serde(default)]
    price: Option<u32>,
}

fn storage() -> (TempDir, Storage) {
    let (folder, path) = folder();
    let storage = open(&path, 1);
    (folder, storage)
}

#[test]
fn a_value_keeps_its_type() {
    let (_folder, storage) = storage();
    assert_eq!(storage.get::<Item>("item").unwrap(), None);
    let item = Item { name: "tea".into(), quantity: 2 };
    storage.put("item", &item).unwrap();
    assert_eq!(storage.get("item").unwrap(), Some(item));
    let later = LaterItem { name: "tea".into(), quantity: 2, price: None };
    assert_eq!(storage.get("item").unwrap(), Some(later));
    let error = storage.get::<u32>("item").unwrap_err();
    assert!(matches!(error, StorageError::Unreadable { .. }), "{error:?}");
    assert!(error.to_string().contains("\"item\""));
    storage.put("item", "a text").unwrap();
    assert_eq!(storage.get("item").unwrap(), Some("a text".to_owned()));
    assert!(storage.delete("item").unwrap());
    assert!(!storage.delete("item").unwrap());
    assert_eq!(storage.get::<Item>("item").unwrap(), None);
}

#[test]
fn keys_are_listed_in_order_by_their_beginning() {
    let (_folder, storage) = storage();
    for (number, key) in ["b", "a%", "a", "a_", "a\u{10ffff}", "", "A", "a\u{10ffff}b"].into_iter().enumerate() {
        storage.put(key, &number).unwrap();
    }
    let keys =
        |prefix: &str| storage.list::<usize>(prefix).unwrap().into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    assert_eq!(keys("a"), ["a", "a%", "a_", "a\u{10ffff}", "a\u{10ffff}b"]);
    assert_eq!(keys("a%"), ["a%"]);
    assert_eq!(keys("a\u{10ffff}"), ["a\u{10ffff}", "a\u{10ffff}b"]);
    assert_eq!(keys("c"), [""; 0]);
    assert_eq!(keys("").len(), 8);
    assert!(matches!(storage.list::<String>("a"), Err(StorageError::Unreadable { .. })));
}

#[test]
fn an_error_undoes_a_transaction_and_only_that() {
    let (_folder, storage) = storage();
    storage.put("before", &1).unwrap();
    let result: Result<(), StorageError> = storage.transaction(|storage| {
        storage.put("before", &2)?;
        storage.put("inside", &2)?;
        Err(storage.get::<String>("before").unwrap_err())
    });
    assert!(matches!(result, Err(StorageError::Unreadable { .. })));
    assert_eq!(storage.get("before").unwrap(), Some(1));
    assert_eq!(storage.get::<i32>("inside").unwrap(), None);
    assert!(storage.finish(&nothing(), None).unwrap());
    assert_eq!(storage.get("before").unwrap(), Some(1));
}

#[test]
fn transactions_nest() {
    let (_folder, storage) = storage();
    let outer: Result<i32, StorageError> = storage.transaction(|storage| {
        storage.put("outer", &1)?;
        let inner = storage.transaction(|storage| {
            storage.put("outer", &2)?;
            storage.put("inner", &2)?;
            storage.transaction(|storage| storage.put("innermost", &3))?;
            Err::<(), _>(storage.get::<String>("inner").unwrap_err())
        });
        assert!(inner.is_err());
        storage.transaction(|storage| storage.put("kept", &4))?;
        Ok(5)
    });
    assert_eq!(outer.unwrap(), 5);
    assert!(storage.finish(&nothing(), None).unwrap());
    assert_eq!(storage.list("").unwrap(), [("kept".to_owned(), 4), ("outer".to_owned(), 1)]);

    let outer: Result<(), StorageError> = storage.transaction(|storage| {
        storage.transaction(|storage| storage.put("kept", &6))?;
        Err(storage.get::<String>("outer").unwrap_err())
    });
    assert!(outer.is_err());
    assert_eq!(storage.get("kept").unwrap(), Some(4));
}

#[test]
fn a_panic_undoes_a_transaction() {
    let (_folder, storage) = storage();
    storage.put("before", &1).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        storage.transaction(|storage| -> Result<(), StorageError> {
            storage.put("before", &2)?;
            panic!("as planned");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(storage.get("before").unwrap(), Some(1));
    assert!(storage.finish(&nothing(), None).unwrap());
}

#[test]
fn a_transaction_that_sqlite_undid_is_not_taken_for_kept() {
    let (_folder, storage) = storage();
    storage.execute("CREATE TABLE t (a UNIQUE)", ()).unwrap();
    storage.execute("INSERT INTO t VALUES (1)", ()).unwrap();
    storage.finish(&nothing(), None).unwrap();
    storage.put("before", &1).unwrap();
    let result: Result<(), StorageError> = storage.transaction(|storage| {
        drop(storage.execute("INSERT OR ROLLBACK INTO t VALUES (1)", ()));
        Ok(())
    });
    assert!(matches!(result, Err(StorageError::RolledBack { .. })), "{result:?}");
    assert!(storage.finish(&nothing(), None).is_err());
    assert_eq!(storage.get::<i32>("before").unwrap(), None);
}

#[test]
fn users_errors_pass_through_a_transaction() {
    #[derive(Debug)]
    enum CartError {
        Full,
        Storage(StorageError),
    }
    impl From<StorageError> for CartError {
        fn from(error: StorageError) -> Self {
            Self::Storage(error)
        }
    }
    let (_folder, storage) = storage();
    let result = storage.transaction(|_| Err::<(), _>(CartError::Full));
    assert!(matches!(result, Err(CartError::Full)));
    let result = storage.transaction(|storage| Ok::<_, CartError>(storage.execute("nonsense", ())?));
    assert!(matches!(result, Err(CartError::Storage(StorageError::Sqlite { .. }))));
}
