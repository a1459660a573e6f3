//! Tests that several servers can share the keys of one database. All tests share its tables, so
//! each has names of its own.

use std::sync::{Barrier, LazyLock};
use std::time::SystemTime;

use pikerag_knowledge::{
    ChargeEnd, Filter, Key, KeyCharge, KeyParams, KeyStore, KeyUse, Reserved, Scope,
};
use pikerag_postgres::{KeysInPostgres, Location};
use tokio_postgres::NoTls;

use super::server::location;

/// The end of the names of this process.
static END: LazyLock<String> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    format!("-{}-{}", std::process::id(), now.as_nanos())
});

/// A name that no other process has.
fn own(name: &str) -> String {
    format!("{name}{}", *END)
}

fn key(name: &str) -> Key {
    let digest = blake3::hash(name.as_bytes()).to_hex().to_string();
    let params = KeyParams {
        name: name.to_owned(),
        scope: Scope::Read,
        bases: Vec::new(),
        filter: Filter { conditions: vec!["folder=open".parse().unwrap()] },
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
        base: name.to_owned(),
        calls: vec!["k".to_owned()],
    }
}

fn number(reserved: &Reserved) -> i64 {
    let Reserved::Yes(number) = reserved else { panic!("{reserved:?}") };
    *number
}

/// The line of a key in the list.
fn line(keys: &KeysInPostgres, name: &str) -> KeyUse {
    let lines = keys.list().unwrap();
    lines.into_iter().find(|line| line.key.params.name == name).unwrap()
}

/// Runs a statement in which `NAME` is a text.
fn run(location: &Location, sql: &str, name: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(location.database(), NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(&sql.replace("NAME", &format!("'{name}'"))).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    });
}

/// No added key is lost, and no revoked key works afterwards.
#[test]
fn threads_lose_no_key_and_revive_none() {
    let Some(location) = location() else { return };
    let start = Barrier::new(8);
    let (one, other) =
        (KeysInPostgres::open(&location).unwrap(), KeysInPostgres::open(&location).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (keys, start) = (if thread % 2 == 0 { &one } else { &other }, &start);
            scope.spawn(move || {
                start.wait();
                for n in 0..5 {
                    let kept = key(&own(&format!("kept-{thread}-{n}")));
                    let gone = key(&own(&format!("gone-{thread}-{n}")));
                    keys.add(&kept, &[], 1).unwrap();
                    keys.add(&gone, &[], 1).unwrap();
                    assert_eq!(keys.revoke(&gone.id, 2).unwrap(), Some(gone.clone()));
                    assert_eq!(keys.find(&gone.digest, 3).unwrap(), None);
                    assert_eq!(keys.find(&kept.digest, 3).unwrap(), Some(kept));
                }
            });
        }
    });
    let third = KeysInPostgres::open(&location).unwrap();
    assert!(third.were_made().unwrap());
    let names: Vec<String> =
        third.list().unwrap().into_iter().map(|line| line.key.params.name).collect();
    let count = |begin: &str| {
        names.iter().filter(|name| name.starts_with(begin) && name.ends_with(END.as_str())).count()
    };
    assert_eq!((count("kept-"), count("gone-")), (40, 0), "{names:?}");
    third.verify().unwrap();
}

#[test]
fn a_key_replaces_others() {
    let Some(location) = location() else { return };
    let keys = KeysInPostgres::open(&location).unwrap();
    let (first, next) = (key(&own("first")), key(&own("second")));
    keys.add(&first, &[], 1).unwrap();
    keys.note_use(&first.id, 5).unwrap();
    assert_eq!(line(&keys, &first.params.name).used, Some(5));
    keys.add(&next, std::slice::from_ref(&first.id), 2).unwrap();
    assert_eq!(keys.find(&first.digest, 3).unwrap(), None);
    assert_eq!(keys.revoke(&first.id, 3).unwrap(), None);
    assert_eq!(keys.find(&next.digest, 3).unwrap(), Some(next));
    assert_eq!(keys.revoke("\0", 3).unwrap(), None);
}

