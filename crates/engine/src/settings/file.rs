//! Defines the content of `pikerag.toml` as it is written, without checks or defaults.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use pikerag_indexing::{Repeats, Summarized};
use pikerag_knowledge::{AtomKind, RecordSchema, Role, Structure};
use pikerag_methods::{TagUse, VerifiedUse};
use pikerag_models::Secret;
use serde::Deserialize;

use super::Chunking;
use super::databases::SourcesTable;
use super::local::LocalTable;
use super::postgres::PostgresTable;
use super::rerank::RerankTable;
use super::runs::RunsTable;
use super::server::ServerTable;

/// The settings file, as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SettingsFile {
    /// Folder of the knowledge base, or its address in a database.
    pub(super) base: Option<PathBuf>,
    /// The author of verified answers.
    pub(super) author: Option<String>,
    /// The chat model of every role without its own model.
    pub(super) chat: ChatTable,
    /// Models of single roles; each setting replaces that of `chat`.
    pub(super) roles: BTreeMap<Role, ChatTable>,
    /// The servers of open models on this machine.
    pub(super) local: LocalTable,
    /// The embedding model.
    pub(super) embed: EmbedTable,
    /// The model that reranks.
    pub(super) rerank: RerankTable,
    pub(super) index: IndexTable,
    /// Databases whose tables are read.
    pub(super) sources: SourcesTable,
    /// Schemas of typed records to read from documents.
    pub(super) records: Vec<RecordSchema>,
    pub(super) tags: TagsTable,
    /// US dollars per million tokens, by model.
    pub(super) prices: BTreeMap<String, PriceTable>,
    pub(super) budget: BudgetTable,
    pub(super) limits: LimitsTable,
    /// Programs that help to read files.
    pub(super) tools: ToolsTable,
    pub(super) methods: MethodsTable,
    /// The perspectives of the agents of `pike`.
    pub(super) perspectives: Vec<PerspectiveTable>,
    pub(super) retrieval: RetrievalTable,
    pub(super) runs: RunsTable,
    /// The connections to databases of bases.
    pub(super) postgres: PostgresTable,
    pub(super) server: ServerTable,
}

/// The weights and parameters of searches.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RetrievalTable {
    /// Weights of `auto`.
    pub(super) auto: pikerag_retrieve::AutoParams,
    /// Weights of the search over all layers.
    pub(super) layers: pikerag_retrieve::LayerParams,
    /// The use of a question's tags.
    pub(super) tags: TagUse,
    /// Whether verified answers serve methods other than `pike`.
    pub(super) verified: VerifiedUse,
}

/// The settings of the methods.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "toml::Table")]
pub(super) struct MethodsTable {
    /// The parameters of the methods.
    pub(super) set: pikerag_baselines::Overrides,
    /// File of labelled questions for `skr`.
    pub(super) skr_examples: Option<PathBuf>,
    /// Folder of trajectories, examples for `kar3`.
    pub(super) demonstrations: Option<PathBuf>,
}

/// Written by hand, because `flatten` would accept misspelt names.
impl TryFrom<toml::Table> for MethodsTable {
    type Error = toml::de::Error;

    fn try_from(mut table: toml::Table) -> Result<Self, toml::de::Error> {
        let mut path = |name: &str| table.remove(name).map(toml::Value::try_into).transpose();
        let (skr_examples, demonstrations) = (path("skr_examples")?, path("demonstrations")?);
        Ok(Self { set: table.try_into()?, skr_examples, demonstrations })
    }
}

/// A perspective of an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PerspectiveTable {
    pub(super) name: String,
    #[serde(default)]
    pub(super) about: String,
    /// The perspective's own model; each setting replaces that of `[chat]`.
    #[serde(default)]
    pub(super) chat: ChatTable,
}

