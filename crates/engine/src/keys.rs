//! Makes, finds and revokes access keys of 256 random bits, of which only digests are kept.

mod account;
mod marks;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use pikerag_knowledge::{KeyStore, Millis, StoreError};
use pikerag_models::Secret;
use pikerag_store::KeysDatabase;

pub use self::marks::{mark_as_needed, mark_of_need};
pub use pikerag_knowledge::{Key, KeyParams, KeyUse, Scope};

/// How keys begin, so that a scanner of leaked keys can tell them.
const PREFIX: &str = "pikerag";
/// Bytes of what is secret in a key.
const BYTES: usize = 32;
/// How often the use of one key is written down, at most.
const NOTED: Millis = 60_000;

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum KeysError {
    /// The store of keys cannot be read or written.
    #[error("the keys in {path} cannot be used")]
    Store { path: PathBuf, source: StoreError },
    /// There is no such key.
    #[error("there is no key `{id}`")]
    NoKey { id: String },
    /// There is no folder of the user's for them, and none is set.
    #[error(
        "there is no place for keys: neither `server.keys` is set, nor do XDG_STATE_HOME or HOME name a folder"
    )]
    NoPlace,
    /// The system gives no random numbers.
    #[error("there are no random numbers to make a key of")]
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
    /// When the use of each key was written down.
    noted: Mutex<HashMap<String, Millis>>,
}

impl Keys {
    /// Those of a database, or of the file that an older version kept; none where there is neither yet.
    pub fn at(path: &Path) -> Self {
        let database = KeysDatabase::at(path);
        let path = database.path().to_owned();
        Self::over(Box::new(database), path)
    }

    /// Those of any store; errors name the path.
    pub fn over(store: Box<dyn KeyStore>, path: PathBuf) -> Self {
        Self(Arc::new(Shared { store, path, noted: Mutex::default() }))
    }

    /// Where they are kept.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// What keeps them.
    pub(crate) fn store(&self) -> &dyn KeyStore {
        self.0.store.as_ref()
    }

    fn told<T>(&self, result: Result<T, StoreError>) -> Result<T, KeysError> {
        result.map_err(|source| KeysError::Store { path: self.0.path.clone(), source })
    }

    /// Whether any key was ever made here: then every request needs one, even if none is left.
    ///
    /// # Errors
    /// Nobody can tell. Then nobody may come in.
    pub fn were_made(&self) -> Result<bool, KeysError> {
        self.told(self.store().were_made())
    }

    /// Reads all of the store.
    ///
    /// # Errors
    /// It is damaged.
    pub fn verify(&self) -> Result<(), KeysError> {
        self.told(self.store().verify())
    }

    /// All keys with what was done with them, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self) -> Result<Vec<KeyUse>, KeysError> {
        self.told(self.store().list())
    }

    /// The key that somebody presents, even if it has expired; `None` where there is none such.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find(&self, presented: &str) -> Result<Option<Key>, KeysError> {
        self.told(self.store().find(&digest(presented), now()))
    }

    /// Makes a key. What it returns beside it is the key itself, which is shown once and never kept.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn make(&self, params: KeyParams) -> Result<(Key, Secret), KeysError> {
        let (id, text) = random(None)?;
        let key = Key { id, digest: digest(&text), made: now(), params };
        self.told(self.store().add(&key, &[], key.made))?;
        Ok((key, Secret::from(text)))
    }

    /// Sees to it that a file holds the one key of its name: `None` where it does already. Else a new key is written to the
    /// file and made in place of all others of that name, so that a caller that was stopped halfway calls again.
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
        self.told(self.store().add(&key, &same, key.made))?;
        Ok(Some(key))
    }

    /// Gives a key another secret. The old one stays good for so many milliseconds.
    ///
    /// # Errors
    /// [`KeysError::NoKey`], or the change cannot be kept.
    pub fn rotate(&self, id: &str, grace: Millis) -> Result<(Key, Secret), KeysError> {
        let (_, text) = random(Some(id))?;
        let until = now().saturating_add(grace);
        let rotated = self.told(self.store().rotate(id, &digest(&text), until))?;
        let key = rotated.ok_or_else(|| KeysError::NoKey { id: id.to_owned() })?;
        Ok((key, Secret::from(text)))
    }

    /// Revokes a key; it opens nothing from then on.
    ///
    /// # Errors
    /// [`KeysError::NoKey`], or the change cannot be kept.
    pub fn revoke(&self, id: &str) -> Result<Key, KeysError> {
        let gone = self.told(self.store().revoke(id, now()))?;
        gone.ok_or_else(|| KeysError::NoKey { id: id.to_owned() })
    }

    /// Whether the use of a key is to be written down now: once a minute.
    pub fn is_use_due(&self, key: &Key) -> bool {
        let mut noted = self.0.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, last) = (now(), noted.get(&key.id).copied().unwrap_or_default());
        let is_due = last.saturating_add(NOTED) <= now;
        if is_due {
            noted.insert(key.id.clone(), now);
        }
        is_due
    }

    /// Writes down that a key was used.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn note_use(&self, key: &Key) -> Result<(), KeysError> {
        self.told(self.store().note_use(&key.id, now()))
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// A new key, or another secret for the key of an id.
fn random(id: Option<&str>) -> Result<(String, String), KeysError> {
    let mut bytes = [0; BYTES + 4];
    getrandom::fill(&mut bytes).map_err(|_| KeysError::NoRandom)?;
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let (own, secret) = hex.split_at(8);
    let id = id.unwrap_or(own);
    Ok((id.to_owned(), format!("{PREFIX}_{id}_{secret}")))
}

/// Writes a secret to a file, for its owner alone, and whole or not at all.
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

/// Now, as keys are dated.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests;
