//! Reorders hits by a model that reads query and chunk together (Nogueira and Cho, 2019).

use std::collections::HashMap;
use std::num::NonZeroUsize;

use pikerag_knowledge::{Chunk, ChunkId, KnowledgeBase, Reranker};

use crate::finder::{Hit, RetrieveError};

/// A reranker, and the number of hits that it scores.
#[derive(Clone, Copy)]
pub struct Reranking<'a> {
    /// The model that scores how well a chunk fits.
    pub model: &'a dyn Reranker,
    /// The number of first hits that are reranked.
    pub first: NonZeroUsize,
}

impl Reranking<'_> {
    /// The number of hits that a search must bring, so that the best `k` are the best of all
    /// reranked hits.
    pub fn depth(&self, k: usize) -> usize {
        if k == 0 { 0 } else { k.max(self.first.get()) }
    }

    /// The `k` best of the hits of a search: first the reranked ones in the model's order, equal
    /// scores in the search's order. The others follow in their old order, with their old scores.
    ///
    /// A reranked hit has the model's score. Besides its other parts it has `rerank` (that score),
    /// `search` (the score before) and `search_rank` (the place before, from 1). One call to the
    /// model, none for no hits.
    ///
    /// # Errors
    /// See [`RetrieveError`]. If the model fails there is no order, and the search fails.
    pub async fn best(
        &self,
        base: &dyn KnowledgeBase,
        query: &str,
        mut hits: Vec<Hit>,
        k: usize,
    ) -> Result<Vec<Hit>, RetrieveError> {
        let ids: Vec<ChunkId> = hits.iter().take(self.first.get()).map(|hit| hit.chunk).collect();
        let chunks = base.chunks(&ids).await?;
        let texts: HashMap<ChunkId, String> =
            chunks.iter().map(|chunk| (chunk.id, read_by_model(chunk))).collect();
        // A chunk that is gone from the base cannot be read, so it is no hit.
        hits.retain(|hit| !ids.contains(&hit.chunk) || texts.contains_key(&hit.chunk));
        let rest = hits.split_off(hits.len().min(self.first.get()));
        let asked: Vec<String> =
            hits.iter().filter_map(|hit| texts.get(&hit.chunk)).cloned().collect();
        let scores = match asked.as_slice() {
            [] => Vec::new(),
            asked => self.model.rerank(query, asked).await.map_err(RetrieveError::Rerank)?.scores,
        };
        for (place, (hit, score)) in hits.iter_mut().zip(scores).enumerate() {
            let before = std::mem::replace(&mut hit.score, score);
            let rank = (place + 1) as f32;
            for (name, part) in [("rerank", score), ("search", before), ("search_rank", rank)] {
                hit.parts.insert(name.to_owned(), part);
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.extend(rest);
        hits.truncate(k);
        Ok(hits)
    }
}

/// A chunk as embedders see it too: its headings, then its text.
fn read_by_model(chunk: &Chunk) -> String {
    format!("{}\n{}", chunk.full_title(), chunk.searched_text())
}
