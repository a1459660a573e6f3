//! Stores the tree of summaries above chunks: a node goes when one of its children goes.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{Child, ChunkId, Summary, SummaryId};

use super::existing;
use crate::fault::{Fault, Sql};
use crate::rows::{self, Text};
use crate::tx::Tx;

/// These summaries, in the given order; unknown ones are left out.
pub(super) async fn summaries(tx: &Tx, ids: &[SummaryId]) -> Sql<Vec<Summary>> {
    let known = summaries_by_id(tx, &rows::signed(ids.iter().map(|id| id.0))).await?;
    Ok(ids.iter().filter_map(|id| known.get(&id.0).cloned()).collect())
}

/// The summaries with these identifiers.
pub(super) async fn summaries_by_id(tx: &Tx, ids: &[i64]) -> Sql<HashMap<u64, Summary>> {
    let mut found = HashMap::with_capacity(ids.len());
    let sql = "SELECT id, level, text FROM summaries WHERE id = ANY($1)";
    for row in tx.all(sql, &[&ids]).await? {
        let id = SummaryId(rows::id(&row, 0)?);
        let (level, text) = (rows::small(&row, 1)?, rows::text(&row, 2)?);
        found.insert(id.0, Summary { id, level, text, children: Vec::new() });
    }
    let sql = "SELECT summary, chunk, child FROM summary_children WHERE summary = ANY($1)
         ORDER BY summary, ordinal";
    for row in tx.all(sql, &[&ids]).await? {
        let child = match row.try_get::<_, Option<i64>>(1)? {
            Some(chunk) => Child::Chunk(ChunkId(chunk.cast_unsigned())),
            None => Child::Summary(SummaryId(rows::id(&row, 2)?)),
        };
        if let Some(summary) = found.get_mut(&rows::id(&row, 0)?) {
            summary.children.push(child);
        }
    }
    Ok(found)
}

/// Stores summaries whose children all exist. A child may be among them, before its parent.
pub(crate) async fn put(tx: &Tx, summaries: &[Summary]) -> Sql<()> {
    let (mut chunks, mut nodes) = (Vec::new(), Vec::new());
    for summary in summaries {
        nodes.push(summary.id.0.cast_signed());
        for child in &summary.children {
            match child {
                Child::Chunk(id) => chunks.push(id.0.cast_signed()),
                Child::Summary(id) => nodes.push(id.0.cast_signed()),
            }
        }
    }
    let chunks = existing(tx, &chunks).await?;
    let held = tx.all("SELECT id FROM summaries WHERE id = ANY($1)", &[&nodes]).await?;
    insert(tx, &storable(summaries, &chunks, rows::ids(&held)?.into_iter().collect())).await
}

/// Those of `summaries` that are not `held` and whose children are all there.
fn storable<'a>(
    summaries: &'a [Summary],
    chunks: &HashSet<u64>,
    mut held: HashSet<u64>,
) -> Vec<&'a Summary> {
    let mut new = Vec::with_capacity(summaries.len());
    for summary in summaries {
        // A document may have been deleted while the model ran.
        let is_whole = summary.children.iter().all(|child| match child {
            Child::Chunk(id) => chunks.contains(&id.0),
            Child::Summary(id) => held.contains(&id.0),
        });
        if is_whole && held.insert(summary.id.0) {
            new.push(summary);
        }
    }
    new
}

async fn insert(tx: &Tx, summaries: &[&Summary]) -> Sql<()> {
    let ids = rows::signed(summaries.iter().map(|summary| summary.id.0));
    let levels: Vec<i64> = summaries.iter().map(|summary| i64::from(summary.level)).collect();
    let texts = Text::all(summaries.iter().map(|summary| &summary.text));
    let sql = "INSERT INTO summaries (id, level, text)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])";
    tx.run(sql, &[&ids, &levels, &texts]).await?;
    let (mut ids, mut ordinals) = (Vec::new(), Vec::new());
    let (mut chunks, mut nodes) = (Vec::new(), Vec::new());
    for summary in summaries {
        for (ordinal, child) in summary.children.iter().enumerate() {
            let (chunk, node) = match child {
                Child::Chunk(id) => (Some(id.0.cast_signed()), None),
                Child::Summary(id) => (None, Some(id.0.cast_signed())),
            };
            ids.push(summary.id.0.cast_signed());
            ordinals.push(rows::number(ordinal));
            chunks.push(chunk);
            nodes.push(node);
        }
    }
    let sql = "INSERT INTO summary_children (summary, ordinal, chunk, child)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])";
    tx.run(sql, &[&ids, &ordinals, &chunks, &nodes]).await.map(drop)
}

/// Deletes the summaries of a level that are not among these. Returns how many, without those above
/// them.
pub(crate) async fn keep(tx: &Tx, level: u8, ids: &[SummaryId]) -> Sql<usize> {
    let ids = rows::signed(ids.iter().map(|id| id.0));
    let sql = "DELETE FROM summaries WHERE level = $1 AND id NOT IN (SELECT unnest($2::bigint[]))";
    let dropped = tx.run(sql, &[&i64::from(level), &ids]).await?;
    usize::try_from(dropped).map_err(Fault::content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_without_a_child_are_left_out_with_those_above() {
        let summary = |id: u64, level: u8, children: Vec<Child>| Summary {
            id: SummaryId(id),
            level,
            text: String::new(),
            children,
        };
        let (chunk, node) = (|id| Child::Chunk(ChunkId(id)), |id| Child::Summary(SummaryId(id)));
        let made = [
            summary(10, 1, vec![chunk(1), chunk(2)]),
            summary(11, 1, vec![chunk(1), chunk(3)]),
            summary(12, 1, vec![chunk(1)]),
            summary(20, 2, vec![node(10), node(12)]),
            summary(21, 2, vec![node(11)]),
            summary(20, 2, vec![node(10), node(12)]),
        ];
        let new = storable(&made, &HashSet::from([1, 2]), HashSet::from([12]));
        let ids: Vec<u64> = new.iter().map(|summary| summary.id.0).collect();
        assert_eq!(ids, [10, 20]);
    }
}
