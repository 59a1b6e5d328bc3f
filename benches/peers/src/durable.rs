//! Claims and results in SQLite, through the reference runtime's own code for tables, pragmas, claims and the epoch.
//!
//! The runtime keeps that code to itself, so it is compiled here from its source. What is told again here is the
//! transaction around it: take the write lock, see that the epoch is held, write, commit. Not here are the runtime's checks
//! of users' statements, which cost nothing once a statement has been prepared.

// The runtime's source is as long as the runtime needs it, and says `pub` to the runtime.
#[allow(dead_code, reason = "the runtime uses more of it")]
#[path = "../../../reference/runtime/src/storage/claims.rs"]
mod claims;
#[allow(dead_code, reason = "the runtime uses more of it")]
#[path = "../../../reference/runtime/src/storage/epoch.rs"]
mod epoch;
#[allow(dead_code, reason = "the runtime uses more of it")]
#[path = "../../../reference/runtime/src/storage/file.rs"]
mod file;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::store::{Key, Writes};
use rusqlite::Connection;

use crate::object::Disk;

/// As the runtime has it; a test compares.
const FORMAT: file::Format = file::Format { application: 0x4f6e_6365, version: 1, schema: SCHEMA };

const SCHEMA: &str = "
        CREATE TABLE oncemore_epoch (id INTEGER PRIMARY KEY CHECK (id = 1), incarnation INTEGER NOT NULL) STRICT;
        CREATE TABLE oncemore_claims (slot BLOB PRIMARY KEY, value BLOB NOT NULL, result BLOB) STRICT, WITHOUT ROWID;
        CREATE TABLE oncemore_kv (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
    ";

const HERE: Incarnation = Incarnation(1);

/// What a run's answer takes when it is stored (D5).
const RESULT: [u8; 64] = [7; 64];

/// An object's database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
}

impl Database {
    /// A new one. It waits for the disk at each commit only once [`Database::wait_for_disk`] has been called, so that it
    /// can be filled before.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("object.db");
        let connection = FORMAT.connect(&path, file::Synchronous::Off, Duration::from_secs(1)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        FORMAT.make(&connection).unwrap();
        epoch::record(&connection, HERE).unwrap();
        connection.execute_batch("COMMIT").unwrap();
        connection.set_prepared_statement_cache_capacity(64);
        Self { connection }
    }

    /// From now on a commit is durable when the disk says so.
    pub fn wait_for_disk(&self) {
        self.connection.pragma_update(None, "synchronous", "FULL").unwrap();
    }

    /// How many claims there are.
    #[must_use]
    pub fn claims(&self) -> i64 {
        let claims = "SELECT count(*) FROM oncemore_claims WHERE slot >= x'02'";
        self.connection.query_row(claims, (), |row| row.get(0)).unwrap()
    }

    fn run(&self, statement: &str) {
        self.connection.prepare_cached(statement).unwrap().execute(()).unwrap();
    }

    fn confirm(&self) {
        assert_eq!(epoch::read(&self.connection).unwrap(), Some(HERE));
    }

    fn commit(&self, write: impl FnOnce(&Connection) -> rusqlite::Result<()>) {
        self.run("BEGIN IMMEDIATE");
        self.confirm();
        write(&self.connection).unwrap();
        self.run("COMMIT");
    }
}

impl Disk for Database {
    fn store(&mut self, writes: &Writes) {
        self.commit(|connection| claims::apply(connection, writes));
    }

    fn finish(&mut self, writes: &Writes, results: &[Key]) {
        if writes.is_empty() && results.is_empty() {
            return self.confirm();
        }
        self.commit(|connection| {
            claims::apply(connection, writes)?;
            results.iter().try_for_each(|key| claims::put_result(connection, *key, &RESULT))
        });
    }
}

/// The least that a durable claim needs: one page written behind the last, and the disk's word that it is there.
#[derive(Debug)]
pub struct Log {
    file: File,
    pages: u64,
}

impl Log {
    /// As many pages as SQLite lets its log become before it begins anew.
    const PAGES: u64 = 1000;

    /// A new file that has its whole length, as SQLite's log has after a while: a page costs no more than itself then.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let mut file = File::create(folder.join("log")).unwrap();
        (0..Self::PAGES).for_each(|_| file.write_all(&[0; 4096]).unwrap());
        file.sync_all().unwrap();
        Self { file, pages: 0 }
    }

    /// One page.
    pub fn append(&mut self) {
        if self.pages.is_multiple_of(Self::PAGES) {
            self.file.seek(SeekFrom::Start(0)).unwrap();
        }
        self.pages += 1;
        self.file.write_all(&[3; 4096]).unwrap();
        self.file.sync_data().unwrap();
    }
}

#[cfg(test)]
mod tests {
    use oncemore_protocol::design::Design;

    use super::*;
    use crate::object::{Object, Shape};

    #[test]
    fn the_schema_is_the_runtime_s() {
        let runtime = include_str!("../../../reference/runtime/src/storage.rs");
        for statement in SCHEMA.trim().lines() {
            assert!(runtime.contains(statement.trim()), "{statement}");
        }
    }

    #[test]
    fn the_log_stays_as_long_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::new(folder.path());
        (0..3).for_each(|_| log.append());
        assert_eq!(log.file.metadata().unwrap().len(), 4096 * Log::PAGES);
    }

    #[test]
    fn claims_are_stored_and_erased() {
        for design in [Design::Durable, Design::DurableResults] {
            for batch in [1, 16] {
                let folder = tempfile::tempdir().unwrap();
                let mut database = Database::new(folder.path());
                let mut object = Object::empty(Shape::new(design, 32, 256));
                for _ in 0..1024 / batch {
                    object.admit_batch(batch, &mut database);
                }
                assert_eq!(database.claims().cast_unsigned(), object.live(), "{design:?} by {batch}");
            }
        }
    }
}
