//! Stores verified answers, a row for each, with the chunks that it rests on beside it.

use std::collections::BTreeSet;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, KeptVerified, StoreError, Verified, VerifiedId, VerifiedReader, VerifiedWriter,
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::base::Base;
use super::counters::{TEXT_GENERATION, counter};
use super::forget::forgotten_since;
use super::put::json;
use super::rows;
use crate::error::{BaseProblem, Context};

#[async_trait]
impl VerifiedReader for Base {
    async fn verified(&self) -> Result<Vec<KeptVerified>, StoreError> {
        self.querying("reading verified answers", |connection| all(connection, LATEST_FIRST)).await
    }

    async fn newer(
        &self,
        than: VerifiedId,
        chunks: &[ChunkId],
    ) -> Result<Vec<ChunkId>, StoreError> {
        let chunks = chunks.to_vec();
        self.querying("reading newer chunks", move |connection| {
            let since: i64 = connection
                .prepare_cached("SELECT generation FROM verified WHERE id = ?1")?
                .query_row([than.0.cast_signed()], |row| row.get(0))
                .optional()?
                .unwrap_or_default();
            let mut is_newer = connection
                .prepare_cached("SELECT 1 FROM chunks WHERE id = ?1 AND ?2 < generation")?;
            let mut newer = Vec::new();
            for chunk in chunks {
                if is_newer.exists(params![chunk.0.cast_signed(), since])? {
                    newer.push(chunk);
                }
            }
            Ok(newer)
        })
        .await
    }
}

#[async_trait]
impl VerifiedWriter for Base {
    async fn put_verified(&self, all: Vec<Verified>, seen: bool) -> Result<(), StoreError> {
        let (doing, began_at) = ("storing verified answers", self.began_at());
        let is_kept = self.writing(doing, move |tx| {
            if forgotten_since(tx)?(began_at) {
                return Ok(false);
            }
            let generation = if seen { counter(tx, TEXT_GENERATION)? } else { 0 };
            all.iter().try_for_each(|verified| put(tx, verified, generation))?;
            Ok(true)
        });
        if is_kept.await? {
            return Ok(());
        }
        Err(BaseProblem::Forgotten { folder: self.folder().to_owned() }).context(doing)
    }

    async fn revoke_verified(&self, id: VerifiedId) -> Result<bool, StoreError> {
        self.writing("revoking a verified answer", move |tx| {
            let gone = tx.execute("DELETE FROM verified WHERE id = ?1", [id.0.cast_signed()])?;
            Ok(0 < gone)
        })
        .await
    }
}

/// Orders of [`all`].
const LATEST_FIRST: &str = "at DESC, id";
pub(super) const BY_IDENTIFIER: &str = "id";

/// All visible verified answers, each with the sources that have changed since.
pub(super) fn all(connection: &Connection, order: &str) -> rusqlite::Result<Vec<KeptVerified>> {
    let sql = format!("SELECT record FROM verified ORDER BY {order}");
    let mut is_there = connection.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?;
    let mut kept = Vec::new();
    for verified in
        connection.prepare_cached(&sql)?.query_map([], |row| rows::json::<Verified>(row, 0))?
    {
        let verified = verified?;
        let mut changed = BTreeSet::new();
        for ground in &verified.grounds {
            if !is_there.exists([ground.chunk.0.cast_signed()])? {
                changed.insert(ground.uri.clone());
            }
        }
        kept.push(KeptVerified { verified, changed: changed.into_iter().collect() });
    }
    Ok(kept)
}

fn put(tx: &Transaction<'_>, verified: &Verified, generation: i64) -> rusqlite::Result<()> {
    let id = verified.id.0.cast_signed();
    tx.prepare_cached("DELETE FROM verified WHERE id = ?1")?.execute([id])?;
    tx.prepare_cached("INSERT INTO verified(id, at, generation, record) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, verified.at.cast_signed(), generation, json(verified)?])?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO verified_chunks(verified, chunk, is_ground) VALUES (?1, ?2, ?3)",
    )?;
    for chunk in verified.chunks() {
        let is_ground = verified.grounds.iter().any(|ground| ground.chunk == chunk);
        insert.execute(params![id, chunk.0.cast_signed(), is_ground])?;
    }
    Ok(())
}
