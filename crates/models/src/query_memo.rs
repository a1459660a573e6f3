//! Embeds each query of one search once, however many parts of the search need its vector.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{CountedVectors, Embedder, ModelError, Parted, PartedVectors, Vector};

/// An embedder that keeps the vectors of queries. It belongs to one search: it keeps every vector
/// until it is dropped. Two calls at the same moment may both embed a query.
pub struct QueryMemo {
    inner: Arc<dyn Embedder>,
    vectors: Mutex<HashMap<String, Vector>>,
}

impl QueryMemo {
    /// Keeps nothing yet.
    pub fn new(inner: Arc<dyn Embedder>) -> Self {
        Self { inner, vectors: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Vector>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Embedder for QueryMemo {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.inner.embed(texts).await
    }

    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        let known: Option<Vec<Vector>> = {
            let held = self.held();
            texts.iter().map(|text| held.get(text).cloned()).collect()
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let made = self.inner.embed_queries(texts).await?;
        self.held().extend(texts.iter().cloned().zip(made.iter().cloned()));
        Ok(made)
    }

    async fn knows(&self, text: &str) -> Result<bool, ModelError> {
        self.inner.knows(text).await
    }

    fn known_dimensions(&self) -> Option<usize> {
        self.inner.known_dimensions()
    }

    fn reads_parts(&self) -> bool {
        self.inner.reads_parts()
    }

    async fn embed_parted(&self, texts: &[Parted]) -> Result<Vec<PartedVectors>, ModelError> {
        self.inner.embed_parted(texts).await
    }

    async fn embed_counted(&self, texts: &[String]) -> Result<CountedVectors, ModelError> {
        self.inner.embed_counted(texts).await
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::{HashEmbedder, ScriptedEmbedder};

    use super::*;

    #[tokio::test]
    async fn a_query_is_embedded_once_and_other_texts_each_time() {
        let model = ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(4).vectors(texts)));
        let model: &'static ScriptedEmbedder = Box::leak(Box::new(model));
        let memo = QueryMemo::new(Arc::new(model));
        let (one, two) = (["a".to_owned()], ["a".to_owned(), "b".to_owned()]);
        let first = memo.embed_queries(&one).await.unwrap();
        assert_eq!(memo.embed_queries(&one).await.unwrap(), first);
        assert_eq!(model.requests().len(), 1);
        let both = memo.embed_queries(&two).await.unwrap();
        assert_eq!((memo.embed_queries(&two).await.unwrap(), &both[0]), (both.clone(), &first[0]));
        assert_eq!(model.requests().len(), 2);
        memo.embed(&one).await.unwrap();
        memo.embed(&one).await.unwrap();
        assert_eq!((model.requests().len(), memo.name()), (4, "fake-embedder"));
    }
}
