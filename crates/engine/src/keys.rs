//! Makes, finds and revokes access keys of 256 random bits. Only digests of them are stored.

mod account;
mod marks;

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use pikerag_knowledge::{ChargeEnd, KeyStore, Millis, StoreError};
use pikerag_models::Secret;
use pikerag_postgres::KeysInPostgres;
use pikerag_store::KeysDatabase;

use crate::base::{address_of, shown_base};
use crate::random::random_hex;

pub use self::marks::{mark_as_needed, mark_of_need};
pub use pikerag_knowledge::{Key, KeyParams, KeyUse, Scope};

/// The start of every key, so that scanners for leaked keys recognize them.
const PREFIX: &str = "pikerag";
/// Bytes of the secret part of a key.
const BYTES: usize = 32;
/// The shortest time between two records of a key's use, in milliseconds.
const USE_INTERVAL: Millis = 60_000;

/// The reason why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum KeysError {
    /// The store of keys cannot be read or written.
    #[error("the keys in {path} cannot be used")]
    Store { path: PathBuf, source: StoreError },
    /// The key does not exist.
    #[error("there is no key `{id}`")]
    NoKey { id: String },
    /// The user has no folder for keys, and none is set.
    #[error(
        "there is no place for keys: `server.keys` is not set, and neither XDG_STATE_HOME nor HOME names a folder"
    )]
    NoPlace,
    /// The system provides no random numbers.
    #[error("the system provides no random numbers for a key")]
    NoRandom,
    /// A key cannot be written to its file.
    #[error("the key cannot be written to {path}")]
    NotWritten { path: PathBuf, source: std::io::Error },
}

/// The keys of a server. A clone shares them.
#[derive(Clone)]
pub struct Keys(Arc<Shared>);

struct Shared {
    store: Box<dyn KeyStore>,
    path: PathBuf,
    /// The time at which the last use of each key was recorded.
    noted: Mutex<HashMap<String, Millis>>,
    /// Reservations of calls that are over, which the store could not end. They are ended before
    /// the next call of any key.
    unsettled: Mutex<Vec<(i64, ChargeEnd)>>,
}

impl Keys {
    /// The keys in a database, or in the file of an older version; none if neither exists.
    pub fn at(path: &Path) -> Self {
        let database = KeysDatabase::at(path);
        let path = database.path().to_owned();
        Self::over(Box::new(database), path)
    }

    /// The keys of a setting: in a database, if it is an address, else as [`Keys::at`].
    ///
    /// # Errors
    /// It is not an address of a database.
    pub fn open(place: &Path) -> Result<Self, KeysError> {
        let failed = |source| KeysError::Store { path: shown_base(place), source };
        let Some(location) = address_of(place).map_err(failed)? else { return Ok(Self::at(place)) };
        let store = KeysInPostgres::open(&location).map_err(failed)?;
        Ok(Self::over(Box::new(store), location.shown_path()))
    }

    /// The keys in any store; errors name the path.
    pub fn over(store: Box<dyn KeyStore>, path: PathBuf) -> Self {
        Self(Arc::new(Shared { store, path, noted: Mutex::default(), unsettled: Mutex::default() }))
    }

    /// The path of the store.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The store.
    pub(crate) fn store(&self) -> &dyn KeyStore {
        self.0.store.as_ref()
    }

    fn with_path<T>(&self, result: Result<T, StoreError>) -> Result<T, KeysError> {
        result.map_err(|source| KeysError::Store { path: self.0.path.clone(), source })
    }

    /// Whether any key was ever made here. If so, every request needs a key, even if none is left.
    ///
    /// # Errors
    /// The store cannot be read. In that case, no request may be served.
    pub fn were_made(&self) -> Result<bool, KeysError> {
        self.with_path(self.store().were_made())
    }

    /// Reads the whole store.
    ///
    /// # Errors
    /// The store is damaged.
    pub fn verify(&self) -> Result<(), KeysError> {
        self.with_path(self.store().verify())
    }

