//! Tests that keys are found until they are revoked, and that their secrets are stored nowhere.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use pikerag_knowledge::{
    ChargeEnd, Filter, KeyCharge, KeyStore, LeftBehind, ModelError, Reserved, StoreError,
};
use pikerag_models::{Charge, ChargeOutcome, Usd};

fn params(name: &str) -> KeyParams {
    KeyParams {
        name: name.to_owned(),
        scope: Scope::Read,
        bases: vec!["law".to_owned()],
        filter: Filter { conditions: vec!["folder=open".parse().unwrap()] },
        cap_usd: Some(2.0),
        per_minute: None,
        expires: None,
    }
}

#[test]
fn a_key_is_found_until_revoked_and_its_secret_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/keys.sqlite");
    let keys = Keys::at(&path);
    assert!(keys.list().unwrap().is_empty() && keys.find("x").unwrap().is_none());
    assert!(!keys.were_made().unwrap());
    let (key, secret) = keys.make(params("ada")).unwrap();
    let (other, _) = keys.make(params("bo")).unwrap();
    let text = secret.expose().to_owned();
    assert_eq!(text.len(), "pikerag_".len() + 8 + 1 + 64);
    // Another process sees the key at once.
    let again = Keys::at(&path);
    assert_eq!(again.find(&text).unwrap().unwrap(), key);
    assert!(again.find(&text[..text.len() - 1]).unwrap().is_none());
    for file in ["keys.sqlite", "keys.sqlite-wal"] {
        let kept = fs::read(path.with_file_name(file)).unwrap();
        let secret = &text.as_bytes()[17..];
        assert!(!kept.windows(secret.len()).any(|part| part == secret));
    }
    assert!(key.opens("law") && !key.opens("other"));
    keys.revoke(&key.id).unwrap();
    assert!(again.find(&text).unwrap().is_none());
    assert_eq!(again.list().unwrap()[0].key, other);
    assert!(matches!(keys.revoke(&key.id), Err(KeysError::NoKey { .. })));
    keys.revoke(&other.id).unwrap();
    assert!(again.were_made().unwrap());
}

#[test]
fn a_rotated_key_keeps_its_old_secret_for_the_grace_time() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(&folder.path().join("keys.sqlite"));
    let (key, first) = keys.make(params("ada")).unwrap();
    let (_, second) = keys.rotate(&key.id, 3_600_000).unwrap();
    let found = |secret: &Secret| keys.find(secret.expose()).unwrap().map(|key| key.id);
    assert_eq!((found(&first), found(&second)), (Some(key.id.clone()), Some(key.id.clone())));
    let (_, third) = keys.rotate(&key.id, 0).unwrap();
    assert_eq!((found(&first), found(&second), found(&third)), (None, None, Some(key.id.clone())));
    assert!(matches!(keys.rotate("nobody", 0), Err(KeysError::NoKey { .. })));
}

/// This also holds during a run, because the server's guard checks a key only when the request
/// arrives.
#[test]
fn an_expired_key_pays_for_no_further_call() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(&folder.path().join("keys.sqlite"));
    let payer = |expires: Millis| {
        let (key, _) = keys.make(KeyParams { expires: Some(expires), ..params("ada") }).unwrap();
        keys.grant(&key).payer.unwrap()
    };
    let charge = Charge { most: Usd::default(), base: String::new(), calls: Vec::new() };
    let good = payer(now() + 3_600_000);
    assert!(good.check().is_ok() && good.reserve(&charge).is_ok());
    let over = payer(now() - 1);
    assert!(matches!(over.check(), Err(ModelError::KeyEnded)));
    assert!(matches!(over.reserve(&charge), Err(ModelError::KeyEnded)));
}

/// The file holds one key however often it is requested and wherever the work was stopped.
#[test]
fn a_file_holds_the_only_key_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(&folder.path().join("keys.sqlite"));
    let file = folder.path().join("chat");
    let first = keys.make_into(params("chat"), &file).unwrap().unwrap();
    assert!(keys.make_into(params("chat"), &file).unwrap().is_none());
    // As if stopped between writing the file and the store.
    fs::write(&file, "pikerag_of_nothing\n").unwrap();
    let second = keys.make_into(params("chat"), &file).unwrap().unwrap();
    assert_ne!(first.id, second.id);
    let ids: Vec<String> = keys.list().unwrap().into_iter().map(|line| line.key.id).collect();
    assert_eq!(ids, [second.id.as_str()]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(keys.find(text.trim()).unwrap().unwrap().id, second.id);
}

