//! What does every retrieval need? The base, and an embedder where there is one.

use std::collections::BTreeMap;

use pikerag_knowledge::{ChunkId, Embedder, KnowledgeBase, ModelError, StoreError, Vector};
use serde::{Deserialize, Serialize};

/// The base to search, and the embedder that its vectors were made with. Without one, retrieval
/// goes by words alone.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// Where all is looked up; it shows what may be found and nothing else, so that no search need filter.
    pub base: &'a dyn KnowledgeBase,
    /// The embedder, if the base has vectors.
    pub embedder: Option<&'a dyn Embedder>,
}

/// A chunk found, and how its score came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// What was found; its text is in the base.
    pub chunk: ChunkId,
    /// Higher is better; the scale is the search's own.
    pub score: f32,
    /// The parts of the score by name: `cosine`, `bm25`, their ranks, links, names.
    pub parts: BTreeMap<String, f32>,
}

/// Why retrieval failed; never with a part of the hits.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The base cannot be read.
    #[error("the knowledge base cannot be searched")]
    Store(#[from] StoreError),
    /// The query could not be embedded.
    #[error("the query could not be embedded")]
    Model(#[from] ModelError),
    /// What was found could not be reranked.
    #[error("what was found could not be reranked")]
    Rerank(#[source] ModelError),
}

impl Finder<'_> {
    /// One vector per query; `None` without an embedder, and where it does not know the language of all of them: then
    /// words alone find more.
    ///
    /// # Errors
    /// The embedder's.
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
