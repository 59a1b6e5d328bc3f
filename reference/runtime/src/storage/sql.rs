use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, CachedStatement, Params, Row};

use super::{Storage, StorageError};

/// Keeps users' statements and ours apart in the cache: what one may do, the other may not.
const THEIRS: &str = "/**/";

impl Storage {
    /// Runs one statement that returns no rows, and says how many it changed.
    ///
    /// Transactions are [`Storage::transaction`]'s: `BEGIN`, `COMMIT` and their like are refused, as are `ATTACH`, `PRAGMA`,
    /// `VACUUM`, temporary tables, and names that begin with `oncemore_`.
    ///
    /// ```
    /// use oncemore::{Storage, StorageError};
    ///
    /// fn add(storage: &Storage, item: &str, quantity: u32) -> Result<(), StorageError> {
    ///     storage.execute("CREATE TABLE IF NOT EXISTS items (name TEXT PRIMARY KEY, quantity INTEGER)", ())?;
    ///     storage.execute("INSERT INTO items VALUES (?1, ?2)", (item, quantity))?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`StorageError::Forbidden`] if it is refused, [`StorageError::Full`] if there is no room; another [`StorageError`] if
    /// it is wrong or the storage cannot be used.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StorageError> {
        let mut statement = self.prepare(sql)?;
        let _user = self.0.guard.users();
        self.seen(statement.execute(params))
    }

    /// Runs several statements, one after the other, until one fails. What they return is dropped.
    ///
    /// # Errors
    /// As [`Storage::execute`].
    pub fn execute_batch(&self, sql: &str) -> Result<(), StorageError> {
        self.begin()?;
        let _user = self.0.guard.users();
        self.seen(Batch::new(&self.0.connection, sql).for_each(|mut statement| {
            let mut rows = statement.query(())?;
            while rows.next()?.is_some() {}
            Ok(())
        }))
    }

    /// Runs one statement, and maps each row that it returns.
    ///
    /// ```
    /// use oncemore::{Storage, StorageError};
    ///
    /// fn more_than(storage: &Storage, quantity: u32) -> Result<Vec<String>, StorageError> {
    ///     storage.query("SELECT name FROM items WHERE quantity > ?1 ORDER BY name", (quantity,), |row| row.get(0))
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Storage::execute`], or what `map` returns.
    pub fn query<R>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<R>,
    ) -> Result<Vec<R>, StorageError> {
        self.rows(sql, params, usize::MAX, map)
    }

    /// Runs one statement, and maps the first row that it returns; none if it returns none.
    ///
    /// # Errors
    /// As [`Storage::query`].
    pub fn query_one<R>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<R>,
    ) -> Result<Option<R>, StorageError> {
        Ok(self.rows(sql, params, 1, map)?.pop())
    }

    fn rows<R>(
        &self,
        sql: &str,
        params: impl Params,
        limit: usize,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<R>,
    ) -> Result<Vec<R>, StorageError> {
        let mut statement = self.prepare(sql)?;
        let whole = !statement.readonly();
        let _user = self.0.guard.users();
        self.seen(statement.query(params).and_then(|mut rows| {
            let mut mapped = Vec::new();
            // A statement that writes, such as INSERT … RETURNING, must come to its end.
            while (whole || mapped.len() < limit)
                && let Some(row) = rows.next()?
            {
                if mapped.len() < limit {
                    mapped.push(map(row)?);
                }
            }
            Ok(mapped)
        }))
    }

    /// A statement of the user's; if it writes, within the segment.
    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, StorageError> {
        self.ready()?;
        let _user = self.0.guard.users();
        let statement = self.seen(self.0.connection.prepare_cached(&format!("{THEIRS}{sql}")))?;
        if !statement.readonly() {
            self.begin()?;
        }
        Ok(statement)
    }
}
