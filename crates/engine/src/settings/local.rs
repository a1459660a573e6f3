//! Defines `[local]`: the servers of open models on this machine.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::{Environment, WeightPlaces};

/// The calls that a server processes at a time.
pub(super) const PARALLEL: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
/// The most calls that a server processes at a time: each needs memory for a whole context.
pub(super) const MOST_PARALLEL: usize = 8;
/// The longest prompts of our methods have about 6,000 tokens, and replies up to 2,000.
const CONTEXT_TOKENS: NonZeroU32 = NonZeroU32::MIN.saturating_add(8191);
const IDLE_MINUTES: u64 = 10;
/// The hub of models; `HF_ENDPOINT` names a mirror, as for the hub's own tools.
const HUB: &str = "https://huggingface.co";

/// The files of open models, and how their servers run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalSettings {
    /// The folder of the models' files.
    pub folder: PathBuf,
    /// The folder for a Python environment with llama.cpp's server.
    pub environment: PathBuf,
    /// llama.cpp's server, if it is set.
    pub server: Option<PathBuf>,
    /// The folders in which programs are searched.
    pub path: Vec<PathBuf>,
    /// Installations of Python that may have the package `xllamacpp`.
    pub python: Vec<PathBuf>,
    /// Tokens of one call: prompt and reply.
    pub context_tokens: u32,
    /// Calls that a server processes at a time.
    pub parallel: usize,
    /// The time without a call after which a server stops.
    pub idle: Duration,
    /// The address of the hub, or of a mirror.
    pub hub: String,
}

impl LocalSettings {
    /// The address of a file, at the mirror if one is set.
    pub(crate) fn hub_address(&self, url: &str) -> String {
        match url.strip_prefix(HUB) {
            Some(rest) => format!("{}{rest}", self.hub.trim_end_matches('/')),
            None => url.to_owned(),
        }
    }

    /// Tokens of context that a server holds for all its calls.
    pub(crate) fn all_tokens(&self) -> u64 {
        u64::from(self.context_tokens).saturating_mul(self.parallel as u64)
    }
}

/// `[local]` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LocalTable {
    /// llama.cpp's server; default: on the path, else the package `xllamacpp`.
    pub(super) server: Option<PathBuf>,
    /// Tokens of one call.
    pub(super) context_tokens: Option<NonZeroU32>,
    /// Minutes without a call after which a server stops.
    pub(super) idle_minutes: Option<u64>,
}

impl LocalTable {
    pub(super) fn resolve(
        &self,
        places: &WeightPlaces,
        path: &[PathBuf],
        parallel: usize,
        environment: &Environment,
    ) -> LocalSettings {
        let in_cache = |name: &str| places.cache.join(name);
        let minutes = self.idle_minutes.unwrap_or(IDLE_MINUTES);
        LocalSettings {
            folder: in_cache("models"),
            environment: in_cache("llama.cpp"),
            server: self.server.clone(),
            path: path.to_vec(),
            python: places.python.clone(),
            context_tokens: self.context_tokens.unwrap_or(CONTEXT_TOKENS).get(),
            parallel,
            idle: Duration::from_secs(minutes.saturating_mul(60)),
            hub: environment.get("HF_ENDPOINT").unwrap_or(HUB).to_owned(),
        }
    }
}
