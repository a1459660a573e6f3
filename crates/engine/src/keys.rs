//! Who may ask a server, for what, and how much may that cost? Keys of 256 random bits, of which digests alone are kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write};
use std::num::NonZeroU32;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use pikerag_knowledge::{Filter, Millis};
use pikerag_models::{Cap, Secret};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::engine::Grant;

/// How keys begin, so that a scanner of leaked keys can tell them.
const PREFIX: &str = "pikerag";
/// Bytes of what is secret in a key.
const BYTES: usize = 32;

/// What a key may be used for; each includes those before it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Scope {
    /// Search, ask, look.
    Read,
    /// Bring documents in, take them out, say what is right.
    Write,
    /// Forget for good, export, look at what others asked and at the audit log.
    Admin,
}

impl Scope {
    /// Its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a key is to be good for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyParams {
    /// Whose it is, or what for.
    pub name: String,
    /// What it may be used for.
    pub scope: Scope,
    /// The bases that it opens, by the names that the server gives them; all, if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<String>,
    /// What of them it shows: conditions such as `folder=law`, all of which must fit.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// US dollars that may be spent with it over all its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub cap_usd: Option<f64>,
    /// Requests in a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub per_minute: Option<NonZeroU32>,
}

/// A key, without what is secret of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Tells it apart; part of the key itself.
    pub id: String,
    /// BLAKE3 of the whole key, in hexadecimal.
    digest: String,
    /// When it was made.
    pub made: Millis,
    /// What it is good for.
    #[serde(flatten)]
    pub params: KeyParams,
}

impl Key {
    /// Whether it is good for a base of that name.
    pub fn opens(&self, base: &str) -> bool {
        self.params.bases.is_empty() || self.params.bases.iter().any(|own| own == base)
    }

    /// What it grants after so many dollars were spent with it.
    pub fn grant(&self, spent_usd: f64) -> Grant {
        let left = self.params.cap_usd.map(|cap| (cap - spent_usd).max(0.0));
        let cap = Cap { money_usd: left, ..Cap::default() };
        Grant { visible: self.params.filter.clone(), cap }
    }
}

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum KeysError {
    /// The file cannot be read.
    #[error("the keys in {path} cannot be read")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// It is no file of keys.
    #[error("{path} is no file of keys")]
    Malformed { path: PathBuf, source: serde_json::Error },
    /// The file cannot be written.
    #[error("the keys cannot be kept in {path}")]
    NotKept { path: PathBuf, source: std::io::Error },
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
}

/// A file of keys, and beside it one of what was spent with them. What another process changes in it is seen at once.
#[derive(Debug)]
pub struct Keys {
    path: PathBuf,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    stamp: Option<(u64, i64, i64, u64)>,
    keys: Arc<[Key]>,
}

impl Keys {
    /// Those of a file; none where it is not there yet.
    pub fn at(path: PathBuf) -> Self {
        Self { path, held: Mutex::default() }
    }

    /// All keys, the oldest first.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn list(&self) -> Result<Arc<[Key]>, KeysError> {
        let mut held = self.held();
        let stamp = match fs::metadata(&self.path) {
            Ok(file) => Some((file.ino(), file.mtime(), file.mtime_nsec(), file.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(source) => return Err(KeysError::Unreadable { path: self.path.clone(), source }),
        };
        if stamp != held.stamp || stamp.is_none() {
            let keys: Vec<Key> = read(&self.path)?.unwrap_or_default();
            *held = Held { stamp, keys: keys.into() };
        }
        Ok(Arc::clone(&held.keys))
    }

    /// The key that somebody presents; `None` where there is none such. How long that takes says nothing of the secret.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn find(&self, presented: &str) -> Result<Option<Key>, KeysError> {
        let digest = blake3::hash(presented.as_bytes());
        let keys = self.list()?;
        // `blake3::Hash` compares in constant time.
        let is_it = |key: &&Key| blake3::Hash::from_hex(&key.digest).is_ok_and(|own| own == digest);
        Ok(keys.iter().find(is_it).cloned())
    }

