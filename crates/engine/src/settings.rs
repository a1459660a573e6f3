//! Reads the settings once into one plain value: flags, then the environment, then `pikerag.toml`,
//! then defaults ([`Settings::load`]). All other code reads only this value.

mod change;
mod change_search;
mod check;
mod choice;
mod databases;
mod declaration;
mod edit;
mod endpoints;
mod environment;
mod file;
mod keys;
mod local;
mod parse;
mod perspectives;
mod places;
mod postgres;
mod providers;
mod refused;
mod rerank;
mod resolve;
mod runs;
mod search_model;
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
pub use pikerag_postgres::Connections;
use pikerag_retrieve::SearchParams;
use serde::Deserialize;

pub use self::change::ChatChoice;
pub(crate) use self::change::{ChangeableFile, chat_of};
pub use self::change_search::SearchModelChoice;
pub(crate) use self::change_search::{SearchEndpoint, search_endpoint_of};
pub use self::choice::FileChoice;
pub use self::databases::DatabaseSettings;
pub use self::declaration::declaration;
pub(crate) use self::edit::with_chat;
pub use self::environment::{Environment, arguments};
pub(crate) use self::environment::{this_folder, this_program};
pub(crate) use self::file::MOST_PARSERS;
use self::file::SettingsFile;
pub(crate) use self::keys::{overriding_address, overriding_search, overriding_variable};
pub use self::local::LocalSettings;
pub use self::providers::{PROVIDERS, Provider, UnknownProvider};
pub use self::refused::RefusedValue;
pub use self::rerank::{RerankSettings, Reranks};
use self::resolve::resolve;
pub use self::resolve::{Flags, settings_path};
pub use self::search_model::SearchModel;
pub use self::server::{DEFAULT_BASE, ServerSettings, is_base_name};
pub(crate) use self::server::{MOST_RUNS, USUAL_KEYS, WAITING_PER_RUN};
pub use self::trust::{TrustState, TrustedFile, distrust, trust, trusted};
use crate::notice::Notice;
use crate::sandbox::{ParserLimits, ProgramLimits, ProgramSettings};

/// The settings file that `init` writes, with every line commented out.
pub const TEMPLATE: &str = include_str!("settings/pikerag.toml");

/// All settings, checked and completed with defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the knowledge base, or its address in a database with the password:
    /// [`shown_base`](crate::shown_base) gives a name for people.
    pub base: PathBuf,
    /// The connections to databases of bases.
    pub postgres: Connections,
    /// Whether pikerag uses neither a language model nor the network, whatever else is set.
    pub offline: bool,
    /// Whether every model call is answered from the ledger.
    pub replay: bool,
    /// The program that has the hidden subcommands (see [`crate::sandbox`]); `None` for this
    /// program.
    pub program: Option<PathBuf>,
    /// Chat endpoints by role, also if `offline` forbids their use.
    chat: BTreeMap<Role, Arc<ChatSettings>>,
    /// The servers of open models on this machine.
    pub local: LocalSettings,
    /// The source of vectors.
    pub embed: EmbedSettings,
    /// The prefixes of texts that are embedded.
    pub embed_prefixes: EmbedPrefixes,
    /// The places of weights of local models.
    pub weights: WeightPlaces,
    /// The reranker of searches.
    pub rerank: RerankSettings,
    /// The parameters of indexing; a request changes a copy of them.
    pub ingest: Params,
    /// The most bytes of a file whose original bytes are kept; `None` keeps none.
    pub originals: Option<u64>,
    /// The files that indexing takes from folders; a request adds its own globs.
    pub choice: FileChoice,
    /// The databases whose tables may be indexed.
    pub databases: Vec<DatabaseSettings>,
    /// The fewest tokens of a chunk that a model ends.
    pub min_tokens: u64,
    /// US dollars per million tokens, by model.
    pub prices: Prices,
    /// The most that may be spent.
    pub cap: Cap,
    /// The account that all processes with this name share, so that the cap holds for all of them
    /// together; `None` for a cap of this process alone.
    pub shared_cap: Option<String>,
    /// The limits of parsing one file.
    pub parser_limits: ParserLimits,
    /// The limits of other programs for one file.
    pub program_limits: ProgramLimits,
    /// Programs that help to read files.
    pub programs: ProgramSettings,
    /// Parameters of the methods.
    pub methods: Overrides,
    /// File of labelled questions for `skr`.
    pub skr_examples: Option<PathBuf>,
    /// Folder of trajectories whose right ones are examples for `kar3`.
    pub demonstrations: Option<PathBuf>,
    /// The perspectives of agents on a creative question; if empty, the model chooses some for each
    /// question.
    pub perspectives: Vec<PerspectiveSettings>,
    /// The author of verified answers, if a request names none.
    pub author: Option<String>,
    /// The age and number of runs that are kept.
    pub runs: RunLimits,
    /// The address of a server and the bases that it serves.
    pub server: ServerSettings,
    /// The address of Ollama on this machine, in the format of `OLLAMA_HOST`; empty for the
    /// default. `doctor` looks there.
    pub ollama: String,
    /// The user's folder for data that is not of one base; `None` if there is no place for it.
    pub state: Option<PathBuf>,
    /// Notices about these settings for users who index.
    pub notices: Vec<Notice>,
}

impl Settings {
    /// The settings without a file, flags and variables.
    ///
    /// # Errors
    /// As [`Settings::load`]; a test shows that there is none.
    pub fn defaults() -> Result<Self, SettingsError> {
        resolve(SettingsFile::default(), &Flags::default(), &Environment::default())
    }

