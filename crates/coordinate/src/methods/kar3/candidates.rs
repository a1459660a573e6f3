//! What may the selector choose from? Line 4 of Algorithm 1 by each path, none of it in the context.

use std::collections::HashMap;

use pikerag_knowledge::{Atom, AtomKind, Candidate, ChunkId, Context, Question, Via};
use pikerag_language::content_words;
use pikerag_retrieve::{AtomHit, Walk, atoms, hops, nearest};

use super::{DELTA, Fallback, Params, Retriever};
use crate::candidates::{atom_candidates, chunk_candidates};
use crate::ports::{Ports, SolveError};
use crate::retrieval::{Path, RetrievalParams, retrieve};

/// Candidates that the proposals find.
pub(super) async fn by_proposals(
    ports: &Ports,
    context: &Context,
    proposals: &[String],
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let (k, held) = (params.k.get(), context.ids());
    match params.retriever {
        Retriever::AtomPairs => {
            let found = pairs(ports, proposals, k, params, &held).await?;
            atom_candidates(ports, &found, proposals, Via::Atoms).await
        }
        Retriever::Chunks => {
            let mut all: Vec<Candidate> = Vec::new();
            for proposal in proposals {
                for candidate in new_chunks(ports, context, proposal, params, Via::Chunks).await? {
                    if !all.iter().any(|other| other.chunk == candidate.chunk) {
                        all.push(candidate);
                    }
                }
            }
            represented(ports, all, params).await
        }
    }
}

/// `R_atom`. A base whose chunks were made into statements in place of questions has these searched; its
/// sentences are an ablation of their own.
async fn pairs(
    ports: &Ports,
    proposals: &[String],
    k: usize,
    params: Params,
    held: &[ChunkId],
) -> Result<Vec<AtomHit>, SolveError> {
    let delta = params.delta.unwrap_or(DELTA);
    let found = atoms(ports.finder(), params.atomizer, proposals, k, delta, held).await?;
    if !found.is_empty() || params.atomizer != AtomKind::Question {
        return Ok(found);
    }
    Ok(atoms(ports.finder(), AtomKind::Statement, proposals, k, delta, held).await?)
}

/// The backup, once (ours): the question itself on atoms, then on chunks.
pub(super) async fn backup(
    ports: &Ports,
    question: &Question,
    context: &Context,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let asked = [question.text.clone()];
    let (k, held) = (params.k.get(), context.ids());
    let found = pairs(ports, &asked, k, params, &held).await?;
    if !found.is_empty() {
        return atom_candidates(ports, &found, &asked, Via::BackupAtoms).await;
    }
    let found = new_chunks(ports, context, &question.text, params, Via::BackupChunks).await?;
    represented(ports, found, params).await
}

/// What stands under a loop that ended with too little.
pub(super) async fn fallback(
    ports: &Ports,
    question: &Question,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let naive = RetrievalParams::chunks();
    match params.fallback {
        Fallback::Off => Ok(Vec::new()),
        Fallback::Plain => retrieve(ports, &question.text, naive).await,
        Fallback::Layers => {
            retrieve(
                ports,
                &question.text,
                RetrievalParams { path: Path::Layers(params.layers), ..naive },
            )
            .await
        }
        Fallback::Hops => {
            let search = |k| hops(ports.finder(), &question.text, k, params.hops);
            let hits = ports.best(&question.text, naive.chunks, search).await?;
            chunk_candidates(ports, &hits, Via::Hops, &question.text).await
        }
    }
}

/// Where the links of the chosen chunks lead.
pub(super) async fn by_hops(
    ports: &Ports,
    question: &Question,
    context: &Context,
    walk: &Walk,
    wanted: usize,
) -> Result<Vec<Candidate>, SolveError> {
    let mut hits = walk.top(wanted + context.chunks.len());
    hits.retain(|hit| !context.holds(hit.chunk));
    hits.truncate(wanted);
    chunk_candidates(ports, &hits, Via::Hops, &question.text).await
}

async fn new_chunks(
    ports: &Ports,
    context: &Context,
    query: &str,
    params: Params,
    via: Via,
) -> Result<Vec<Candidate>, SolveError> {
    let wanted = params.k.get() + context.chunks.len();
    let search = |k| nearest(ports.finder(), query, k, params.chunk_min_score);
    let mut hits = ports.best(query, wanted, search).await?;
    hits.retain(|hit| !context.holds(hit.chunk));
    hits.truncate(params.k.get());
    chunk_candidates(ports, &hits, via, query).await
}

/// Shows each chunk by the atom that shares most words with the proposal that found it.
async fn represented(
    ports: &Ports,
    mut all: Vec<Candidate>,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let chunks: Vec<ChunkId> = all.iter().map(|candidate| candidate.chunk).collect();
    let mut by_chunk: HashMap<ChunkId, Vec<Atom>> = HashMap::new();
    let mut atoms = ports.base.atoms_of(params.atomizer, &chunks).await?;
    if atoms.is_empty() && params.atomizer == AtomKind::Question {
        atoms = ports.base.atoms_of(AtomKind::Statement, &chunks).await?;
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
