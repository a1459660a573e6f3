//! Merges flags, environment and file into the settings, in this order of priority, and checks each
//! setting.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pikerag_methods::spec::Weights;

use pikerag_extract::ChunkParams;
use pikerag_indexing::{Params, Summarized, TagParams};
use pikerag_knowledge::{AtomKind, Origin, Role, TagClass, TagExample};
use pikerag_models::{Batch, Cap, Endpoint};

use super::check::check;
use super::choice::choice;
use super::databases::databases;
use super::endpoints::{chat, endpoint, local_calls, prices};
use super::file::{ChatTable, EmbedKind, EmbedTable, RetrievalTable, SettingsFile, TagsTable};
use super::keys::fill_in;
use super::parse::parse;
use super::perspectives::perspectives;
use super::places::weights;
use super::rerank::rerank;
use super::{
    ChatSettings, EmbedPrefixes, EmbedSettings, Environment, RefusedValue, RunLimits, Settings,
    SettingsError, trust,
};
use crate::notice::Notice;
use crate::sandbox::{ParserLimits, ProgramLimits, ProgramSettings};

/// The largest file whose bytes are kept.
const ORIGINALS_MIB: u64 = 64;

/// The flags of one run, which override everything else.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Folder of the knowledge base.
    pub base: Option<PathBuf>,
    /// The settings file; `pikerag.toml` here, if there is one.
    pub config: Option<PathBuf>,
    /// Whether neither a language model nor the network is used.
    pub offline: bool,
    /// Whether every model call is answered from the ledger.
    pub replay: bool,
    /// The most that may be spent.
    pub cap: Cap,
    /// The most model calls in flight.
    pub in_flight: Option<usize>,
}

/// The path of the settings file, and whether a flag or the environment names it.
pub fn settings_path(flags: &Flags, environment: &Environment) -> (PathBuf, bool) {
    let named = flags.config.clone();
    let named = named.or_else(|| environment.get("PIKERAG_CONFIG").map(PathBuf::from));
    let is_named = named.is_some();
    (named.unwrap_or_else(|| "pikerag.toml".into()), is_named)
}

impl Settings {
    /// Reads the settings file and merges it with flags and environment.
    ///
    /// # Errors
    /// The named file cannot be read, or a value makes no sense. Or a file that was found is not
    /// trusted and sets more than plain values.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, SettingsError> {
        if let Some(name) = environment.no_text() {
            return Err(SettingsError::NoText { name: name.to_owned() });
        }
        let (path, is_named) = settings_path(flags, environment);
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => {
                let file = parse(&path, &text)?;
                if !is_named {
                    trust::check(&path, &text, &file, environment)?;
                }
                file
            }
            Err(error) if !is_named && error.kind() == ErrorKind::NotFound => {
                SettingsFile::default()
            }
            Err(source) => return Err(SettingsError::Unreadable { path, source }),
        };
        resolve(file, flags, environment)
    }
}

