//! Stores the pieces that models refused, and undoes refusals. Each piece has a row, which goes
//! with the mark that its stage is done.

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, NodeId, Refusal, RefusalCause, RefusalCount, RefusalWriter, Stage, StoreError,
};
use tokio_postgres::Row;

use super::progress;
use crate::base::Base;
use crate::batches::batches;
use crate::fault::Sql;
use crate::rows::{self, Text, signed, unknown};
use crate::tx::{Access, Tx};

/// Refusals whose stage is marked as done. A refusal that was noted just before a kill is still
/// pending.
const CURRENT: &str = "refusals r WHERE NOT r.of_chunk
    OR EXISTS (SELECT 1 FROM progress p WHERE p.stage = r.stage AND p.chunk = r.node)";

#[async_trait]
impl RefusalWriter for Base {
    async fn put_refusals(
        &self,
        refused: Vec<Refusal>,
        answered: Vec<(Stage, NodeId)>,
    ) -> Result<(), StoreError> {
        self.writing("noting refusals", Access::Documents, move |tx| async move {
            forget(&tx, &answered).await?;
            put(&tx, &refused).await
        })
        .await
    }

    async fn refusals(&self) -> Result<Vec<Refusal>, StoreError> {
        self.reading("reading refusals", |tx| async move {
            let sql = format!(
                "SELECT stage, node, label, cause, reason FROM {CURRENT} ORDER BY stage, node"
            );
            tx.all(&sql, &[]).await?.iter().map(refusal).collect()
        })
        .await
    }

    async fn retry_refused(&self) -> Result<usize, StoreError> {
        self.writing("retrying refused pieces", Access::Documents, |tx| async move {
            let mut refused = Vec::new();
            let sql = "SELECT stage, node, label, cause, reason FROM refusals";
            for row in tx.all(sql, &[]).await? {
                refused.push(refusal(&row)?);
            }
            undo(&tx, &refused).await?;
            tx.run("DELETE FROM refusals", &[]).await?;
            if !refused.is_empty() {
                progress::unmark_built(&tx).await?;
            }
            Ok(refused.len())
        })
        .await
    }
}

async fn forget(tx: &Tx, answered: &[(Stage, NodeId)]) -> Sql<()> {
    let stages: Vec<&str> = answered.iter().map(|(stage, _)| stage.0.as_str()).collect();
    let nodes = signed(answered.iter().map(|(_, node)| node.0));
    let sql = "DELETE FROM refusals r USING unnest($1::text[], $2::bigint[]) AS w(stage, node)
         WHERE r.stage = w.stage AND r.node = w.node";
    tx.run(sql, &[&stages, &nodes]).await.map(drop)
}

async fn put(tx: &Tx, refused: &[Refusal]) -> Sql<()> {
    let sql = "INSERT INTO refusals (stage, node, of_chunk, label, cause, reason)
         SELECT * FROM unnest($1::text[], $2::bigint[], $3::boolean[], $4::text[], $5::text[], $6::text[])
         ON CONFLICT (base, stage, node) DO UPDATE SET label = excluded.label,
           cause = excluded.cause, reason = excluded.reason";
    for batch in batches(refused, |it| ((it.stage.0.as_str(), it.node), it.reason.len())) {
        let stages: Vec<&str> = batch.iter().map(|it| it.stage.0.as_str()).collect();
        let nodes = signed(batch.iter().map(|it| it.node.0));
        let of_chunk: Vec<bool> = batch.iter().map(|it| it.stage.is_of_chunks()).collect();
        let labels = Text::all(batch.iter().map(|it| &it.label));
        let causes: Vec<&str> = batch.iter().map(|it| it.cause.as_str()).collect();
        let reasons = Text::all(batch.iter().map(|it| &it.reason));
        tx.run(sql, &[&stages, &nodes, &of_chunk, &labels, &causes, &reasons]).await?;
    }
    Ok(())
}

/// Deletes the stand-ins for replies, and the marks that the stages are done.
async fn undo(tx: &Tx, refused: &[Refusal]) -> Sql<()> {
    for kind in [AtomKind::Question, AtomKind::Statement] {
        let nodes = nodes_of(refused, |stage| *stage == Stage::atomize(kind));
        let sql = "DELETE FROM atoms WHERE chunk = ANY($1::bigint[]) AND kind = $2";
        tx.run(sql, &[&nodes, &kind.as_str()]).await?;
    }
    let of_chunks: Vec<&Refusal> = refused.iter().filter(|it| it.stage.is_of_chunks()).collect();
    let stages: Vec<&str> = of_chunks.iter().map(|it| it.stage.0.as_str()).collect();
    let nodes = signed(of_chunks.iter().map(|it| it.node.0));
    let sql = "DELETE FROM progress p USING unnest($1::text[], $2::bigint[]) AS w(stage, node)
         WHERE p.stage = w.stage AND p.chunk = w.node";
    tx.run(sql, &[&stages, &nodes]).await?;
    // Other stages have no stand-ins.
    for (of, sql) in [
        (
            Stage::summarize_sources(),
            "UPDATE sources SET summary = NULL WHERE id = ANY($1::bigint[]) AND summary = ''",
        ),
        (Stage::report(), "DELETE FROM reports WHERE community = ANY($1::bigint[])"),
        (Stage::summarize_clusters(), "DELETE FROM summaries WHERE id = ANY($1::bigint[])"),
    ] {
        tx.run(sql, &[&nodes_of(refused, |stage| *stage == of)]).await?;
    }
    Ok(())
}

/// The nodes of the refusals whose stage fits.
fn nodes_of(refused: &[Refusal], fits: impl Fn(&Stage) -> bool) -> Vec<i64> {
    signed(refused.iter().filter(|it| fits(&it.stage)).map(|it| it.node.0))
}

/// Counts the refusals of each stage and cause, with an example each: the one of the least node.
pub(super) async fn counted(tx: &Tx) -> Sql<Vec<RefusalCount>> {
    let sql = format!(
        "SELECT DISTINCT ON (stage, cause) stage, node, label, cause, reason,
           count(*) OVER (PARTITION BY stage, cause)
         FROM {CURRENT} ORDER BY stage, cause, node"
    );
    let mut counts = Vec::new();
    for row in tx.all(&sql, &[]).await? {
        let Refusal { stage, label, cause, reason, .. } = refusal(&row)?;
        let count = rows::size(&row, 5)?;
        counts.push(RefusalCount { stage: stage.0, cause, count, label, reason });
    }
    Ok(counts)
}

/// Reads `stage, node, label, cause, reason`.
fn refusal(row: &Row) -> Sql<Refusal> {
    let cause: &str = row.try_get(3)?;
    let causes = [RefusalCause::Refused, RefusalCause::Unreadable];
    let known = causes.into_iter().find(|known| known.as_str() == cause);
    Ok(Refusal {
        stage: Stage(row.try_get(0)?),
        node: NodeId(rows::id(row, 1)?),
        label: rows::text(row, 2)?,
        cause: known.ok_or_else(|| unknown(cause))?,
        reason: rows::text(row, 4)?,
    })
}
