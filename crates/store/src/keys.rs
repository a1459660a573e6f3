//! Keeps access keys and the money that is spent with them in one SQLite database, for all processes that use it at once.

mod money;
mod opening;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_knowledge::{
    ChargeEnd, Key, KeyCharge, KeyStore, KeyUse, LeftBehind, Millis, Reserved, StoreError,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use self::opening::Opened;
use crate::error::{BaseProblem, Context};
use crate::sqlite::ProcessIdentity;

/// A database of keys, created with the first key. It imports a key file of an older version beside
/// it, once.
pub struct KeysDatabase {
    path: PathBuf,
    /// The key file of older versions.
    older: PathBuf,
    who: ProcessIdentity,
    opened: Mutex<Option<Arc<Opened>>>,
}

impl KeysDatabase {
    /// The database at a path. A path that ends in `.json` names the file of an older version, and the database beside it.
    pub fn at(path: &Path) -> Self {
        let is_older = path.extension().is_some_and(|end| end == "json");
        let path = if is_older { path.with_extension("sqlite") } else { path.to_owned() };
        Self {
            older: path.with_extension("json"),
            path,
            who: ProcessIdentity::this_process(),
            opened: Mutex::default(),
        }
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database, if there is one.
    fn existing(&self) -> Result<Option<Arc<Opened>>, StoreError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match std::fs::metadata(&self.path) {
            Ok(file) => Some((file.dev(), file.ino())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).context("finding the database of keys"),
        };
        match (&*opened, file) {
            (Some(held), Some(file)) if held.file == file => return Ok(Some(Arc::clone(held))),
            // The file was removed while it was open, so this connection no longer shows what
            // others see.
            (Some(_), None) => {
                return Err(StoreError::NotOurs {
                    path: self.path.display().to_string(),
                    reason: "it was removed while it was in use".to_owned(),
                });
            }
            (None, None) if !self.older.exists() => return Ok(None),
            _ => {}
        }
        let new = Arc::new(Opened::open(&self.path, &self.older)?);
        *opened = Some(Arc::clone(&new));
        Ok(Some(new))
    }

    fn existing_or_new(&self) -> Result<Arc<Opened>, StoreError> {
        if let Some(opened) = self.existing()? {
            return Ok(opened);
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = &*opened {
            return Ok(Arc::clone(held));
        }
        let new = Arc::new(Opened::open(&self.path, &self.older)?);
        *opened = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Reads from the database; `None` if there is none.
    fn read<T>(
        &self,
        what: &str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(opened) = self.existing()? else { return Ok(None) };
        let reader = opened.reader.lock().unwrap_or_else(PoisonError::into_inner);
        work(&reader).map(Some).context(what)
    }

    /// Changes the database in one transaction.
    fn write<T>(
        &self,
        what: &str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let opened = self.existing_or_new()?;
        let mut writer = opened.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let change = || {
            let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&tx)?;
            tx.commit()?;
            Ok(done)
        };
        let changed: rusqlite::Result<T> = change();
        changed.context(what)
    }
}

/// Columns that make a [`Key`].
const KEY: &str = "id, digest, made, params";

fn key(row: &Row<'_>) -> rusqlite::Result<Key> {
    let params: String = row.get(3)?;
    let params = serde_json::from_str(&params).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, error.into())
    })?;
    Ok(Key { id: row.get(0)?, digest: row.get(1)?, made: millis(row.get(2)?), params })
}

fn millis(stored: i64) -> Millis {
    stored.max(0).cast_unsigned()
}

/// A number as SQLite stores it; larger numbers become the largest that fits.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Adds a key. From the first key on, every request needs one.
fn insert(tx: &Transaction<'_>, key: &Key) -> rusqlite::Result<()> {
    let params = serde_json::to_string(&key.params)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let cap = key.params.cap_usd.map(|usd| stored((usd * 1e12).round() as u64));
    tx.prepare_cached(
        "INSERT INTO keys(id, digest, made, params, cap, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        key.id,
        key.digest,
        stored(key.made),
        params,
        cap,
        key.params.expires.map(stored)
    ])?;
    set_meta(tx, "were_made")
}

fn set_meta(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    tx.execute("INSERT OR IGNORE INTO meta VALUES (?1, '1')", [name]).map(drop)
}

fn has_meta(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM meta WHERE name = ?1")?.exists([name])
}