pub(super) fn resolve(
    mut file: SettingsFile,
    flags: &Flags,
    environment: &Environment,
) -> Result<Settings, SettingsError> {
    fill_in(&mut file, environment);
    check(&file)?;
    if let Some(in_flight) = flags.in_flight {
        if in_flight == 0 {
            return Err(SettingsError::NoneInFlight);
        }
        file.chat.in_flight = Some(in_flight);
    }
    let tables = chat_tables(&file);
    let mut notices = Vec::new();
    if let Some(base_url) = file.chat.base_url.as_ref().filter(|_| is_unused(&file, &tables)) {
        notices.push(Notice::NoModel { base_url: base_url.clone() });
    }
    let ingest = ingest(&file, &tables, flags, &mut notices);
    let min_tokens = min_tokens(&file);
    let hops = file.methods.set.weights.hops;
    let RetrievalTable { auto, layers, tags, verified } = file.retrieval;
    let retrieval = Weights { auto, hops, layers, tags, verified };
    let methods = file.methods.set.clone().weighed(retrieval);
    let prices = prices(&file, &tables);
    let perspectives = perspectives(&file, chat);
    let state = trust::state(environment);
    let weights = weights(file.embed.weights.clone(), environment);
    let programs = absolute(environment.get("PATH").unwrap_or_default());
    let calls = local_calls(&file, &tables);
    let local = file.local.resolve(&weights, &programs, calls, environment);
    let base = flags.base.clone();
    let base = base.or_else(|| environment.get("PIKERAG_BASE").map(PathBuf::from));
    let base = base.or(file.base).unwrap_or_else(|| ".pikerag".into());
    let settings = Settings {
        postgres: file.postgres.resolve(),
        offline: flags.offline,
        replay: flags.replay,
        program: None,
        server: file.server.resolve(state.as_deref(), &base)?,
        base,
        ollama: environment.ollama(),
        state,
        chat: shared(&tables),
        local,
        embed: embed(&file.embed, flags.offline)?,
        embed_prefixes: EmbedPrefixes {
            query: file.embed.query_prefix.clone(),
            document: file.embed.document_prefix.clone(),
        },
        weights,
        rerank: rerank(&file.rerank, flags.offline)?,
        min_tokens,
        originals: file
            .index
            .originals
            .unwrap_or(true)
            .then(|| file.index.originals_mib.unwrap_or(ORIGINALS_MIB).saturating_mul(1 << 20)),
        choice: choice(&file.index)?,
        databases: databases(&file.sources, environment)?,
        ingest,
        prices,
        cap: Cap {
            money_usd: flags.cap.money_usd.or(file.budget.usd),
            tokens: flags.cap.tokens.or(file.budget.tokens),
            calls: flags.cap.calls.or(file.budget.calls),
        },
        shared_cap: file.budget.shared,
        parser_limits: ParserLimits {
            file_bytes: file.limits.file_mib << 20,
            memory_mib: file.limits.memory_mib,
            cpu: Duration::from_secs(file.limits.cpu_seconds),
            wall: Duration::from_secs(file.limits.wall_seconds),
            at_once: file.limits.parsers(),
        },
        program_limits: ProgramLimits {
            memory_mib: file.limits.memory_mib,
            pictures: file.limits.ocr_pictures,
            picture: Duration::from_secs(file.limits.ocr_seconds),
            conversion: Duration::from_secs(file.limits.convert_seconds),
        },
        programs: ProgramSettings {
            tesseract: file.tools.tesseract,
            soffice: file.tools.soffice,
            languages: file.tools.languages,
            path: programs,
            tessdata: environment.get("TESSDATA_PREFIX").map(PathBuf::from),
        },
        methods,
        skr_examples: file.methods.skr_examples,
        demonstrations: file.methods.demonstrations,
        perspectives,
        author: file.author.or_else(|| author(environment)),
        runs: RunLimits {
            number: file.runs.keep,
            age: Duration::from_secs(file.runs.days.saturating_mul(24 * 60 * 60)),
        },
        notices,
    };
    if settings.shared_cap.is_some() && settings.shared_database().is_none() {
        let key = "budget.shared".to_owned();
        return Err(SettingsError::Refused { key, reason: RefusedValue::SharedWithoutDatabase });
    }
    Ok(settings)
}

/// The name of the logged-in user.
fn author(environment: &Environment) -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"];
    names.iter().find_map(|name| environment.get(name)).map(str::to_owned)
}

/// The absolute folders of the path. A relative one would find programs in a stranger's folder.
fn absolute(path: &str) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// The table of each role that has a model: its own, completed with `[chat]`.
fn chat_tables(file: &SettingsFile) -> BTreeMap<Role, ChatTable> {
    let default = file.chat.over(&file.chat);
    let mut tables = BTreeMap::new();
    for &role in Role::ALL {
        let own = file.roles.get(&role);
        let table = own.map_or_else(|| default.clone(), |own| own.over(&file.chat));
        if table.model.is_some() {
            tables.insert(role, table);
        }
    }
    tables
}

/// Whether no model uses the address of `[chat]`: neither for chat nor for vectors.
fn is_unused(file: &SettingsFile, tables: &BTreeMap<Role, ChatTable>) -> bool {
    tables.is_empty() && file.embed.model.is_none()
}

/// The endpoints of these tables. Equal tables share one, so that its limits apply to all its roles
/// together.
fn shared(tables: &BTreeMap<Role, ChatTable>) -> BTreeMap<Role, Arc<ChatSettings>> {
    let mut made: Vec<(&ChatTable, Arc<ChatSettings>)> = Vec::new();
    let mut by_role = BTreeMap::new();
    for (role, table) in tables {
        let chat = match made.iter().find(|(same, _)| *same == table) {
            Some((_, chat)) => Arc::clone(chat),
            None => {
                let chat = Arc::new(chat(table));
                made.push((table, Arc::clone(&chat)));
                chat
            }
        };
        by_role.insert(*role, chat);
    }
    by_role
}

