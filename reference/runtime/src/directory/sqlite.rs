use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use oncemore_protocol::identity::Incarnation;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior};
use tokio::task::spawn_blocking;

use super::{Change, DirectoryError, HostId, HostRecord, Place, Record, Registry};
use crate::clock::Clock;
use crate::id::ObjectId;
use crate::storage::file::{self, FileError, Format, Synchronous};

/// "Ondr", and what this code understands of it.
const FORMAT: Format = Format {
    application: 0x4f6e_6472,
    version: 1,
    schema: "
        CREATE TABLE hosts (
            name TEXT PRIMARY KEY, id INTEGER NOT NULL UNIQUE, address TEXT NOT NULL, classes BLOB NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE objects (class TEXT, key BLOB, record BLOB NOT NULL, PRIMARY KEY (class, key)) STRICT, WITHOUT ROWID;
    ",
};

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const HOST_COLUMNS: &str = "name, id, address, classes";

/// A directory in a file, which the processes of one machine share.
///
/// Leases are points of the machine's wall clock, since processes share no other. A clock that is set forward ends them
/// early, one that is set back lets them run longer; neither lets two hosts write for one object, since the epoch in the
/// object's storage sees to that (G2).
///
/// Everything runs on tokio's threads for blocking work: a commit waits for the disk, and any statement may wait seconds for
/// another process, while the thread that asks has objects to run.
#[derive(Clone, Debug)]
pub(super) struct Sqlite(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    clock: Clock,
    connection: Mutex<Connection>,
}

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, DirectoryError> {
        Self::open_with(path, Clock::system(), BUSY_TIMEOUT)
    }

    pub(super) fn open_with(path: &Path, clock: Clock, busy_timeout: Duration) -> Result<Self, DirectoryError> {
        let connection = connect(path, busy_timeout).map_err(|error| opening(path, error))?;
        Ok(Self(Arc::new(Inner { path: path.to_owned(), clock, connection: Mutex::new(connection) })))
    }

    #[cfg(test)]
    pub(super) fn pragma(&self, name: &str) -> rusqlite::types::Value {
        self.0.connection.lock().unwrap().pragma_query_value(None, name, |row| row.get(0)).unwrap()
    }

    /// Runs `act` in one transaction, away from the threads that run objects.
    fn transact<R: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        act: impl FnOnce(&At<'_>) -> Result<R, Trouble> + Send + 'static,
    ) -> BoxFuture<'static, Result<R, DirectoryError>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let acted = spawn_blocking(move || inner.transact(behavior, act)).await;
            acted.unwrap_or_else(|gone| Err(DirectoryError::Other(Box::new(gone))))
        })
    }
}

impl Inner {
    fn transact<R>(
        &self,
        behavior: TransactionBehavior,
        act: impl FnOnce(&At<'_>) -> Result<R, Trouble>,
    ) -> Result<R, DirectoryError> {
        // A panic ends the transaction that it was in, so that the connection is as good as before.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let acted = connection.transaction_with_behavior(behavior).map_err(Trouble::from).and_then(|transaction| {
            // Read once the lock is held: who waits for it must not act on a lease that was renewed meanwhile.
            let at = At { transaction, now_ms: self.clock.wall().as_nanos() / 1_000_000 };
            let acted = act(&at)?;
            at.transaction.commit()?;
            Ok(acted)
        });
        acted.map_err(|trouble| match trouble {
            Trouble::Sqlite(source) => DirectoryError::File { path: self.path.display().to_string(), source },
            Trouble::Directory(error) => error,
        })
    }
}

/// A transaction, and the time that it takes for now.
struct At<'a> {
    transaction: Transaction<'a>,
    now_ms: i64,
}

