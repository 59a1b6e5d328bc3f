//! Who hosts which object, and under which incarnation (D3).
//!
//! The rules of ownership are `oncemore_protocol::directory`'s; a [`Registry`] only keeps its records, so that two who
//! change one record at the same time find out.

mod memory;
mod placement;
mod record;
mod sqlite;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use oncemore_protocol::identity::Incarnation;

use crate::id::ObjectId;

pub use record::{Change, HostId, HostRecord, Place, Record};

/// A directory that hosts and callers share.
#[derive(Clone)]
pub struct Directory(Arc<dyn Registry>);

impl Directory {
    /// The SQLite file at `path`, shared by the hosts and callers of one machine; it is made if it is not there.
    ///
    /// # Errors
    /// [`DirectoryError`] if the file cannot be made or opened, or is no directory of a version that this one understands.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DirectoryError> {
        Ok(Self::with(sqlite::Sqlite::open(path.as_ref())?))
    }

    /// A directory in this process's memory, for tests.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(memory::Memory::default())
    }

    /// A directory of your own.
    #[must_use]
    pub fn with(registry: impl Registry) -> Self {
        Self(Arc::new(registry))
    }

    pub(crate) fn registry(&self) -> &dyn Registry {
        &*self.0
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Where the records of hosts and objects are kept. Every method is atomic, and durable once it returns.
pub trait Registry: fmt::Debug + Send + Sync + 'static {
    /// A host begins to serve. Its lease runs from now; an earlier life with the same name ends here.
    fn register<'a>(&'a self, host: &'a HostRecord, lease: Duration) -> BoxFuture<'a, Result<(), DirectoryError>>;

    /// A host lives: its lease runs from now. False: it has been declared dead meanwhile, and must stop.
    fn renew(&self, host: HostId, lease: Duration) -> BoxFuture<'_, Result<bool, DirectoryError>>;

    /// A host serves no more; whatever it still owns is for others to take.
    fn leave(&self, host: HostId) -> BoxFuture<'_, Result<(), DirectoryError>>;

    /// Where an object lives; one that nobody serves, or whose host is dead, is given to a living host that serves its
    /// class, with a new incarnation.
    fn resolve<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<Place, DirectoryError>>;

    /// What the directory knows of an object, without changing it.
    fn look<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<Option<Record>, DirectoryError>>;

    /// Changes an object's record, if `owner` is still its incarnation. None: it is not, and nothing was changed.
    fn change<'a>(
        &'a self,
        object: &'a ObjectId,
        owner: Incarnation,
        change: Change,
    ) -> BoxFuture<'a, Result<Option<Record>, DirectoryError>>;

    /// The hosts whose leases have not run out, by name.
    fn hosts(&self) -> BoxFuture<'_, Result<Vec<HostRecord>, DirectoryError>>;
}

/// Why a directory could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// Nobody serves the class now. Callers take it for an object that is not reachable, and try again.
    #[error("no living host serves the class {class}: start one, or wait for one that is starting")]
    NoHost {
        /// The class.
        class: String,
    },
    /// The file could not be used.
    #[error("the directory {path} cannot be used: {source}")]
    File {
        /// Which file.
        path: String,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The file or its folder could not be made or opened.
    #[error("the directory {path} cannot be made or opened: {source}")]
    Io {
        /// Which file.
        path: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The file is no database, or one of another program.
    #[error("the file {path} is no directory but another program's file: choose another one")]
    Foreign {
        /// Which file.
        path: String,
    },
    /// The file is a directory of another version.
    #[error(
        "the directory {path} has version {found}, and this program understands {known}: use a program of that version"
    )]
    Version {
        /// Which file.
        path: String,
        /// What it says of itself.
        found: i64,
        /// What this program understands.
        known: i64,
    },
    /// A record that makes no sense.
    #[error("the directory's record of {object} is damaged: {what}")]
    Damaged {
        /// Whose record.
        object: String,
        /// What is wrong with it.
        what: String,
    },
    /// A registry of your own could not answer.
    #[error("the directory cannot be used: {0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}
