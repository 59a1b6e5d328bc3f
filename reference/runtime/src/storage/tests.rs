mod claims;
mod crash;
mod fencing;
mod sql;
mod trouble;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use oncemore_protocol::identity::{CallerId, Incarnation, Number, Ordinal};
use oncemore_protocol::store::{Claim, Digest, Key, Slot, Value, Write, Writes};
use rusqlite::Connection;
use tempfile::TempDir;

use super::segment::Segment;
use super::{Durability, Settings, Storage, StorageError};

/// A folder of its own, and where an object's database would be in it.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Cart").join("object.db");
    (folder, path)
}

fn open(path: &Path, incarnation: u64) -> Storage {
    Storage::open(path, Incarnation(incarnation), Durability::Off).unwrap().0
}

/// Does not wait for locks.
fn impatient() -> Settings {
    Settings { durability: Durability::Off, busy_timeout: Duration::ZERO, pages_max: None }
}

/// A connection that knows nothing of our rules.
fn raw(path: &Path) -> Connection {
    let raw = Connection::open(path).unwrap();
    raw.busy_timeout(Duration::ZERO).unwrap();
    raw
}

fn nothing() -> Writes {
    Writes::default()
}

fn key(caller: u128, number: u64) -> Key {
    Key { caller: CallerId::from_bits(caller), number: Number(number) }
}

fn claim(finished: bool) -> Value {
    Value::Claim(Claim { highest: Ordinal(1), finished, digest: Digest(7), ..Claim::default() })
}

fn put_claim(key: Key) -> Writes {
    writes([(Slot::Claim(key), Some(claim(false)))])
}

fn finish_claim(key: Key) -> Writes {
    writes([(Slot::Claim(key), Some(claim(true)))])
}

fn writes<const N: usize>(writes: [Write; N]) -> Writes {
    writes.into_iter().collect()
}
