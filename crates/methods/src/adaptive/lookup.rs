//! Finds atoms and chunks for each missing fact, without passages that carry a fact already.

use pikerag_knowledge::{AtomKind, Candidate, ChunkId, Event, Via};
use pikerag_retrieve::{Search, atoms, search};

use super::{Findings, Params};
use crate::candidates::{atom_candidates, chunk_candidates};
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::least_similarity;
use crate::run::Run;

/// Atoms searched for each sub-question beyond those that are taken; they show what else the base can answer.
const MORE: usize = 2;

/// Searches for each sub-question, adds the passages found to `findings` and returns their numbers. A passage
/// that was read before without a fact may be found again, because the sub-question is new. Other questions
/// that the base answers are noted for the next round (KAR³'s knowledge-aware proposals).
pub(super) async fn look_up(
    ports: &Ports,
    run: &mut Run,
    round: usize,
    wanted: &[String],
    findings: &mut Findings,
    params: &Params,
) -> Result<Vec<usize>, SolveError> {
    let mut found: Vec<Candidate> = Vec::new();
    let kept = findings.chunks_with_facts();
    let by_atoms = by_atoms(ports, wanted, &kept, params.found + MORE).await?;
    for (place, question) in wanted.iter().enumerate() {
        findings.note_tried(question);
        let by_chunks = by_chunks(ports, question, &kept, params).await?;
        let mut atoms =
            by_atoms.iter().filter(|(proposal, _)| *proposal == place).map(|(_, atom)| atom);
        let mut chunks = by_chunks.iter();
        let mut mine = 0;
        // In turns: an atom first, because it may ask the same question, then a chunk.
        loop {
            let pair = [atoms.next(), chunks.next()];
            if pair.iter().all(Option::is_none) {
                break;
            }
            for candidate in pair.into_iter().flatten() {
                if found.iter().any(|held| held.chunk == candidate.chunk) {
                    continue;
                }
                if mine < params.found {
                    found.push(candidate.clone());
                    mine += 1;
                } else if candidate.atom.is_some() {
                    findings.note_other(candidate.chunk, &candidate.text);
                }
            }
        }
    }
    let (candidates, chunks) = gathered(ports, run, found, params.rules()).await?;
    run.push(Event::Retrieved { hop: round, candidates });
    Ok(findings.add(round + 1, chunks))
}

/// Path (b): atomic questions close to the sub-questions, each with the place of the sub-question that found it.
async fn by_atoms(
    ports: &Ports,
    wanted: &[String],
    kept: &[ChunkId],
    k: usize,
) -> Result<Vec<(usize, Candidate)>, SolveError> {
    // Sentences are left out: the search for chunks already covers their words.
    for kind in [AtomKind::Question, AtomKind::Statement] {
        let least = least_similarity(ports, kind).await?;
        let hits = atoms(ports.finder(), kind, wanted, k, least, kept).await?;
        if hits.is_empty() {
            continue;
        }
        let candidates = atom_candidates(ports, &hits, wanted, Via::Atoms).await?;
        let place = |found: &Candidate| wanted.iter().position(|asked| *asked == found.proposal);
        let placed = candidates.into_iter().filter_map(|found| Some((place(&found)?, found)));
        return Ok(placed.collect());
    }
    Ok(Vec::new())
}

/// Path (a): chunks by the search `auto`.
async fn by_chunks(
    ports: &Ports,
    question: &str,
    kept: &[ChunkId],
    params: &Params,
) -> Result<Vec<Candidate>, SolveError> {
    let wanted = params.found + kept.len();
    let look_for = |k| search(ports.finder(), Search::Auto, question, k, params.weights);
    let mut hits = ports.best(question, wanted, look_for).await?;
    hits.retain(|hit| !kept.contains(&hit.chunk));
    hits.truncate(params.found);
    chunk_candidates(ports, &hits, Via::Chunks, question).await
}