/// A chat endpoint. All settings are optional: roles use those of `[chat]`, and `[chat]` those of
/// the environment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ChatTable {
    pub(super) base_url: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key: Option<Secret>,
    /// Name of the environment variable that holds the key.
    pub(super) api_key_env: Option<String>,
    pub(super) azure_api_version: Option<String>,
    /// The way to request a reply of a given schema.
    pub(super) structured: Option<pikerag_models::openai::Structured>,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) in_flight: Option<usize>,
    pub(super) requests_per_minute: Option<u32>,
    pub(super) tokens_per_minute: Option<u32>,
    pub(super) max_attempts: Option<u32>,
    /// The most tokens of a reply.
    pub(super) reply_tokens: Option<NonZeroU32>,
    /// The time in which a slow model must answer: contexts are cut to what it can read. 0: no limit.
    pub(super) answer_seconds: Option<u32>,
    /// Whether final answers are shown while the model writes them.
    pub(super) stream: Option<bool>,
    /// Headers of every request, besides that of the key.
    pub(super) headers: BTreeMap<String, Secret>,
    /// Further fields of each request's body.
    pub(super) extra: serde_json::Map<String, serde_json::Value>,
    /// Keys that are not sent, because they were given for another address.
    #[serde(skip)]
    pub(super) withheld: Vec<String>,
}

/// The source of vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EmbedKind {
    /// An endpoint if `embed.model` is set, else local weights if there are any, else none.
    #[default]
    Auto,
    /// Weights on this machine, read by the program itself.
    Local,
    /// An OpenAI-compatible endpoint.
    OpenAi,
    /// No vectors: searches use words only.
    None,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EmbedTable {
    pub(super) kind: EmbedKind,
    pub(super) base_url: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key: Option<Secret>,
    pub(super) api_key_env: Option<String>,
    pub(super) azure_api_version: Option<String>,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) in_flight: Option<usize>,
    pub(super) batch: Option<usize>,
    /// Further fields of each request, such as `dimensions`.
    pub(super) extra: serde_json::Map<String, serde_json::Value>,
    /// The prefix of queries; default: that of the model's card.
    pub(super) query_prefix: Option<String>,
    /// The prefix of documents; default: that of the model's card.
    pub(super) document_prefix: Option<String>,
    /// Folder with `model.safetensors`, `tokenizer.json` and `config.json`.
    pub(super) weights: Option<PathBuf>,
    /// The same as in [`ChatTable`].
    #[serde(skip)]
    pub(super) withheld: Vec<String>,
}

