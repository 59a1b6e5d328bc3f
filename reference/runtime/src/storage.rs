//! An object's own SQLite database: its data, its claims (D4, D5), and the epoch that fences it (G2, G12).
//!
//! What a run writes is one transaction, which is committed before anything that rests on it leaves: the run's answer, and
//! each call that it makes to another object. Between two such points lies a *segment*. Its first write takes the write
//! lock and looks whether this incarnation still holds the epoch, so that a predecessor that does not know can write
//! nothing; and since the lock is kept until the commit, nobody can take the epoch in between.
//!
//! One run at a time writes in a segment. Whatever is open is committed or rolled back as a whole.
//!
//! No loss is hidden: once a segment is undone by SQLite, after an error, nothing can be read, written or committed until
//! the run is over; and if others may have run meanwhile, until the object begins anew ([`StorageError::RolledBack`]).

mod authorizer;
mod claims;
mod epoch;
mod error;
pub(crate) mod file;
mod nested;
mod segment;
mod sql;
#[cfg(test)]
mod tests;
mod values;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use oncemore_protocol::identity::Incarnation;
use oncemore_protocol::store::{Key, Slot, Value};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use authorizer::Guard;
use file::{Format, Synchronous};
use segment::Segment;

pub use error::StorageError;

/// "Once", and what this code understands of it.
const FORMAT: Format = Format {
    application: 0x4f6e_6365,
    version: 1,
    schema: "
        CREATE TABLE oncemore_epoch (id INTEGER PRIMARY KEY CHECK (id = 1), incarnation INTEGER NOT NULL) STRICT;
        CREATE TABLE oncemore_claims (slot BLOB PRIMARY KEY, value BLOB NOT NULL, result BLOB) STRICT, WITHOUT ROWID;
        CREATE TABLE oncemore_kv (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
    ",
};

/// Our tables. A user's table may have any other name.
const TABLES: [&str; 3] = ["oncemore_epoch", "oncemore_claims", "oncemore_kv"];

/// When a commit is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once the disk says so: what was acknowledged survives a loss of power.
    #[default]
    Full,
    /// Once the operating system has it: survives the death of the process only. For simulations.
    Off,
}

/// How an object's database is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) durability: Durability,
    /// How long to wait for a lock that another connection holds: a predecessor in the middle of a write, or a backup. The
    /// thread's other objects wait with it.
    pub(crate) busy_timeout: Duration,
    /// How many pages of 4 KiB the database may have; SQLite's own limit if none.
    pub(crate) pages_max: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { durability: Durability::Full, busy_timeout: Duration::from_secs(1), pages_max: None }
    }
}

impl From<Durability> for Settings {
    fn from(durability: Durability) -> Self {
        Self { durability, ..Self::default() }
    }
}

/// The handle that an object's code has. It belongs to the thread of its object.
///
/// Values under keys are the simple way to keep data; SQL is there for the rest. Whatever a call of the object writes is
/// one transaction, together with everything else that the call writes until it ends or calls another object.
///
/// ```
/// use oncemore::{Storage, StorageError};
///
/// fn add_one(storage: &Storage, item: &str) -> Result<u32, StorageError> {
///     let quantity = storage.get::<u32>(item)?.unwrap_or(0) + 1;
///     storage.put(item, &quantity)?;
///     Ok(quantity)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Storage(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    connection: Connection,
    path: PathBuf,
    guard: Arc<Guard>,
    incarnation: Cell<Incarnation>,
    segment: Cell<Segment>,
    /// Who held the epoch when this life was found to have lost it. It never gets it back.
    fenced: Cell<Option<Incarnation>>,
    /// The error because of which the segment is lost.
    loss: RefCell<Option<String>>,
}

impl Storage {
    /// The object's database at `path`, which is made if it is not there, for a life that begins; and the claims in it.
    ///
    /// From here on every earlier life is fenced (G2). A claim that cannot be read comes back as a value in another's slot,
    /// which `Claims::open` takes for a reason to doubt everything that was born before.
    pub(crate) fn open(
        path: &Path,
        incarnation: Incarnation,
        settings: impl Into<Settings>,
    ) -> Result<(Self, Vec<(Slot, Value)>), StorageError> {
        let settings = settings.into();
        let synchronous = match settings.durability {
            Durability::Full => Synchronous::Full,
            Durability::Off => Synchronous::Off,
        };
        let mut connection = file::make_folders(path)
            .map_err(file::FileError::Io)
            .and_then(|()| FORMAT.connect(path, synchronous, settings.busy_timeout))
            .map_err(|error| error::opening(path, error))?;
        let guard = Arc::new(Guard::default());
        let installed = authorizer::install(&mut connection, &guard);
        let this = Self(Rc::new(Inner {
            connection,
            path: path.to_owned(),
            guard,
            incarnation: Cell::new(incarnation),
            segment: Cell::new(Segment::Closed),
            fenced: Cell::new(None),
            loss: RefCell::default(),
        }));
        this.seen(installed)?;
        let claims = this.begin_life(incarnation)?;
        this.configure(&settings)?;
        Ok((this, claims))
    }

    /// Which life this is.
    pub(crate) fn incarnation(&self) -> Incarnation {
        self.0.incarnation.get()
    }

    /// The result that was stored for an identity (D5).
    pub(crate) fn result(&self, key: Key) -> Result<Option<Vec<u8>>, StorageError> {
        self.ready()?;
        let _own = self.0.guard.ours();
        self.seen(claims::result(&self.0.connection, key))
    }

    /// The epoch is recorded in the same transaction that makes the tables, so that there is no database without one.
    fn begin_life(&self, incarnation: Incarnation) -> Result<Vec<(Slot, Value)>, StorageError> {
        let connection = &self.0.connection;
        self.seen(segment::run(connection, "BEGIN IMMEDIATE"))?;
        // An error drops the connection, and with it the transaction.
        if FORMAT.make(connection).map_err(|error| error::opening(&self.0.path, error))? == file::Found::Ours {
            let held = self.recorded_epoch()?;
            if !incarnation.may_follow(held) {
                return Err(self.fenced_by(held));
            }
        }
        self.seen(epoch::record(connection, incarnation))?;
        let claims = self.seen(claims::load(connection))?;
        self.seen(segment::run(connection, "COMMIT"))?;
        Ok(claims)
    }

    fn configure(&self, settings: &Settings) -> Result<(), StorageError> {
        let connection = &self.0.connection;
        connection.set_prepared_statement_cache_capacity(64);
        // No statement of a user can damage the file.
        self.seen(connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true))?;
        if let Some(pages_max) = settings.pages_max {
            let set = connection.pragma_update_and_check(None, "max_page_count", pages_max, |row| row.get::<_, i64>(0));
            self.seen(set)?;
        }
        Ok(())
    }

    fn recorded_epoch(&self) -> Result<Incarnation, StorageError> {
        let recorded = self.seen(epoch::read(&self.0.connection))?;
        recorded.ok_or_else(|| StorageError::Corrupt {
            path: self.0.path.clone(),
            what: "the epoch is missing from it".to_owned(),
        })
    }

    /// An error as users see it. Whatever it is, SQLite may have undone the whole segment because of it.
    fn seen<R>(&self, result: rusqlite::Result<R>) -> Result<R, StorageError> {
        result.map_err(|source| {
            let open = self.0.segment.get() == Segment::Open;
            self.notice_loss();
            let error = error::from_sqlite(&self.0.path, source, self.0.guard.refused());
            if open && self.0.segment.get() == Segment::Lost {
                self.0.loss.replace(Some(error.to_string()));
            }
            error
        })
    }
}
