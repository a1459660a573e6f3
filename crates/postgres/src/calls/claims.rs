//! Lets one process claim a model call, so that two processes on one base do not make and pay the
//! same call twice. A claim is valid until it expires, by the clock of the server, or its process is
//! gone.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_knowledge::Claim;
use pikerag_store::shared::ProcessIdentity;

use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// Claims calls that nobody holds, or whose claim is the holder's own or has expired. Rows of other
/// holders stay as they are, locked until the transaction ends. A claim is valid for a minute.
const CLAIM: &str = "INSERT INTO claims AS c (key, holder, place, process, began, until)
     SELECT k.key, $2, $3, $4, $5, now() + interval '60 seconds' FROM unnest($1::text[]) AS k(key)
     ON CONFLICT (base, key) DO UPDATE SET holder = excluded.holder, place = excluded.place,
       process = excluded.process, began = excluded.began, until = excluded.until
     WHERE c.holder = excluded.holder OR c.until < now()
     RETURNING c.key";

/// Claims each call, unless it is recorded or another holder makes it.
pub(super) async fn claim(
    tx: &Tx,
    who: &ProcessIdentity,
    holder: u64,
    keys: &BTreeSet<String>,
) -> Sql<HashMap<String, Claim>> {
    // In order, so that two processes that claim the same calls do not wait for each other.
    let sorted: Vec<&str> = keys.iter().map(String::as_str).collect();
    let holder = holder.cast_signed();
    let (process, began) = (i64::from(who.process), who.began.cast_signed());
    let found = tx.all(CLAIM, &[&sorted, &holder, &who.place, &process, &began]).await?;
    let mut ours: HashSet<String> = HashSet::new();
    for row in &found {
        ours.insert(row.try_get(0)?);
    }
    let taken: Vec<&str> = sorted.iter().copied().filter(|key| !ours.contains(*key)).collect();
    let gone = if taken.is_empty() { Vec::new() } else { of_gone(tx, who, &taken).await? };
    if !gone.is_empty() {
        let sql = "UPDATE claims SET holder = $2, place = $3, process = $4, began = $5,
               until = now() + interval '60 seconds' WHERE key = ANY($1)";
        tx.run(sql, &[&gone, &holder, &who.place, &process, &began]).await?;
        ours.extend(gone);
    }
    // The claim comes first: a record that another process wrote meanwhile is seen now.
    let mut recorded: BTreeSet<String> = BTreeSet::new();
    for row in &tx.all("SELECT key FROM calls WHERE key = ANY($1)", &[&sorted]).await? {
        recorded.insert(row.try_get(0)?);
    }
    let needless: BTreeSet<&str> =
        recorded.iter().filter(|key| ours.contains(*key)).map(String::as_str).collect();
    end(tx, &needless).await?;
    let result = |key: &String| match (recorded.contains(key), ours.contains(key)) {
        (true, _) => Claim::Recorded,
        (false, true) => Claim::Ours,
        (false, false) => Claim::Theirs,
    };
    Ok(keys.iter().map(|key| (key.clone(), result(key))).collect())
}

/// The calls that were claimed by processes which have certainly ended.
async fn of_gone(tx: &Tx, who: &ProcessIdentity, taken: &[&str]) -> Sql<Vec<String>> {
    let sql = "SELECT key, place, process, began FROM claims WHERE key = ANY($1)";
    let mut gone: Vec<String> = Vec::new();
    for row in &tx.all(sql, &[&taken]).await? {
        let began: i64 = row.try_get(3)?;
        if who.knows_gone(row.try_get(1)?, rows::small(row, 2)?, began.cast_unsigned()) {
            gone.push(row.try_get(0)?);
        }
    }
    Ok(gone)
}

/// Ends the claims of all holders on these calls.
pub(super) async fn end(tx: &Tx, keys: &BTreeSet<&str>) -> Sql<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let keys: Vec<&str> = keys.iter().copied().collect();
    let sql = "DELETE FROM claims WHERE key IN
         (SELECT key FROM claims WHERE key = ANY($1) ORDER BY key FOR UPDATE)";
    tx.run(sql, &[&keys]).await.map(drop)
}

/// Ends claims of these holders: (holder, key).
pub(super) async fn release(tx: &Tx, claims: &[(u64, String)]) -> Sql<()> {
    let keys: Vec<&str> = claims.iter().map(|(_, key)| key.as_str()).collect();
    let holders = rows::signed(claims.iter().map(|(holder, _)| *holder));
    let sql = "DELETE FROM claims WHERE (key, holder) IN (
             SELECT c.key, c.holder FROM claims c
             JOIN unnest($1::text[], $2::bigint[]) AS r(key, holder) ON r.key = c.key AND r.holder = c.holder
             ORDER BY c.key FOR UPDATE OF c)";
    tx.run(sql, &[&keys, &holders]).await.map(drop)
}
