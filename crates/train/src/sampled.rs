//! Makes the proposals of later attempts differ: a proposer that is asked at a temperature, with the number of the
//! attempt as the sample, so that the ledger keeps each reply apart.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{CallRef, ChatModel, ChatReply, ChatRequest, ModelError, Role};
use pikerag_methods::Ports;

/// The ports of an attempt. The first one proposes at temperature 0, like every other step.
pub(crate) fn with_samples(ports: &Ports, attempt: u32, temperature: f32) -> Ports {
    let mut ports = ports.clone();
    let chat = &mut ports.models.chat;
    let own = chat.by_role.get(&Role::Propose).or(chat.default.as_ref()).cloned();
    if let (Some(model), true) = (own, 0 < attempt) {
        let model = Arc::new(Sampled { model, sample: attempt, temperature });
        chat.by_role.insert(Role::Propose, model);
    }
    ports
}

struct Sampled {
    model: Arc<dyn ChatModel>,
    sample: u32,
    temperature: f32,
}

#[async_trait]
impl ChatModel for Sampled {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.model.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let (sample, temperature) = (self.sample, self.temperature);
        self.model.complete(&ChatRequest { sample, temperature, ..request.clone() }).await
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.model.discard(calls).await
    }
}
