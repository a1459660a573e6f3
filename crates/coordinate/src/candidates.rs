//! What is shown of a hit? Atoms by their text, chunks by their title and first words; and the chunks
//! that candidates lead to.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

use pikerag_knowledge::{Candidate, Chunk, ChunkId, Via};
use pikerag_language::estimate_tokens;
use pikerag_retrieve::{AtomHit, Hit};

use crate::ports::{Ports, SolveError};

/// Characters of a chunk that stand for it where it has no atom.
const SHOWN: usize = 160;

/// Atom hits as candidates, in their order.
pub(crate) async fn atom_candidates(
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
pub(crate) async fn chunk_candidates(
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

/// Tokens of a chunk as prompts show it, estimated.
pub(crate) fn tokens_of(chunk: &Chunk) -> u64 {
    estimate_tokens(&chunk.full_title()) + estimate_tokens(&chunk.text)
}

/// The chunks that candidates lead to, in their order, as far as so many tokens hold them with their titles: the first
/// whatever its length, then each that still has room. Candidates that have none are left out.
pub(crate) async fn fetch_within(
    ports: &Ports,
    candidates: Vec<Candidate>,
    tokens: Option<NonZeroU32>,
) -> Result<(Vec<Candidate>, Vec<Chunk>), SolveError> {
    let chunks = fetch(ports, &candidates).await?;
    let Some(tokens) = tokens else { return Ok((candidates, chunks)) };
    let (mut room, mut held) = (u64::from(tokens.get()), Vec::new());
    for chunk in chunks {
        let size = tokens_of(&chunk);
        if held.is_empty() || size <= room {
            room = room.saturating_sub(size);
            held.push(chunk);
        }
    }
    let is_held = |candidate: &Candidate| held.iter().any(|chunk| chunk.id == candidate.chunk);
    Ok((candidates.into_iter().filter(is_held).collect(), held))
}

/// These chunks; one that is gone is no candidate.
async fn by_id(ports: &Ports, ids: &[ChunkId]) -> Result<HashMap<ChunkId, Chunk>, SolveError> {
    let chunks = ports.base.chunks(ids).await?;
    Ok(chunks.into_iter().map(|chunk| (chunk.id, chunk)).collect())
}

/// The chunks of candidates, in their order.
pub(crate) async fn fetch(
    ports: &Ports,
    candidates: &[Candidate],
) -> Result<Vec<Chunk>, SolveError> {
    let ids: Vec<ChunkId> = candidates.iter().map(|candidate| candidate.chunk).collect();
    Ok(ports.base.chunks(&ids).await?)
}
