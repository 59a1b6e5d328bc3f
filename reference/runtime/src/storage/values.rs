use rusqlite::OptionalExtension;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Storage, StorageError, TABLES};

impl Storage {
    /// The value under a key; none if there is none.
    ///
    /// # Errors
    /// [`StorageError::Unreadable`] if it is no `T`; another [`StorageError`] if the storage cannot be used.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StorageError> {
        self.ready()?;
        let _own = self.0.guard.ours();
        let bytes = self.seen(
            self.0
                .connection
                .prepare_cached("SELECT value FROM oncemore_kv WHERE key = ?1")
                .and_then(|mut statement| statement.query_row((key,), |row| row.get::<_, Vec<u8>>(0)).optional()),
        )?;
        bytes.map(|bytes| decode(key, &bytes)).transpose()
    }

    /// Puts a value under a key, in place of one that is there.
    ///
    /// It is stored as MessagePack with the names of its fields, so that a field with a default may be added later.
    ///
    /// # Errors
    /// [`StorageError::Unwritable`] if it cannot be written as MessagePack, [`StorageError::Full`] if there is no room;
    /// another [`StorageError`] if the storage cannot be used.
    pub fn put<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<(), StorageError> {
        let bytes = rmp_serde::to_vec_named(value)
            .map_err(|source| StorageError::Unwritable { key: key.to_owned(), source })?;
        let put = "INSERT INTO oncemore_kv (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
        self.write(put, (key, bytes)).map(drop)
    }

    /// Removes a key and its value. False: there was none.
    ///
    /// # Errors
    /// [`StorageError`] if the storage cannot be used.
    pub fn delete(&self, key: &str) -> Result<bool, StorageError> {
        Ok(self.write("DELETE FROM oncemore_kv WHERE key = ?1", (key,))? > 0)
    }

    /// The keys that begin with `prefix` and their values, by key. All of them, for an empty prefix.
    ///
    /// # Errors
    /// [`StorageError::Unreadable`] if one is no `T`; another [`StorageError`] if the storage cannot be used.
    pub fn list<T: DeserializeOwned>(&self, prefix: &str) -> Result<Vec<(String, T)>, StorageError> {
        self.ready()?;
        let _own = self.0.guard.ours();
        let from = "SELECT key, value FROM oncemore_kv WHERE key >= ?1 ORDER BY key";
        let entries = self.seen(self.0.connection.prepare_cached(from).and_then(|mut statement| {
            let mut rows = statement.query((prefix,))?;
            let mut entries = Vec::<(String, Vec<u8>)>::new();
            while let Some(row) = rows.next()? {
                let key: String = row.get(0)?;
                if !key.starts_with(prefix) {
                    break;
                }
                entries.push((key, row.get(1)?));
            }
            Ok(entries)
        }))?;
        let decoded = entries.into_iter().map(|(key, bytes)| decode(&key, &bytes).map(|value| (key, value)));
        decoded.collect()
    }

    /// Deletes all of the object's data: every key, and every table and view made with SQL.
    ///
    /// What the runtime knows of calls and of the object's lives is kept: deleted data must not let a call run twice.
    ///
    /// # Errors
    /// [`StorageError`] if the storage cannot be used; then nothing is deleted.
    pub fn clear(&self) -> Result<(), StorageError> {
        self.transaction(|storage| {
            let _own = storage.0.guard.ours();
            let connection = &storage.0.connection;
            storage.seen(connection.prepare_cached("DELETE FROM oncemore_kv").and_then(|mut all| all.execute(())))?;
            // Tables refer to each other, and all of them go.
            storage.seen(connection.pragma_update(None, "defer_foreign_keys", true))?;
            for drop in storage.seen(drops(connection))? {
                storage.seen(connection.execute_batch(&drop))?;
            }
            storage.seen(connection.pragma_update(None, "defer_foreign_keys", false))
        })
    }

    fn write(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StorageError> {
        self.begin()?;
        let _own = self.0.guard.ours();
        self.seen(self.0.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)))
    }
}

/// What deletes all that is not ours. Virtual tables come first: tables that they keep go with them.
fn drops(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<String>> {
    let mut all = connection.prepare(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         ORDER BY type = 'table', sql NOT LIKE 'create virtual%'",
    )?;
    let all = all.query_map((), |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let all = all.collect::<rusqlite::Result<Vec<_>>>()?;
    let theirs = all.into_iter().filter(|(_, name)| !TABLES.contains(&name.as_str()));
    Ok(theirs.map(|(kind, name)| format!("DROP {kind} IF EXISTS main.\"{}\"", name.replace('"', "\"\""))).collect())
}

fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<T, StorageError> {
    rmp_serde::from_slice(bytes).map_err(|source| StorageError::Unreadable { key: key.to_owned(), source })
}
