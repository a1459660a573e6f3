//! `configured`: which models, caps and places are set, without anything secret?

use std::path::PathBuf;

use pikerag_knowledge::Role;
use pikerag_models::Endpoint;
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;
use crate::settings::{EmbedSettings, Reranks};

/// What is set.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ConfiguredResponse {
    /// The version of the program.
    pub version: &'static str,
    /// The folder that holds the base.
    #[schema(value_type = String)]
    pub base: PathBuf,
    /// Whether neither language models nor the network are used, whatever else is set.
    pub offline: bool,
    /// Whether every call of a model is answered from the record.
    pub replay: bool,
    /// Chat models that are in use, each with the roles that it has.
    pub chat: Vec<ConfiguredModel>,
    /// Roles without a model: methods do without, or say that they cannot.
    pub without_model: Vec<Role>,
    /// Where vectors come from; none where words alone find.
    #[schema(required)]
    pub embedder: Option<ConfiguredModel>,
    /// Who reranks what searches find.
    #[schema(required)]
    pub reranker: Option<ConfiguredModel>,
    /// What may be spent at most.
    pub cap: ConfiguredCap,
}

/// A model, and where it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ConfiguredModel {
    /// As its endpoint calls it; a folder for weights on this machine, where one is named.
    pub model: String,
    /// Scheme, name and port of the endpoint; none for weights on this machine.
    #[schema(required)]
    pub address: Option<String>,
    /// The roles that it has; none for what has no chat.
    pub roles: Vec<Role>,
    /// Whether there is a price for it, so that money can be counted.
    pub has_price: bool,
}

/// What may be spent; none where there is no bound.
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

/// What is set: nothing is opened, asked or tried ([`doctor`](crate::doctor) tries).
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
        base: settings.base.clone(),
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
        address: Some(place_of(&endpoint.base_url)),
        roles: Vec::new(),
        has_price: session.settings().prices.contains_key(&endpoint.model),
    }
}

/// Scheme, name and port: what stands before a name may be a password, and what follows the port a token.
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
    fn an_address_keeps_its_secrets() {
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
