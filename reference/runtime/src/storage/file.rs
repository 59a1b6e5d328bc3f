//! Opening a SQLite file that is ours: of our application, of a version that we understand, and durable.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

/// What a file of ours is.
#[derive(Debug)]
pub(crate) struct Format {
    /// SQLite's `application_id`.
    pub(crate) application: i32,
    /// SQLite's `user_version`.
    pub(crate) version: i32,
    /// What makes the tables of a new file.
    pub(crate) schema: &'static str,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synchronous {
    Full,
    Off,
}

/// Why a file cannot be used.
#[derive(Debug)]
pub(crate) enum FileError {
    /// It is another application's.
    Foreign,
    /// It is of another version.
    Version {
        found: i64,
    },
    Io(io::Error),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for FileError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// What there was in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Ours,
}

impl Format {
    /// A connection for one thread at a time, with a write-ahead log. Nothing of another's file is changed.
    pub(crate) fn connect(
        &self,
        path: &Path,
        synchronous: Synchronous,
        busy_timeout: Duration,
    ) -> Result<Connection, FileError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(busy_timeout)?;
        self.look_alone(&connection)?;
        use_write_ahead_log(&connection, busy_timeout)?;
        let synchronous = match synchronous {
            Synchronous::Full => "FULL",
            Synchronous::Off => "OFF",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(connection)
    }

    /// Makes the tables of a new file; within a transaction that has the write lock, so that only one does.
    pub(crate) fn make(&self, connection: &Connection) -> Result<Found, FileError> {
        let found = self.look(connection)?;
        if found == Found::Nothing {
            connection.execute_batch(self.schema)?;
            connection.pragma_update(None, "application_id", self.application)?;
            connection.pragma_update(None, "user_version", self.version)?;
        }
        Ok(found)
    }

    fn look_alone(&self, connection: &Connection) -> Result<Found, FileError> {
        let transaction = connection.unchecked_transaction()?;
        let found = self.look(&transaction)?;
        transaction.commit()?;
        Ok(found)
    }

    /// Within a transaction: between two reads another process could make of an empty file what is ours.
    fn look(&self, connection: &Connection) -> Result<Found, FileError> {
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let (application, version) = (number("application_id")?, number("user_version")?);
        if application == i64::from(self.application) {
            let known = version == i64::from(self.version);
            return if known { Ok(Found::Ours) } else { Err(FileError::Version { found: version }) };
        }
        let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get::<_, i64>(0))?;
        if (application, version, tables) == (0, 0, 0) { Ok(Found::Nothing) } else { Err(FileError::Foreign) }
    }
}

/// SQLite does not wait for the locks of this change as it does for others, so this does.
fn use_write_ahead_log(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(10);
    let pauses = busy_timeout.as_millis() / PAUSE.as_millis();
    let mut tried = 0;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let what = format!("its file system allows no write-ahead log, only the journal mode {mode}");
                return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(what)));
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tried < pauses => {
                tried += 1;
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the folders above a file, durably: SQLite takes care of the file's own entry, and of nothing above it.
pub(crate) fn make_folders(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let new: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder)?;
    for made in new {
        let above = made.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Where a folder cannot be opened as a file, there is no way to make it durable, and no need.
        if cfg!(unix) {
            fs::File::open(above)?.sync_all()?;
        }
    }
    Ok(())
}
