//! Stores the tree of summaries above chunks: a node goes when one of its children goes.

use std::collections::HashSet;

use pikerag_knowledge::{Child, ChunkId, Summary, SummaryId};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::rows;
use super::rows::limit_of;

pub(super) fn summaries(
    connection: &Connection,
    ids: &[SummaryId],
) -> rusqlite::Result<Vec<Summary>> {
    let mut statement =
        connection.prepare_cached("SELECT level, text FROM summaries WHERE id = ?1")?;
    let mut below = connection.prepare_cached(
        "SELECT chunk, child FROM summary_children WHERE summary = ?1 ORDER BY ordinal",
    )?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let key = id.0.cast_signed();
        let known = statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((level, text)) = known else { continue };
        let mut children = Vec::new();
        let mut rows = below.query([key])?;
        while let Some(row) = rows.next()? {
            children.push(match row.get::<_, Option<i64>>(0)? {
                Some(chunk) => Child::Chunk(ChunkId(chunk.cast_unsigned())),
                None => Child::Summary(SummaryId(rows::id(row, 1)?)),
            });
        }
        found.push(Summary { id: *id, level, text, children });
    }
    Ok(found)
}

pub(super) fn put(tx: &Transaction<'_>, summary: &Summary) -> rusqlite::Result<()> {
    let mut chunk = tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?;
    let mut child = tx.prepare_cached("SELECT 1 FROM summaries WHERE id = ?1")?;
    // A document may have been deleted while the model ran.
    for below in &summary.children {
        let there = match below {
            Child::Chunk(id) => chunk.exists([id.0.cast_signed()])?,
            Child::Summary(id) => child.exists([id.0.cast_signed()])?,
        };
        if !there {
            return Ok(());
        }
    }
    let id = summary.id.0.cast_signed();
    let new = tx
        .prepare_cached(
            "INSERT INTO summaries(id, level, text) VALUES (?1, ?2, ?3) ON CONFLICT(id) DO NOTHING",
        )?
        .execute(params![id, summary.level, summary.text])?;
    if new == 0 {
        return Ok(());
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO summary_children(summary, ordinal, chunk, child) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (ordinal, below) in summary.children.iter().enumerate() {
        let (chunk, child) = match below {
            Child::Chunk(id) => (Some(id.0.cast_signed()), None),
            Child::Summary(id) => (None, Some(id.0.cast_signed())),
        };
        insert.execute(params![id, limit_of(ordinal), chunk, child])?;
    }
    Ok(())
}

/// Deletes the summaries of a level that are not among these. Returns how many, without those above
/// them.
pub(super) fn keep(tx: &Transaction<'_>, level: u8, ids: &[SummaryId]) -> rusqlite::Result<usize> {
    let held: Vec<u64> = tx
        .prepare_cached("SELECT id FROM summaries WHERE level = ?1")?
        .query_map([level], |row| rows::id(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    let kept: HashSet<u64> = ids.iter().map(|id| id.0).collect();
    let mut delete = tx.prepare_cached("DELETE FROM summaries WHERE id = ?1")?;
    let mut dropped = 0;
    for id in held.into_iter().filter(|id| !kept.contains(id)) {
        dropped += delete.execute([id.cast_signed()])?;
    }
    Ok(dropped)
}