pub(super) fn embed(table: &EmbedTable, offline: bool) -> Result<EmbedSettings, SettingsError> {
    let is_remote = table.model.is_some() && table.weights.is_none();
    Ok(match table.kind {
        EmbedKind::None => EmbedSettings::Off,
        EmbedKind::OpenAi if offline => EmbedSettings::Offline,
        EmbedKind::OpenAi => embed_endpoint(table)?,
        EmbedKind::Auto if is_remote && !offline => embed_endpoint(table)?,
        // Named weights must exist; other weights may be missing.
        EmbedKind::Auto => EmbedSettings::Local { required: table.weights.is_some() },
        EmbedKind::Local => EmbedSettings::Local { required: true },
    })
}

fn embed_endpoint(table: &EmbedTable) -> Result<EmbedSettings, SettingsError> {
    let Some(model) = table.model.as_deref() else {
        let reason = RefusedValue::EmbedderWithoutModel;
        return Err(SettingsError::Refused { key: "embed.model".to_owned(), reason });
    };
    let endpoint = Endpoint {
        api_key: table.api_key.clone(),
        azure_api_version: table.azure_api_version.clone(),
        extra: table.extra.clone(),
        withheld: table.withheld.clone(),
        ..endpoint(table.base_url.as_deref(), Some(model), table.timeout_seconds)
    };
    let defaults = Batch::default();
    let batch = Batch {
        texts: table.batch.and_then(NonZeroUsize::new).unwrap_or(defaults.texts),
        tokens: NonZeroU64::MIN.saturating_add(defaults.tokens.get() - 1),
        at_once: table.in_flight.and_then(NonZeroUsize::new).unwrap_or(defaults.at_once),
    };
    Ok(EmbedSettings::Endpoint { endpoint: Box::new(endpoint), batch })
}

fn ingest(
    file: &SettingsFile,
    tables: &BTreeMap<Role, ChatTable>,
    flags: &Flags,
    notices: &mut Vec<Notice>,
) -> Params {
    let (index, defaults) = (&file.index, Params::default());
    let min_tokens = min_tokens(file);
    let has_atomizer = !flags.offline && tables.contains_key(&Role::Atomize);
    let atoms = match &index.atoms {
        Some(atoms) => {
            let atoms = atoms.iter().map(|setting| AtomKind::from(*setting)).collect();
            possible_atoms(atoms, has_atomizer, notices)
        }
        None if has_atomizer => vec![AtomKind::Question],
        None => vec![AtomKind::Sentence],
    };
    // A model for all roles may not see pictures. It describes figures only if the settings name a
    // model for that role.
    let sees = file.roles.get(&Role::Describe).is_some_and(|own| own.model.is_some());
    let atomizer = tables.get(&Role::Atomize);
    Params {
        gone: Vec::new(),
        renamed: Vec::new(),
        chunks: ChunkParams {
            max_tokens: index.max_tokens.unwrap_or(defaults.chunks.max_tokens),
            overlap_tokens: index.overlap_tokens.unwrap_or(defaults.chunks.overlap_tokens),
        },
        chunk_by: index.chunking.sized(min_tokens),
        summarize: index.summarize.clone().unwrap_or_else(|| vec![Summarized::Tables]),
        describe: index.describe.unwrap_or(sees),
        tags: tags(&file.tags),
        atoms,
        sample_questions: index.sample_questions.clone(),
        repeats: index.repeats,
        with: index.with.clone(),
        without: Vec::new(),
        records: file.records.clone(),
        parsers: file.limits.parsers(),
        in_flight: atomizer.and_then(|chat| chat.in_flight).unwrap_or(defaults.in_flight),
        embed_batch: file.embed.batch.unwrap_or(defaults.embed_batch),
        embeds_in_flight: file.embed.in_flight.unwrap_or(defaults.embeds_in_flight),
    }
}

fn min_tokens(file: &SettingsFile) -> u64 {
    let max_tokens = file.index.max_tokens.unwrap_or(ChunkParams::default().max_tokens);
    file.index.min_tokens.unwrap_or(max_tokens / 3)
}

/// Questions and statements need a model. Without one, sentences replace them, with a notice.
fn possible_atoms(
    mut atoms: Vec<AtomKind>,
    has_atomizer: bool,
    notices: &mut Vec<Notice>,
) -> Vec<AtomKind> {
    let is_asked = |kind: &AtomKind| *kind != AtomKind::Sentence;
    if atoms.iter().any(is_asked) && !has_atomizer {
        notices.push(Notice::NoAtomizer);
        atoms.retain(|kind| !is_asked(kind));
        if atoms.is_empty() {
            atoms.push(AtomKind::Sentence);
        }
    }
    atoms
}

