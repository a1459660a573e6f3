//! Which model serves which role?

use std::sync::Arc;

use pikerag_coordinate::Models;
use pikerag_knowledge::{ChatModel, Embedder, ModelError, Role, Scorer};
use pikerag_models::{
    Batch, EmbeddingParams, Endpoint, Limiter, Run, StackParams, chat_stack, embed_stack,
    score_stack,
};

use crate::error::{EngineError, Result};
use crate::settings::{ChatSettings, Settings};

/// Models for all roles that have one. Roles that share an endpoint share its stack, so that its limits hold
/// for all of them together.
pub(super) fn models(settings: &Settings, run: &Run) -> Result<Models> {
    let mut built: Vec<(&Arc<ChatSettings>, BothPorts)> = Vec::new();
    let mut models = Models { certainty: settings.methods.certainty, ..Models::default() };
    for role in Role::ALL {
        let Some(chat) = settings.chat(role) else { continue };
        let (model, scorer) = match built.iter().find(|(same, _)| Arc::ptr_eq(same, chat)) {
            Some((_, both)) => both.clone(),
            None => {
                let both =
                    build(chat, run).map_err(|source| EngineError::Endpoint { role, source })?;
                built.push((chat, both.clone()));
                both
            }
        };
        if role == Role::Answer {
            models.scorer = Some(scorer);
        }
        models.by_role.insert(role, model);
    }
    Ok(models)
}

/// A model as its two ports.
type BothPorts = (Arc<dyn ChatModel>, Arc<dyn Scorer>);

/// A model as its two ports, behind the same limits.
fn build(chat: &ChatSettings, run: &Run) -> Result<BothPorts, ModelError> {
    let params = StackParams { limiter: Arc::new(Limiter::new(chat.limits)), retry: chat.retry };
    let scorer = score_stack(run, chat.endpoint.clone(), &params)?;
    Ok((chat_stack(run, chat.endpoint.clone(), &params)?, scorer))
}

/// The embedder behind an endpoint.
pub(super) fn embedder(endpoint: &Endpoint, batch: Batch, run: &Run) -> Result<Arc<dyn Embedder>> {
    let embedding = EmbeddingParams { batch, ..EmbeddingParams::default() };
    let stack = embed_stack(run, endpoint.clone(), embedding, &StackParams::default());
    stack.map_err(EngineError::EmbedEndpoint)
}
