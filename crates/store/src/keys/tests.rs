//! Tests that several threads, handles and processes can share one database of keys.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Barrier;

use pikerag_knowledge::{
    ChargeEnd, Key, KeyCharge, KeyParams, KeyStore, Reserved, Scope, StoreError,
};

use super::KeysDatabase;

fn key(name: &str) -> Key {
    let digest = blake3::hash(name.as_bytes()).to_hex().to_string();
    let params = KeyParams {
        name: name.to_owned(),
        scope: Scope::Read,
        bases: Vec::new(),
        filter: "folder=open"
            .parse()
            .map(|one| pikerag_knowledge::Filter { conditions: vec![one] })
            .unwrap(),
        cap_usd: Some(2.0),
        per_minute: None,
        expires: None,
    };
    Key { id: format!("id-{name}"), digest, made: 7, params }
}

fn charge(name: &str, dollars: f64) -> KeyCharge {
    let money = (dollars * 1e12) as u64;
    KeyCharge {
        digest: key(name).digest,
        money,
        base: "base".to_owned(),
        calls: vec!["k".to_owned()],
    }
}

fn number(reserved: &Reserved) -> i64 {
    let Reserved::Yes(number) = reserved else { panic!("{reserved:?}") };
    *number
}

/// No added key is lost, and no revoked key works afterwards.
#[test]
fn sixteen_threads_lose_no_key_and_revive_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/keys.sqlite");
    let start = Barrier::new(16);
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (path, start) = (&path, &start);
            scope.spawn(move || {
                // Like a separate process: only the file is shared.
                let store = KeysDatabase::at(path);
                start.wait();
                for n in 0..10 {
                    let kept = key(&format!("kept-{thread}-{n}"));
                    let gone = key(&format!("gone-{thread}-{n}"));
                    store.add(&kept, &[], 1).unwrap();
                    store.add(&gone, &[], 1).unwrap();
                    assert_eq!(store.revoke(&gone.id, 2).unwrap(), Some(gone.clone()));
                    assert_eq!(store.find(&gone.digest, 3).unwrap(), None);
                    assert_eq!(store.find(&kept.digest, 3).unwrap(), Some(kept));
                }
            });
        }
    });
    let store = KeysDatabase::at(&path);
    let names: Vec<String> =
        store.list().unwrap().into_iter().map(|line| line.key.params.name).collect();
    assert_eq!(names.len(), 160);
    assert!(names.iter().all(|name| name.starts_with("kept-")), "{names:?}");
    for entry in fs::read_dir(folder.path().join("state")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600, "{entry:?}");
    }
}

#[test]
fn files_of_an_older_version_are_imported_once() {
    let folder = tempfile::tempdir().unwrap();
    let older = folder.path().join("keys.json");
    fs::write(&older, serde_json::to_vec(&[key("ada"), key("bo")]).unwrap()).unwrap();
    fs::write(folder.path().join("keys.spent.json"), r#"{"id-ada": 1.25}"#).unwrap();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = KeysDatabase::at(&older);
                start.wait();
                assert!(store.were_made().unwrap());
                assert_eq!(store.list().unwrap().len(), 2);
            });
        }
    });
    let store = KeysDatabase::at(&folder.path().join("keys.sqlite"));
    let lines = store.list().unwrap();
    assert_eq!((lines[0].key.clone(), lines[0].spent), (key("ada"), 1_250_000_000_000));
    store.revoke("id-ada", 1).unwrap();
    let taken = folder.path().join("keys.json.taken");
    assert!(taken.is_file() && folder.path().join("keys.spent.json.taken").is_file());
    // Restoring the old file brings no key back.
    fs::copy(&taken, &older).unwrap();
    let again = KeysDatabase::at(&older);
    assert_eq!(again.find(&key("ada").digest, 2).unwrap(), None);
    assert_eq!(again.list().unwrap().len(), 1);
}

