//! Stores verified answers, a row for each, with the chunks that it rests on beside it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, KeptVerified, StoreError, Verified, VerifiedId, VerifiedReader, VerifiedWriter,
};
use pikerag_store::BaseProblem;

use super::existing;
use crate::base::Base;
use crate::error::Context;
use crate::fault::Sql;
use crate::meta::{TEXT_GENERATION, counter, is_forgotten_since};
use crate::rows;
use crate::tx::{Access, Tx};

#[async_trait]
impl VerifiedReader for Base {
    async fn verified(&self) -> Result<Vec<KeptVerified>, StoreError> {
        self.reading(
            "reading verified answers",
            move |tx| async move { all(&tx, LATEST_FIRST).await },
        )
        .await
    }

    async fn newer(
        &self,
        than: VerifiedId,
        chunks: &[ChunkId],
    ) -> Result<Vec<ChunkId>, StoreError> {
        self.reading("reading newer chunks", move |tx| async move {
            let sql = "SELECT id FROM chunks WHERE id = ANY($1)
                 AND coalesce((SELECT generation FROM verified WHERE id = $2), 0) < generation";
            let ids = rows::signed(chunks.iter().map(|chunk| chunk.0));
            let newer = tx.all(sql, &[&ids, &than.0.cast_signed()]).await?;
            let newer: HashSet<u64> = rows::ids(&newer)?.into_iter().collect();
            Ok(chunks.iter().copied().filter(|chunk| newer.contains(&chunk.0)).collect())
        })
        .await
    }
}

#[async_trait]
impl VerifiedWriter for Base {
    async fn put_verified(&self, all: Vec<Verified>, seen: bool) -> Result<(), StoreError> {
        let (doing, began_at) = ("storing verified answers", self.began_at());
        let is_kept = self.writing(doing, Access::Documents, move |tx| async move {
            if is_forgotten_since(&tx, began_at).await? {
                return Ok(false);
            }
            let generation = if seen { counter(&tx, TEXT_GENERATION).await? } else { 0 };
            put(&tx, &all, generation).await?;
            Ok(true)
        });
        if is_kept.await? {
            return Ok(());
        }
        Err(BaseProblem::Forgotten { folder: self.folder().to_owned() }).context(doing)
    }

    async fn revoke_verified(&self, id: VerifiedId) -> Result<bool, StoreError> {
        self.writing("revoking a verified answer", Access::Documents, move |tx| async move {
            let sql = "DELETE FROM verified WHERE id = $1";
            Ok(0 < tx.run(sql, &[&id.0.cast_signed()]).await?)
        })
        .await
    }
}

/// Orders of [`all`].
const LATEST_FIRST: &str = "at DESC, id";
pub(super) const BY_IDENTIFIER: &str = "id";

/// All visible verified answers, each with the sources that have changed since.
pub(super) async fn all(tx: &Tx, order: &str) -> Sql<Vec<KeptVerified>> {
    let found = tx.all(&format!("SELECT record FROM verified ORDER BY {order}"), &[]).await?;
    let mut all: Vec<Verified> = Vec::with_capacity(found.len());
    for row in &found {
        all.push(rows::json(row, 0)?);
    }
    let grounds: BTreeSet<ChunkId> =
        all.iter().flat_map(|verified| &verified.grounds).map(|ground| ground.chunk).collect();
    let there = existing(tx, &rows::signed(grounds.into_iter().map(|chunk| chunk.0))).await?;
    let mut kept = Vec::with_capacity(all.len());
    for verified in all {
        let changed: BTreeSet<String> = verified
            .grounds
            .iter()
            .filter(|ground| !there.contains(&ground.chunk.0))
            .map(|ground| ground.uri.clone())
            .collect();
        kept.push(KeptVerified { verified, changed: changed.into_iter().collect() });
    }
    Ok(kept)
}

async fn put(tx: &Tx, all: &[Verified], generation: i64) -> Sql<()> {
    // The last judgment of an answer counts.
    let by_id: BTreeMap<i64, &Verified> =
        all.iter().map(|verified| (verified.id.0.cast_signed(), verified)).collect();
    let (mut ids, mut times, mut records) = (Vec::new(), Vec::new(), Vec::new());
    let (mut of, mut chunks, mut are_grounds) = (Vec::new(), Vec::new(), Vec::new());
    for (id, verified) in by_id {
        ids.push(id);
        times.push(verified.at.cast_signed());
        records.push(rows::to_json(verified)?);
        for chunk in verified.chunks() {
            of.push(id);
            chunks.push(chunk.0.cast_signed());
            are_grounds.push(verified.grounds.iter().any(|ground| ground.chunk == chunk));
        }
    }
    tx.run("DELETE FROM verified WHERE id = ANY($1)", &[&ids]).await?;
    let sql = "INSERT INTO verified (id, at, generation, record)
         SELECT w.id, w.at, $1::bigint, w.record
         FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS w(id, at, record)";
    tx.run(sql, &[&generation, &ids, &times, &records]).await?;
    let sql = "INSERT INTO verified_chunks (verified, chunk, is_ground)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::boolean[])";
    tx.run(sql, &[&of, &chunks, &are_grounds]).await.map(drop)
}
