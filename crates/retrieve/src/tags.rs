//! Finds chunks for tags: fuses the chunks that bear them, rare tags first, with the chunks that
//! hold their words (PIKE-RAG §5.2.2: mapped tags for keyword retrieval).

use std::collections::BTreeMap;

use pikerag_knowledge::{ChunkId, ChunksOf, NameKey, Scored};

use crate::chunks::fuse;
use crate::finder::{Finder, Hit, RetrieveError};

/// The `k` chunks that fit best: by their tags under `keys`, each weighed by its rarity, and by the
/// `words` in their text. Best first, ties by identifier; empty if no chunk has such a tag or word.
/// A score is a sum of reciprocal ranks: above 0, and at most 1/3.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn tagged(
    finder: Finder<'_>,
    keys: &[NameKey],
    words: &[String],
    k: usize,
) -> Result<Vec<Hit>, RetrieveError> {
    let all = finder.base.state().await?.chunks;
    let mut bearing: BTreeMap<ChunkId, f32> = BTreeMap::new();
    for list in finder.base.chunks_of(ChunksOf::Tags(keys), usize::MAX).await? {
        let rarity = (1.0 + all as f32 / list.count.max(1) as f32).ln();
        for chunk in list.chunks {
            *bearing.entry(chunk).or_default() += rarity;
        }
    }
    let mut bearing: Vec<Scored<ChunkId>> =
        bearing.into_iter().map(|(item, score)| Scored { item, score }).collect();
    bearing.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)));
    bearing.truncate(FUSED.max(k));
    let by_words = match words {
        [] => Vec::new(),
        words => finder.base.matching_chunks(&words.join(" "), FUSED.max(k)).await?,
    };
    let mut hits = fuse(&[("tags", bearing), ("tag_words", by_words)]);
    hits.truncate(k);
    Ok(hits)
}

/// Ranks that each side contributes to the fusion; more if the caller asks for more.
const FUSED: usize = 100;
