//! Finds chunks for a query by meaning, by words, or by both, fused by reciprocal rank: path (a).

use std::collections::BTreeMap;

use pikerag_knowledge::{ChunkId, Scored, nearest_chunks};

use crate::finder::{Finder, Hit, RetrieveError};
use crate::synonyms::in_documents_words;

/// Reciprocal rank fusion: `Σ 1 / (RANK_OFFSET + rank)`, rank from 1 (Cormack et al., 2009). The
/// paper uses 60. 5 trusts the first ranks more and finds more evidence on all three multi-hop sets
/// (docs/explain/retrieval.md).
pub const RANK_OFFSET: f32 = 5.0;
/// Ranks that each side contributes to a fusion.
const FUSED: usize = 100;

/// The `k` chunks closest in meaning, none below `min_score`: `R` in KAR³ eq. 1. Without an
/// embedder, or if it does not know the query's language: the `k` best by words, where `min_score`
/// does not apply.
///
/// Best first, ties by identifier; each hit has one part. By meaning, score and `min_score` are
/// cosines (`cosine`) from −1 to 1, and −1 admits all. By words, scores (`bm25`) are above 0,
/// without an upper limit. Empty if no chunk is that close, or none has a word of the query.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn nearest(
    finder: Finder<'_>,
    query: &str,
    k: usize,
    min_score: f32,
) -> Result<Vec<Hit>, RetrieveError> {
    let query = in_documents_words(finder, query).await?;
    let Some(vectors) = finder.vectors(&[query.to_string()]).await? else {
        let found = finder.base.matching_chunks(&query, k).await?;
        return Ok(found.into_iter().map(|hit| one_part(hit, "bm25")).collect());
    };
    let found = nearest_chunks(finder.base, &vectors, k, min_score).await?;
    Ok(found.into_iter().flatten().map(|hit| one_part(hit, "cosine")).collect())
}

fn one_part(hit: Scored<ChunkId>, part: &str) -> Hit {
    Hit { chunk: hit.item, score: hit.score, parts: BTreeMap::from([(part.to_owned(), hit.score)]) }
}

/// The `k` best chunks by words and meaning together; by words alone without an embedder. Best
/// first, ties by identifier. A score is a sum of reciprocal ranks: above 0, and at most 1/3.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn hybrid(finder: Finder<'_>, query: &str, k: usize) -> Result<Vec<Hit>, RetrieveError> {
    let query = in_documents_words(finder, query).await?;
    let by_words = finder.base.matching_chunks(&query, FUSED.max(k)).await?;
    let mut sides = vec![("bm25", by_words)];
    if let Some(vectors) = finder.vectors(&[query.to_string()]).await? {
        let by_meaning = nearest_chunks(finder.base, &vectors, FUSED.max(k), -1.0).await?;
        sides.push(("cosine", by_meaning.into_iter().next().unwrap_or_default()));
    }
    let mut fused = fuse(&sides);
    fused.truncate(k);
    Ok(fused)
}

/// Fuses lists of hits, as [`fuse`] does.
pub(crate) fn fuse_hits(sides: &[(&str, Vec<Hit>)]) -> Vec<Hit> {
    let scored = |hit: &Hit| Scored { item: hit.chunk, score: hit.score };
    let lists: Vec<(&str, Vec<Scored<ChunkId>>)> =
        sides.iter().map(|(name, hits)| (*name, hits.iter().map(scored).collect())).collect();
    fuse(&lists)
}

/// Reciprocal rank fusion of ranked lists; best first, ties by identifier.
pub(crate) fn fuse(sides: &[(&str, Vec<Scored<ChunkId>>)]) -> Vec<Hit> {
    let mut hits: BTreeMap<ChunkId, Hit> = BTreeMap::new();
    for (name, list) in sides {
        for (place, found) in list.iter().enumerate() {
            let hit = hits.entry(found.item).or_insert_with(|| Hit {
                chunk: found.item,
                score: 0.0,
                parts: BTreeMap::new(),
            });
            let rank = (place + 1) as f32;
            hit.score += 1.0 / (RANK_OFFSET + rank);
            hit.parts.insert((*name).to_owned(), found.score);
            hit.parts.insert(format!("{name}_rank"), rank);
        }
    }
    let mut fused: Vec<Hit> = hits.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ids: &[u64]) -> Vec<Scored<ChunkId>> {
        ids.iter().map(|id| Scored { item: ChunkId(*id), score: 1.0 }).collect()
    }

    #[test]
    fn chunks_that_both_sides_find_come_first_and_ties_go_by_id() {
        let fused = fuse(&[("bm25", list(&[7, 2])), ("cosine", list(&[3, 2]))]);
        let order: Vec<u64> = fused.iter().map(|hit| hit.chunk.0).collect();
        assert_eq!(order, [2, 3, 7]);
        assert_eq!(
            fused[0].parts.keys().collect::<Vec<_>>(),
            ["bm25", "bm25_rank", "cosine", "cosine_rank"]
        );
    }
}
