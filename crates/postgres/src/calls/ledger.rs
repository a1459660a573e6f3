//! Stores paid replies in the `calls` table. A reply that could not be written stays in memory, is
//! found there, and is written with the next.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{CallOrigin, CallRecord, Claim, Ledger, StoreError, Usage};
use pikerag_store::shared::later;
use tokio_postgres::Row;

use super::{claims, origins};
use crate::base::Base;
use crate::database::Database;
use crate::error::Context;
use crate::fault::Sql;
use crate::inner::{Inner, locked};
use crate::meta::{FORGETTINGS, counter, fact};
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

const READING: &str = "reading the ledger";
const WRITING: &str = "writing the ledger";
/// How long to wait for a record that need not be written yet.
const SOON: Duration = Duration::from_millis(20);

/// A record, and the number of forget operations when its question began: see
/// [`Base::for_a_question`].
type Queued = (CallRecord, Option<i64>);

#[async_trait]
impl Ledger for Base {
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError> {
        let found: HashMap<String, CallRecord> = self
            .reading(READING, |tx| async move {
                let sql = format!("SELECT {COLUMNS} FROM calls WHERE key = ANY($1)");
                let found = tx.all(&sql, &[&keys]).await?;
                let by_key = |row: &Row| record(row).map(|call| (call.key.clone(), call));
                found.iter().map(by_key).collect()
            })
            .await?;
        let unwritten = locked(&self.inner.unwritten);
        let find = |key: &String| {
            let unwritten = || unwritten.get(key).map(|(call, _)| call);
            found.get(key).or_else(unwritten).cloned()
        };
        Ok(keys.iter().map(find).collect())
    }

    async fn inherits(&self, model: &str, endpoint: &str) -> Result<bool, StoreError> {
        let doing = "finding the endpoint of recorded replies";
        let name = rows::escaped(&format!("served:{model}")).into_owned();
        let endpoint = rows::escaped(endpoint).into_owned();
        let known = &name;
        let owner = self.reading(doing, |tx| async move { fact(&tx, known).await }).await?;
        if owner.is_some() || self.is_read_only() {
            return Ok(owner.is_none_or(|owner| owner == endpoint));
        }
        self.writing(doing, Access::Records, move |tx| async move {
            let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            tx.run(sql, &[&name, &endpoint]).await?;
            Ok(fact(&tx, &name).await?.is_none_or(|owner| owner == endpoint))
        })
        .await
    }

    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        let kept = self
            .reading(READING, |tx| async move {
                // `$` follows `#`, so only keys of this request lie between them.
                let sql = format!(
                    "SELECT {COLUMNS} FROM calls WHERE key = $1 OR ($1 || '#' < key AND key < $1 || '$')
                     ORDER BY length(key) DESC, key DESC LIMIT 1"
                );
                let row = tx.optional(&sql, &[&key]).await?;
                row.as_ref().map(record).transpose()
            })
            .await?;
        let unwritten: HashMap<String, CallRecord> = locked(&self.inner.unwritten)
            .iter()
            .filter(|(other, _)| other.starts_with(key))
            .map(|(other, (call, _))| (other.clone(), call.clone()))
            .collect();
        Ok(later(kept.as_ref(), &unwritten, key))
    }

    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError> {
        if self.is_read_only() {
            // The replies end with this process, and nobody else reads them.
            return Ok(());
        }
        let keys = keys.to_vec();
        self.writing("marking replies", Access::Records, move |tx| async move {
            // Two processes lock rows in the same order, so neither waits for the other in vain.
            let sql = "UPDATE calls SET unusable = true WHERE key IN
                 (SELECT key FROM calls WHERE key = ANY($1) AND NOT unusable ORDER BY key FOR UPDATE)";
            tx.run(sql, &[&keys]).await.map(drop)
        })
        .await
    }

    async fn claim_all(&self, holder: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError> {
        if self.is_read_only() {
            return Ok(vec![Claim::Ours; keys.len()]);
        }
        let released = std::mem::take(&mut *locked(&self.inner.released));
        let given_up: HashSet<String> =
            released.iter().filter(|(by, _)| *by == holder).map(|(_, key)| key.clone()).collect();
        if !released.is_empty() {
            self.release_now(released).await?;
        }
        let wanted: BTreeSet<String> =
            keys.iter().filter(|key| !given_up.contains(*key)).cloned().collect();
        if wanted.is_empty() {
            return Ok(vec![Claim::Theirs; keys.len()]);
        }
        let inner = Arc::clone(&self.inner);
        let claimed = self
            .writing("claiming calls", Access::Unsynced, move |tx| async move {
                claims::claim(&tx, &inner.who, holder, &wanted).await
            })
            .await?;
        let result = |key: &String| claimed.get(key).copied().unwrap_or(Claim::Theirs);
        Ok(keys.iter().map(result).collect())
    }

    fn release(&self, holder: u64, keys: &[String]) {
        let claims = keys.iter().map(|key| (holder, key.clone()));
        locked(&self.inner.released).extend(claims);
    }

    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        if self.is_read_only() {
            self.keep_unwritten(calls);
            return Ok(());
        }
        let began_at = self.began_at();
        let queued: Vec<Queued> = calls.into_iter().map(|call| (call, began_at)).collect();
        let inner = Arc::clone(&self.inner);
        let under_way = Arc::clone(&inner.under_way).read_owned().await;
        // The end is noted even if the caller no longer waits.
        let written = tokio::spawn(async move {
            let _under_way = under_way;
            inner.flush(queued).await
        });
        written.await.context(WRITING)?
    }
}