#[test]
fn the_old_secret_of_a_rotated_key_is_good_for_a_grace_period() {
    let Some(location) = location() else { return };
    let keys = KeysInPostgres::open(&location).unwrap();
    let (old, new) = (key(&own("old")), key(&own("new")));
    keys.add(&old, &[], 1).unwrap();
    let rotated = keys.rotate(&old.id, &new.digest, 100).unwrap().unwrap();
    assert_eq!(rotated, Key { digest: new.digest.clone(), ..old.clone() });
    assert_eq!(keys.find(&old.digest, 99).unwrap(), Some(old.clone()));
    assert_eq!(keys.find(&old.digest, 100).unwrap(), None);
    assert!(keys.find(&new.digest, 100).unwrap().is_some());
    assert_eq!(keys.rotate("nobody", &own("none"), 0).unwrap(), None);
}

/// Two servers share one cap. An open call delays the next one; a call whose process is gone counts
/// as spent.
#[test]
fn money_is_reserved_and_settled_under_one_cap() {
    let Some(location) = location() else { return };
    let (one, other) =
        (KeysInPostgres::open(&location).unwrap(), KeysInPostgres::open(&location).unwrap());
    let name = own("ada");
    let charge = |dollars| charge(&name, dollars);
    let left_behind = || {
        let left = one.left_behind(1).unwrap();
        left.into_iter().filter(|left| left.base == name).collect::<Vec<_>>()
    };
    one.add(&key(&name), &[], 1).unwrap();
    let first = number(&one.reserve(&charge(1.5), 1).unwrap());
    let later = other.reserve(&charge(1.0), 1).unwrap();
    assert!(matches!(later, Reserved::Later { held: 1_500_000_000_000, .. }), "{later:?}");
    one.close(first, ChargeEnd::Cost(500_000_000_000)).unwrap();
    let second = number(&other.reserve(&charge(1.0), 1).unwrap());
    assert_eq!(line(&one, &name).reserved, 1_000_000_000_000);
    // The call was abandoned, so its cost is unknown.
    other.close(second, ChargeEnd::Unknown).unwrap();
    let over = one.reserve(&charge(1.0), 1).unwrap();
    assert!(matches!(over, Reserved::Over { held: 1_500_000_000_000, .. }), "{over:?}");
    assert_eq!(left_behind()[0].calls, ["k"]);
    one.close(second, ChargeEnd::Cost(0)).unwrap();
    let third = number(&one.reserve(&charge(1.5), 1).unwrap());
    one.close(third, ChargeEnd::Nothing).unwrap();
    let found = line(&one, &name);
    assert_eq!((found.spent, found.reserved), (500_000_000_000, 0));
    // Its process is gone, as far as this machine knows.
    number(&one.reserve(&charge(1.5), 1).unwrap());
    run(
        &location,
        "UPDATE pikerag.reservations SET began = began - 1 WHERE base_name = NAME",
        &name,
    );
    assert_eq!(left_behind().len(), 1);
    assert!(matches!(one.reserve(&charge(1.5), 1).unwrap(), Reserved::Over { .. }));
    one.revoke(&key(&name).id, 1).unwrap();
    assert_eq!(one.reserve(&charge(0.0), 1).unwrap(), Reserved::NoKey);
}

/// Callers of two servers at once never hold more than the cap together.
#[test]
fn parallel_reservations_keep_to_the_cap() {
    let Some(location) = location() else { return };
    let (one, other) =
        (KeysInPostgres::open(&location).unwrap(), KeysInPostgres::open(&location).unwrap());
    let name = own("bo");
    one.add(&key(&name), &[], 1).unwrap();
    let start = Barrier::new(8);
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let keys = if thread % 2 == 0 { &one } else { &other };
                let (name, start) = (&name, &start);
                scope.spawn(move || {
                    start.wait();
                    let tries = (0..10).map(|_| keys.reserve(&charge(name, 0.05), 1).unwrap());
                    tries.filter(|reserved| matches!(reserved, Reserved::Yes(_))).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(made, 40);
}
