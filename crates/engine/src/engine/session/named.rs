//! Gives embedders the names that the base stores. Vectors of two endpoints, or of two prefixes,
//! cannot be compared, even if the model has one name.

use std::sync::Arc;

use pikerag_knowledge::{Embedder, StoreError};
use pikerag_models::{Prefixed, Prefixes, endpoint_identity};

use crate::base::Base;
use crate::settings::{EmbedSettings, Settings};

/// The embedder under the name that this base stores: the model's name and a hash of its endpoint
/// and prefixes. If the base's vectors have the bare name, they are older than these hashes and
/// have no prefixes. They then belong to the first endpoint that asks, unchanged, unless prefixes
/// are set.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn on(
    settings: &Settings,
    embedder: Arc<dyn Embedder>,
    base: &Base,
) -> Result<Arc<dyn Embedder>, StoreError> {
    let model = embedder.name().to_owned();
    let set = &settings.embed_prefixes;
    let known = Prefixes::of_model(&model);
    let prefixes = Prefixes {
        query: set.query.clone().unwrap_or(known.query),
        document: set.document.clone().unwrap_or(known.document),
    };
    let endpoint = match &settings.embed {
        EmbedSettings::Endpoint { endpoint, .. } => Some(endpoint_identity(endpoint)),
        _ => None,
    };
    if endpoint.is_none() && prefixes.is_empty() {
        return Ok(embedder);
    }
    let is_set = set.query.is_some() || set.document.is_some();
    if !is_set && base.state().await?.embedder.as_deref() == Some(model.as_str()) {
        let is_ours = match &endpoint {
            Some(endpoint) => base.inherits(&model, endpoint).await?,
            None => true,
        };
        if is_ours {
            return Ok(embedder);
        }
    }
    let identity = serde_json::json!([endpoint, prefixes.query, prefixes.document]).to_string();
    let hash: String = blake3::hash(identity.as_bytes()).to_hex().chars().take(8).collect();
    Ok(Arc::new(Prefixed::new(embedder, format!("{model}#{hash}"), prefixes)))
}
