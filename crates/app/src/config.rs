//! What is set? Read once: flag, then environment, then `pikerag.toml`, then default.

mod check;
mod environment;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use pikerag_coordinate::TagUse;
use pikerag_coordinate::ingest::Summarized;
use pikerag_knowledge::{AtomKind, RecordSchema, Role, Structure};
use pikerag_models::Secret;
use serde::Deserialize;

use self::check::check;
pub(crate) use self::environment::Environment;
use self::environment::fill_in;

/// The settings file, as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Folder of the knowledge base.
    pub(crate) base: Option<PathBuf>,
    /// The chat model for every role without one of its own.
    pub(crate) chat: Chat,
    /// Models of single roles: each setting replaces that of `chat`.
    pub(crate) roles: BTreeMap<Role, Chat>,
    /// The embedding model.
    pub(crate) embed: Embed,
    pub(crate) index: Index,
    /// Kinds of typed records to read from documents.
    pub(crate) records: Vec<RecordSchema>,
    pub(crate) tags: Tags,
    /// US dollars per million tokens, by model.
    pub(crate) prices: BTreeMap<String, Price>,
    pub(crate) budget: BudgetSettings,
    pub(crate) limits: Limits,
    /// Programs that help to read files.
    pub(crate) tools: Tools,
    pub(crate) methods: Methods,
    pub(crate) retrieval: Retrieval,
}

/// How chunks are found.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Retrieval {
    /// Weights of the search over all layers.
    pub(crate) layers: pikerag_retrieve::LayerParams,
    /// What `naive-rag` and its kin use a question's tags for.
    pub(crate) tags: TagUse,
}

/// What the methods are set to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "toml::Table")]
pub(crate) struct Methods {
    /// Their parameters.
    pub(crate) set: pikerag_coordinate::Overrides,
    /// File of labelled questions for `skr`.
    pub(crate) skr_examples: Option<PathBuf>,
}

/// By hand: `flatten` would let misspelt names pass.
impl TryFrom<toml::Table> for Methods {
    type Error = toml::de::Error;

    fn try_from(mut table: toml::Table) -> Result<Self, toml::de::Error> {
        let skr_examples = table.remove("skr_examples").map(toml::Value::try_into).transpose()?;
        Ok(Self { set: table.try_into()?, skr_examples })
    }
}

/// A chat endpoint. All is optional: roles fill in from `[chat]`, and that from the environment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Chat {
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) api_key: Option<Secret>,
    /// Name of the environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    pub(crate) azure_api_version: Option<String>,
    /// How a shape of the reply is asked for.
    pub(crate) structured: Option<pikerag_models::openai::Structured>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) in_flight: Option<usize>,
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) tokens_per_minute: Option<u32>,
    pub(crate) max_attempts: Option<u32>,
    /// Further headers.
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Further fields of each request's body.
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbedKind {
    /// An endpoint if `embed.model` is set, else local weights if there are any, else none.
    #[default]
    Auto,
    /// Local weights.
    Local,
    /// An OpenAI-compatible endpoint.
    OpenAi,
    /// No vectors: words alone.
    None,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Embed {
    pub(crate) kind: EmbedKind,
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) api_key: Option<Secret>,
    pub(crate) api_key_env: Option<String>,
    pub(crate) azure_api_version: Option<String>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) in_flight: Option<usize>,
    pub(crate) batch: Option<usize>,
    /// Folder with `model.safetensors`, `tokenizer.json` and `config.json`.
    pub(crate) weights: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Index {
    pub(crate) max_tokens: Option<u64>,
    pub(crate) overlap_tokens: Option<u64>,
    /// Who decides where chunks end.
    pub(crate) chunking: ChunkingSetting,
    /// The fewest tokens of a chunk that a model ends.
    pub(crate) min_tokens: Option<u64>,
    /// What a model sums up; default: tables.
    pub(crate) summarize: Option<Vec<Summarized>>,
    /// Whether a model describes figures; default: where `[roles.describe]` names one.
    pub(crate) describe: Option<bool>,
    /// `questions` and `statements` need a chat model; default: questions with one, sentences without.
    pub(crate) atoms: Option<Vec<AtomsSetting>>,
    /// What to build over all documents together.
    pub(crate) with: Vec<Structure>,
}

/// Who decides where chunks end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChunkingSetting {
    /// Headings, paragraphs, sentences, and the size.
    #[default]
    Structure,
    /// A model, along the text, with summaries.
    Enhanced,
}

/// What is known of tags beforehand.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tags {
    pub(crate) classes: Vec<TagClassSetting>,
    /// Look for further classes where some are declared.
    pub(crate) find: bool,
    /// Chunks that are looked at for that.
    pub(crate) sample: Option<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TagClassSetting {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) covers: String,
    #[serde(default)]
    pub(crate) examples: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AtomsSetting {
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
pub(crate) struct Price {
    /// US dollars per million tokens of prompts.
    pub(crate) prompt: f64,
    /// US dollars per million tokens of replies.
    #[serde(default)]
    pub(crate) completion: f64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BudgetSettings {
    pub(crate) usd: Option<f64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) calls: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) file_mib: u64,
    pub(crate) memory_mib: u64,
    pub(crate) cpu_seconds: u64,
    pub(crate) wall_seconds: u64,
    /// Files that are read at a time; else one for each processor, at most [`MOST_PARSERS`].
    pub(crate) parsers: Option<NonZeroUsize>,
    /// Pictures of a file whose words are recognised.
    pub(crate) ocr_pictures: usize,
    /// Time for one of them.
    pub(crate) ocr_seconds: u64,
    /// Time for converting a document of an old format.
    pub(crate) convert_seconds: u64,
}

