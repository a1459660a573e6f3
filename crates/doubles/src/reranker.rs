//! Provides a scripted reranker for tests.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{ModelError, Relevance, Reranker};

/// A reranker with scripted scores. It records its requests.
pub struct ScriptedReranker {
    reply: Box<RerankScript>,
    requests: Mutex<Vec<(String, Vec<String>)>>,
}

type RerankScript = dyn Fn(usize, &str, &[String]) -> Result<Vec<f32>, ModelError> + Send + Sync;

impl ScriptedReranker {
    /// Computes the scores from the number of the call, from 0, the query and the texts.
    pub fn by_turn(
        reply: impl Fn(usize, &str, &[String]) -> Result<Vec<f32>, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self { reply: Box::new(reply), requests: Mutex::default() }
    }

    /// Scores each text by its length: the shorter, the better.
    pub fn shortest_first() -> Self {
        Self::by_turn(|_, _, texts| Ok(texts.iter().map(|text| -(text.len() as f32)).collect()))
    }

    /// The queries and texts so far, by request.
    pub fn requests(&self) -> Vec<(String, Vec<String>)> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Reranker for ScriptedReranker {
    fn name(&self) -> &'static str {
        "fake-reranker"
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let turn = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push((query.to_owned(), texts.to_vec()));
            requests.len() - 1
        };
        Ok(Relevance { scores: (self.reply)(turn, query, texts)?, ..Relevance::default() })
    }
}

/// A borrowed script, so that a test can inspect it while it is wrapped.
#[async_trait]
impl Reranker for &ScriptedReranker {
    fn name(&self) -> &'static str {
        "fake-reranker"
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        (**self).rerank(query, texts).await
    }
}
