//! Records which table each chunk's rows belong to, and that the chunk was examined.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{InChunk, Stage, TableShape};

use crate::fault::Sql;
use crate::meta::{DATA_VERSION, advance};
use crate::tx::Tx;

/// Stores the shapes of chunks. Chunks that were deleted meanwhile are left out.
pub(crate) async fn put_shapes(tx: &Tx, found: &[InChunk<Option<TableShape>>]) -> Sql<()> {
    if found.is_empty() {
        return Ok(());
    }
    let mut shapes: HashMap<i64, Option<i64>> = HashMap::with_capacity(found.len());
    let mut asked: Vec<i64> = Vec::with_capacity(found.len());
    for InChunk { chunk, found } in found {
        let shape = found.map(|TableShape(shape)| shape.cast_signed());
        // The last result of a chunk counts.
        if shapes.insert(chunk.0.cast_signed(), shape).is_none() {
            asked.push(chunk.0.cast_signed());
        }
    }
    let sql = "SELECT c.id, c.source FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth)
         JOIN chunks c ON c.id = w.id ORDER BY w.nth";
    let held = tx.all(sql, &[&asked]).await?;
    let mut examined = Vec::with_capacity(held.len());
    let (mut chunks, mut of, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for row in &held {
        let chunk: i64 = row.try_get(0)?;
        examined.push(chunk);
        if let Some(Some(shape)) = shapes.get(&chunk) {
            chunks.push(chunk);
            of.push(*shape);
            sources.push(row.try_get::<_, i64>(1)?);
        }
    }
    let removed = tx.run("DELETE FROM data_chunks WHERE chunk = ANY($1)", &[&examined]).await?;
    if !chunks.is_empty() {
        let mut met = HashSet::new();
        let distinct: Vec<i64> = of.iter().copied().filter(|shape| met.insert(*shape)).collect();
        // Only one writer of documents is at work, so that the numbers are free.
        let sql = "INSERT INTO data_tables (id, shape)
             SELECT (SELECT coalesce(max(id), 0) FROM data_tables) + row_number() OVER (ORDER BY w.nth), w.shape
             FROM unnest($1::bigint[]) WITH ORDINALITY AS w(shape, nth)
             WHERE NOT EXISTS (SELECT 1 FROM data_tables t WHERE t.shape = w.shape)";
        tx.run(sql, &[&distinct]).await?;
        let sql = "INSERT INTO data_chunks (chunk, data, source)
             SELECT w.chunk, t.id, w.source
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS w(chunk, shape, source)
             JOIN data_tables t ON t.shape = w.shape";
        tx.run(sql, &[&chunks, &of, &sources]).await?;
    }
    let stage = Stage::tables().0;
    let sql = "INSERT INTO progress (stage, chunk) SELECT $1::text, unnest($2::bigint[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&stage, &examined]).await?;
    if removed != 0 || !chunks.is_empty() {
        advance(tx, DATA_VERSION).await?;
    }
    Ok(())
}
