//! Builds the models of all roles over what the process shares of their endpoints.

use std::sync::Arc;

use pikerag_knowledge::{ChatModel, Embedder, ModelError, Reranker, Role};
use pikerag_methods::{Models, Perspective, Portion as Share, Shares};
use pikerag_models::{
    Batch, CallContext, EmbeddingParams, Endpoint, Limits, Meter, Payer, Portion, RetryParams,
    StackParams, Upstreams, Usd, chat_stack, embed_stack, rerank_stack, share_upstream,
};

use crate::error::{EndpointOf, EngineError, Result};
use crate::settings::{ChatSettings, PerspectiveSettings, Settings};

/// Models for all roles that have one. Limits, circuit and calls under way of an endpoint's model hold for all roles and
/// sessions of the process together. Where somebody pays for the caller, the calls are charged there too.
pub(super) fn models(
    settings: &Settings,
    upstreams: &Upstreams,
    calls: &CallContext,
) -> Result<Models> {
    let metered = |chat: &ChatSettings| -> Result<Arc<dyn ChatModel>, ModelError> {
        let limits = limits_of(settings, &chat.endpoint);
        let params =
            StackParams { upstream: upstreams.of(&chat.endpoint, limits), retry: chat.retry };
        chat_stack(calls, chat.endpoint.clone(), &params)
    };
    let mut built: Vec<(&Arc<ChatSettings>, Arc<dyn ChatModel>)> = Vec::new();
    let mut models = Models { certainty: settings.methods.certainty, ..Models::default() };
    for &role in Role::ALL {
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
        models.chat.by_role.insert(role, model);
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
    let left = Left { meter: Arc::clone(&calls.meter), payer: calls.payer.clone() };
    models.shares = Some(Arc::new(left));
    Ok(models)
}

/// What is left of the caps of the process and of the caller, in equal parts.
struct Left {
    meter: Arc<Meter>,
    payer: Option<Arc<dyn Payer>>,
}

impl Shares for Left {
    fn part(&self, parts: usize) -> Share {
        // Where nobody can tell what is left, nothing is.
        let left =
            self.payer.as_ref().and_then(|payer| payer.left().unwrap_or(Some(Usd::default())));
        match self.meter.part(parts, left).map(Arc::new) {
            None => Box::new(|model| model),
            Some(meter) => Box::new(move |model| Arc::new(Portion::new(model, Arc::clone(&meter)))),
        }
    }
}

/// The limits of a model of an endpoint: the strictest of those that settings give to it, under any role; the usual ones, where
/// none are given.
fn limits_of(settings: &Settings, endpoint: &Endpoint) -> Limits {
    let roles = Role::ALL.iter().filter_map(|&role| settings.chat(role));
    let perspectives = settings.perspectives.iter().filter_map(|own| own.chat.as_ref());
    let same = roles.chain(perspectives).filter(|other| share_upstream(&other.endpoint, endpoint));
    same.map(|chat| chat.limits).reduce(Limits::strictest).unwrap_or_default()
}

/// Shared with all others that ask this model of the endpoint.
fn plain(settings: &Settings, upstreams: &Upstreams, endpoint: &Endpoint) -> StackParams {
    let upstream = upstreams.of(endpoint, limits_of(settings, endpoint));
    StackParams { upstream, retry: RetryParams::default() }
}

/// The reranker behind an endpoint.
pub(super) fn reranker(
    settings: &Settings,
    endpoint: &Endpoint,
    batch: Batch,
    upstreams: &Upstreams,
    calls: &CallContext,
) -> Result<Arc<dyn Reranker>> {
    let stack = rerank_stack(calls, endpoint.clone(), batch, &plain(settings, upstreams, endpoint));
    stack.map_err(|source| EngineError::Endpoint { of: EndpointOf::Reranker, source })
}

/// The embedder behind an endpoint.
pub(super) fn embedder(
    settings: &Settings,
    endpoint: &Endpoint,
    batch: Batch,
    upstreams: &Upstreams,
    calls: &CallContext,
) -> Result<Arc<dyn Embedder>> {
    let embedding = EmbeddingParams { batch, ..EmbeddingParams::default() };
    let stack =
        embed_stack(calls, endpoint.clone(), embedding, &plain(settings, upstreams, endpoint));
    stack.map_err(|source| EngineError::Endpoint { of: EndpointOf::Embedder, source })
}
