//! Finds the candidates of a round by each path, without chunks of the context (KAR³ Algorithm 1, line 4).

use std::collections::HashMap;

use crate::context::tokens_of;
use pikerag_knowledge::{Atom, AtomKind, AtomQuery, Candidate, ChunkId, Context, Question, Via};
use pikerag_language::content_words;
use pikerag_retrieve::{AtomHit, Search, Walk, atoms, hops, nearest, search};

use super::{Fallback, Params, Retriever, Rule};
use crate::candidates::{atom_candidates, chunk_candidates, fetch};
use crate::decompose::Proposer;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{DELTA, Path, RetrievalParams, retrieve};

/// Chunks that a context is filled up to where the model found enough: as many as a first reading round of `adaptive`.
const BESIDE: usize = 8;
/// Their tokens, at most, the chosen chunks included.
const BESIDE_TOKENS: u64 = 1500;

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

/// `R_atom`. Where no atomic question fits, the calibrated rule searches statements and then sentences. The
/// printed one searches nothing else.
async fn pairs(
    ports: &Ports,
    proposals: &[String],
    k: usize,
    params: Params,
    held: &[ChunkId],
) -> Result<Vec<AtomHit>, SolveError> {
    let delta = params.delta.unwrap_or(DELTA);
    let kinds = match params.rule {
        Rule::Calibrated => params.atomizer.or_else(),
        Rule::Printed => std::slice::from_ref(&params.atomizer),
    };
    for kind in kinds {
        let found = atoms(ports.finder(), *kind, proposals, k, delta, held).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The backup (ours): searches for the question itself among atoms, then among chunks.
pub(super) async fn backup(
    ports: &Ports,
    question: &Question,
    context: &Context,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let asked = [question.query().to_owned()];
    let (k, held) = (params.k.get(), context.ids());
    let found = pairs(ports, &asked, k, params, &held).await?;
    if !found.is_empty() {
        return atom_candidates(ports, &found, &asked, Via::BackupAtoms).await;
    }
    let found = new_chunks(ports, context, question.query(), params, Via::BackupChunks).await?;
    represented(ports, found, params).await
}

/// Finds what an answer lacked: atoms for all needs, then chunks for each need. With the context, they are at
/// most as many as naive RAG answers from.
pub(super) async fn by_needs(
    ports: &Ports,
    context: &Context,
    needs: &[String],
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let most = RetrievalParams::chunks().chunks.saturating_sub(context.chunks.len());
    let mut found: Vec<Candidate> = Vec::new();
    let atoms = pairs(ports, needs, params.k.get(), params, &context.ids()).await?;
    let mut all = atom_candidates(ports, &atoms, needs, Via::Atoms).await?;
    for need in needs {
        let wanted = params.k.get() + context.chunks.len();
        let find = |k| search(ports.finder(), Search::Auto, need, k, params.weights);
        let mut hits = ports.best(need, wanted, find).await?;
        hits.retain(|hit| !context.holds(hit.chunk));
        hits.truncate(params.k.get());
        all.extend(chunk_candidates(ports, &hits, Via::Chunks, need).await?);
    }
    for candidate in all {
        if found.len() < most && !found.iter().any(|held| held.chunk == candidate.chunk) {
            found.push(candidate);
        }
    }
    Ok(found)
}

/// Finds chunks of the question itself where the loop ended with too little: as many as naive RAG answers from.
pub(super) async fn fallback(
    ports: &Ports,
    question: &Question,
    context: &Context,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let query = question.query();
    let naive = RetrievalParams::chunks();
    let by = |path| RetrievalParams { path, ..naive };
    let mut found = match params.fallback {
        Fallback::Off => Vec::new(),
        Fallback::Plain => retrieve(ports, query, naive).await?,
        Fallback::Auto => retrieve(ports, query, by(Path::Auto(params.weights))).await?,
        Fallback::Layers => retrieve(ports, query, by(Path::Layers(params.weights.layers))).await?,
        Fallback::Hops => {
            let search = |k| hops(ports.finder(), query, k, params.weights.hops);
            let hits = ports.best(query, naive.chunks, search).await?;
            chunk_candidates(ports, &hits, Via::Hops, query).await?
        }
    };
    found.retain(|candidate| !context.holds(candidate.chunk));
    Ok(found)
}

/// Finds a few chunks of the question where the model found enough, within [`BESIDE`] and [`BESIDE_TOKENS`]. The
/// chosen chunks take room from them, except those of a trained proposer: nothing has checked that they help.
pub(super) async fn beside(
    ports: &Ports,
    question: &Question,
    context: &Context,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let mut found = fallback(ports, question, context, params).await?;
    let checked = match params.proposer {
        Proposer::Trained => &[],
        Proposer::Many | Proposer::One => context.chunks.as_slice(),
    };
    found.truncate(BESIDE.saturating_sub(checked.len()));
    let held: u64 = checked.iter().map(|held| tokens_of(&held.chunk)).sum();
    let mut left = BESIDE_TOKENS.saturating_sub(held);
    let chunks = fetch(ports, &found).await?;
    found.retain(|candidate| {
        let chunk = chunks.iter().find(|chunk| chunk.id == candidate.chunk);
        let Some(size) = chunk.map(tokens_of).filter(|size| *size <= left) else { return false };
        left -= size;
        true
    });
    Ok(found)
}

/// Finds the chunks that the links of the chosen chunks lead to.
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
    chunk_candidates(ports, &hits, Via::Hops, question.query()).await
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
    let mut atoms = ports.base.atoms(AtomQuery::InChunks(params.atomizer, &chunks)).await?;
    let has_more = (params.atomizer, params.rule) == (AtomKind::Question, Rule::Calibrated);
    if atoms.is_empty() && has_more {
        atoms = ports.base.atoms(AtomQuery::InChunks(AtomKind::Statement, &chunks)).await?;
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
