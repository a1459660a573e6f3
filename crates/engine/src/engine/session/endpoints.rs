//! Builds the models of all roles on the shared state of their endpoints.

use std::sync::Arc;

use pikerag_knowledge::{ChatModel, Embedder, ModelError, Reranker, Role};
use pikerag_methods::{Models, Perspective, Portion as Share, Shares};
use pikerag_models::{
    Batch, CallContext, EmbeddingParams, Endpoint, Limits, Meter, ModelServer, Payer, Portion,
    StackParams, Upstreams, Usd, chat_stack, embed_stack, rerank_stack, share_upstream,
};

use crate::error::{EndpointOf, EngineError, Result};
use crate::local_models::LocalServers;
use crate::settings::{ChatSettings, PerspectiveSettings, Settings};

/// The models of all roles that have one. An endpoint's limits, circuit breaker and running calls
/// apply to all roles and sessions of the process together. If the caller has a payer, calls are
/// charged to it too.
pub(super) fn models(
    settings: &Settings,
    upstreams: &Upstreams,
    servers: &LocalServers,
    calls: &CallContext,
) -> Result<Models> {
    let metered = |chat: &ChatSettings| -> Result<Arc<dyn ChatModel>, ModelError> {
        let limits = limits_of(settings, &chat.endpoint);
        let server = chat.endpoint.local_name().map(|name| -> Arc<dyn ModelServer> {
            Arc::new(servers.of(name, &settings.local, &calls.transport))
        });
        let upstream = upstreams.of(&chat.endpoint, limits);
        let params = StackParams { upstream, retry: chat.retry, server };
        chat_stack(calls, &chat.endpoint, &params)
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
    let left = RemainingBudget { meter: Arc::clone(&calls.meter), payer: calls.payer.clone() };
    models.shares = Some(Arc::new(left));
    Ok(models)
}

/// Divides the rest of the process's and the caller's caps into equal parts.
struct RemainingBudget {
    meter: Arc<Meter>,
    payer: Option<Arc<dyn Payer>>,
}

impl Shares for RemainingBudget {
    fn part(&self, parts: usize) -> Share {
        // If the rest is unknown, it counts as nothing.
        let left =
            self.payer.as_ref().and_then(|payer| payer.left().unwrap_or(Some(Usd::default())));
        match self.meter.part(parts, left).map(Arc::new) {
            None => Box::new(|model| model),
            Some(meter) => Box::new(move |model| Arc::new(Portion::new(model, Arc::clone(&meter)))),
        }
    }
}

/// The limits of an endpoint's model: the strictest that settings give it under any role, or the
/// defaults.
fn limits_of(settings: &Settings, endpoint: &Endpoint) -> Limits {
    let roles = Role::ALL.iter().filter_map(|&role| settings.chat(role));
    let perspectives = settings.perspectives.iter().filter_map(|own| own.chat.as_ref());
    let same = roles.chain(perspectives).filter(|other| share_upstream(&other.endpoint, endpoint));
    same.map(|chat| chat.limits).reduce(Limits::strictest).unwrap_or_default()
}

/// The shared state of this model at the endpoint, with default retries.
fn default_params(settings: &Settings, upstreams: &Upstreams, endpoint: &Endpoint) -> StackParams {
    let upstream = upstreams.of(endpoint, limits_of(settings, endpoint));
    StackParams { upstream, ..StackParams::default() }
}

/// The reranker behind an endpoint.
pub(super) fn reranker(
    settings: &Settings,
    endpoint: &Endpoint,
    batch: Batch,
    upstreams: &Upstreams,
    calls: &CallContext,
) -> Result<Arc<dyn Reranker>> {
    let stack = rerank_stack(
        calls,
        endpoint.clone(),
        batch,
        &default_params(settings, upstreams, endpoint),
    );
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
    let stack = embed_stack(
        calls,
        endpoint.clone(),
        embedding,
        &default_params(settings, upstreams, endpoint),
    );
    stack.map_err(|source| EngineError::Endpoint { of: EndpointOf::Embedder, source })
}
