//! Which endpoint serves which role?

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use pikerag_coordinate::Models;
use pikerag_knowledge::{ChatModel, Embedder, Role, Scorer};
use pikerag_models::{
    Batch, EmbeddingParams, Endpoint, Limiter, Limits, RetryParams, Run, Secret, StackParams,
    Structured, chat_stack, embed_stack, score_stack,
};

use crate::config::{Chat, Embed, Settings};

const OPENAI: &str = "https://api.openai.com/v1";

/// The settings of a role's model; `None` where no model is set.
pub(super) fn chat(settings: &Settings, role: Role) -> Option<Chat> {
    let own = settings.roles.get(&role);
    let chat = own.map_or_else(|| settings.chat.clone(), |own| own.over(&settings.chat));
    chat.model.is_some().then_some(chat)
}

/// Models for all roles that have one. Roles with the same endpoint and model share its stack, so
/// that its limits hold for all of them together.
pub(super) fn models(settings: &Settings, run: &Run) -> anyhow::Result<Models> {
    let mut built: BTreeMap<String, (Arc<dyn ChatModel>, Arc<dyn Scorer>)> = BTreeMap::new();
    let mut models = Models { certainty: settings.methods.set.certainty, ..Models::default() };
    for role in Role::ALL {
        let Some(chat) = chat(settings, role) else { continue };
        let same = identity(&chat);
        let (model, scorer) = match built.get(&same) {
            Some(both) => both.clone(),
            None => {
                let both = build(&chat, run)
                    .with_context(|| format!("the model for `{role}` is not set up right"))?;
                built.insert(same, both.clone());
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

/// What tells endpoints apart, keys included: `Debug` would hide them. Never printed.
fn identity(chat: &Chat) -> String {
    let mut identity = format!("{chat:?}");
    for secret in chat.api_key.iter().chain(chat.headers.values()) {
        identity.push('\n');
        identity.push_str(secret.expose());
    }
    identity
}

/// A model as its two ports, behind the same limits.
fn build(chat: &Chat, run: &Run) -> anyhow::Result<(Arc<dyn ChatModel>, Arc<dyn Scorer>)> {
    let endpoint = Endpoint {
        api_key: chat.api_key.clone(),
        azure_api_version: chat.azure_api_version.clone(),
        headers: chat.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        structured: chat.structured.unwrap_or(Structured::Auto),
        extra: chat.extra.clone(),
        ..endpoint(chat.base_url.as_deref(), chat.model.as_deref(), chat.timeout_seconds)
    };
    let limits = Limits {
        in_flight: chat
            .in_flight
            .and_then(NonZeroUsize::new)
            .unwrap_or(Limits::default().in_flight),
        requests_per_minute: chat.requests_per_minute.and_then(NonZeroU32::new),
        tokens_per_minute: chat.tokens_per_minute.and_then(NonZeroU32::new),
    };
    let mut retry = RetryParams::default();
    if let Some(attempts) = chat.max_attempts.and_then(NonZeroU32::new) {
        retry.attempts = attempts;
    }
    // A model that may think for hours may also be waited for.
    retry.total = retry.total.max(endpoint.timeout * 2);
    let params = StackParams { limiter: Arc::new(Limiter::new(limits)), retry };
    let scorer = score_stack(run, endpoint.clone(), &params)?;
    Ok((chat_stack(run, endpoint, &params)?, scorer))
}

/// The embedder behind an endpoint.
pub(super) fn embedder(settings: &Embed, run: &Run) -> anyhow::Result<Arc<dyn Embedder>> {
    let model = settings.model.as_deref().context("`embed.model` is not set")?;
    let endpoint = Endpoint {
        api_key: settings.api_key.clone().map(|key: Secret| key),
        azure_api_version: settings.azure_api_version.clone(),
        ..endpoint(settings.base_url.as_deref(), Some(model), settings.timeout_seconds)
    };
    let defaults = Batch::default();
    let batch = Batch {
        texts: settings.batch.and_then(NonZeroUsize::new).unwrap_or(defaults.texts),
        tokens: NonZeroU64::MIN.saturating_add(defaults.tokens.get() - 1),
        at_once: settings.in_flight.and_then(NonZeroUsize::new).unwrap_or(defaults.at_once),
    };
    let embedding = EmbeddingParams { batch, ..EmbeddingParams::default() };
    Ok(embed_stack(run, endpoint, embedding, &StackParams::default())?)
}

fn endpoint(base_url: Option<&str>, model: Option<&str>, timeout_seconds: Option<u64>) -> Endpoint {
    let mut endpoint = Endpoint::new(base_url.unwrap_or(OPENAI), model.unwrap_or_default());
    if let Some(seconds) = timeout_seconds {
        endpoint.timeout = Duration::from_secs(seconds.max(1));
    }
    endpoint
}
