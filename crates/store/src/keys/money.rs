//! Reserves the most that a call can cost before it is sent, and settles the actual cost.

use pikerag_knowledge::{ChargeEnd, KeyCharge, LeftBehind, Millis, Picodollars, Reserved};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{millis, stored};
use crate::sqlite::ProcessIdentity;

/// How long a call is believed to run if its process cannot be seen from here (another container).
const ASSUMED_RUNNING: Millis = 15 * 60 * 1000;

/// Whether nobody will settle a reservation any more, because its call was abandoned or its process
/// is gone.
fn is_left(row: &Row<'_>, who: &ProcessIdentity, now: Millis) -> rusqlite::Result<bool> {
    let place: String = row.get("place")?;
    let began = row.get::<_, i64>("began")?.cast_unsigned();
    let is_old = millis(row.get("made")?).saturating_add(ASSUMED_RUNNING) < now;
    Ok(row.get("is_left")? || is_old || who.knows_gone(&place, row.get("process")?, began))
}

pub(super) fn reserve(
    tx: &Transaction<'_>,
    who: &ProcessIdentity,
    charge: &KeyCharge,
    now: Millis,
) -> rusqlite::Result<Reserved> {
    let good = "SELECT number, cap, spent FROM keys WHERE revoked IS NULL AND (expires IS NULL OR ?2 < expires)
         AND (digest = ?1 OR (old_digest = ?1 AND ?2 < old_until))";
    let found = tx
        .prepare_cached(good)?
        .query_row(params![charge.digest, stored(now)], |row| {
            let cap = row.get::<_, Option<i64>>(1)?.map(millis);
            Ok((row.get::<_, i64>(0)?, cap, millis(row.get(2)?)))
        })
        .optional()?;
    let Some((key, cap, spent)) = found else { return Ok(Reserved::NoKey) };
    if let Some(cap) = cap {
        let (mut left, mut open): (Picodollars, Picodollars) = (spent, 0);
        let mut all = tx.prepare_cached("SELECT * FROM reservations WHERE key = ?1")?;
        let mut rows = all.query([key])?;
        while let Some(row) = rows.next()? {
            let money = millis(row.get("money")?);
            let counted = if is_left(row, who, now)? { &mut left } else { &mut open };
            *counted = counted.saturating_add(money);
        }
        if cap < left.saturating_add(charge.money) {
            return Ok(Reserved::Over { cap, held: left });
        }
        let held = left.saturating_add(open);
        if cap < held.saturating_add(charge.money) {
            return Ok(Reserved::Later { cap, held });
        }
    }
    let calls = serde_json::to_string(&charge.calls)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    tx.prepare_cached(
        "INSERT INTO reservations(key, money, made, place, process, began, base, calls)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        key,
        stored(charge.money),
        stored(now),
        who.place,
        who.process,
        who.began.cast_signed(),
        charge.base,
        calls
    ])?;
    Ok(Reserved::Yes(tx.last_insert_rowid()))
}

pub(super) fn close(tx: &Transaction<'_>, number: i64, end: ChargeEnd) -> rusqlite::Result<()> {
    let cost = match end {
        ChargeEnd::Unknown => {
            let leave = "UPDATE reservations SET is_left = 1 WHERE number = ?1";
            return tx.execute(leave, [number]).map(drop);
        }
        ChargeEnd::Cost(cost) => cost,
        ChargeEnd::Nothing => 0,
    };
    let key: Option<i64> = tx
        .prepare_cached("DELETE FROM reservations WHERE number = ?1 RETURNING key")?
        .query_row([number], |row| row.get(0))
        .optional()?;
    if let Some(key) = key {
        // The sum stops at the largest number that SQLite holds.
        tx.prepare_cached(
            "UPDATE keys SET spent = CASE WHEN ?2 < 9223372036854775807 - spent THEN spent + ?2
               ELSE 9223372036854775807 END WHERE number = ?1",
        )?
        .execute(params![key, stored(cost)])?;
    }
    Ok(())
}

pub(super) fn left_behind(
    db: &Connection,
    who: &ProcessIdentity,
    now: Millis,
) -> rusqlite::Result<Vec<LeftBehind>> {
    let mut all = db.prepare_cached("SELECT * FROM reservations ORDER BY number")?;
    let mut rows = all.query([])?;
    let mut left = Vec::new();
    while let Some(row) = rows.next()? {
        if is_left(row, who, now)? {
            let calls: String = row.get("calls")?;
            let calls = serde_json::from_str(&calls).unwrap_or_default();
            left.push(LeftBehind { id: row.get("number")?, base: row.get("base")?, calls });
        }
    }
    Ok(left)
}
