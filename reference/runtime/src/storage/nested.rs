use super::{Storage, StorageError, segment};

/// The innermost savepoint of a name is the one that is meant, so one name is enough.
const SAVE: &str = "SAVEPOINT oncemore";
const KEEP: &str = "RELEASE oncemore";
const UNDO: &str = "ROLLBACK TO oncemore";

impl Storage {
    /// All or nothing: an error or a panic in `body` undoes what was written inside. It may nest.
    ///
    /// What is kept becomes durable with all else that the call writes.
    ///
    /// ```
    /// use oncemore::{Storage, StorageError};
    ///
    /// fn move_all(storage: &Storage, from: &str, to: &str) -> Result<u32, StorageError> {
    ///     storage.transaction(|storage| {
    ///         let moved = storage.get::<u32>(from)?.unwrap_or(0);
    ///         storage.delete(from)?;
    ///         let sum = storage.get::<u32>(to)?.unwrap_or(0) + moved;
    ///         storage.put(to, &sum)?;
    ///         Ok(sum)
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// What `body` returns, or a [`StorageError`] if what it wrote could not be kept.
    pub fn transaction<R, E>(&self, body: impl FnOnce(&Self) -> Result<R, E>) -> Result<R, E>
    where
        E: From<StorageError>,
    {
        self.begin()?;
        self.savepoint(SAVE)?;
        let inside = Inside { storage: self, kept: false };
        let result = body(self)?;
        inside.keep()?;
        Ok(result)
    }

    fn savepoint(&self, statement: &str) -> Result<(), StorageError> {
        let _own = self.0.guard.ours();
        self.seen(segment::run(&self.0.connection, statement))
    }
}

/// Undoes what was written since the savepoint, unless it is kept.
struct Inside<'a> {
    storage: &'a Storage,
    kept: bool,
}

impl Inside<'_> {
    fn keep(mut self) -> Result<(), StorageError> {
        // A savepoint that SQLite has undone, with all around it, cannot be kept.
        self.storage.ready()?;
        self.storage.savepoint(KEEP)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let storage = self.storage;
        let undone = storage.ready().and_then(|()| storage.savepoint(UNDO)).and_then(|()| storage.savepoint(KEEP));
        // Half of a transaction must not be kept: the run loses all of it.
        if undone.is_err() {
            storage.lose();
        }
    }
}