    /// Makes a key. What it returns beside it is the key itself, which is shown once and never kept.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn make(&self, params: KeyParams, made: Millis) -> Result<(Key, Secret), KeysError> {
        let mut bytes = [0; BYTES + 4];
        getrandom::fill(&mut bytes).map_err(|_| KeysError::NoRandom)?;
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let (id, secret) = hex.split_at(8);
        let text = format!("{PREFIX}_{id}_{secret}");
        let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
        let key = Key { id: id.to_owned(), digest, made, params };
        let mut keys = self.list()?.to_vec();
        keys.push(key.clone());
        write(&self.path, &keys)?;
        Ok((key, Secret::from(text)))
    }

    /// Takes a key back; it opens nothing from then on.
    ///
    /// # Errors
    /// [`KeysError::NoKey`], or the change cannot be kept.
    pub fn revoke(&self, id: &str) -> Result<Key, KeysError> {
        let mut keys = self.list()?.to_vec();
        let place = keys.iter().position(|key| key.id == id);
        let place = place.ok_or_else(|| KeysError::NoKey { id: id.to_owned() })?;
        let gone = keys.remove(place);
        write(&self.path, &keys)?;
        Ok(gone)
    }

    /// What was spent with each key, in US dollars.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn spent(&self) -> Result<BTreeMap<String, f64>, KeysError> {
        Ok(read(&self.spendings())?.unwrap_or_default())
    }

    /// Books what was spent with a key since the last time.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn book(&self, id: &str, usd: f64) -> Result<(), KeysError> {
        let _one_at_a_time = self.held();
        let mut spent = self.spent()?;
        *spent.entry(id.to_owned()).or_default() += usd;
        write(&self.spendings(), &spent)
    }

    fn spendings(&self) -> PathBuf {
        self.path.with_extension("spent.json")
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, KeysError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(KeysError::Unreadable { path: path.to_owned(), source }),
    };
    let read = serde_json::from_slice(&text);
    read.map(Some).map_err(|source| KeysError::Malformed { path: path.to_owned(), source })
}

/// For its owner alone, and whole or not at all.
fn write<T: Serialize + ?Sized>(path: &Path, value: &T) -> Result<(), KeysError> {
    let not_kept = |source| KeysError::NotKept { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(not_kept)?;
    }
    let text = serde_json::to_vec_pretty(value).map_err(|error| not_kept(error.into()))?;
    let beside = path.with_extension("new");
    let _ = fs::remove_file(&beside);
    let mut options = fs::OpenOptions::new();
    let mut file =
        options.write(true).create_new(true).mode(0o600).open(&beside).map_err(not_kept)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(not_kept)?;
    fs::rename(&beside, path).map_err(not_kept)
}

/// Now, as keys are dated.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(name: &str) -> KeyParams {
        KeyParams {
            name: name.to_owned(),
            scope: Scope::Read,
            bases: vec!["law".to_owned()],
            filter: Filter { conditions: vec!["folder=open".parse().unwrap()] },
            cap_usd: Some(2.0),
            per_minute: None,
        }
    }

    #[test]
    fn a_key_is_found_until_it_is_taken_back_and_its_secret_is_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/keys.json");
        let keys = Keys::at(path.clone());
        assert!(keys.list().unwrap().is_empty() && keys.find("x").unwrap().is_none());
        let (key, secret) = keys.make(params("ada"), 7).unwrap();
        let (other, _) = keys.make(params("bo"), 8).unwrap();
        let text = secret.expose().to_owned();
        assert_eq!(text.len(), "pikerag_".len() + 8 + 1 + 64);
        // Another process sees it at once.
        let again = Keys::at(path.clone());
        assert_eq!(again.find(&text).unwrap().unwrap(), key);
        assert!(again.find(&text[..text.len() - 1]).unwrap().is_none());
        let kept = fs::read_to_string(&path).unwrap();
        assert!(!kept.contains(&text[17..]), "{kept}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(key.opens("law") && !key.opens("other"));
        keys.revoke(&key.id).unwrap();
        assert!(again.find(&text).unwrap().is_none());
        assert_eq!(again.list().unwrap().as_ref(), [other]);
        assert!(matches!(keys.revoke(&key.id), Err(KeysError::NoKey { .. })));
    }

    #[test]
    fn what_is_spent_is_kept_and_lowers_the_cap() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::at(folder.path().join("keys.json"));
        let (key, _) = keys.make(params("ada"), 7).unwrap();
        keys.book(&key.id, 0.5).unwrap();
        keys.book(&key.id, 1.0).unwrap();
        let spent = Keys::at(folder.path().join("keys.json")).spent().unwrap()[&key.id];
        assert!((spent - 1.5).abs() < 1e-9);
        assert!((key.grant(spent).cap.money_usd.unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(key.grant(3.0).cap.money_usd, Some(0.0));
    }

    #[test]
    fn a_broken_file_is_an_error_and_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        fs::write(&path, "[{").unwrap();
        assert!(matches!(Keys::at(path).find("x"), Err(KeysError::Malformed { .. })));
    }
}