/// The declared tag classes, and the search for others.
fn tags(table: &TagsTable) -> TagParams {
    let mut classes = Vec::new();
    for class in &table.classes {
        let examples = class.examples.iter();
        let examples =
            examples.map(|text| TagExample { text: text.clone(), chunk: None }).collect();
        classes.push(TagClass::new(&class.name, &class.covers, examples, Origin::Declared));
    }
    let sample = table.sample.unwrap_or(TagParams::default().sample);
    TagParams { classes, find: table.find, sample }
}

#[cfg(test)]
pikerag_test_support::fuzz_targets! {
    // The result is settings, or an error that shows no value, because it may be a key. A
    // stranger's settings that need trust do not count.
    settings_file in "corpus/settings" => |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let environment = Environment::from_iter([("OPENAI_API_KEY", "sk-canary-environment")]);
        let path = std::path::Path::new("pikerag.toml");
        let resolved = parse(path, &text).and_then(|file| resolve(file, &Flags::default(), &environment));
        if let Err(error) = resolved {
            let mut shown = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                shown.push_str(&cause.to_string());
                source = cause.source();
            }
            assert!(!shown.contains("canary"), "{shown}");
        }
    };
}

#[cfg(test)]
mod tests {
    use pikerag_models::Price;

    use super::*;
    use crate::settings::TEMPLATE;
    use crate::settings::local::PARALLEL;

    fn read(text: &str, pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let environment = pairs.iter().copied().collect();
        resolve(toml::from_str(text).unwrap(), &Flags::default(), &environment)
    }

