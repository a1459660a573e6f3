//! Reads `[rerank]`: the reranker of search hits. Reranking is off by default.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use pikerag_models::{Batch, Endpoint, Secret};
use serde::Deserialize;

use super::{RefusedValue, SettingsError};

/// The number of hits of a search that are reranked.
const FIRST: usize = 50;
/// Documents of a call: as many as Cohere bills as one search.
const BATCH: NonZeroUsize = NonZeroUsize::MIN.saturating_add(99);

/// The reranker of searches, and the number of hits that it reads.
#[derive(Clone, Debug)]
pub struct RerankSettings {
    /// The reranker.
    pub by: Reranks,
    /// The first hits of every search that are reranked; with 0, only searches that ask for it are
    /// reranked.
    pub first: usize,
}

/// The kind of reranker.
#[derive(Clone, Debug)]
pub enum Reranks {
    /// None, by the settings.
    Off,
    /// None, because an endpoint is set and pikerag runs offline.
    Offline {
        /// The model that is set.
        model: String,
    },
    /// A model behind an endpoint.
    Endpoint {
        /// Its address, key and headers.
        endpoint: Box<Endpoint>,
        /// The documents of one call, and the calls at a time.
        batch: Batch,
    },
    /// Weights on this machine.
    Local {
        /// The folder that holds them.
        folder: PathBuf,
    },
}

/// `[rerank]` as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RerankTable {
    pub(super) base_url: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key: Option<Secret>,
    pub(super) api_key_env: Option<String>,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) in_flight: Option<usize>,
    /// The most documents of a call.
    pub(super) batch: Option<usize>,
    /// Further fields of each request, such as `truncate`.
    pub(super) extra: serde_json::Map<String, serde_json::Value>,
    /// Folder with `model.safetensors`, `tokenizer.json` and `config.json`.
    pub(super) weights: Option<PathBuf>,
    /// The number of hits of a search that are reranked.
    pub(super) first: Option<usize>,
    /// Keys that are not sent, because they were given for another address.
    #[serde(skip)]
    pub(super) withheld: Vec<String>,
}

impl RerankTable {
    /// Whether it gives a key, or the variable of one.
    pub(super) fn has_key(&self) -> bool {
        self.api_key.is_some() || self.api_key_env.is_some()
    }
}

pub(super) fn rerank(table: &RerankTable, offline: bool) -> Result<RerankSettings, SettingsError> {
    let refuse = |key: &str, reason| Err(SettingsError::Refused { key: key.to_owned(), reason });
    let by = match (&table.weights, &table.model, &table.base_url) {
        (None, None, None) => Reranks::Off,
        (Some(folder), None, None) => Reranks::Local { folder: folder.clone() },
        (Some(_), ..) => {
            return refuse("rerank.weights", RefusedValue::WeightsAndEndpoint);
        }
        (None, None, Some(_)) => {
            return refuse("rerank.model", RefusedValue::RerankerWithoutModel);
        }
        (None, Some(_), None) => {
            return refuse("rerank.base_url", RefusedValue::RerankerWithoutAddress);
        }
        (None, Some(model), Some(_)) if offline => Reranks::Offline { model: model.clone() },
        (None, Some(model), Some(base_url)) => Reranks::Endpoint {
            endpoint: Box::new(Endpoint {
                api_key: table.api_key.clone(),
                extra: table.extra.clone(),
                withheld: table.withheld.clone(),
                ..endpoint(base_url, model, table.timeout_seconds)
            }),
            batch: batch(table),
        },
    };
    Ok(RerankSettings { by, first: table.first.unwrap_or(FIRST) })
}

fn endpoint(base_url: &str, model: &str, timeout_seconds: Option<u64>) -> Endpoint {
    let mut endpoint = Endpoint::new(base_url, model);
    if let Some(seconds) = timeout_seconds {
        endpoint.timeout = Duration::from_secs(seconds.max(1));
    }
    endpoint
}

fn batch(table: &RerankTable) -> Batch {
    let usual = Batch::default();
    Batch {
        texts: table.batch.and_then(NonZeroUsize::new).unwrap_or(BATCH),
        // Servers apply their window to each document, not to the sum.
        tokens: NonZeroU64::MAX,
        at_once: table.in_flight.and_then(NonZeroUsize::new).unwrap_or(usual.at_once),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, offline: bool) -> String {
        match rerank(&toml::from_str(text).unwrap(), offline) {
            Ok(RerankSettings { by: Reranks::Endpoint { endpoint, batch }, first }) => {
                let (address, model) = (endpoint.address(), &endpoint.model);
                format!("{model} at {address}, the first {first}, {} a call", batch.texts)
            }
            Ok(settings) => format!("{settings:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn reranking_is_off_unless_a_model_is_set() {
        let endpoint = "base_url = \"http://127.0.0.1:8012/v1\"\nmodel = \"m\"\n";
        let lines = [
            read("", false),
            read("first = 10", false),
            read(endpoint, false),
            read(&format!("{endpoint}first = 0\nbatch = 32"), false),
            read(endpoint, true),
            read("weights = \"w\"", true),
            read("model = \"m\"", false),
            read("base_url = \"http://127.0.0.1:8012/v1\"", false),
            read(&format!("{endpoint}weights = \"w\""), false),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        RerankSettings { by: Off, first: 50 }
        RerankSettings { by: Off, first: 10 }
        m at http://127.0.0.1:8012/v1, the first 50, 100 a call
        m at http://127.0.0.1:8012/v1, the first 0, 32 a call
        RerankSettings { by: Offline { model: "m" }, first: 50 }
        RerankSettings { by: Local { folder: "w" }, first: 50 }
        `rerank.base_url` is not set, and rerankers have no default address (Jina: `https://api.jina.ai/v1`)
        `rerank.model` is not set, and `rerank.base_url` names an endpoint
        `rerank.weights` and an endpoint are set: leave one of them out
        "#);
    }
}
