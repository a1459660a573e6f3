//! Reserves the most that a call can cost before it is sent, and settles the actual cost.

use pikerag_knowledge::{ChargeEnd, KeyCharge, LeftBehind, Millis, Picodollars, Reserved};
use pikerag_store::shared::ProcessIdentity;
use tokio_postgres::Row;

use super::{millis, stored};
use crate::fault::Sql;
use crate::rows::{self, Text};
use crate::tx::Tx;

/// How long a call is believed to run if its process cannot be seen from here (another machine or
/// container).
const ASSUMED_RUNNING: Millis = 15 * 60 * 1000;

/// The columns that [`is_left`] reads.
const STATE: &str = "money, made, place, process, began, is_left";

/// Whether nobody will settle a reservation any more, because its call was abandoned or its process
/// is gone.
fn is_left(row: &Row, who: &ProcessIdentity, now: Millis) -> Sql<bool> {
    let began: i64 = row.try_get(4)?;
    let is_old = millis(row.try_get(1)?).saturating_add(ASSUMED_RUNNING) < now;
    let is_gone = who.knows_gone(row.try_get(2)?, rows::small(row, 3)?, began.cast_unsigned());
    Ok(row.try_get::<_, bool>(5)? || is_old || is_gone)
}

/// Locks the row of the key, so that the callers of all processes reserve one after the other.
pub(super) async fn reserve(
    tx: &Tx,
    who: &ProcessIdentity,
    charge: &KeyCharge,
    now: Millis,
) -> Sql<Reserved> {
    let good = "SELECT number, cap, spent FROM pikerag.keys
         WHERE revoked IS NULL AND (expires IS NULL OR $2 < expires)
           AND (digest = $1 OR (old_digest = $1 AND $2 < old_until))
         ORDER BY number LIMIT 1 FOR UPDATE";
    let found = tx.optional(good, &[&Text(&charge.digest), &stored(now)]).await?;
    let Some(found) = found else { return Ok(Reserved::NoKey) };
    let key: i64 = found.try_get(0)?;
    let cap: Option<Picodollars> = found.try_get::<_, Option<i64>>(1)?.map(millis);
    if let Some(cap) = cap {
        let (mut left, mut open): (Picodollars, Picodollars) = (millis(found.try_get(2)?), 0);
        let sql = format!("SELECT {STATE} FROM pikerag.reservations WHERE key = $1");
        for row in &tx.all(&sql, &[&key]).await? {
            let money = millis(row.try_get(0)?);
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
    let (money, made, calls) = (stored(charge.money), stored(now), rows::to_json(&charge.calls)?);
    let (process, began) = (i64::from(who.process), who.began.cast_signed());
    let sql = "INSERT INTO pikerag.reservations (key, money, made, place, process, began, base_name, calls)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING number";
    let base = Text(&charge.base);
    let number =
        tx.number(sql, &[&key, &money, &made, &who.place, &process, &began, &base, &calls]).await?;
    Ok(Reserved::Yes(number))
}

pub(super) async fn close(tx: &Tx, number: i64, end: ChargeEnd) -> Sql<()> {
    let cost = match end {
        ChargeEnd::Unknown => {
            let leave = "UPDATE pikerag.reservations SET is_left = true WHERE number = $1";
            return tx.run(leave, &[&number]).await.map(drop);
        }
        ChargeEnd::Cost(cost) => cost,
        ChargeEnd::Nothing => 0,
    };
    let end = "DELETE FROM pikerag.reservations WHERE number = $1 RETURNING key";
    let Some(ended) = tx.optional(end, &[&number]).await? else { return Ok(()) };
    let key: i64 = ended.try_get(0)?;
    // The sum stops at the largest number that PostgreSQL holds.
    let pay =
        "UPDATE pikerag.keys SET spent = CASE WHEN $2 < 9223372036854775807 - spent THEN spent + $2
           ELSE 9223372036854775807 END WHERE number = $1";
    tx.run(pay, &[&key, &stored(cost)]).await.map(drop)
}

pub(super) async fn left_behind(
    tx: &Tx,
    who: &ProcessIdentity,
    now: Millis,
) -> Sql<Vec<LeftBehind>> {
    let sql = format!(
        "SELECT {STATE}, number, base_name, calls FROM pikerag.reservations ORDER BY number"
    );
    let mut left = Vec::new();
    for row in &tx.all(&sql, &[]).await? {
        if is_left(row, who, now)? {
            let calls = serde_json::from_str(row.try_get(8)?).unwrap_or_default();
            left.push(LeftBehind { id: row.try_get(6)?, base: rows::text(row, 7)?, calls });
        }
    }
    Ok(left)
}