impl Base {
    /// As [`Ledger::keep_all`], without waiting long for the server. This process finds the records
    /// at once.
    ///
    /// # Errors
    /// The records cannot be written, as far as that is known by then.
    pub async fn keep_soon(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        self.keep_unwritten(calls.clone());
        tokio::time::timeout(SOON, self.keep_all(calls)).await.unwrap_or(Ok(()))
    }

    fn keep_unwritten(&self, calls: Vec<CallRecord>) {
        let began_at = self.began_at();
        let mut unwritten = locked(&self.inner.unwritten);
        unwritten.extend(calls.into_iter().map(|call| (call.key.clone(), (call, began_at))));
    }

    /// Ends claims in a transaction of its own: one that also made claims could wait for another
    /// process that waits for it.
    async fn release_now(&self, released: Vec<(u64, String)>) -> Result<(), StoreError> {
        let released = Arc::new(released);
        let gone = Arc::clone(&released);
        let ended = self
            .writing("releasing claims", Access::Unsynced, move |tx| async move {
                claims::release(&tx, &gone).await
            })
            .await;
        if ended.is_err() {
            locked(&self.inner.released).extend(released.iter().cloned());
        }
        ended
    }
}

impl Inner {
    /// Writes records, together with all that could not be written before.
    async fn flush(&self, mut queued: Vec<Queued>) -> Result<(), StoreError> {
        queued.extend(locked(&self.unwritten).values().cloned());
        if queued.is_empty() {
            return Ok(());
        }
        let written = write(&self.database, self.number, &queued).await;
        let mut unwritten = locked(&self.unwritten);
        for record in queued {
            match &written {
                Ok(()) => drop(unwritten.remove(&record.0.key)),
                Err(_) => drop(unwritten.insert(record.0.key.clone(), record)),
            }
        }
        written
    }
}

impl Drop for Inner {
    /// Paid replies are not lost because a first attempt to write them failed. Released claims are
    /// deleted, so that nobody waits for them to expire.
    fn drop(&mut self) {
        if self.database.is_read_only {
            return;
        }
        let queued = std::mem::take(&mut *locked(&self.unwritten));
        let released = std::mem::take(&mut *locked(&self.released));
        if queued.is_empty() && released.is_empty() {
            return;
        }
        let queued: Vec<Queued> = queued.into_values().collect();
        let (database, number) = (Arc::clone(&self.database), self.number);
        self.runtime.spawn(async move {
            if !queued.is_empty()
                && let Err(error) = write(&database, number, &queued).await
            {
                let calls = queued.len();
                tracing::warn!(%error, calls, "replies could not be recorded and are lost");
            }
            if !released.is_empty()
                && let Err(error) = release(&database, number, &released).await
            {
                tracing::warn!(%error, "claims could not be released and will expire");
            }
        });
    }
}

async fn write(database: &Database, base: i32, queued: &[Queued]) -> Result<(), StoreError> {
    let tx = database.begin(base, Access::Records).await?;
    let written = async {
        insert(&tx, queued).await?;
        tx.commit().await
    };
    written.await.map_err(|fault| fault.in_words(WRITING))
}

async fn release(
    database: &Database,
    base: i32,
    released: &[(u64, String)],
) -> Result<(), StoreError> {
    let tx = database.begin(base, Access::Unsynced).await?;
    let ended = async {
        claims::release(&tx, released).await?;
        tx.commit().await
    };
    ended.await.map_err(|fault| fault.in_words("releasing claims"))
}

/// Adds the records of keys that are not recorded yet, and ends the claims on all of them. Rows are
/// written in the order of their keys, so that two processes never wait for each other.
async fn insert(tx: &Tx, queued: &[Queued]) -> Sql<()> {
    let forgettings = counter(tx, FORGETTINGS).await?;
    let keys: BTreeSet<&str> = queued.iter().map(|(call, _)| call.key.as_str()).collect();
    claims::end(tx, &keys).await?;
    let is_current = |began_at: Option<i64>| began_at.is_none_or(|began| forgettings <= began);
    let current: Vec<&CallRecord> =
        queued.iter().filter(|(_, began_at)| is_current(*began_at)).map(|(call, _)| call).collect();
    let mut first: BTreeMap<&str, &CallRecord> = BTreeMap::new();
    for call in &current {
        first.entry(call.key.as_str()).or_insert(call);
    }
    if first.is_empty() {
        return Ok(());
    }
    let keys: Vec<&str> = first.keys().copied().collect();
    let roles: Vec<&str> = first.values().map(|call| call.role.as_str()).collect();
    let models: Vec<Text<'_>> = first.values().map(|call| Text(&call.model)).collect();
    let requests: Vec<Text<'_>> = first.values().map(|call| Text(&call.request)).collect();
    let replies: Vec<Text<'_>> = first.values().map(|call| Text(&call.reply)).collect();
    let read = rows::signed(first.values().map(|call| call.usage.prompt_tokens));
    let written = rows::signed(first.values().map(|call| call.usage.completion_tokens));
    let sql = "INSERT INTO calls (key, role, model, request, reply, prompt_tokens, completion_tokens)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&keys, &roles, &models, &requests, &replies, &read, &written]).await?;
    origins::note_calls(tx, &current).await
}

/// The columns that [`record`] reads.
const COLUMNS: &str =
    "key, role, model, request, reply, prompt_tokens, completion_tokens, unusable";

fn record(row: &Row) -> Sql<CallRecord> {
    Ok(CallRecord {
        key: row.try_get(0)?,
        role: row.try_get(1)?,
        model: rows::text(row, 2)?,
        request: rows::text(row, 3)?,
        reply: rows::text(row, 4)?,
        usage: Usage { prompt_tokens: rows::id(row, 5)?, completion_tokens: rows::id(row, 6)? },
        unusable: row.try_get(7)?,
        origin: CallOrigin::default(),
    })
}
