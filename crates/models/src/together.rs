//! Keeps the limits of a model together with other processes over the same store, behind the
//! limits of this process.

mod gate;
mod memory;
mod purse;
mod waiting;

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChatModel, ChatReply, ChatRequest, CountedVectors, Embedder, ModelError, Relevance, Reranker,
    Vector,
};

pub(crate) use self::gate::SharedGate;
use self::gate::Stop;
pub use self::memory::MemoryLimits;
use crate::circuit::{Circuit, Paused};
use crate::estimate::{estimate_chat, estimate_embedding, estimate_reranking};

/// A model whose limits several processes keep together. Without a gate, it only passes calls on.
///
/// # Cancel safety
/// A call that is dropped gives its seat back.
pub struct Together<M> {
    inner: M,
    gate: Option<Arc<SharedGate>>,
    circuit: Arc<Circuit>,
    is_background: bool,
}

impl<M> Together<M> {
    /// Puts `inner` behind the gate of its model. Calls in the background let all others pass.
    pub(crate) fn new(
        inner: M,
        gate: Option<Arc<SharedGate>>,
        circuit: Arc<Circuit>,
        is_background: bool,
    ) -> Self {
        Self { inner, gate, circuit, is_background }
    }

    /// Makes a call when all processes together may make one more. During a pause, which any
    /// process may have learned of, it fails with [`ModelError::Busy`].
    async fn call<T>(
        &self,
        model: &str,
        tokens: u64,
        call: impl Future<Output = Result<T, ModelError>>,
    ) -> Result<T, ModelError> {
        let Some(gate) = &self.gate else { return call.await };
        match gate.pass(tokens, self.is_background).await {
            Ok(_seat) => {
                let done = gate.while_running(call).await;
                // The seat is still taken: a call of another process that gets it knows of the pause.
                if let Err(ModelError::Busy { retry_after: Some(wait), .. }) = &done {
                    gate.pause(*wait).await;
                }
                done
            }
            Err(Stop::Pause(pause)) => {
                self.circuit.pause_for(pause);
                let source = Paused { seconds: pause.as_secs_f64() }.into();
                let (model, retry_after) = (model.to_owned(), Some(pause));
                Err(ModelError::Busy { model, retry_after, source })
            }
            Err(Stop::Store(source)) => Err(ModelError::Ledger { source: Box::new(source) }),
        }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Together<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let call = self.inner.complete(request);
        self.call(self.inner.name(), estimate_chat(request), call).await
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Together<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        Ok(self.embed_counted(texts).await?.vectors)
    }

    async fn embed_counted(&self, texts: &[String]) -> Result<CountedVectors, ModelError> {
        let tokens = estimate_embedding(texts).prompt_tokens;
        self.call(self.inner.name(), tokens, self.inner.embed_counted(texts)).await
    }
}

#[async_trait]
impl<R: Reranker> Reranker for Together<R> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let tokens = estimate_reranking(query, texts).usage.prompt_tokens;
        self.call(self.inner.name(), tokens, self.inner.rerank(query, texts)).await
    }
}

#[cfg(test)]
mod tests;
