//! Stores the pieces that models refused, and undoes refusals. Each piece has a row, which goes
//! with the mark that its stage is done.

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, NodeId, Refusal, RefusalCause, RefusalCount, RefusalWriter, Stage, StoreError,
};
use rusqlite::{Connection, Row, Transaction, params};

use super::base::Base;
use super::distil;
use super::rows::{self, unknown};

/// Refusals whose stage is marked as done. A refusal that was noted just before a kill is still
/// pending.
const STANDING: &str = "refusals r WHERE NOT of_chunk
    OR EXISTS (SELECT 1 FROM progress p WHERE p.stage = r.stage AND p.chunk = r.node)";

#[async_trait]
impl RefusalWriter for Base {
    async fn put_refusals(
        &self,
        refused: Vec<Refusal>,
        answered: Vec<(Stage, NodeId)>,
    ) -> Result<(), StoreError> {
        self.writing("noting refusals", move |tx| {
            let mut forget =
                tx.prepare_cached("DELETE FROM refusals WHERE stage = ?1 AND node = ?2")?;
            for (stage, node) in &answered {
                forget.execute(params![stage.0, node.0.cast_signed()])?;
            }
            let mut insert = tx.prepare_cached(
                "INSERT INTO refusals(stage, node, of_chunk, label, cause, reason)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT(stage, node) DO UPDATE SET label = excluded.label,
                   cause = excluded.cause, reason = excluded.reason",
            )?;
            for Refusal { stage, node, label, cause, reason } in &refused {
                let of_chunk = stage.is_of_chunks();
                let node = node.0.cast_signed();
                insert.execute(params![stage.0, node, of_chunk, label, cause.as_str(), reason])?;
            }
            Ok(())
        })
        .await
    }

    async fn refusals(&self) -> Result<Vec<Refusal>, StoreError> {
        self.querying("reading refusals", |connection| {
            let sql = format!(
                "SELECT stage, node, label, cause, reason FROM {STANDING} ORDER BY stage, node"
            );
            connection.prepare_cached(&sql)?.query_map([], refusal)?.collect()
        })
        .await
    }

    async fn retry_refused(&self) -> Result<usize, StoreError> {
        self.writing("retrying refused pieces", |tx| {
            let sql = "SELECT stage, node, label, cause, reason FROM refusals";
            let refused: Vec<Refusal> =
                tx.prepare(sql)?.query_map([], refusal)?.collect::<rusqlite::Result<_>>()?;
            for refusal in &refused {
                undo(tx, refusal)?;
            }
            tx.execute("DELETE FROM refusals", [])?;
            if !refused.is_empty() {
                distil::unmark_built(tx)?;
            }
            Ok(refused.len())
        })
        .await
    }
}

/// Deletes the stand-in for a reply, and the mark that the stage is done.
fn undo(tx: &Transaction<'_>, refusal: &Refusal) -> rusqlite::Result<()> {
    let node = refusal.node.0.cast_signed();
    let stage = &refusal.stage;
    for kind in [AtomKind::Question, AtomKind::Statement] {
        if *stage == Stage::atomize(kind) {
            tx.prepare_cached("DELETE FROM atoms WHERE chunk = ?1 AND kind = ?2")?
                .execute(params![node, kind.as_str()])?;
        }
    }
    let sql = if stage.is_of_chunks() {
        "DELETE FROM progress WHERE chunk = ?1 AND stage = ?2"
    } else if *stage == Stage::summarize_sources() {
        "UPDATE sources SET summary = NULL WHERE id = ?1 AND summary = '' AND ?2 <> ''"
    } else if *stage == Stage::report() {
        "DELETE FROM reports WHERE community = ?1 AND ?2 <> ''"
    } else if *stage == Stage::summarize_clusters() {
        "DELETE FROM summaries WHERE id = ?1 AND ?2 <> ''"
    } else {
        return Ok(()); // There is no stand-in.
    };
    tx.prepare_cached(sql)?.execute(params![node, stage.0]).map(drop)
}

/// Counts the refusals of each stage and cause, with an example each.
pub(super) fn counted(connection: &Connection) -> rusqlite::Result<Vec<RefusalCount>> {
    // With min(), SQLite takes the other columns from the row with the least node.
    let sql = format!(
        "SELECT stage, min(node), label, cause, reason, count(*) FROM {STANDING}
         GROUP BY stage, cause ORDER BY stage, cause"
    );
    connection
        .prepare(&sql)?
        .query_map([], |row| {
            let Refusal { stage, label, cause, reason, .. } = refusal(row)?;
            Ok(RefusalCount { stage: stage.0, cause, count: rows::size(row, 5)?, label, reason })
        })?
        .collect()
}

/// Reads `stage, node, label, cause, reason`.
fn refusal(row: &Row<'_>) -> rusqlite::Result<Refusal> {
    let cause: String = row.get(3)?;
    let causes = [RefusalCause::Refused, RefusalCause::Unreadable];
    let known = causes.into_iter().find(|known| known.as_str() == cause);
    Ok(Refusal {
        stage: Stage(row.get(0)?),
        node: NodeId(rows::id(row, 1)?),
        label: row.get(2)?,
        cause: known.ok_or_else(|| unknown(3, &cause))?,
        reason: row.get(4)?,
    })
}
