//! Stores the results for single chunks and documents in place of earlier results, if the chunk or
//! document still exists.

use pikerag_knowledge::{Atom, ChunkId, ChunkKind, InChunk, SourceSummary};

use super::{progress, put};
use crate::batches::batches;
use crate::fault::Sql;
use crate::meta::{TEXT_GENERATION, advance};
use crate::rows::{Text, number, signed};
use crate::tx::Tx;

/// Stores models' summaries of chunks, with the mark of the stage.
pub(super) async fn put_summaries(
    tx: &Tx,
    stage: &str,
    summaries: &[InChunk<Option<String>>],
) -> Sql<()> {
    let generation = advance(tx, TEXT_GENERATION).await?;
    let mut made: Vec<(i64, Option<&String>)> = Vec::new();
    for InChunk { chunk, found } in summaries {
        if found.is_some() {
            made.push((chunk.0.cast_signed(), found.as_ref()));
        }
    }
    let changed = put::replace_summaries(tx, &made, generation).await?;
    reset_stages(tx, &changed).await?;
    progress::mark(tx, stage, &signed(summaries.iter().map(|it| it.chunk.0))).await?;
    put::write_words(tx, &changed).await
}

/// Lets the later stages process figures again, because they now have a summary. Tables are
/// processed by their cells, whatever their summary.
async fn reset_stages(tx: &Tx, chunks: &[i64]) -> Sql<()> {
    let sql = "SELECT id FROM chunks WHERE id = ANY($1::bigint[]) AND kind = $2";
    let mut figures: Vec<i64> = Vec::new();
    for row in tx.all(sql, &[&chunks, &ChunkKind::Figure.as_str()]).await? {
        figures.push(row.try_get(0)?);
    }
    if figures.is_empty() {
        return Ok(());
    }
    for sql in [
        "DELETE FROM progress WHERE chunk = ANY($1::bigint[]) AND stage NOT LIKE 'describe:%'",
        "DELETE FROM atoms WHERE chunk = ANY($1::bigint[])",
        "DELETE FROM chunk_tags WHERE chunk = ANY($1::bigint[])",
    ] {
        tx.run(sql, &[&figures]).await?;
    }
    Ok(())
}

pub(super) async fn put_source_summaries(tx: &Tx, summaries: &[SourceSummary]) -> Sql<()> {
    let sql = "UPDATE sources s SET summary = w.summary
         FROM unnest($1::bigint[], $2::text[], $3::text[]) AS w(id, hash, summary)
         WHERE s.id = w.id AND s.hash = w.hash";
    for batch in batches(summaries, |it| (it.source, it.summary.len())) {
        let sources = signed(batch.iter().map(|it| it.source.0));
        let hashes = Text::all(batch.iter().map(|it| &it.hash));
        let texts = Text::all(batch.iter().map(|it| &it.summary));
        tx.run(sql, &[&sources, &hashes, &texts]).await?;
    }
    Ok(())
}

/// An atom with its chunk and its place among those of its chunk.
struct Placed<'a> {
    chunk: ChunkId,
    ordinal: usize,
    atom: &'a Atom,
}

pub(super) async fn put_atoms(tx: &Tx, stage: &str, atoms: &[InChunk<Vec<Atom>>]) -> Sql<()> {
    // Documents may have been deleted while the model ran.
    let chunks = signed(atoms.iter().map(|it| it.chunk.0));
    let existing = put::existing(tx, &chunks).await?;
    let mut placed = Vec::new();
    for InChunk { chunk, found } in atoms {
        if existing.contains(&chunk.0.cast_signed()) {
            let of_chunk = found.iter().enumerate();
            placed.extend(of_chunk.map(|(ordinal, atom)| Placed { chunk: *chunk, ordinal, atom }));
        }
    }
    let sql = "INSERT INTO atoms (id, chunk, kind, ordinal, text)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
         ON CONFLICT DO NOTHING";
    for batch in batches(&placed, |it| (it.atom.id, it.atom.text.len())) {
        let ids = signed(batch.iter().map(|it| it.atom.id.0));
        let chunks = signed(batch.iter().map(|it| it.chunk.0));
        let kinds: Vec<&str> = batch.iter().map(|it| it.atom.kind.as_str()).collect();
        let ordinals: Vec<i64> = batch.iter().map(|it| number(it.ordinal)).collect();
        let texts = Text::all(batch.iter().map(|it| &it.atom.text));
        tx.run(sql, &[&ids, &chunks, &kinds, &ordinals, &texts]).await?;
    }
    progress::mark(tx, stage, &chunks).await
}
