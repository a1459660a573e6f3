//! Builds models for a single call that tries their endpoint.

use std::num::NonZeroU32;
use std::sync::Arc;

use pikerag_knowledge::{ChatModel, Embedder, ModelError, Reranker};
use pikerag_models::{
    CallContext, EmbeddingParams, MemoryLedger, Mode, ModelServer, RetryParams, StackParams,
    chat_stack, embed_stack, rerank_stack,
};

use super::Session;
use crate::settings::{ChatSettings, SearchEndpoint, SearchModel};

/// A model of searches to try.
pub(crate) enum TrialModel {
    /// It makes vectors.
    Embedder(Arc<dyn Embedder>),
    /// It scores texts for a question.
    Reranker(Arc<dyn Reranker>),
}

/// All of these models make one attempt for each call and record none. They share no circuit breaker with other
/// calls, so that their failures change nothing for them. Their calls count in the caps.
impl Session {
    /// A chat model of these settings.
    pub(crate) fn trial_chat(&self, chat: &ChatSettings) -> Result<Arc<dyn ChatModel>, ModelError> {
        let name = chat.endpoint.local_name();
        let server = name.map(|name| Arc::new(self.local_server(name)) as Arc<dyn ModelServer>);
        let params = StackParams { server, ..once(chat.retry) };
        chat_stack(&self.trial_calls(), &chat.endpoint, &params)
    }

    /// A model of searches behind this endpoint.
    pub(crate) fn trial_search_model(
        &self,
        of: SearchModel,
        SearchEndpoint { endpoint, batch }: &SearchEndpoint,
    ) -> Result<TrialModel, ModelError> {
        let (calls, params) = (self.trial_calls(), once(RetryParams::default()));
        Ok(match of {
            SearchModel::Embedder => {
                let embedding = EmbeddingParams { batch: *batch, ..EmbeddingParams::default() };
                TrialModel::Embedder(embed_stack(&calls, endpoint.clone(), embedding, &params)?)
            }
            SearchModel::Reranker => {
                TrialModel::Reranker(rerank_stack(&calls, endpoint.clone(), *batch, &params)?)
            }
        })
    }

    fn trial_calls(&self) -> CallContext {
        let calls = self.calls(Arc::new(MemoryLedger::default()), Mode::Record);
        CallContext { scope: None, ..calls }
    }
}

/// One attempt for each call.
fn once(retry: RetryParams) -> StackParams {
    let retry = RetryParams { attempts: NonZeroU32::MIN, ..retry };
    StackParams { retry, ..StackParams::default() }
}
