//! Keeps access keys and the money that is spent with them in a database, for all servers that use
//! it at once.

mod money;

use std::sync::Arc;

use pikerag_knowledge::{
    ChargeEnd, Key, KeyCharge, KeyStore, KeyUse, LeftBehind, Millis, Reserved, StoreError,
};
use pikerag_store::shared::ProcessIdentity;
use tokio_postgres::Row;

use super::thread::BlockingThread;
use crate::fault::Sql;
use crate::location::Location;
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

/// The keys in a database. They hold for all of its bases.
pub struct KeysInPostgres {
    thread: BlockingThread,
    who: Arc<ProcessIdentity>,
}

impl KeysInPostgres {
    /// The keys in the database of an address, whatever base it names. It is connected to when keys
    /// are first used.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        let who = Arc::new(ProcessIdentity::this_process());
        Ok(Self { thread: BlockingThread::start(location, "keys")?, who })
    }
}

/// Columns that make a [`Key`].
const KEY: &str = "id, digest, made, params";

fn key(row: &Row) -> Sql<Key> {
    let made = millis(row.try_get(2)?);
    Ok(Key { id: rows::text(row, 0)?, digest: row.try_get(1)?, made, params: rows::json(row, 3)? })
}

fn millis(stored: i64) -> Millis {
    stored.max(0).cast_unsigned()
}

/// A number as PostgreSQL stores it; larger numbers become the largest that fits.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl KeyStore for KeysInPostgres {
    fn were_made(&self) -> Result<bool, StoreError> {
        self.thread.run("reading whether keys were made", Access::Read, |tx| async move {
            tx.exists("SELECT 1 FROM pikerag.key_facts WHERE name = 'were_made'", &[]).await
        })
    }

    fn list(&self) -> Result<Vec<KeyUse>, StoreError> {
        self.thread.run("listing keys", Access::Read, |tx| async move {
            let sql = format!(
                "SELECT {KEY}, used, spent,
                   (SELECT least(coalesce(sum(r.money), 0), 9223372036854775807)::bigint
                    FROM pikerag.reservations r WHERE r.key = k.number)
                 FROM pikerag.keys k WHERE revoked IS NULL ORDER BY number"
            );
            let line = |row: &Row| {
                Ok(KeyUse {
                    key: key(row)?,
                    used: row.try_get::<_, Option<i64>>(4)?.map(millis),
                    spent: millis(row.try_get(5)?),
                    reserved: millis(row.try_get(6)?),
                })
            };
            tx.all(&sql, &[]).await?.iter().map(line).collect()
        })
    }

    fn find(&self, digest: &str, now: Millis) -> Result<Option<Key>, StoreError> {
        let digest = digest.to_owned();
        self.thread.run("finding a key", Access::Read, move |tx| async move {
            // A digest reveals nothing about its key, so the time of an indexed search reveals
            // nothing either.
            let sql = format!(
                "SELECT {KEY} FROM pikerag.keys WHERE revoked IS NULL
                   AND (digest = $1 OR (old_digest = $1 AND $2 < old_until)) ORDER BY number LIMIT 1"
            );
            let found = tx.optional(&sql, &[&Text(&digest), &stored(now)]).await?;
            let found = found.as_ref().map(key).transpose()?;
            Ok(found.map(|key| Key { digest, ..key }))
        })
    }

    fn add(&self, key: &Key, instead_of: &[String], now: Millis) -> Result<(), StoreError> {
        let (key, instead_of) = (key.clone(), instead_of.to_vec());
        self.thread.run("adding a key", Access::Records, move |tx| async move {
            for id in &instead_of {
                revoke(&tx, id, now).await?;
            }
            insert(&tx, &key).await
        })
    }

    fn revoke(&self, id: &str, now: Millis) -> Result<Option<Key>, StoreError> {
        let id = id.to_owned();
        self.thread.run("revoking a key", Access::Records, move |tx| async move {
            let found = by_id(&tx, &id).await?;
            revoke(&tx, &id, now).await?;
            Ok(found)
        })
    }

    fn rotate(&self, id: &str, digest: &str, until: Millis) -> Result<Option<Key>, StoreError> {
        let (id, digest) = (id.to_owned(), digest.to_owned());
        self.thread.run("rotating a key", Access::Records, move |tx| async move {
            let sql = "UPDATE pikerag.keys SET old_digest = digest, old_until = $3, digest = $2
                 WHERE id = $1 AND revoked IS NULL";
            tx.run(sql, &[&Text(&id), &digest, &stored(until)]).await?;
            by_id(&tx, &id).await
        })
    }

    fn note_use(&self, id: &str, now: Millis) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.thread.run("noting the use of a key", Access::Records, move |tx| async move {
            let sql = "UPDATE pikerag.keys SET used = $2 WHERE id = $1";
            tx.run(sql, &[&Text(&id), &stored(now)]).await.map(drop)
        })
    }

    fn reserve(&self, charge: &KeyCharge, now: Millis) -> Result<Reserved, StoreError> {
        let (charge, who) = (charge.clone(), Arc::clone(&self.who));
        self.thread.run("reserving money", Access::Records, move |tx| async move {
            money::reserve(&tx, &who, &charge, now).await
        })
    }

    fn close(&self, reservation: i64, end: ChargeEnd) -> Result<(), StoreError> {
        self.thread.run("settling money", Access::Records, move |tx| async move {
            money::close(&tx, reservation, end).await
        })
    }

    fn left_behind(&self, now: Millis) -> Result<Vec<LeftBehind>, StoreError> {
        let who = Arc::clone(&self.who);
        self.thread.run("reading reservations", Access::Read, move |tx| async move {
            money::left_behind(&tx, &who, now).await
        })
    }

    /// Reads every key. The server checks its pages itself.
    fn verify(&self) -> Result<(), StoreError> {
        self.thread.run("checking the database of keys", Access::Read, |tx| async move {
            let found = tx.all(&format!("SELECT {KEY} FROM pikerag.keys"), &[]).await?;
            found.iter().try_for_each(|row| key(row).map(drop))
        })
    }
}

/// Adds a key. From the first key on, every request needs one.
async fn insert(tx: &Tx, key: &Key) -> Sql<()> {
    let params = rows::to_json(&key.params)?;
    let cap = key.params.cap_usd.map(|usd| stored((usd * 1e12).round() as u64));
    let (made, expires) = (stored(key.made), key.params.expires.map(stored));
    let sql = "INSERT INTO pikerag.keys (id, digest, made, params, cap, expires)
         VALUES ($1, $2, $3, $4, $5, $6)";
    tx.run(sql, &[&Text(&key.id), &key.digest, &made, &params, &cap, &expires]).await?;
    let sql = "INSERT INTO pikerag.key_facts VALUES ('were_made', '1') ON CONFLICT DO NOTHING";
    tx.run(sql, &[]).await.map(drop)
}

/// The key with this id, unless it is revoked.
async fn by_id(tx: &Tx, id: &str) -> Sql<Option<Key>> {
    let sql = format!("SELECT {KEY} FROM pikerag.keys WHERE id = $1 AND revoked IS NULL");
    tx.optional(&sql, &[&Text(id)]).await?.as_ref().map(key).transpose()
}

async fn revoke(tx: &Tx, id: &str, now: Millis) -> Sql<()> {
    let sql = "UPDATE pikerag.keys SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
    tx.run(sql, &[&Text(id), &stored(now)]).await.map(drop)
}
