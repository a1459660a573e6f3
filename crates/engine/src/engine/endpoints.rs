//! Which model serves which role?

use std::sync::Arc;

use pikerag_coordinate::Models;
use pikerag_knowledge::{ChatModel, Embedder, ModelError, Role};
use pikerag_models::{
    Batch, CallContext, EmbeddingParams, Endpoint, Limiter, StackParams, chat_stack, embed_stack,
};

use crate::error::{EngineError, Result};
use crate::settings::{ChatSettings, Settings};

/// Models for all roles that have one. Roles that share an endpoint share its stack, so that its limits hold
/// for all of them together.
pub(super) fn models(settings: &Settings, calls: &CallContext) -> Result<Models> {
    let mut built: Vec<(&Arc<ChatSettings>, Arc<dyn ChatModel>)> = Vec::new();
    let mut models = Models { certainty: settings.methods.certainty, ..Models::default() };
    for role in Role::ALL {
        let Some(chat) = settings.chat(role) else { continue };
        let model = match built.iter().find(|(same, _)| Arc::ptr_eq(same, chat)) {
            Some((_, model)) => model.clone(),
            None => {
                let model =
                    build(chat, calls).map_err(|source| EngineError::Endpoint { role, source })?;
                built.push((chat, model.clone()));
                model
            }
        };
        if role == Role::Answer {
            models.scorer = Some(model.clone());
        }
        models.by_role.insert(role, model);
    }
    Ok(models)
}

fn build(chat: &ChatSettings, calls: &CallContext) -> Result<Arc<dyn ChatModel>, ModelError> {
    let params = StackParams { limiter: Arc::new(Limiter::new(chat.limits)), retry: chat.retry };
    chat_stack(calls, chat.endpoint.clone(), &params)
}

/// The embedder behind an endpoint.
pub(super) fn embedder(
    endpoint: &Endpoint,
    batch: Batch,
    calls: &CallContext,
) -> Result<Arc<dyn Embedder>> {
    let embedding = EmbeddingParams { batch, ..EmbeddingParams::default() };
    let stack = embed_stack(calls, endpoint.clone(), embedding, &StackParams::default());
    stack.map_err(EngineError::EmbedEndpoint)
}
