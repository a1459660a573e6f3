//! Stores the results for single chunks and documents in place of earlier results, if the chunk or
//! document still exists.

use pikerag_knowledge::{Atom, InChunk, SourceSummary};
use rusqlite::{Transaction, params};

use super::counters::{TEXT_GENERATION, advance};
use super::put::{put_summary, reset_stages};
use super::rows::limit_of;

/// Stores models' summaries of chunks, with the mark of the stage.
pub(super) fn put_summaries(
    tx: &Transaction<'_>,
    stage: &str,
    summaries: &[InChunk<Option<String>>],
) -> rusqlite::Result<()> {
    let generation = advance(tx, TEXT_GENERATION)?;
    let mut done = tx.prepare_cached(
        "INSERT INTO progress(stage, chunk) SELECT ?1, id FROM chunks WHERE id = ?2 ON CONFLICT DO NOTHING",
    )?;
    for InChunk { chunk, found: summary } in summaries {
        let chunk = chunk.0.cast_signed();
        if let Some(summary) = summary
            && put_summary(tx, chunk, Some(summary), generation)?
        {
            reset_stages(tx, chunk)?;
        }
        done.execute(params![stage, chunk])?;
    }
    Ok(())
}

pub(super) fn put_source_summaries(
    tx: &Transaction<'_>,
    summaries: &[SourceSummary],
) -> rusqlite::Result<()> {
    let mut update =
        tx.prepare_cached("UPDATE sources SET summary = ?3 WHERE id = ?1 AND hash = ?2")?;
    for SourceSummary { source, hash, summary } in summaries {
        update.execute(params![source.0.cast_signed(), hash, summary])?;
    }
    Ok(())
}

pub(super) fn put_atoms(
    tx: &Transaction<'_>,
    stage: &str,
    atoms: &[InChunk<Vec<Atom>>],
) -> rusqlite::Result<()> {
    let mut exists = tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO atoms(id, chunk, kind, ordinal, text) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT(id) DO NOTHING",
    )?;
    let mut mark = tx.prepare_cached(
        "INSERT INTO progress(stage, chunk) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    for InChunk { chunk, found: atoms } in atoms {
        let chunk = chunk.0.cast_signed();
        // Its document may have been deleted while the model was at work.
        if !exists.exists([chunk])? {
            continue;
        }
        for (ordinal, atom) in atoms.iter().enumerate() {
            let id = atom.id.0.cast_signed();
            insert.execute(params![id, chunk, atom.kind.as_str(), limit_of(ordinal), atom.text])?;
        }
        mark.execute(params![stage, chunk])?;
    }
    Ok(())
}
