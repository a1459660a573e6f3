//! In which order does a model put hits that reads query and chunk together? (Nogueira and Cho, 2019)

use std::collections::HashMap;
use std::num::NonZeroUsize;

use pikerag_knowledge::{Chunk, ChunkId, KnowledgeBase, Reranker};

use crate::finder::{Hit, RetrieveError};

/// A reranker, and how many hits it is asked about.
#[derive(Clone, Copy)]
pub struct Reranking<'a> {
    /// Who says how well a chunk fits.
    pub model: &'a dyn Reranker,
    /// The first so many hits of a search.
    pub first: NonZeroUsize,
}

impl Reranking<'_> {
    /// How many hits a search has to bring, so that the best `k` are the best of all that are reranked.
    pub fn depth(&self, k: usize) -> usize {
        if k == 0 { 0 } else { k.max(self.first.get()) }
    }

    /// The `k` best of the hits of a search: the first ones in the model's order, those that it finds equal as they
    /// stood; then the others as they stood, with the scores that they had.
    ///
    /// A hit that was reranked has the model's score, and besides its other parts `rerank` (that score), `search`
    /// (the score before) and `search_rank` (the place before, from 1). One call to the model, none for no hits.
    ///
    /// # Errors
    /// See [`RetrieveError`]. A model that fails leaves no order to go on with: the search fails.
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
        // One that is gone from the base cannot be read; it is no hit to anybody.
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

/// A chunk as embedders see it too: where it stands, then what it says.
fn read_by_model(chunk: &Chunk) -> String {
    format!("{}\n{}", chunk.full_title(), chunk.searched_text())
}
