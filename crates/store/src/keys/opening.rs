//! Opens the database of keys, creates it if needed, and imports the files of older versions once.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use pikerag_knowledge::{Key, StoreError};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use tracing::warn;

use super::{has_meta, insert, set_meta, stored};
use crate::error::Context;
use crate::sqlite::unless_busy;

/// The application id in the file: `PIKK`.
const APPLICATION: i64 = 0x5049_4b4b;
const LAYOUT: i64 = 1;
/// How long to wait for a lock of another process.
const LOCKED_FOR: Duration = Duration::from_secs(20);
/// The ending of a file whose keys were imported.
const TAKEN: &str = "taken";

/// Connections to the database, with the device and inode of its file.
pub(super) struct Opened {
    pub(super) file: (u64, u64),
    pub(super) reader: Mutex<Connection>,
    pub(super) writer: Mutex<Connection>,
}

impl Opened {
    pub(super) fn open(path: &Path, older: &Path) -> Result<Self, StoreError> {
        let doing = "opening the database of keys";
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).context(doing)?;
        }
        // Only its owner may access it. SQLite gives its log the same mode.
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path);
        let mode = file.and_then(|file| file.metadata()).context(doing)?.mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(0o600)).context(doing)?;
        }
        let mut writer = connected(path).map_err(|error| not_ours(path, &error))?;
        let is_ours =
            unless_busy(|| prepare(&mut writer)).map_err(|error| not_ours(path, &error))?;
        if !is_ours {
            let reason = "it is not a key database that this version knows";
            return Err(not_ours(path, &reason));
        }
        import(&mut writer, older)?;
        let reader = connected(path).map_err(|error| not_ours(path, &error))?;
        let found = fs::metadata(path).context(doing)?;
        let file = (found.dev(), found.ino());
        Ok(Self { file, reader: Mutex::new(reader), writer: Mutex::new(writer) })
    }
}

fn connected(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(LOCKED_FOR)?;
    let log = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";
    unless_busy(|| connection.execute_batch(log))?;
    Ok(connection)
}

/// Creates the tables of a new database. Returns whether the database is ours.
fn prepare(writer: &mut Connection) -> rusqlite::Result<bool> {
    let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, i64>(0));
    match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (APPLICATION, LAYOUT) => return Ok(true),
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => {}
        _ => return Ok(false),
    }
    tx.execute_batch(include_str!("schema.sql"))?;
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", LAYOUT)?;
    tx.commit()?;
    Ok(true)
}

/// Imports the files of an older version in one transaction that records the import. No process
/// imports them again, even after a crash. The files are kept under another name.
fn import(writer: &mut Connection, older: &Path) -> Result<(), StoreError> {
    if !older.exists() {
        return Ok(());
    }
    let doing = "importing the keys of an older version";
    let spendings = older.with_extension("spent.json");
    let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate).context(doing)?;
    if !has_meta(&tx, "taken_over").context(doing)? {
        // Another process may have renamed the files first.
        let keys: Option<Vec<Key>> = read(older)?;
        let spent: BTreeMap<String, f64> = read(&spendings)?.unwrap_or_default();
        if let Some(keys) = keys {
            for key in &keys {
                insert(&tx, key).context(doing)?;
                let spent = spent.get(&key.id).copied().unwrap_or_default();
                let spent = stored((spent * 1e12).round() as u64);
                tx.execute("UPDATE keys SET spent = ?2 WHERE id = ?1", params![key.id, spent])
                    .context(doing)?;
            }
            // Even an empty file proves that there were keys.
            set_meta(&tx, "were_made").context(doing)?;
            set_meta(&tx, "taken_over").context(doing)?;
        }
    }
    tx.commit().context(doing)?;
    for file in [older, &spendings] {
        put_aside(file).context(doing)?;
    }
    Ok(())
}

fn put_aside(file: &Path) -> std::io::Result<()> {
    let mut taken = file.as_os_str().to_owned();
    taken.push(".");
    taken.push(TAKEN);
    let taken = PathBuf::from(taken);
    if taken.exists() && file.exists() {
        warn!(file = %file.display(), "the keys are in the database already, so this file is not read");
        return Ok(());
    }
    match fs::rename(file, taken) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context(&format!("reading {}", path.display())),
    };
    serde_json::from_slice(&text).map(Some).map_err(|error| not_ours(path, &error))
}

fn not_ours(path: &Path, reason: &impl ToString) -> StoreError {
    StoreError::NotOurs { path: path.display().to_string(), reason: reason.to_string() }
}
