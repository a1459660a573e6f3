//! Stores paid replies in the `calls` table, the records of many callers in one transaction.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{CallOrigin, CallRecord, Claim, Ledger, StoreError, Usage};
use rusqlite::{OptionalExtension, Transaction, params};

use super::base::Base;
use super::forget::forgotten_since;
use super::inner::Inner;
use super::locks::locked;
use super::queue::Queued;
use super::{claims, origins, rows, threads};
use crate::error::Context;

#[async_trait]
impl Ledger for Base {
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError> {
        let keys = keys.to_vec();
        self.reading("reading the ledger", move |inner, connection| {
            let sql = format!("SELECT {COLUMNS} FROM calls WHERE key = ?1");
            let mut statement = connection.prepare_cached(&sql).context("reading the ledger")?;
            keys.iter()
                .map(|key| {
                    let kept = statement.query_row([key], record).optional();
                    let kept = kept.context("reading the ledger")?;
                    Ok(kept.or_else(|| locked(&inner.ledger.unwritten).get(key).cloned()))
                })
                .collect()
        })
        .await
    }

    async fn inherits(&self, model: &str, endpoint: &str) -> Result<bool, StoreError> {
        let (name, endpoint) = (format!("served:{model}"), endpoint.to_owned());
        let doing = "finding the endpoint of recorded replies";
        let known = name.clone();
        let owner: Option<String> = self
            .querying(doing, move |connection| {
                let sql = "SELECT value FROM meta WHERE key = ?1";
                connection.query_row(sql, [&known], |row| row.get(0)).optional()
            })
            .await?;
        if owner.is_some() || self.is_read_only() {
            return Ok(owner.is_none_or(|owner| owner == endpoint));
        }
        self.writing(doing, move |tx| {
            tx.execute(
                "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO NOTHING",
                [&name, &endpoint],
            )?;
            let owner: String =
                tx.query_row("SELECT value FROM meta WHERE key = ?1", [&name], |row| row.get(0))?;
            Ok(owner == endpoint)
        })
        .await
    }

    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        let key = key.to_owned();
        self.reading("reading the ledger", move |inner, connection| {
            // `$` follows `#`, so only keys of this request lie between them.
            let sql = format!(
                "SELECT {COLUMNS} FROM calls WHERE key = ?1 OR (?1 || '#' < key AND key < ?1 || '$')
                 ORDER BY length(key) DESC, key DESC LIMIT 1"
            );
            let mut statement = connection.prepare_cached(&sql).context("reading the ledger")?;
            let kept = statement.query_row([&key], record).optional();
            let kept = kept.context("reading the ledger")?;
            Ok(later(kept.as_ref(), &locked(&inner.ledger.unwritten), &key))
        })
        .await
    }

    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError> {
        if self.is_read_only() {
            // The replies end with this process, and nobody else reads them.
            return Ok(());
        }
        let keys = keys.to_vec();
        self.writing("marking replies", move |tx| {
            let mut mark =
                tx.prepare_cached("UPDATE calls SET unusable = 1 WHERE key = ?1 AND NOT unusable")?;
            keys.iter().try_for_each(|key| mark.execute([key]).map(drop))
        })
        .await
    }

    async fn claim_all(&self, holder: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError> {
        if self.is_read_only() {
            return Ok(vec![Claim::Ours; keys.len()]);
        }
        let (inner, keys) = (Arc::clone(&self.inner), keys.to_vec());
        let doing = "claiming calls";
        threads::writing(doing, move || {
            let released = std::mem::take(&mut *locked(&inner.ledger.released));
            inner.unsynced_transaction(doing, |tx| {
                claims::release(tx, &released)?;
                let is_given_up = |key: &String| {
                    released.iter().any(|(by, released)| *by == holder && released == key)
                };
                let claim = |key: &String| match is_given_up(key) {
                    true => Ok(Claim::Theirs),
                    false => claims::claim(tx, &inner.who, holder, key),
                };
                keys.iter().map(claim).collect()
            })
        })
        .await
    }

    fn release(&self, holder: u64, keys: &[String]) {
        let claims = keys.iter().map(|key| (holder, key.clone()));
        locked(&self.inner.ledger.released).extend(claims);
    }

    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        if self.is_read_only() {
            self.keep_unwritten(calls);
            return Ok(());
        }
        let number = self.queue(calls);
        let inner = Arc::clone(&self.inner);
        let under_way = Arc::clone(&inner.under_way).read_owned().await;
        threads::writing(DOING, move || {
            let _under_way = under_way;
            inner.flush(number)
        })
        .await
    }
}

const DOING: &str = "writing the ledger";
/// How long to wait for a record that need not be written yet.
const SOON: Duration = Duration::from_millis(20);

impl Base {
    /// As [`Ledger::keep_all`], without waiting long for the writer, which another process may
    /// hold. This process finds the records at once; they are written when the writer is free.
    ///
    /// # Errors
    /// The records cannot be written, as far as that is known by then.
    pub async fn keep_soon(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        self.keep_unwritten(calls.clone());
        // The next writer takes along all queued records.
        tokio::time::timeout(SOON, self.keep_all(calls)).await.unwrap_or(Ok(()))
    }

    fn keep_unwritten(&self, calls: Vec<CallRecord>) {
        let mut unwritten = locked(&self.inner.ledger.unwritten);
        unwritten.extend(calls.into_iter().map(|call| (call.key.clone(), call)));
    }