    /// All keys with their use, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self) -> Result<Vec<KeyUse>, KeysError> {
        self.with_path(self.store().list())
    }

    /// The key that a caller presents, even if it has expired; `None` if no such key exists.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find(&self, presented: &str) -> Result<Option<Key>, KeysError> {
        self.with_path(self.store().find(&digest(presented), now()))
    }

    /// Makes a key, and returns it with its secret, which is shown once and never stored.
    ///
    /// # Errors
    /// The change cannot be stored.
    pub fn make(&self, params: KeyParams) -> Result<(Key, Secret), KeysError> {
        let (id, text) = random(None)?;
        let key = Key { id, digest: digest(&text), made: now(), params };
        self.with_path(self.store().add(&key, &[], key.made))?;
        Ok((key, Secret::from(text)))
    }

    /// Ensures that a file holds the only key of its name; `None` if it already does. Otherwise it
    /// writes a new key to the file and replaces all others of that name. A caller that was stopped
    /// halfway can call it again.
    ///
    /// # Errors
    /// The file or the store cannot be read or written.
    pub fn make_into(&self, params: KeyParams, file: &Path) -> Result<Option<Key>, KeysError> {
        let known = fs::read_to_string(file).unwrap_or_default();
        if let Some(key) = self.find(known.trim())?
            && key.params.name == params.name
            && !key.is_expired(now())
        {
            return Ok(None);
        }
        let same = self.list()?.into_iter().filter(|line| line.key.params.name == params.name);
        let same: Vec<String> = same.map(|line| line.key.id).collect();
        let (id, text) = random(None)?;
        let key = Key { id, digest: digest(&text), made: now(), params };
        write_secret(file, &text)
            .map_err(|source| KeysError::NotWritten { path: file.to_owned(), source })?;
        self.with_path(self.store().add(&key, &same, key.made))?;
        Ok(Some(key))
    }

    /// Gives a key a new secret. The old one stays valid for `grace` milliseconds.
    ///
    /// # Errors
    /// [`KeysError::NoKey`], or the change cannot be stored.
    pub fn rotate(&self, id: &str, grace: Millis) -> Result<(Key, Secret), KeysError> {
        let (_, text) = random(Some(id))?;
        let until = now().saturating_add(grace);
        let rotated = self.with_path(self.store().rotate(id, &digest(&text), until))?;
        let key = rotated.ok_or_else(|| KeysError::NoKey { id: id.to_owned() })?;
        Ok((key, Secret::from(text)))
    }

    /// Revokes a key, which then opens nothing.
    ///
    /// # Errors
    /// [`KeysError::NoKey`], or the change cannot be stored.
    pub fn revoke(&self, id: &str) -> Result<Key, KeysError> {
        let gone = self.with_path(self.store().revoke(id, now()))?;
        gone.ok_or_else(|| KeysError::NoKey { id: id.to_owned() })
    }

    /// Whether the use of a key must be recorded now: once a minute.
    pub fn is_use_due(&self, key: &Key) -> bool {
        let mut noted = self.0.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, last) = (now(), noted.get(&key.id).copied().unwrap_or_default());
        let is_due = last.saturating_add(USE_INTERVAL) <= now;
        if is_due {
            noted.insert(key.id.clone(), now);
        }
        is_due
    }

    /// Records that a key was used.
    ///
    /// # Errors
    /// The change cannot be stored.
    pub fn note_use(&self, key: &Key) -> Result<(), KeysError> {
        self.with_path(self.store().note_use(&key.id, now()))
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The identifier and text of a new key, or of a new secret for the key with this identifier.
fn random(id: Option<&str>) -> Result<(String, String), KeysError> {
    let hex = random_hex::<{ BYTES + 4 }>().map_err(|_| KeysError::NoRandom)?;
    let (own, secret) = hex.split_at(8);
    let id = id.unwrap_or(own);
    Ok((id.to_owned(), format!("{PREFIX}_{id}_{secret}")))
}

/// Writes a secret to a file that only its owner may read, completely or not at all.
fn write_secret(file: &Path, secret: &str) -> std::io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut options = OpenOptions::new();
    let mut written = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    written.write_all(secret.as_bytes())?;
    written.write_all(b"\n")?;
    written.sync_all()?;
    fs::rename(&beside, file)
}

/// The current time, as keys record it.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests;