/// The key with this id, unless it is revoked.
fn by_id(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<Key>> {
    tx.prepare_cached(&format!("SELECT {KEY} FROM keys WHERE id = ?1 AND revoked IS NULL"))?
        .query_row([id], key)
        .optional()
}

fn revoke(tx: &Transaction<'_>, id: &str, now: Millis) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE keys SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL",
        params![id, stored(now)],
    )
    .map(drop)
}

impl KeyStore for KeysDatabase {
    fn were_made(&self) -> Result<bool, StoreError> {
        let found = self.read("reading whether keys were made", |db| has_meta(db, "were_made"))?;
        Ok(found.unwrap_or(false))
    }

    fn list(&self) -> Result<Vec<KeyUse>, StoreError> {
        let sql = format!(
            "SELECT {KEY}, used, spent,
               (SELECT coalesce(sum(money), 0) FROM reservations WHERE key = keys.number)
             FROM keys WHERE revoked IS NULL ORDER BY number"
        );
        let found = self.read("listing keys", |db| {
            let line = |row: &Row<'_>| {
                Ok(KeyUse {
                    key: key(row)?,
                    used: row.get::<_, Option<i64>>(4)?.map(millis),
                    spent: millis(row.get(5)?),
                    reserved: millis(row.get(6)?),
                })
            };
            db.prepare_cached(&sql)?.query_map([], line)?.collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    fn find(&self, digest: &str, now: Millis) -> Result<Option<Key>, StoreError> {
        // A digest reveals nothing about its key, so the time of an indexed search reveals nothing
        // either.
        let sql = format!(
            "SELECT {KEY} FROM keys WHERE revoked IS NULL
               AND (digest = ?1 OR (old_digest = ?1 AND ?2 < old_until))"
        );
        let found = self.read("finding a key", |db| {
            let found = db.prepare_cached(&sql)?.query_row(params![digest, stored(now)], key);
            found.optional()
        })?;
        Ok(found.flatten().map(|key| Key { digest: digest.to_owned(), ..key }))
    }

    fn add(&self, key: &Key, instead_of: &[String], now: Millis) -> Result<(), StoreError> {
        self.write("adding a key", |tx| {
            for id in instead_of {
                revoke(tx, id, now)?;
            }
            insert(tx, key)
        })
    }

    fn revoke(&self, id: &str, now: Millis) -> Result<Option<Key>, StoreError> {
        if self.existing()?.is_none() {
            return Ok(None);
        }
        self.write("revoking a key", |tx| {
            let found = by_id(tx, id)?;
            revoke(tx, id, now)?;
            Ok(found)
        })
    }

    fn rotate(&self, id: &str, digest: &str, until: Millis) -> Result<Option<Key>, StoreError> {
        if self.existing()?.is_none() {
            return Ok(None);
        }
        self.write("rotating a key", |tx| {
            tx.execute(
                "UPDATE keys SET old_digest = digest, old_until = ?3, digest = ?2
                 WHERE id = ?1 AND revoked IS NULL",
                params![id, digest, stored(until)],
            )?;
            by_id(tx, id)
        })
    }

    fn note_use(&self, id: &str, now: Millis) -> Result<(), StoreError> {
        self.write("noting the use of a key", |tx| {
            tx.execute("UPDATE keys SET used = ?2 WHERE id = ?1", params![id, stored(now)])
                .map(drop)
        })
    }

    fn reserve(&self, charge: &KeyCharge, now: Millis) -> Result<Reserved, StoreError> {
        self.write("reserving money", |tx| money::reserve(tx, &self.who, charge, now))
    }

    fn close(&self, reservation: i64, end: ChargeEnd) -> Result<(), StoreError> {
        self.write("settling money", |tx| money::close(tx, reservation, end))
    }

    fn left_behind(&self, now: Millis) -> Result<Vec<LeftBehind>, StoreError> {
        let found =
            self.read("reading reservations", |db| money::left_behind(db, &self.who, now))?;
        Ok(found.unwrap_or_default())
    }

    fn verify(&self) -> Result<(), StoreError> {
        let faults = self.read("checking the database of keys", |db| {
            let mut check = db.prepare("PRAGMA quick_check")?;
            let lines = check.query_map([], |row| row.get::<_, String>(0))?;
            lines.filter(|line| !matches!(line, Ok(line) if line == "ok")).collect()
        })?;
        match faults.filter(|faults: &Vec<String>| !faults.is_empty()) {
            None => Ok(()),
            Some(faults) => Err(StoreError::Failed {
                what: "checking the database of keys".to_owned(),
                source: BaseProblem::DamagedDatabase { path: self.path.clone(), faults }.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