/// Each may take `limits.memory_mib`.
const MOST_PARSERS: usize = 4;

impl Limits {
    pub(crate) fn parsers(&self) -> usize {
        let usual =
            || std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_PARSERS));
        self.parsers.map_or_else(usual, NonZeroUsize::get)
    }
}

impl Default for Limits {
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
pub(crate) struct Tools {
    /// Tesseract; looked for on the path, where it is not set.
    pub(crate) tesseract: Option<PathBuf>,
    /// What it reads; `eng` and `chi_sim`, where they are installed.
    pub(crate) languages: Vec<String>,
    /// `LibreOffice`; looked for on the path, where it is not set.
    pub(crate) soffice: Option<PathBuf>,
}

/// Reads the settings file: the one named, else `pikerag.toml` here, else the defaults.
pub(crate) fn load(named: Option<&Path>, environment: &Environment) -> anyhow::Result<Settings> {
    let path = named.unwrap_or(Path::new("pikerag.toml"));
    let mut settings = match std::fs::read_to_string(path) {
        Ok(text) => {
            toml::from_str(&text).with_context(|| format!("{} is not right", path.display()))?
        }
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            Settings::default()
        }
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
    };
    settings.methods.set.layers = settings.retrieval.layers;
    fill_in(&mut settings, environment);
    check(&settings)?;
    settings.methods.set.tags = settings.retrieval.tags;
    Ok(settings)
}

impl Chat {
    /// This role's settings, filled up from the default's. A role with an address of its own does
    /// not inherit the default's key: keys go only where they were meant to go.
    pub(crate) fn over(&self, default: &Self) -> Self {
        let own_place = self.base_url.is_some() && self.base_url != default.base_url;
        let own_key = own_place || self.api_key_env.is_some();
        let inherited = |key: &Option<Secret>| if own_key { None } else { key.clone() };
        Self {
            base_url: self.base_url.clone().or_else(|| default.base_url.clone()),
            model: self.model.clone().or_else(|| default.model.clone()),
            api_key: self.api_key.clone().or_else(|| inherited(&default.api_key)),
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
            headers: if self.headers.is_empty() && !own_place {
                default.headers.clone()
            } else {
                self.headers.clone()
            },
            extra: if self.extra.is_empty() { default.extra.clone() } else { self.extra.clone() },
        }
    }
}

/// The file that `pikerag init` writes.
pub(crate) const TEMPLATE: &str = include_str!("pikerag.toml");

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment(
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        )
    }

    fn read(text: &str, pairs: &[(&str, &str)]) -> Settings {
        let mut settings: Settings = toml::from_str(text).unwrap();
        fill_in(&mut settings, &environment(pairs));
        settings
    }

    #[test]
    fn the_template_is_valid_and_changes_nothing() {
        let settings = read(TEMPLATE, &[]);
        assert!(settings.chat.model.is_none() && settings.prices.is_empty());
        check(&settings).unwrap();
        let lines: Vec<&str> =
            TEMPLATE.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)).collect();
        let all = lines.join("\n");
        check(&toml::from_str(&all).unwrap()).unwrap();
    }

    #[test]
    fn the_environment_goes_before_the_file() {
        let settings = read(
            "[chat]\nmodel = \"file\"",
            &[("OPENAI_MODEL", "environment"), ("OPENAI_API_KEY", " k ")],
        );
        assert_eq!(settings.chat.model.as_deref(), Some("environment"));
        assert_eq!(settings.chat.api_key.unwrap().expose(), "k");
    }

    #[test]
    fn a_key_stays_with_its_address() {
        let settings = read(
            "[chat]\nbase_url = \"https://a.example\"\napi_key = \"k\"\n[roles.answer]\nmodel = \"m\"\n\
             [roles.judge]\nbase_url = \"http://b.example\"",
            &[],
        );
        assert!(settings.roles[&Role::Answer].over(&settings.chat).api_key.is_some());
        assert!(settings.roles[&Role::Judge].over(&settings.chat).api_key.is_none());
    }

    #[test]
    fn labelled_questions_stand_among_the_parameters() {
        let methods = read("[methods]\nn = 3\nskr_examples = \"known.jsonl\"", &[]).methods;
        assert_eq!(methods.set.n.map(NonZeroUsize::get), Some(3));
        assert_eq!(methods.skr_examples, Some(PathBuf::from("known.jsonl")));
    }

    #[test]
    fn a_misspelt_setting_is_an_error() {
        let error = toml::from_str::<Settings>("[chat]\nmodle = \"x\"").unwrap_err().to_string();
        assert!(error.contains("modle"), "{error}");
        let error = toml::from_str::<Settings>("[methods]\nskr = \"x\"").unwrap_err().to_string();
        assert!(error.contains("skr"), "{error}");
        assert!(toml::from_str::<Settings>("[roles.anser]\nmodel = \"x\"").is_err());
    }
}