impl EmbedTable {
    /// Whether it gives a key, or the variable of one.
    pub(super) fn has_key(&self) -> bool {
        self.api_key.is_some() || self.api_key_env.is_some()
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct IndexTable {
    pub(super) max_tokens: Option<u64>,
    pub(super) overlap_tokens: Option<u64>,
    /// The method that decides where chunks end.
    pub(super) chunking: Chunking,
    /// The fewest tokens of a chunk that a model ends.
    pub(super) min_tokens: Option<u64>,
    /// The texts that a model summarizes; default: tables.
    pub(super) summarize: Option<Vec<Summarized>>,
    /// Whether a model describes figures; default: if `[roles.describe]` names one.
    pub(super) describe: Option<bool>,
    /// `questions` and `statements` need a chat model; default: questions with one, sentences without.
    pub(super) atoms: Option<Vec<AtomsSetting>>,
    /// Questions such as readers ask, shown to the model that writes atomic questions.
    pub(super) sample_questions: Vec<String>,
    /// The structures to build over all documents together.
    pub(super) with: Vec<Structure>,
    pub(super) repeats: Repeats,
    /// Whether the original bytes of files are kept; default: yes.
    pub(super) originals: Option<bool>,
    /// The largest file whose bytes are kept.
    pub(super) originals_mib: Option<u64>,
    /// Globs of files in folders that are taken, whatever they are.
    pub(super) include: Vec<String>,
    /// Globs of files and folders that are left out.
    pub(super) exclude: Vec<String>,
    /// Whether source code is taken from folders.
    pub(super) source_code: bool,
}

/// The declared classes of tags.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TagsTable {
    pub(super) classes: Vec<TagClassTable>,
    /// Whether to find further classes if some are declared.
    pub(super) find: bool,
    /// The number of chunks read to find classes.
    pub(super) sample: Option<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TagClassTable {
    pub(super) name: String,
    #[serde(default)]
    pub(super) covers: String,
    #[serde(default)]
    pub(super) examples: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AtomsSetting {
    Questions,
    Statements,
    Sentences,
}

impl From<AtomsSetting> for AtomKind {
    fn from(setting: AtomsSetting) -> Self {
        match setting {
            AtomsSetting::Questions => Self::Question,
            AtomsSetting::Statements => Self::Statement,
            AtomsSetting::Sentences => Self::Sentence,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceTable {
    /// US dollars per million tokens of prompts.
    pub(super) prompt: f64,
    /// US dollars per million tokens of replies.
    #[serde(default)]
    pub(super) completion: f64,
    /// US dollars per thousand searches of a reranker.
    #[serde(default)]
    pub(super) search: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BudgetTable {
    pub(super) usd: Option<f64>,
    pub(super) tokens: Option<u64>,
    pub(super) calls: Option<u64>,
    /// The account in the database that processes share.
    pub(super) shared: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitsTable {
    pub(super) file_mib: u64,
    pub(super) memory_mib: u64,
    pub(super) cpu_seconds: u64,
    pub(super) wall_seconds: u64,
    /// Files that are read at a time; default: one for each processor, at most [`MOST_PARSERS`].
    pub(super) parsers: Option<NonZeroUsize>,
    /// The most pictures of a file whose words are recognised.
    pub(super) ocr_pictures: usize,
    /// Seconds for one picture.
    pub(super) ocr_seconds: u64,
    /// Seconds for converting a document of an old format.
    pub(super) convert_seconds: u64,
}

/// The default limit of parallel parsers. Each may take `limits.memory_mib`.
pub(crate) const MOST_PARSERS: usize = 4;

impl LimitsTable {
    pub(super) fn parsers(&self) -> usize {
        let usual =
            || std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_PARSERS));
        self.parsers.map_or_else(usual, NonZeroUsize::get)
    }
}

impl Default for LimitsTable {
    fn default() -> Self {
        Self {
            file_mib: 256,
            memory_mib: 512,
            cpu_seconds: 30,
            wall_seconds: 60,
            parsers: None,
            ocr_pictures: 100,
            ocr_seconds: 30,
            convert_seconds: 60,
        }
    }
}

/// Programs of the machine that help to read files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolsTable {
    /// Tesseract; searched on the path if it is not set.
    pub(super) tesseract: Option<PathBuf>,
    /// The languages that it reads; default: `eng` and `chi_sim`, if they are installed.
    pub(super) languages: Vec<String>,
    /// `LibreOffice`; searched on the path if it is not set.
    pub(super) soffice: Option<PathBuf>,
}

impl ChatTable {
    /// This role's settings, completed with the default ones. A role with its own address does not
    /// inherit the default's key, because keys go only to the address that they were given for.
    pub(super) fn over(&self, default: &Self) -> Self {
        let own_place = self.base_url.is_some() && self.base_url != default.base_url;
        let own_key = own_place || self.api_key_env.is_some();
        let inherited = |key: &Option<Secret>| if own_key { None } else { key.clone() };
        let api_key = self.api_key.clone().or_else(|| inherited(&default.api_key));
        let mut withheld = self.withheld.clone();
        if !own_place {
            withheld.extend(
                default.withheld.iter().filter(|key| !self.withheld.contains(key)).cloned(),
            );
        }
        // If another key is sent instead, only headers stay listed.
        withheld.retain(|key| api_key.is_none() || key.ends_with(".headers"));
        Self {
            withheld,
            base_url: self.base_url.clone().or_else(|| default.base_url.clone()),
            model: self.model.clone().or_else(|| default.model.clone()),
            api_key,
            api_key_env: None,
            azure_api_version: match own_place {
                true => self.azure_api_version.clone(),
                false => {
                    self.azure_api_version.clone().or_else(|| default.azure_api_version.clone())
                }
            },
            structured: self.structured.or(default.structured),
            timeout_seconds: self.timeout_seconds.or(default.timeout_seconds),
            in_flight: self.in_flight.or(default.in_flight),
            requests_per_minute: self.requests_per_minute.or(default.requests_per_minute),
            tokens_per_minute: self.tokens_per_minute.or(default.tokens_per_minute),
            max_attempts: self.max_attempts.or(default.max_attempts),
            reply_tokens: self.reply_tokens.or(default.reply_tokens),
            answer_seconds: self.answer_seconds.or(default.answer_seconds),
            stream: self.stream.or(default.stream),
            headers: if self.headers.is_empty() && !own_place {
                default.headers.clone()
            } else {
                self.headers.clone()
            },
            extra: if self.extra.is_empty() { default.extra.clone() } else { self.extra.clone() },
        }
    }
}
