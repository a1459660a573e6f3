//! Which model serves which role?

use std::sync::Arc;

use pikerag_coordinate::{Models, Perspective, Portion as Share, Shares};
use pikerag_knowledge::{ChatModel, Embedder, ModelError, Role};
use pikerag_models::{
    Batch, CallContext, EmbeddingParams, Endpoint, Limiter, Meter, Portion, StackParams,
    chat_stack, embed_stack,
};

use crate::error::{EndpointOf, EngineError, Result};
use crate::settings::{ChatSettings, PerspectiveSettings, Settings};

/// Models for all roles that have one. Roles that share an endpoint share its stack, so that its limits hold
/// for all of them together. Where whoever asks has a share of what may be spent, their calls count there too.
pub(super) fn models(
    settings: &Settings,
    calls: &CallContext,
    share: Option<&Arc<Meter>>,
) -> Result<Models> {
    let metered = |chat: &ChatSettings| -> Result<Arc<dyn ChatModel>, ModelError> {
        let model = build(chat, calls)?;
        Ok(match share {
            Some(share) => Arc::new(Portion::new(model, Arc::clone(share))),
            None => model,
        })
    };
    let mut built: Vec<(&Arc<ChatSettings>, Arc<dyn ChatModel>)> = Vec::new();
    let mut models = Models { certainty: settings.methods.certainty, ..Models::default() };
    for role in Role::ALL {
        let Some(chat) = settings.chat(role) else { continue };
        let model = match built.iter().find(|(same, _)| Arc::ptr_eq(same, chat)) {
            Some((_, model)) => model.clone(),
            None => {
                let model = metered(chat).map_err(|source| EngineError::Endpoint {
                    of: EndpointOf::Role(role),
                    source,
                })?;
                built.push((chat, model.clone()));
                model
            }
        };
        if role == Role::Answer {
            models.scorer = Some(model.clone());
        }
        models.by_role.insert(role, model);
    }
    let mut perspectives = Vec::new();
    for PerspectiveSettings { name, about, chat } in &settings.perspectives {
        let model = match chat.as_ref().filter(|_| !settings.offline) {
            None => None,
            Some(chat) => Some(metered(chat).map_err(|source| EngineError::Endpoint {
                of: EndpointOf::Role(Role::Reason),
                source,
            })?),
        };
        perspectives.push(Perspective { name: name.clone(), about: about.clone(), model });
    }
    models.perspectives = perspectives.into();
    models.shares = Some(Arc::new(OfMeter(Arc::clone(share.unwrap_or(&calls.meter)))));
    Ok(models)
}

/// What is left of the cap, in equal parts.
struct OfMeter(Arc<Meter>);

impl Shares for OfMeter {
    fn part(&self, parts: usize) -> Share {
        match self.0.part(parts).map(Arc::new) {
            None => Box::new(|model| model),
            Some(meter) => Box::new(move |model| Arc::new(Portion::new(model, Arc::clone(&meter)))),
        }
    }
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
    stack.map_err(|source| EngineError::Endpoint { of: EndpointOf::Embedder, source })
}