    /// The chat endpoint of a role, if one is in use. Roles with the same settings share one.
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

    /// The method that ends chunks, with the sizes that are set.
    pub fn chunk_by(&self, chunking: Chunking) -> ChunkBy {
        chunking.sized(self.min_tokens)
    }

    /// The weights of all searches.
    pub fn searches(&self) -> SearchParams {
        self.methods.weights.searches()
    }
}

/// A perspective of an agent on a creative question.
#[derive(Clone, Debug)]
pub struct PerspectiveSettings {
    /// The name: a few words.
    pub name: String,
    /// The subject of its attention; may be empty.
    pub about: String,
    /// The endpoint that reasons and judges with this perspective; `None` for those of the roles
    /// `reason` and `grade`.
    pub chat: Option<Arc<ChatSettings>>,
}

/// The age and number of runs that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// The number of latest runs to keep; 0 keeps none.
    pub number: usize,
    /// The longest time since a run began.
    pub age: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { number: 1000, age: Duration::from_hours(90 * 24) }
    }
}

impl RunLimits {
    /// Whether runs are kept at all.
    pub(crate) fn keeps_any(self) -> bool {
        0 < self.number && !self.age.is_zero()
    }

    /// The runs to keep at this time.
    pub(crate) fn at(self, now: Millis) -> RunsToKeep {
        let age = Millis::try_from(self.age.as_millis()).unwrap_or(Millis::MAX);
        RunsToKeep { now, age, number: self.number }
    }
}

/// A chat endpoint, with its limits.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// The address and protocol.
    pub endpoint: Endpoint,
    /// The limits of calls and tokens.
    pub limits: Limits,
    /// The retries.
    pub retry: RetryParams,
    /// The seconds in which a slow model must answer; 0 for no limit, `None` for the default.
    pub answer_seconds: Option<u32>,
}

/// The source of vectors.
#[derive(Clone, Debug)]
pub enum EmbedSettings {
    /// None, by the settings: searches use words only.
    Off,
    /// None, because only an endpoint is set and pikerag runs offline.
    Offline,
    /// An OpenAI-compatible endpoint.
    Endpoint {
        /// Its address, key and headers.
        endpoint: Box<Endpoint>,
        /// The texts of one call, and the calls at a time.
        batch: Batch,
    },
    /// Weights on this machine.
    Local {
        /// Whether missing weights are an error.
        required: bool,
    },
}

/// The prefixes of texts that are embedded; a missing one is that of the model's card.
#[derive(Clone, Debug, Default)]
pub struct EmbedPrefixes {
    /// The prefix of questions, sub-questions and searches.
    pub query: Option<String>,
    /// The prefix of texts that are searched.
    pub document: Option<String>,
}

/// The places of weights of local models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightPlaces {
    /// A folder or wheel that the settings name.
    pub configured: Option<PathBuf>,
    /// pikerag's cache folder.
    pub cache: PathBuf,
    /// Folders that were installed with the program.
    pub shared: Vec<PathBuf>,
    /// The Hugging Face cache.
    pub hub: Option<PathBuf>,
    /// Installations of Python packages: folders with `lib/python…/site-packages`.
    pub python: Vec<PathBuf>,
}

/// The method that decides where chunks end.
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
    /// Headings, paragraphs, sentences, and the size of the chunk.
    #[default]
    Structure,
    /// A chat model, which also summarizes each chunk.
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

/// The reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The file is not TOML, or has an unknown setting or a value that the setting does not take.
    #[error("{path}{}: {reason}", place_text(place.as_ref()))]
    Malformed {
        path: PathBuf,
        /// Line and column, from 1.
        place: Option<(usize, usize)>,
        /// The error, without the text at that place, because it may be a key.
        reason: String,
    },
    /// The file was found, not named by the user, and sets more than plain values.
    #[error("{path} {}, and sets {}", trust_problem(*has_changed), sets.join(", "))]
    Untrusted {
        path: PathBuf,
        /// The settings that need trust, by name.
        sets: Vec<String>,
        /// Whether it was trusted with another content.
        has_changed: bool,
    },
    /// The user has no folder in which trust can be stored.
    #[error("trust cannot be kept: neither XDG_STATE_HOME nor HOME names a folder")]
    NoStateFolder,
    /// The folder for trust cannot be written.
    #[error("trust cannot be kept in {folder}")]
    TrustNotKept { folder: PathBuf, source: std::io::Error },
    /// A variable of the environment that pikerag reads is not UTF-8.
    #[error("the variable {name} is not UTF-8")]
    NoText { name: String },
    /// A setting has a value that makes no sense.
    #[error("`{key}` {reason}")]
    Refused {
        key: String,
        /// The error of the value.
        reason: RefusedValue,
    },
    /// The declarations of records do not fit together.
    #[error("`[[records]]` cannot be used")]
    Records(#[source] BadSchema),
    /// No model call may be in flight.
    #[error("at least one model call must be in flight")]
    NoneInFlight,
}

fn place_text(place: Option<&(usize, usize)>) -> String {
    place.map_or_else(String::new, |(line, column)| format!(", line {line}, column {column}"))
}

fn trust_problem(has_changed: bool) -> &'static str {
    match has_changed {
        true => "has changed since it was trusted",
        false => "is not trusted",
    }
}
