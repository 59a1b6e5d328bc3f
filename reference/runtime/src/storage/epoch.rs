//! The epoch that a database records: the number of the life that may write (G2).

use oncemore_protocol::identity::Incarnation;
use rusqlite::{Connection, OptionalExtension};

pub(super) fn read(connection: &Connection) -> rusqlite::Result<Option<Incarnation>> {
    let mut statement = connection.prepare_cached("SELECT incarnation FROM oncemore_epoch WHERE id = 1")?;
    // SQLite's integers are signed; the bits are what is stored.
    statement.query_row((), |row| row.get(0).map(i64::cast_unsigned).map(Incarnation)).optional()
}

pub(super) fn record(connection: &Connection, incarnation: Incarnation) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO oncemore_epoch (id, incarnation) VALUES (1, ?1)")?;
    statement.execute((incarnation.0.cast_signed(),)).map(drop)
}
