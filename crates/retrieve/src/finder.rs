//! Holds the base to search, and the embedder if there is one, for every retrieval.

use std::collections::BTreeMap;

use pikerag_knowledge::{ChunkId, Embedder, KnowledgeBase, ModelError, StoreError, Vector};
use serde::{Deserialize, Serialize};

use crate::known::{KnownState, Memory};

/// The base to search, and the embedder that made its vectors. Without an embedder, retrieval
/// compares words alone.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// The base for every look-up. It shows only permitted chunks, so that no search needs a
    /// filter.
    pub base: &'a dyn KnowledgeBase,
    /// The embedder, if the base has vectors.
    pub embedder: Option<&'a dyn Embedder>,
    /// What this question has looked up so far; none looks everything up each time.
    pub memory: Option<&'a Memory>,
}

/// A chunk found, with its score and the parts of that score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The chunk; its text is in the base.
    pub chunk: ChunkId,
    /// Higher is better; each search has its own scale.
    pub score: f32,
    /// The parts of the score by name: `cosine`, `bm25`, their ranks, links, names.
    pub parts: BTreeMap<String, f32>,
}

/// Why retrieval failed; no partial list of hits comes with it.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The base cannot be read.
    #[error("the knowledge base cannot be searched")]
    Store(#[from] StoreError),
    /// The query could not be embedded.
    #[error("the query could not be embedded")]
    Model(#[from] ModelError),
    /// The hits could not be reranked.
    #[error("the hits could not be reranked")]
    Rerank(#[source] ModelError),
}

impl<'a> Finder<'a> {
    /// What earlier questions found out about this state of the base.
    pub(crate) fn known(&self) -> Option<&'a KnownState> {
        self.memory.and_then(Memory::known)
    }

    /// One vector of length 1 per query, in order; `None` without an embedder, or if it does not
    /// know the language of every query: words alone find more then. Empty without queries.
    ///
    /// # Errors
    /// An error of the embedder.
    pub async fn vectors(&self, texts: &[String]) -> Result<Option<Vec<Vector>>, ModelError> {
        let Some(embedder) = self.embedder else { return Ok(None) };
        if texts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        for text in texts {
            if !embedder.knows(text).await? {
                return Ok(None);
            }
        }
        embedder.embed_queries(texts).await.map(Some)
    }
}