/// What ends a transaction early.
enum Trouble {
    Sqlite(rusqlite::Error),
    Directory(DirectoryError),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<DirectoryError> for Trouble {
    fn from(error: DirectoryError) -> Self {
        Self::Directory(error)
    }
}

impl At<'_> {
    fn expiry(&self, lease: Duration) -> i64 {
        self.now_ms.saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX))
    }

    fn register(&self, host: &HostRecord, lease: Duration) -> Result<(), Trouble> {
        let classes = rmp_serde::to_vec(&host.classes).map_err(|error| DirectoryError::Other(Box::new(error)))?;
        let sql = "INSERT OR REPLACE INTO hosts (name, id, address, classes, expires) VALUES (?1, ?2, ?3, ?4, ?5)";
        let id = host.id.0.cast_signed();
        self.transaction.prepare_cached(sql)?.execute((&host.name, id, &host.address, classes, self.expiry(lease)))?;
        Ok(())
    }

    fn renew(&self, host: HostId, lease: Duration) -> Result<bool, Trouble> {
        let mut renew = self.transaction.prepare_cached("UPDATE hosts SET expires = ?2 WHERE id = ?1")?;
        Ok(renew.execute((host.0.cast_signed(), self.expiry(lease)))? > 0)
    }

    fn leave(&self, host: HostId) -> Result<(), Trouble> {
        self.transaction.prepare_cached("DELETE FROM hosts WHERE id = ?1")?.execute((host.0.cast_signed(),))?;
        Ok(())
    }

    /// Where the object lives, if its host does.
    fn place(&self, record: Record) -> Result<Option<Place>, Trouble> {
        let mut living = self.transaction.prepare_cached("SELECT address FROM hosts WHERE id = ?1 AND expires > ?2")?;
        let host = record.host();
        let address = living.query_row((host.0.cast_signed(), self.now_ms), |row| row.get(0)).optional()?;
        Ok(address.map(|address| Place { host, address, incarnation: record.incarnation() }))
    }

    fn resolve(&self, object: &ObjectId) -> Result<Place, Trouble> {
        let before = self.look(object)?;
        let lives = before.map(|record| self.place(record)).transpose()?.flatten().is_some();
        let living = self.hosts()?;
        let nobody = || DirectoryError::NoHost { class: object.class().to_owned() };
        let record = Record::resolved(before, lives, || HostRecord::choose(object, &living)).ok_or_else(nobody)?;
        if before != Some(record) {
            self.put(object, record)?;
            if let Some(before) = before {
                // Its lease has run out, and somebody has acted on it: from now on it is dead.
                self.leave(before.host())?;
            }
        }
        Ok(self.place(record)?.ok_or_else(nobody)?)
    }

    fn look(&self, object: &ObjectId) -> Result<Option<Record>, Trouble> {
        let mut look = self.transaction.prepare_cached("SELECT record FROM objects WHERE class = ?1 AND key = ?2")?;
        let record = look.query_row((object.class(), object.key()), |row| row.get::<_, Vec<u8>>(0)).optional()?;
        let record = record.map(|bytes| rmp_serde::from_slice(&bytes)).transpose();
        Ok(record.map_err(|error: rmp_serde::decode::Error| damaged(format!("{object:?}"), &error))?)
    }

    fn put(&self, object: &ObjectId, record: Record) -> Result<(), Trouble> {
        let bytes = rmp_serde::to_vec(&record).map_err(|error| DirectoryError::Other(Box::new(error)))?;
        let sql = "INSERT OR REPLACE INTO objects (class, key, record) VALUES (?1, ?2, ?3)";
        self.transaction.prepare_cached(sql)?.execute((object.class(), object.key(), bytes))?;
        Ok(())
    }

    fn change(&self, object: &ObjectId, owner: Incarnation, change: Change) -> Result<Option<Record>, Trouble> {
        let changed = self.look(object)?.and_then(|record| record.changed(owner, change));
        if let Some(changed) = changed {
            self.put(object, changed)?;
        }
        Ok(changed)
    }

    fn hosts(&self) -> Result<Vec<HostRecord>, Trouble> {
        let sql = format!("SELECT {HOST_COLUMNS} FROM hosts WHERE expires > ?1 ORDER BY name");
        let mut living = self.transaction.prepare_cached(&sql)?;
        let mut rows = living.query((self.now_ms,))?;
        let mut hosts = Vec::new();
        while let Some(row) = rows.next()? {
            hosts.push(host(row)?);
        }
        Ok(hosts)
    }
}