    /// Queues records. Returns the number that is safe once `written` has passed it.
    fn queue(&self, calls: Vec<CallRecord>) -> u64 {
        let mut pending = locked(&self.inner.ledger.pending);
        pending.taken += calls.len() as u64;
        let began_at = self.began_at();
        pending.records.extend(calls.into_iter().map(|call| Queued { call, began_at }));
        pending.taken
    }
}

impl Inner {
    /// Writes all pending records, unless another thread has written the one with this number.
    fn flush(&self, number: u64) -> Result<(), StoreError> {
        let _flushing = locked(&self.ledger.flushing);
        let (records, last) = {
            let mut pending = locked(&self.ledger.pending);
            if number <= pending.written {
                return Ok(());
            }
            (std::mem::take(&mut pending.records), pending.taken)
        };
        let written = self.transaction(DOING, |tx| insert(tx, &records));
        let mut pending = locked(&self.ledger.pending);
        match written {
            Ok(()) => {
                pending.written = last;
                let mut unwritten = locked(&self.ledger.unwritten);
                for record in &records {
                    unwritten.remove(&record.call.key);
                }
                Ok(())
            }
            Err(error) => {
                // Put back: the next caller tries again; this one gets the error.
                let newer = std::mem::take(&mut pending.records);
                pending.records = records.into_iter().chain(newer).collect();
                Err(error)
            }
        }
    }
}

impl Drop for Inner {
    /// Paid replies are not lost because a first attempt to write them failed. Released claims are
    /// deleted, so that nobody waits for them to expire.
    fn drop(&mut self) {
        let records = std::mem::take(&mut locked(&self.ledger.pending).records);
        if !records.is_empty()
            && let Err(error) = self.transaction("writing the ledger", |tx| insert(tx, &records))
        {
            tracing::warn!(%error, calls = records.len(), "replies could not be recorded and are lost");
        }
        let released = std::mem::take(&mut *locked(&self.ledger.released));
        if !released.is_empty()
            && let Err(error) =
                self.unsynced_transaction("releasing claims", |tx| claims::release(tx, &released))
        {
            tracing::warn!(%error, "claims could not be released and will expire");
        }
    }
}

/// The later of the stored and the unwritten record, by the number behind `#`.
pub fn later(
    kept: Option<&CallRecord>,
    unwritten: &HashMap<String, CallRecord>,
    key: &str,
) -> Option<CallRecord> {
    let is_asked_again = |it: &str| it.strip_prefix(key).is_some_and(|rest| rest.starts_with('#'));
    let of_request = unwritten.values().filter(|it| it.key == key || is_asked_again(&it.key));
    let number = |call: &&CallRecord| (call.key.len(), call.key.clone());
    let unwritten = of_request.max_by_key(number);
    kept.into_iter().chain(unwritten).max_by_key(number).cloned()
}

/// The columns that [`record`] reads.
const COLUMNS: &str =
    "key, role, model, request, reply, prompt_tokens, completion_tokens, unusable";

fn insert(tx: &Transaction<'_>, records: &[Queued]) -> rusqlite::Result<()> {
    let is_outdated = forgotten_since(tx)?;
    let mut statement = tx.prepare_cached(
        "INSERT INTO calls(key, role, model, request, reply, prompt_tokens, completion_tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(key) DO NOTHING",
    )?;
    let mut ended = tx.prepare_cached("DELETE FROM claims WHERE key = ?1")?;
    for Queued { call, began_at } in records {
        ended.execute([&call.key])?;
        if is_outdated(*began_at) {
            continue;
        }
        statement.execute(params![
            call.key,
            call.role,
            call.model,
            call.request,
            call.reply,
            call.usage.prompt_tokens.cast_signed(),
            call.usage.completion_tokens.cast_signed()
        ])?;
        origins::note_call(tx, call)?;
    }
    Ok(())
}

fn record(row: &rusqlite::Row<'_>) -> rusqlite::Result<CallRecord> {
    Ok(CallRecord {
        key: row.get(0)?,
        role: row.get(1)?,
        model: row.get(2)?,
        request: row.get(3)?,
        reply: row.get(4)?,
        usage: Usage { prompt_tokens: rows::id(row, 5)?, completion_tokens: rows::id(row, 6)? },
        unusable: row.get(7)?,
        origin: CallOrigin::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(key: &str) -> CallRecord {
        let text = || key.to_owned();
        let (role, model, request, reply) = (text(), text(), text(), text());
        CallRecord {
            key: text(),
            role,
            model,
            request,
            reply,
            usage: Usage::default(),
            unusable: false,
            origin: CallOrigin::default(),
        }
    }

    /// If the base cannot be written, the latest record may be in memory only.
    #[test]
    fn the_latest_stored_or_unwritten_record_is_found() {
        for (kept, unwritten, latest) in [
            (None, &[][..], None),
            (Some("k"), &[], Some("k")),
            (None, &["k", "k1", "other"], Some("k")),
            (Some("k"), &["k#1"], Some("k#1")),
            (Some("k"), &["k#2", "k#10", "k1#99"], Some("k#10")),
            (Some("k#3"), &["k#1"], Some("k#3")),
        ] {
            let unwritten = unwritten.iter().map(|key| ((*key).to_owned(), call(key))).collect();
            let found = later(kept.map(call).as_ref(), &unwritten, "k");
            assert_eq!(found.map(|call| call.key).as_deref(), latest);
        }
    }
}
