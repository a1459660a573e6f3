//! Turns hits into candidates, which show atoms by their text and chunks by title and first words, and
//! fetches the chunks of candidates.

use std::collections::{BTreeMap, HashMap};

use pikerag_knowledge::{Candidate, Chunk, ChunkId, Via};
use pikerag_retrieve::{AtomHit, Hit};

use crate::ports::{Ports, SolveError};

/// Characters of a chunk that are shown where it has no atom.
const SHOWN: usize = 160;

/// Atom hits as candidates, in their order.
pub async fn atom_candidates(
    ports: &Ports,
    found: &[AtomHit],
    proposals: &[String],
    via: Via,
) -> Result<Vec<Candidate>, SolveError> {
    let ids: Vec<ChunkId> = found.iter().map(|hit| hit.atom.chunk).collect();
    let chunks = by_id(ports, &ids).await?;
    let mut all = Vec::with_capacity(found.len());
    for hit in found {
        let Some(chunk) = chunks.get(&hit.atom.chunk) else { continue };
        all.push(Candidate {
            atom: Some(hit.atom.id),
            text: hit.atom.text.clone(),
            chunk: chunk.id,
            title: chunk.full_title(),
            via,
            proposal: proposals.get(hit.proposal).cloned().unwrap_or_default(),
            score: hit.score,
            parts: BTreeMap::new(),
        });
    }
    Ok(all)
}

/// Chunk hits as candidates, in their order, each shown by its title and first words.
pub async fn chunk_candidates(
    ports: &Ports,
    hits: &[Hit],
    via: Via,
    proposal: &str,
) -> Result<Vec<Candidate>, SolveError> {
    let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = by_id(ports, &ids).await?;
    let mut all = Vec::with_capacity(hits.len());
    for hit in hits {
        let Some(chunk) = chunks.get(&hit.chunk) else { continue };
        let first: String = chunk
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(SHOWN)
            .collect();
        let title = chunk.full_title();
        all.push(Candidate {
            atom: None,
            text: format!("{title}: {first}"),
            chunk: chunk.id,
            title,
            via,
            proposal: proposal.to_owned(),
            score: hit.score,
            parts: hit.parts.clone(),
        });
    }
    Ok(all)
}

/// The chunks by identifier, without those that are deleted.
async fn by_id(ports: &Ports, ids: &[ChunkId]) -> Result<HashMap<ChunkId, Chunk>, SolveError> {
    let chunks = ports.base.chunks(ids).await?;
    Ok(chunks.into_iter().map(|chunk| (chunk.id, chunk)).collect())
}

/// The chunks of candidates, in their order.
pub async fn fetch(ports: &Ports, candidates: &[Candidate]) -> Result<Vec<Chunk>, SolveError> {
    let ids: Vec<ChunkId> = candidates.iter().map(|candidate| candidate.chunk).collect();
    Ok(ports.base.chunks(&ids).await?)
}