/// Reads the [`HOST_COLUMNS`].
fn host(row: &Row<'_>) -> Result<HostRecord, Trouble> {
    let name: String = row.get(0)?;
    let classes = rmp_serde::from_slice(&row.get::<_, Vec<u8>>(3)?)
        .map_err(|error| damaged(format!("the host {name:?}"), &error))?;
    Ok(HostRecord { id: HostId(row.get::<_, i64>(1)?.cast_unsigned()), address: row.get(2)?, name, classes })
}

fn damaged(object: String, error: &rmp_serde::decode::Error) -> DirectoryError {
    DirectoryError::Damaged { object, what: error.to_string() }
}

fn connect(path: &Path, busy_timeout: Duration) -> Result<Connection, FileError> {
    file::make_folders(path).map_err(FileError::Io)?;
    let mut connection = FORMAT.connect(path, Synchronous::Full, busy_timeout)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    FORMAT.make(&transaction)?;
    transaction.commit()?;
    Ok(connection)
}

fn opening(path: &Path, error: FileError) -> DirectoryError {
    let path = path.display().to_string();
    match error {
        FileError::Foreign => DirectoryError::Foreign { path },
        FileError::Version { found } => DirectoryError::Version { path, found, known: FORMAT.version.into() },
        FileError::Io(source) => DirectoryError::Io { path, source },
        FileError::Sqlite(source) if source.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            DirectoryError::Foreign { path }
        }
        FileError::Sqlite(source) => DirectoryError::File { path, source },
    }
}

impl Registry for Sqlite {
    fn register<'a>(&'a self, host: &'a HostRecord, lease: Duration) -> BoxFuture<'a, Result<(), DirectoryError>> {
        let host = host.clone();
        self.transact(TransactionBehavior::Immediate, move |at| at.register(&host, lease))
    }

    fn renew(&self, host: HostId, lease: Duration) -> BoxFuture<'_, Result<bool, DirectoryError>> {
        self.transact(TransactionBehavior::Immediate, move |at| at.renew(host, lease))
    }

    fn leave(&self, host: HostId) -> BoxFuture<'_, Result<(), DirectoryError>> {
        self.transact(TransactionBehavior::Immediate, move |at| at.leave(host))
    }

    fn resolve<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<Place, DirectoryError>> {
        let (reads, writes) = (object.clone(), object.clone());
        Box::pin(async move {
            // Nearly always the object's host lives, and then nobody has to wait for the write lock.
            let found = self.transact(TransactionBehavior::Deferred, move |at| {
                at.look(&reads)?.map_or(Ok(None), |record| at.place(record))
            });
            match found.await? {
                Some(place) => Ok(place),
                None => self.transact(TransactionBehavior::Immediate, move |at| at.resolve(&writes)).await,
            }
        })
    }

    fn look<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<Option<Record>, DirectoryError>> {
        let object = object.clone();
        self.transact(TransactionBehavior::Deferred, move |at| at.look(&object))
    }

    fn change<'a>(
        &'a self,
        object: &'a ObjectId,
        owner: Incarnation,
        change: Change,
    ) -> BoxFuture<'a, Result<Option<Record>, DirectoryError>> {
        let object = object.clone();
        self.transact(TransactionBehavior::Immediate, move |at| at.change(&object, owner, change))
    }

    fn hosts(&self) -> BoxFuture<'_, Result<Vec<HostRecord>, DirectoryError>> {
        self.transact(TransactionBehavior::Deferred, |at| at.hosts())
    }
}
