//! Shows the models, caps and places that are set, without secrets (`configured`).

use std::path::PathBuf;

use pikerag_knowledge::Role;
use pikerag_models::Endpoint;
use serde::Serialize;
use utoipa::ToSchema;

use crate::base::shown_base;
use crate::engine::Session;
use crate::settings::{EmbedSettings, Reranks};

/// The settings in use.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ConfiguredResponse {
    /// The version of the program.
    pub version: &'static str,
    /// The folder that holds the base.
    #[schema(value_type = String)]
    pub base: PathBuf,
    /// Whether neither language models nor the network are used, whatever else is set.
    pub offline: bool,
    /// Whether every model call is answered from the ledger.
    pub replay: bool,
    /// Chat models in use, each with its roles.
    pub chat: Vec<ConfiguredModel>,
    /// Roles without a model. Methods work without it or report that they cannot.
    pub without_model: Vec<Role>,
    /// The source of vectors; none if searches use words only.
    #[schema(required)]
    pub embedder: Option<ConfiguredModel>,
    /// The reranker of searches.
    #[schema(required)]
    pub reranker: Option<ConfiguredModel>,
    /// The most that may be spent.
    pub cap: ConfiguredCap,
}

/// A model and its endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ConfiguredModel {
    /// The model's name at its endpoint; for local weights their name or folder.
    pub model: String,
    /// Scheme, name and port of the endpoint; none for local weights.
    #[schema(required)]
    pub address: Option<String>,
    /// The model's roles; empty if it is not a chat model.
    pub roles: Vec<Role>,
    /// Whether the model has a price, so that its cost can be computed.
    pub has_price: bool,
}

/// The caps; none if there is no cap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct ConfiguredCap {
    /// Calls of chat models.
    #[schema(required)]
    pub calls: Option<u64>,
    /// Tokens of prompts and replies.
    #[schema(required)]
    pub tokens: Option<u64>,
    /// US dollars.
    #[schema(required)]
    pub usd: Option<f64>,
}

/// The settings in use. It opens, calls and tests nothing ([`doctor`](crate::doctor) does).
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) {
/// let configured = pikerag_engine::configured(session);
/// for model in &configured.chat {
///     println!("{} at {:?} for {:?}", model.model, model.address, model.roles);
/// }
/// for role in &configured.without_model {
///     println!("no model for {role}");
/// }
/// # }
/// ```
pub fn configured(session: &Session) -> ConfiguredResponse {
    let settings = session.settings();
    let mut chat: Vec<ConfiguredModel> = Vec::new();
    let mut without_model = Vec::new();
    for &role in Role::ALL {
        let Some(set) = settings.chat(role) else {
            without_model.push(role);
            continue;
        };
        let of_role = model_at(session, &set.endpoint);
        let is_same = |held: &&mut ConfiguredModel| {
            held.model == of_role.model && held.address == of_role.address
        };
        match chat.iter_mut().find(is_same) {
            Some(held) => held.roles.push(role),
            None => chat.push(ConfiguredModel { roles: vec![role], ..of_role }),
        }
    }
    let here = |model: String| ConfiguredModel {
        model,
        address: None,
        roles: Vec::new(),
        has_price: false,
    };
    let embedder = match &settings.embed {
        EmbedSettings::Off | EmbedSettings::Offline => None,
        EmbedSettings::Endpoint { endpoint, .. } => Some(model_at(session, endpoint)),
        EmbedSettings::Local { .. } => {
            let found = session.bare_embedder().ok().flatten();
            found.map(|embedder| here(embedder.name().to_owned()))
        }
    };
    let reranker = match &settings.rerank.by {
        Reranks::Off | Reranks::Offline { .. } => None,
        Reranks::Endpoint { endpoint, .. } => Some(model_at(session, endpoint)),
        Reranks::Local { folder } => Some(here(folder.display().to_string())),
    };
    let cap = settings.cap;
    ConfiguredResponse {
        version: env!("CARGO_PKG_VERSION"),
        base: shown_base(&settings.base),
        offline: settings.offline,
        replay: settings.replay,
        chat,
        without_model,
        embedder,
        reranker,
        cap: ConfiguredCap { calls: cap.calls, tokens: cap.tokens, usd: cap.money_usd },
    }
}

fn model_at(session: &Session, endpoint: &Endpoint) -> ConfiguredModel {
    ConfiguredModel {
        model: endpoint.model.clone(),
        address: endpoint.local_name().is_none().then(|| place_of(&endpoint.base_url)),
        roles: Vec::new(),
        has_price: session.settings().prices.contains_key(&endpoint.model),
    }
}

/// Scheme, name and port. The part before the name may be a password, and the part after the port a
/// token.
fn place_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = place.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{place}")
}

#[cfg(test)]
mod tests {
    use super::place_of;

    #[test]
    fn secrets_are_removed_from_addresses() {
        let shown = [
            "https://api.example.org/v1",
            "http://user:pass@10.0.0.1:11434/v1?key=secret",
            "localhost:8000",
            "https://me@you@host/x",
        ]
        .map(place_of);
        assert_eq!(
            shown,
            [
                "https://api.example.org",
                "http://10.0.0.1:11434",
                "http://localhost:8000",
                "https://host"
            ]
        );
    }
}
