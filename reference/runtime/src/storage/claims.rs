//! Claims and results as rows (D4, D5): what `oncemore_protocol::store::Stored` does with a table, in SQL.
//!
//! A slot is a key that sorts as slots do, so that a caller's claims lie side by side. A result is a column of its claim's
//! row, so that it is kept no longer than its claim.

use oncemore_protocol::identity::{CallerId, Number};
use oncemore_protocol::store::{Claim, Key, Slot, Value, Window, Writes};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};

const EPOCH: u8 = 0;
const CALLER: u8 = 1;
const CLAIM: u8 = 2;

/// Makes the changes, within the transaction that is open.
pub(super) fn apply(connection: &Connection, writes: &Writes) -> rusqlite::Result<()> {
    for (slot, value) in writes {
        if let (Slot::Epoch, Some(_)) = (slot, value) {
            connection.prepare_cached("DELETE FROM oncemore_claims")?.execute(())?;
        }
        match value {
            Some(value) => put(connection, slot, value)?,
            None => erase(connection, slot)?,
        }
        if let (Slot::Caller(caller), Some(Value::Caller(window))) = (slot, value) {
            close(connection, *caller, window)?;
        }
    }
    Ok(())
}

/// All of it. What cannot be read is given as a value in another's slot, so that it is not taken for nothing.
pub(super) fn load(connection: &Connection) -> rusqlite::Result<Vec<(Slot, Value)>> {
    let damage = (Slot::Epoch, Value::Claim(Claim::default()));
    let mut statement = connection.prepare("SELECT slot, value FROM oncemore_claims ORDER BY slot")?;
    let rows = statement.query_map((), |row| Ok(read(row.get_ref(0)?, row.get_ref(1)?).unwrap_or(damage)))?;
    rows.collect()
}

pub(super) fn result(connection: &Connection, key: Key) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT result FROM oncemore_claims WHERE slot = ?1")?;
    Ok(statement.query_row((slot_key(&Slot::Claim(key)),), |row| row.get(0)).optional()?.flatten())
}

/// Stores the result of a run beside its claim; nothing, if the claim has been erased meanwhile.
pub(super) fn put_result(connection: &Connection, key: Key, result: &[u8]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("UPDATE oncemore_claims SET result = ?2 WHERE slot = ?1")?;
    statement.execute((slot_key(&Slot::Claim(key)), result)).map(drop)
}

fn put(connection: &Connection, slot: &Slot, value: &Value) -> rusqlite::Result<()> {
    let value = rmp_serde::to_vec(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO oncemore_claims (slot, value) VALUES (?1, ?2) ON CONFLICT (slot) DO UPDATE SET value = ?2",
    )?;
    statement.execute((slot_key(slot), value)).map(drop)
}

fn erase(connection: &Connection, slot: &Slot) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM oncemore_claims WHERE slot = ?1")?.execute((slot_key(slot),)).map(drop)
}

/// Erases a caller's claims that can never be asked for again.
fn close(connection: &Connection, caller: CallerId, window: &Window) -> rusqlite::Result<()> {
    let key = |number| slot_key(&Slot::Claim(Key { caller, number: Number(number) }));
    let mut statement = connection.prepare_cached("SELECT slot FROM oncemore_claims WHERE slot BETWEEN ?1 AND ?2")?;
    let slots = statement.query_map((key(0), key(u64::MAX)), |row| row.get(0))?;
    for slot in slots.collect::<rusqlite::Result<Vec<Vec<u8>>>>()? {
        match read_slot(&slot) {
            Some(Slot::Claim(claim)) if !window.open(claim.number) => erase(connection, &Slot::Claim(claim))?,
            Some(Slot::Claim(_) | Slot::Epoch | Slot::Caller(_)) | None => {}
        }
    }
    Ok(())
}

fn read(slot: ValueRef<'_>, value: ValueRef<'_>) -> Option<(Slot, Value)> {
    Some((read_slot(slot.as_blob().ok()?)?, rmp_serde::from_slice(value.as_blob().ok()?).ok()?))
}

fn slot_key(slot: &Slot) -> Vec<u8> {
    match slot {
        Slot::Epoch => vec![EPOCH],
        Slot::Caller(caller) => [&[CALLER][..], &caller.bits().to_be_bytes()].concat(),
        Slot::Claim(Key { caller, number }) => {
            [&[CLAIM][..], &caller.bits().to_be_bytes(), &number.0.to_be_bytes()].concat()
        }
    }
}

fn read_slot(bytes: &[u8]) -> Option<Slot> {
    let (tag, rest) = bytes.split_first()?;
    match (*tag, rest.len()) {
        (EPOCH, 0) => Some(Slot::Epoch),
        (CALLER, 16) => Some(Slot::Caller(CallerId::from_bits(u128::from_be_bytes(rest.try_into().ok()?)))),
        (CLAIM, 24) => {
            let (caller, number) = rest.split_at(16);
            let caller = CallerId::from_bits(u128::from_be_bytes(caller.try_into().ok()?));
            Some(Slot::Claim(Key { caller, number: Number(u64::from_be_bytes(number.try_into().ok()?)) }))
        }
        _ => None,
    }
}
