//! Tests that a base keeps calls, and claims on them, as `Ledger` promises.
#![cfg(test)]

use pikerag_knowledge::{CallOrigin, CallRecord, Claim, Ledger, Usage};
use pikerag_store::{Base, DATABASE};
use rusqlite::Connection;
use tempfile::TempDir;

/// Two handles of one base, as two processes have them.
#[tokio::test]
async fn a_call_is_claimed_by_one_until_it_is_recorded_or_given_up() {
    let (folder, ours) = fresh();
    let theirs = Base::open(folder.path()).unwrap();
    let keys = [1, 2, 3].map(|n| call(n, "").key);
    let claimed = ours.claim_all(1, &keys[..2]).await.unwrap();
    assert_eq!(claimed, [Claim::Ours, Claim::Ours]);
    let claimed = theirs.claim_all(2, &keys).await.unwrap();
    assert_eq!(claimed, [Claim::Theirs, Claim::Theirs, Claim::Ours]);
    ours.keep_all(vec![call(1, "said")]).await.unwrap();
    assert_eq!(theirs.claim_all(2, &keys[..2]).await.unwrap(), [Claim::Recorded, Claim::Theirs]);
    ours.release(1, &keys[1..2]);
    drop(ours);
    assert_eq!(theirs.claim_all(2, &keys[1..2]).await.unwrap(), [Claim::Ours]);
}

/// The reply is written at the end, after a first attempt failed.
#[tokio::test]
async fn a_reply_that_could_not_be_written_is_not_lost() {
    let (folder, base) = fresh();
    let behind = Connection::open(folder.path().join(DATABASE)).unwrap();
    behind.execute_batch("ALTER TABLE calls RENAME TO hidden").unwrap();
    assert!(base.keep_all(vec![call(1, "paid")]).await.is_err());
    behind.execute_batch("ALTER TABLE hidden RENAME TO calls").unwrap();
    drop(base);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(base.find_all(&["key 1".to_owned()]).await.unwrap(), [Some(call(1, "paid"))]);
}

fn fresh() -> (TempDir, Base) {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    (folder, base)
}

fn call(n: u64, reply: &str) -> CallRecord {
    CallRecord {
        key: format!("key {n}"),
        role: "answer".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: reply.to_owned(),
        usage: Usage { prompt_tokens: 3, completion_tokens: n },
        unusable: false,
        origin: CallOrigin::default(),
    }
}