#[test]
fn a_damaged_or_removed_file_is_an_error_and_grants_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let older = folder.path().join("old.json");
    fs::write(&older, "[{").unwrap();
    assert!(matches!(KeysDatabase::at(&older).find("x", 1), Err(StoreError::NotOurs { .. })));
    assert!(older.is_file());

    let path = folder.path().join("keys.sqlite");
    let store = KeysDatabase::at(&path);
    assert!(!store.were_made().unwrap() && !path.exists());
    store.add(&key("ada"), &[], 1).unwrap();
    store.verify().unwrap();
    store.revoke("id-ada", 2).unwrap();
    assert!(store.were_made().unwrap());
    fs::remove_file(&path).unwrap();
    assert!(store.were_made().is_err() && store.find("x", 3).is_err());

    let other = folder.path().join("other.sqlite");
    fs::write(&other, "this is no database, whatever its name says of it").unwrap();
    assert!(matches!(KeysDatabase::at(&other).were_made(), Err(StoreError::NotOurs { .. })));
}

#[test]
fn the_old_secret_of_a_rotated_key_is_good_for_a_grace_period() {
    let folder = tempfile::tempdir().unwrap();
    let store = KeysDatabase::at(&folder.path().join("keys.sqlite"));
    let (old, new) = (key("old"), key("new"));
    store.add(&old, &[], 1).unwrap();
    let rotated = store.rotate(&old.id, &new.digest, 100).unwrap().unwrap();
    assert_eq!(rotated, Key { digest: new.digest.clone(), ..old.clone() });
    assert_eq!(store.find(&old.digest, 99).unwrap(), Some(old.clone()));
    assert_eq!(store.find(&old.digest, 100).unwrap(), None);
    assert!(store.find(&new.digest, 100).unwrap().is_some());
    assert_eq!(store.rotate("nobody", "x", 0).unwrap(), None);
}

/// Two handles share one cap. An open call delays the next one; a call whose process is gone counts
/// as spent.
#[test]
fn money_is_reserved_and_settled_under_one_cap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.sqlite");
    let (one, other) = (KeysDatabase::at(&path), KeysDatabase::at(&path));
    one.add(&key("ada"), &[], 1).unwrap();
    let first = number(&one.reserve(&charge("ada", 1.5), 1).unwrap());
    let later = other.reserve(&charge("ada", 1.0), 1).unwrap();
    assert!(matches!(later, Reserved::Later { held: 1_500_000_000_000, .. }), "{later:?}");
    one.close(first, ChargeEnd::Cost(500_000_000_000)).unwrap();
    let second = number(&other.reserve(&charge("ada", 1.0), 1).unwrap());
    assert_eq!(one.list().unwrap()[0].reserved, 1_000_000_000_000);
    // The call was abandoned, so its cost is unknown.
    other.close(second, ChargeEnd::Unknown).unwrap();
    let over = one.reserve(&charge("ada", 1.0), 1).unwrap();
    assert!(matches!(over, Reserved::Over { held: 1_500_000_000_000, .. }), "{over:?}");
    assert_eq!(one.left_behind(1).unwrap()[0].calls, ["k"]);
    one.close(second, ChargeEnd::Cost(0)).unwrap();
    let third = number(&one.reserve(&charge("ada", 1.5), 1).unwrap());
    one.close(third, ChargeEnd::Nothing).unwrap();
    assert_eq!(
        (one.list().unwrap()[0].spent, one.list().unwrap()[0].reserved),
        (500_000_000_000, 0)
    );
    // Its process is gone, as far as this machine knows.
    number(&one.reserve(&charge("ada", 1.5), 1).unwrap());
    one.write("test", |tx| tx.execute("UPDATE reservations SET began = began - 1", [])).unwrap();
    assert_eq!(one.left_behind(1).unwrap().len(), 1);
    assert!(matches!(one.reserve(&charge("ada", 1.5), 1).unwrap(), Reserved::Over { .. }));
    one.revoke("id-ada", 1).unwrap();
    assert_eq!(one.reserve(&charge("ada", 0.0), 1).unwrap(), Reserved::NoKey);
}

/// Sixteen callers at once never hold more than the cap together.
#[test]
fn parallel_reservations_keep_to_the_cap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.sqlite");
    KeysDatabase::at(&path).add(&key("ada"), &[], 1).unwrap();
    let start = Barrier::new(16);
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let store = KeysDatabase::at(&path);
                    start.wait();
                    let tries = (0..20).map(|_| store.reserve(&charge("ada", 0.01), 1).unwrap());
                    tries.filter(|reserved| matches!(reserved, Reserved::Yes(_))).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(made, 200);
}