    #[test]
    fn the_template_is_valid_and_changes_nothing() {
        let settings = read(TEMPLATE, &[]).unwrap();
        assert_eq!(settings.server, Settings::defaults().unwrap().server);
        assert!(settings.chat(Role::Answer).is_none() && settings.prices.is_empty());
        let lines: Vec<&str> =
            TEMPLATE.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)).collect();
        let all = read(&lines.join("\n"), &[]).unwrap();
        assert_eq!(all.chat(Role::Answer).unwrap().endpoint.model, "qwen3:32b");
    }

    #[test]
    fn a_shared_cap_needs_a_database() {
        let text = "[budget]\nusd = 2\nshared = \"night\"";
        let refused = read(text, &[]).map(|settings| settings.shared_cap);
        let Err(SettingsError::Refused { key, reason }) = refused else { panic!("{refused:?}") };
        assert_eq!((key.as_str(), reason.code()), ("budget.shared", "shared-without-database"));
        let settings = read(text, &[("PIKERAG_BASE", "postgres://db/pikerag")]).unwrap();
        assert_eq!(settings.shared_cap.as_deref(), Some("night"));
    }

    #[test]
    fn flags_override_the_environment_and_it_overrides_the_file() {
        let text = "base = \"file\"\n[chat]\nmodel = \"file\"\nin_flight = 3";
        let pairs =
            [("OPENAI_MODEL", "environment"), ("OPENAI_API_KEY", " k "), ("PIKERAG_BASE", "b")];
        let settings = read(text, &pairs).unwrap();
        let chat = settings.chat(Role::Answer).unwrap();
        assert_eq!(chat.endpoint.model, "environment");
        assert_eq!(chat.endpoint.api_key.as_ref().unwrap().expose(), "k");
        assert_eq!((settings.base, settings.ingest.in_flight), ("b".into(), 3));
        let flags = Flags {
            base: Some("flag".into()),
            in_flight: Some(5),
            offline: true,
            ..Flags::default()
        };
        let file: SettingsFile = toml::from_str(text).unwrap();
        let settings = resolve(file.clone(), &flags, &pairs.into_iter().collect()).unwrap();
        assert_eq!((&settings.base, settings.ingest.in_flight), (&"flag".into(), 5));
        assert!(settings.chat(Role::Answer).is_none(), "offline, nothing is called");
        let none = Flags { in_flight: Some(0), ..Flags::default() };
        let refused = resolve(file, &none, &Environment::default());
        assert!(matches!(refused, Err(SettingsError::NoneInFlight)));
    }

    #[test]
    fn a_key_stays_with_its_address_and_equal_roles_share_an_endpoint() {
        let settings = read(
            "[chat]\nbase_url = \"https://a.example\"\napi_key = \"k\"\nmodel = \"n\"\n\
             [roles.answer]\nmodel = \"m\"\n[roles.judge]\nbase_url = \"http://b.example\"",
            &[],
        )
        .unwrap();
        let chat = |role| settings.chat(role).unwrap();
        assert!(chat(Role::Answer).endpoint.api_key.is_some());
        assert!(chat(Role::Judge).endpoint.api_key.is_none());
        assert!(Arc::ptr_eq(chat(Role::Propose), chat(Role::Select)));
        assert!(!Arc::ptr_eq(chat(Role::Propose), chat(Role::Answer)));
    }

    #[test]
    fn a_local_server_processes_as_many_calls_as_may_be_in_flight() {
        let slots = |in_flight: usize| {
            let text = format!("[chat]\nmodel = \"local:qwen2.5-1.5b\"\nin_flight = {in_flight}");
            read(&text, &[]).unwrap().local.parallel
        };
        assert_eq!([slots(1), slots(3), slots(100)], [1, 3, 8]);
    }

    #[test]
    fn a_local_model_needs_no_address_no_key_and_no_price() {
        let text = "[chat]\nmodel = \"local:qwen2.5-1.5b\"\napi_key = \"files\"\n[local]\nidle_minutes = 3";
        let pairs = [("OPENAI_API_KEY", "k"), ("XDG_CACHE_HOME", "/cache"), ("PATH", "/a:b:/c")];
        let settings = read(text, &pairs).unwrap();
        let chat = settings.chat(Role::Answer).unwrap();
        assert_eq!(chat.endpoint.local_name(), Some("qwen2.5-1.5b"));
        assert_eq!(chat.endpoint.address(), "local:qwen2.5-1.5b");
        assert!(chat.endpoint.api_key.is_none() && chat.endpoint.withheld.is_empty());
        assert_eq!(chat.limits.in_flight, PARALLEL);
        assert_eq!(settings.prices["local:qwen2.5-1.5b"], Price::default());
        let local = &settings.local;
        assert_eq!(local.folder, PathBuf::from("/cache/pikerag/models"));
        assert_eq!(local.idle, Duration::from_mins(3));
        assert_eq!(local.parallel, PARALLEL.get());
        assert_eq!(local.path, [PathBuf::from("/a"), PathBuf::from("/c")]);
    }

    #[test]
    fn methods_may_name_a_file_of_labelled_questions() {
        let settings = "[methods]\nn = 3\nskr_examples = \"known.jsonl\"\n[[perspectives]]\nname = \"cost\"\nchat = { model = \"m\" }";
        let settings = read(settings, &[]).unwrap();
        let [cost] = settings.perspectives.as_slice() else {
            panic!("{:?}", settings.perspectives)
        };
        let model = cost.chat.as_ref().map(|chat| chat.endpoint.model.as_str());
        assert_eq!((cost.name.as_str(), model), ("cost", Some("m")));
        let kar3 = "kar3".parse::<pikerag_baselines::Method>().unwrap().with(&settings.methods);
        assert_eq!(kar3.parameters()["n"], 3);
        assert_eq!(settings.skr_examples, Some(PathBuf::from("known.jsonl")));
    }

    #[test]
    fn atoms_that_need_a_missing_model_give_a_notice() {
        let settings = read("[index]\natoms = [\"questions\"]", &[]).unwrap();
        assert_eq!(settings.ingest.atoms, [AtomKind::Sentence]);
        assert_eq!(settings.notices, [Notice::NoAtomizer]);
    }

    #[test]
    fn an_address_without_a_model_gives_a_notice() {
        let base_url = "http://localhost:11434/v1".to_owned();
        let variables = [("OPENAI_BASE_URL", base_url.as_str())];
        let found = |text: &str| read(text, &variables).unwrap().notices;
        assert_eq!(found(""), [Notice::NoModel { base_url: base_url.clone() }]);
        assert_eq!(found("[chat]\nmodel = \"m\""), []);
        assert_eq!(found("[embed]\nkind = \"openai\"\nmodel = \"e\""), []);
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        let wrong = |text: &str| match toml::from_str::<SettingsFile>(text) {
            Err(error) => error.to_string(),
            Ok(file) => {
                resolve(file, &Flags::default(), &Environment::default()).unwrap_err().to_string()
            }
        };
        for (text, expected) in [
            ("[chat]\nmodle = \"x\"", "modle"),
            ("[methods]\nskr = \"x\"", "skr"),
            ("[roles.anser]\nmodel = \"x\"", "anser"),
            ("[index]\nmax_tokens = 3", "`index.max_tokens` must be at least 20"),
            ("[embed]\nkind = \"openai\"", "`embed.model` is not set"),
            ("[index]\nexclude = [\"{a\"]", "`index.exclude` contains `{a`, which is not a glob"),
        ] {
            assert!(wrong(text).contains(expected), "{text}: {}", wrong(text));
        }
    }
}
