use std::path::{Path, PathBuf};

use oncemore_protocol::identity::Incarnation;
use rusqlite::ErrorCode;

use super::FORMAT;
use super::file::FileError;

/// Why an object's storage could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// This life of the object has lost its data to a later one (G2). Whatever it does, it can write nothing.
    #[error(
        "this life of the object may not use the storage {path} any more, which belongs to incarnation {}: let the call \
         fail, so that its caller goes there",
        held.0
    )]
    Fenced {
        /// Which file.
        path: PathBuf,
        /// Who holds the epoch.
        held: Incarnation,
    },
    /// There is no room on the disk, or the object has reached its limit.
    #[error(
        "the storage {path} has no room for this write: make room on its disk, or delete some of the object's data"
    )]
    Full {
        /// Which file.
        path: PathBuf,
    },
    /// Another connection holds a lock for too long.
    #[error("the storage {path} is locked by another connection: close the program that uses it, and try again")]
    Locked {
        /// Which file.
        path: PathBuf,
    },
    /// The file is a damaged database.
    #[error("the storage {path} is damaged ({what}): restore it from a backup")]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The file is no database, or another program's.
    #[error("the file {path} is not the storage of an object: move it away, or choose another folder")]
    NotAStorage {
        /// Which file.
        path: PathBuf,
    },
    /// The file has the format of another version.
    #[error(
        "the storage {path} has format {found}, and this program understands {known}: use a program of that format"
    )]
    Version {
        /// Which file.
        path: PathBuf,
        /// What it says of itself.
        found: i64,
        /// What this program understands.
        known: i64,
    },
    /// The file or its folder cannot be used.
    #[error("the storage {path} cannot be made or opened: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// SQLite does not do what it was asked for.
    #[error("the storage {path} refuses: {source}")]
    Sqlite {
        /// Which file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// An earlier error, or a statement with `OR ROLLBACK`, made SQLite undo all that the call had written.
    #[error(
        "all that this call had written to the storage {path} was undone because of an earlier error, so it can write \
         nothing more: let the call fail{}",
        why.as_ref().map(|why| format!(" (the error was: {why})")).unwrap_or_default()
    )]
    RolledBack {
        /// Which file.
        path: PathBuf,
        /// The earlier error, if it is known.
        why: Option<String>,
    },
    /// A statement that would break what the runtime promises.
    #[error("the storage {path} does not take this statement, since it {what}: leave that to the runtime")]
    Forbidden {
        /// Which file.
        path: PathBuf,
        /// What it would do.
        what: String,
    },
    /// A value cannot be written as MessagePack.
    #[error("the value for the key {key:?} cannot be stored: {source}")]
    Unwritable {
        /// Under which key.
        key: String,
        /// What is wrong with it.
        source: rmp_serde::encode::Error,
    },
    /// A stored value is not of the type that was asked for.
    #[error("the value under the key {key:?} is not of the type that was asked for: {source}")]
    Unreadable {
        /// Under which key.
        key: String,
        /// What is wrong with it.
        source: rmp_serde::decode::Error,
    },
}

/// `refused` is what the authorizer found, if it was the authorizer.
pub(super) fn from_sqlite(path: &Path, source: rusqlite::Error, refused: Option<String>) -> StorageError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StorageError::Locked { path },
        Some(ErrorCode::DiskFull) => StorageError::Full { path },
        Some(ErrorCode::DatabaseCorrupt) => StorageError::Corrupt { path, what: source.to_string() },
        Some(ErrorCode::NotADatabase) => StorageError::NotAStorage { path },
        // Where SQLite prepares statements of its own, it reports the refusal of one as any other error.
        Some(_) | None => match refused {
            Some(what) => StorageError::Forbidden { path, what },
            None => StorageError::Sqlite { path, source },
        },
    }
}

pub(super) fn opening(path: &Path, error: FileError) -> StorageError {
    let known = i64::from(FORMAT.version);
    match error {
        FileError::Foreign => StorageError::NotAStorage { path: path.to_owned() },
        FileError::Version { found } => StorageError::Version { path: path.to_owned(), found, known },
        FileError::Io(source) => StorageError::Io { path: path.to_owned(), source },
        FileError::Sqlite(source) => from_sqlite(path, source, None),
    }
}
