//! What may the selector choose from? Line 4 of Algorithm 1 by each path, none of it in the context.

use std::collections::{BTreeMap, HashMap};

use pikerag_knowledge::{Atom, AtomKind, Candidate, Chunk, ChunkId, Context, Question, Via};
use pikerag_language::content_words;
use pikerag_retrieve::{AtomHit, Hit, Walk, atoms, hops, nearest};

use super::{DELTA, Net, Params, Retriever};
use crate::gather::{Gather, gather};
use crate::kit::{Kit, SolveError};

/// Characters of a chunk that stand for it where it has no atom.
const SHOWN: usize = 160;

/// Candidates that the proposals find.
pub(super) async fn by_proposals(
    kit: &Kit,
    context: &Context,
    proposals: &[String],
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let (k, held) = (params.k.get(), context.ids());
    match params.retriever {
        Retriever::AtomPairs => {
            let found = pairs(kit, proposals, k, params, &held).await?;
            atom_candidates(kit, &found, proposals, Via::Atoms).await
        }
        Retriever::Chunks => {
            let mut all: Vec<Candidate> = Vec::new();
            for proposal in proposals {
                for candidate in new_chunks(kit, context, proposal, params, Via::Chunks).await? {
                    if !all.iter().any(|other| other.chunk == candidate.chunk) {
                        all.push(candidate);
                    }
                }
            }
            represented(kit, all, params).await
        }
    }
}

/// `R_atom`. A base whose chunks were made into statements in place of questions has these searched; its
/// sentences are an ablation of their own.
async fn pairs(
    kit: &Kit,
    proposals: &[String],
    k: usize,
    params: Params,
    held: &[ChunkId],
) -> Result<Vec<AtomHit>, SolveError> {
    let delta = params.delta.unwrap_or(DELTA);
    let found = atoms(kit.finder(), params.atomizer, proposals, k, delta, held).await?;
    if !found.is_empty() || params.atomizer != AtomKind::Question {
        return Ok(found);
    }
    Ok(atoms(kit.finder(), AtomKind::Statement, proposals, k, delta, held).await?)
}

/// The backup, once (ours): the question itself on atoms, then on chunks.
pub(super) async fn backup(
    kit: &Kit,
    question: &Question,
    context: &Context,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let asked = [question.text.clone()];
    let (k, held) = (params.k.get(), context.ids());
    let found = pairs(kit, &asked, k, params, &held).await?;
    if !found.is_empty() {
        return atom_candidates(kit, &found, &asked, Via::BackupAtoms).await;
    }
    let found = new_chunks(kit, context, &question.text, params, Via::BackupChunks).await?;
    represented(kit, found, params).await
}

/// What stands under a loop that ended with too little.
pub(super) async fn net(
    kit: &Kit,
    question: &Question,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let naive = Gather::chunks();
    match params.net {
        Net::Off => Ok(Vec::new()),
        Net::Plain => gather(kit, &question.text, naive).await,
        Net::Layers => gather(kit, &question.text, Gather::layers().weighed(params.layers)).await,
        Net::Hops => {
            let hits = hops(kit.finder(), &question.text, naive.chunks, params.hops).await?;
            chunk_candidates(kit, &hits, Via::Hops, &question.text).await
        }
    }
}

/// Where the links of the chosen chunks lead.
pub(super) async fn by_hops(
    kit: &Kit,
    question: &Question,
    context: &Context,
    walk: &Walk,
    wanted: usize,
) -> Result<Vec<Candidate>, SolveError> {
    let mut hits = walk.top(wanted + context.chunks.len());
    hits.retain(|hit| !context.holds(hit.chunk));
    hits.truncate(wanted);
    chunk_candidates(kit, &hits, Via::Hops, &question.text).await
}

async fn new_chunks(
    kit: &Kit,
    context: &Context,
    query: &str,
    params: Params,
    via: Via,
) -> Result<Vec<Candidate>, SolveError> {
    let wanted = params.k.get() + context.chunks.len();
    let mut hits = nearest(kit.finder(), query, wanted, params.chunk_floor).await?;
    hits.retain(|hit| !context.holds(hit.chunk));
    hits.truncate(params.k.get());
    chunk_candidates(kit, &hits, via, query).await
}

/// Shows each chunk by the atom that shares most words with the proposal that found it.
async fn represented(
    kit: &Kit,
    mut all: Vec<Candidate>,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let chunks: Vec<ChunkId> = all.iter().map(|candidate| candidate.chunk).collect();
    let mut by_chunk: HashMap<ChunkId, Vec<Atom>> = HashMap::new();
    let mut atoms = kit.base.atoms_of(params.atomizer, &chunks).await?;
    if atoms.is_empty() && params.atomizer == AtomKind::Question {
        atoms = kit.base.atoms_of(AtomKind::Statement, &chunks).await?;
    }
    for atom in atoms {
        by_chunk.entry(atom.chunk).or_default().push(atom);
    }
    for candidate in &mut all {
        let wanted = content_words(&candidate.proposal);
        let shared = |atom: &Atom| {
            content_words(&atom.text).iter().filter(|word| wanted.contains(word)).count()
        };
        let mut best: Option<(usize, &Atom)> = None;
        for atom in by_chunk.get(&candidate.chunk).into_iter().flatten() {
            let shared = shared(atom);
            if best.is_none_or(|(most, _)| most < shared) {
                best = Some((shared, atom));
            }
        }
        if let Some((_, atom)) = best {
            candidate.atom = Some(atom.id);
            candidate.text = atom.text.clone();
        }
    }
    Ok(all)
}

/// Atom hits as candidates, in their order.
pub(crate) async fn atom_candidates(
    kit: &Kit,
    found: &[AtomHit],
    proposals: &[String],
    via: Via,
) -> Result<Vec<Candidate>, SolveError> {
    let ids: Vec<ChunkId> = found.iter().map(|hit| hit.atom.chunk).collect();
    let chunks = kit.base.chunks(&ids).await?;
    let mut all = Vec::with_capacity(found.len());
    for (hit, chunk) in found.iter().zip(chunks) {
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
    kit: &Kit,
    hits: &[Hit],
    via: Via,
    proposal: &str,
) -> Result<Vec<Candidate>, SolveError> {
    let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = kit.base.chunks(&ids).await?;
    let mut all = Vec::with_capacity(hits.len());
    for (hit, chunk) in hits.iter().zip(chunks) {
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

/// The chunks of candidates, in their order.
pub(crate) async fn fetch(kit: &Kit, candidates: &[Candidate]) -> Result<Vec<Chunk>, SolveError> {
    let ids: Vec<ChunkId> = candidates.iter().map(|candidate| candidate.chunk).collect();
    Ok(kit.base.chunks(&ids).await?)
}