#[test]
fn the_use_of_a_key_is_recorded_once_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(&folder.path().join("keys.sqlite"));
    let (key, _) = keys.make(params("ada")).unwrap();
    assert_eq!((keys.is_use_due(&key), keys.is_use_due(&key)), (true, false));
    assert_eq!(keys.list().unwrap()[0].used, None);
    keys.note_use(&key).unwrap();
    assert!(keys.list().unwrap()[0].used.is_some());
}

/// A store that cannot be read or written. Once it is back, money can be reserved and freed.
#[derive(Clone, Default)]
struct Broken {
    is_back: Arc<AtomicBool>,
    closed: Arc<Mutex<Vec<(i64, ChargeEnd)>>>,
}

impl Broken {
    fn or_back<T>(&self, value: T) -> Result<T, StoreError> {
        if self.is_back.load(Ordering::Relaxed) { Ok(value) } else { broken() }
    }
}

fn broken<T>() -> Result<T, StoreError> {
    Err(StoreError::Missing { what: "the disk".to_owned() })
}

impl KeyStore for Broken {
    fn were_made(&self) -> Result<bool, StoreError> {
        broken()
    }

    fn list(&self) -> Result<Vec<KeyUse>, StoreError> {
        broken()
    }

    fn find(&self, _: &str, _: Millis) -> Result<Option<Key>, StoreError> {
        broken()
    }

    fn add(&self, _: &Key, _: &[String], _: Millis) -> Result<(), StoreError> {
        broken()
    }

    fn revoke(&self, _: &str, _: Millis) -> Result<Option<Key>, StoreError> {
        broken()
    }

    fn rotate(&self, _: &str, _: &str, _: Millis) -> Result<Option<Key>, StoreError> {
        broken()
    }

    fn note_use(&self, _: &str, _: Millis) -> Result<(), StoreError> {
        broken()
    }

    fn reserve(&self, _: &KeyCharge, _: Millis) -> Result<Reserved, StoreError> {
        self.or_back(Reserved::Yes(3))
    }

    fn close(&self, reservation: i64, end: ChargeEnd) -> Result<(), StoreError> {
        self.or_back(())?;
        self.closed.lock().unwrap().push((reservation, end));
        Ok(())
    }

    fn left_behind(&self, _: Millis) -> Result<Vec<LeftBehind>, StoreError> {
        broken()
    }

    fn verify(&self) -> Result<(), StoreError> {
        broken()
    }
}

#[test]
fn a_broken_store_admits_no_caller_and_pays_for_nothing() {
    let keys = Keys::over(Box::new(Broken::default()), PathBuf::from("keys.sqlite"));
    assert!(
        keys.were_made().is_err() && keys.find("x").is_err() && keys.make(params("a")).is_err()
    );
    let digest = digest("x");
    let key = Key { id: "x".to_owned(), digest, made: 0, params: params("a") };
    let payer = keys.grant(&key).payer.unwrap();
    assert!(matches!(payer.check(), Err(ModelError::Ledger { .. })));
    let charge = Charge { most: Usd::default(), base: String::new(), calls: Vec::new() };
    assert!(matches!(payer.reserve(&charge), Err(ModelError::Ledger { .. })));
    assert!(payer.left().is_err());
}

/// Otherwise an outage at the end of a call holds the money of other calls for minutes.
#[test]
fn calls_that_ended_during_an_outage_are_settled_before_the_next_call() {
    let store = Broken::default();
    let keys = Keys::over(Box::new(store.clone()), PathBuf::from("keys.sqlite"));
    let key = Key { id: "x".to_owned(), digest: digest("x"), made: 0, params: params("a") };
    let payer = keys.grant(&key).payer.unwrap();
    payer.close(1, ChargeOutcome::Nothing);
    payer.close(2, ChargeOutcome::Unknown);
    let charge = Charge { most: Usd::default(), base: String::new(), calls: Vec::new() };
    assert!(payer.reserve(&charge).is_err());
    store.is_back.store(true, Ordering::Relaxed);
    assert!(payer.reserve(&charge).is_ok() && payer.reserve(&charge).is_ok());
    let mut closed = store.closed.lock().unwrap().clone();
    closed.sort_unstable_by_key(|one| one.0);
    assert_eq!(closed, [(1, ChargeEnd::Nothing), (2, ChargeEnd::Unknown)]);
}
