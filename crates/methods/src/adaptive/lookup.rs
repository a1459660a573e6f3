//! What does the base tell of that which is missing? Atoms and chunks for each sub-question, none that carries a fact
//! already.

use crate::context::Rules;
use pikerag_knowledge::{AtomKind, Candidate, ChunkId, Event, Via};
use pikerag_retrieve::{Search, atoms, search};

use super::{Params, Shelf};
use crate::candidates::{atom_candidates, chunk_candidates};
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::least_similarity;
use crate::run::Run;

/// Atoms that are looked at for each sub-question beyond those that are taken: what else the base can answer.
const MORE: usize = 2;

/// Looks each sub-question up, and takes the passages found onto the shelf; their numbers. A passage that was read before and
/// carried no fact then may be found again: now it is known what to look for. Questions that the base answers besides
/// are noted there, for the next look to see (KAR³'s knowledge-aware proposals).
pub(super) async fn look_up(
    ports: &Ports,
    run: &mut Run,
    look: usize,
    wanted: &[String],
    shelf: &mut Shelf,
    params: &Params,
) -> Result<Vec<usize>, SolveError> {
    let mut found: Vec<Candidate> = Vec::new();
    let kept = shelf.kept();
    let by_atoms = by_atoms(ports, wanted, &kept, params.found + MORE).await?;
    for (place, question) in wanted.iter().enumerate() {
        shelf.tries(question);
        let by_chunks = by_chunks(ports, question, &kept, params).await?;
        let mut atoms =
            by_atoms.iter().filter(|(proposal, _)| *proposal == place).map(|(_, atom)| atom);
        let mut chunks = by_chunks.iter();
        let mut mine = 0;
        // In turns: an atom that asks the very same first, then what the search finds.
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
                    shelf.tells_of(candidate.chunk, &candidate.text);
                }
            }
        }
    }
    let (candidates, chunks) = gathered(ports, run, found, Rules::within(params.tokens)).await?;
    run.push(Event::Retrieved { hop: look, candidates });
    Ok(shelf.take(look + 1, chunks))
}

/// Path (b): atomic questions close to the sub-questions, each with the place of the one that found it.
async fn by_atoms(
    ports: &Ports,
    wanted: &[String],
    kept: &[ChunkId],
    k: usize,
) -> Result<Vec<(usize, Candidate)>, SolveError> {
    // Sentences are words of chunks, which the search knows.
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

/// Path (a): chunks by the search that loses nowhere.
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
