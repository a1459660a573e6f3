//! Which adapters stand behind the ports? Everything is put together here, from settings.

mod endpoints;
mod indexing;
mod labelled;
mod spending;
mod weights;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

use pikerag_coordinate::estimate::Estimate;
use pikerag_coordinate::ingest::{FileReader, Params, Summarized, Tools};
use pikerag_coordinate::{Method, Models, Overrides, Ports};
use pikerag_extract::ChunkParams;
use pikerag_knowledge::{AtomKind, ChatModel, Embedder, KnowledgeBase, Ledger, Role};
use pikerag_models::{Cap, MemoryLedger, Meter, Mode, Price, Prices, Run, Transport};
use pikerag_retrieve::{HopParams, SearchParams};
use pikerag_store::Base;

pub(crate) use self::spending::is_over_budget;
use crate::child::{ChildLimits, ChildReader};
use crate::cli::Arguments;
use crate::config::{EmbedKind, Environment, Settings};
use crate::helpers::{Found, HelperLimits, Programs};

/// Settings and what they are turned into on demand.
pub(crate) struct Wiring {
    pub(crate) json: bool,
    offline: bool,
    replay: bool,
    folder: PathBuf,
    settings: Settings,
    environment: Environment,
    meter: Arc<Meter>,
    transport: Transport,
    /// Local weights are opened once.
    local: OnceLock<Result<Arc<dyn Embedder>, String>>,
}

impl Wiring {
    pub(crate) fn new(
        arguments: &Arguments,
        mut settings: Settings,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        if let Some(in_flight) = arguments.in_flight {
            anyhow::ensure!(0 < in_flight, "`--in-flight` must be at least 1");
            settings.chat.in_flight = Some(in_flight);
        }
        let mut prices = Prices::new();
        for (model, price) in &settings.prices {
            prices.insert(
                model.clone(),
                Price { prompt: price.prompt, completion: price.completion },
            );
        }
        let cap = Cap {
            money_usd: arguments.budget.or(settings.budget.usd),
            tokens: arguments.budget_tokens.or(settings.budget.tokens),
            calls: arguments.budget_calls.or(settings.budget.calls),
        };
        Ok(Self {
            json: arguments.json,
            offline: arguments.offline,
            replay: arguments.replay,
            folder: arguments
                .base
                .clone()
                .or_else(|| settings.base.clone())
                .unwrap_or_else(|| ".pikerag".into()),
            settings,
            environment: environment.clone(),
            meter: Arc::new(Meter::new(prices, cap)),
            transport: Transport::default(),
            local: OnceLock::new(),
        })
    }

    /// The base, which must be there.
    pub(crate) fn base(&self) -> anyhow::Result<Base> {
        Ok(Base::open(&self.folder)?)
    }

    pub(crate) fn base_or_create(&self) -> anyhow::Result<Base> {
        Ok(Base::open_or_create(&self.folder)?)
    }

    pub(crate) fn base_exists(&self) -> bool {
        self.folder.exists()
    }

    /// What answering works with. Vectors are searched only with the embedder that made them.
    pub(crate) async fn ports(&self, base: &Base) -> anyhow::Result<Ports> {
        let made_by = base.summary().await?.embedder;
        let mut embedder = match made_by {
            Some(_) => self.embedder_on(base)?,
            None => None,
        };
        if let (Some(made_by), Some(name)) =
            (&made_by, embedder.as_ref().map(|embedder| embedder.name().to_owned()))
            && *made_by != name
        {
            tracing::warn!(
                "the vectors were made by {made_by}, not {name}: searching by words alone; run `pikerag index` to make them anew"
            );
            embedder = None;
        } else if let (Some(made_by), None) = (&made_by, &embedder) {
            tracing::warn!(
                "the vectors were made by {made_by}, which is not at hand: searching by words alone; see `pikerag doctor`"
            );
        }
        let mut models = self.models(Arc::new(base.clone()))?;
        if let Some(path) = &self.settings.methods.skr_examples {
            models.labelled = labelled::read(path)?;
        }
        Ok(Ports { base: Arc::new(base.clone()), embedder, models })
    }

    /// What indexing works with.
    pub(crate) fn tools(&self, base: &Base) -> anyhow::Result<Tools> {
        Ok(Tools {
            base: Arc::new(base.clone()),
            reader: self.reader()?,
            models: self.models(Arc::new(base.clone()))?,
            embedder: self.embedder_on(base)?,
        })
    }

    /// Programs that help to read files.
    pub(crate) fn programs(&self) -> anyhow::Result<Arc<Programs>> {
        let (tools, limits) = (&self.settings.tools, &self.settings.limits);
        let found = Found {
            tesseract: tools.tesseract.as_deref(),
            soffice: tools.soffice.as_deref(),
            languages: &tools.languages,
            path: self.environment.get("PATH"),
            tessdata: self.environment.get("TESSDATA_PREFIX"),
        };
        let limits = HelperLimits {
            memory_mib: limits.memory_mib,
            pictures: limits.ocr_pictures,
            picture: Duration::from_secs(limits.ocr_seconds),
            conversion: Duration::from_secs(limits.convert_seconds),
        };
        Ok(Arc::new(Programs::new(std::env::current_exe()?, &found, limits)))
    }

    /// Does the file of settings name Tesseract, and `LibreOffice`?
    pub(crate) fn tools_set(&self) -> (bool, bool) {
        let tools = &self.settings.tools;
        (tools.tesseract.is_some() || !tools.languages.is_empty(), tools.soffice.is_some())
    }

    pub(crate) fn reader(&self) -> anyhow::Result<Arc<dyn FileReader>> {
        let limits = &self.settings.limits;
        Ok(Arc::new(ChildReader {
            programs: self.programs()?,
            program: std::env::current_exe()?,
            limits: ChildLimits {
                file_bytes: limits.file_mib << 20,
                memory_mib: limits.memory_mib,
                cpu: Duration::from_secs(limits.cpu_seconds),
                wall: Duration::from_secs(limits.wall_seconds),
            },
        }))
    }

    pub(crate) fn ingest_params(&self) -> Params {
        let (index, defaults) = (&self.settings.index, Params::default());
        let atoms = match &index.atoms {
            Some(atoms) => {
                self.possible(atoms.iter().map(|setting| AtomKind::from(*setting)).collect())
            }
            None if self.has_chat(Role::Atomize) => vec![AtomKind::Question],
            None => vec![AtomKind::Sentence],
        };
        Params {
            chunks: ChunkParams {
                max_tokens: index.max_tokens.unwrap_or(defaults.chunks.max_tokens),
                overlap_tokens: index.overlap_tokens.unwrap_or(defaults.chunks.overlap_tokens),
            },
            chunk_by: self.chunk_by(index.chunking),
            summarize: index.summarize.clone().unwrap_or_else(|| vec![Summarized::Tables]),
            // A model for all roles may be blind: it is asked only where somebody says that it sees.
            describe: index.describe.unwrap_or_else(|| self.describes()),
            tags: self.tag_params(),
            atoms,
            with: index.with.clone(),
            records: self.settings.records.clone(),
            parsers: self.settings.limits.parsers(),
            in_flight: endpoints::chat(&self.settings, Role::Atomize)
                .and_then(|chat| chat.in_flight)
                .unwrap_or(defaults.in_flight),
            embed_batch: self.settings.embed.batch.unwrap_or(defaults.embed_batch),
            embeds_in_flight: self.settings.embed.in_flight.unwrap_or(defaults.embeds_in_flight),
        }
    }

    /// Questions and statements need a model: without one sentences take their place, and the user is told.
    fn possible(&self, mut atoms: Vec<AtomKind>) -> Vec<AtomKind> {
        let is_asked = |kind: &AtomKind| *kind != AtomKind::Sentence;
        if atoms.iter().any(is_asked) && !self.has_chat(Role::Atomize) {
            tracing::warn!(
                "`index.atoms` asks for what a model writes, but no chat model is in use: sentences take their place"
            );
            atoms.retain(|kind| !is_asked(kind));
            if atoms.is_empty() {
                atoms.push(AtomKind::Sentence);
            }
        }
        atoms
    }

    fn run(&self, ledger: Arc<dyn Ledger>) -> Run {
        let mode = if self.replay { Mode::ReplayOnly } else { Mode::Record };
        Run { ledger, mode, meter: Arc::clone(&self.meter), transport: self.transport.clone() }
    }

    pub(crate) fn has_chat(&self, role: Role) -> bool {
        !self.offline && endpoints::chat(&self.settings, role).is_some()
    }

    fn models(&self, ledger: Arc<dyn Ledger>) -> anyhow::Result<Models> {
        match self.offline {
            true => Ok(Models::default()),
            false => endpoints::models(&self.settings, &self.run(ledger)),
        }
    }

    /// The model of a role without a record, for `doctor`; `None` if none is set.
    pub(crate) fn bare_chat(&self, role: Role) -> Option<anyhow::Result<Arc<dyn ChatModel>>> {
        if !self.has_chat(role) {
            return None;
        }
        let models =
            endpoints::models(&self.settings, &self.run(Arc::new(MemoryLedger::default())));
        Some(models.and_then(|models| {
            let model = models.by_role.get(&role).or(models.default.as_ref()).cloned();
            model.ok_or_else(|| anyhow::anyhow!("no model is set for `{role}`"))
        }))
    }

    /// The embedder without a record, for `doctor`.
    pub(crate) fn embedder(&self) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
        self.embedder_with(Arc::new(MemoryLedger::default()))
    }

    fn embedder_on(&self, base: &Base) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
        self.embedder_with(Arc::new(base.clone()))
    }

    fn embedder_with(&self, ledger: Arc<dyn Ledger>) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
        let settings = &self.settings.embed;
        let remote = settings.model.is_some() && settings.weights.is_none();
        match settings.kind {
            EmbedKind::None => Ok(None),
            EmbedKind::OpenAi => match self.offline {
                true => Ok(None),
                false => endpoints::embedder(settings, &self.run(ledger)).map(Some),
            },
            EmbedKind::Auto if remote && !self.offline => {
                endpoints::embedder(settings, &self.run(ledger)).map(Some)
            }
            EmbedKind::Auto => match self.local() {
                Ok(embedder) => Ok(Some(embedder)),
                // Weights that were named must be there; others may be.
                Err(reason) if settings.weights.is_some() => Err(anyhow::anyhow!(reason)),
                Err(reason) => {
                    tracing::info!(reason, "no embedder");
                    Ok(None)
                }
            },
            EmbedKind::Local => self.local().map(Some).map_err(|reason| anyhow::anyhow!(reason)),
        }
    }

    fn local(&self) -> Result<Arc<dyn Embedder>, String> {
        self.local
            .get_or_init(|| {
                weights::open(self.settings.embed.weights.as_deref(), &self.environment)
            })
            .clone()
    }

    /// Why there is no embedder, and what to do.
    pub(crate) fn no_embedder_reason(&self) -> String {
        match self.settings.embed.kind {
            EmbedKind::None => "none, as set: words alone".to_owned(),
            _ => match self.local() {
                Ok(_) => "none".to_owned(),
                Err(reason) => format!("none: words alone ({reason})"),
            },
        }
    }

    /// What an estimate costs in US dollars, where the price is known.
    pub(crate) fn price_of_estimate(&self, bill: &Estimate) -> Option<f64> {
        let prices = self.prices_by_role();
        let mut dollars = 0.0;
        for (role, usage) in &bill.by_role {
            let (prompt, completion) = prices.get(role)?;
            dollars +=
                usage.prompt_tokens as f64 * prompt + usage.completion_tokens as f64 * completion;
        }
        Some(dollars / 1e6)
    }

    /// US dollars per million tokens of prompt and of reply, for each role whose model has a price.
    pub(crate) fn prices_by_role(&self) -> BTreeMap<Role, (f64, f64)> {
        let mut prices = BTreeMap::new();
        for role in Role::ALL {
            let model = endpoints::chat(&self.settings, role).and_then(|chat| chat.model);
            if let Some(price) = model.and_then(|model| self.settings.prices.get(&model)) {
                prices.insert(role, (price.prompt, price.completion));
            }
        }
        prices
    }

    /// The user's parameters of methods.
    pub(crate) fn overrides(&self) -> &Overrides {
        &self.settings.methods.set
    }

    /// A method by name, with the user's parameters.
    pub(crate) fn method(&self, name: &str) -> anyhow::Result<Method> {
        Ok(name.trim().parse::<Method>()?.with(&self.settings.methods.set))
    }

    /// The user's parameters in one line, to tell runs apart.
    pub(crate) fn parameters_line(&self) -> String {
        let methods = &self.settings.methods;
        match &methods.skr_examples {
            None => format!("{:?}", methods.set),
            Some(path) => format!("{:?}, skr_examples: {}", methods.set, path.display()),
        }
    }

    /// The weights of hop retrieval.
    pub(crate) fn hops(&self) -> HopParams {
        self.settings.methods.set.hops
    }

    /// The weights of all searches.
    pub(crate) fn searches(&self) -> SearchParams {
        SearchParams { hops: self.hops(), layers: self.settings.retrieval.layers }
    }

    /// The models in use, in one line, to tell runs apart.
    pub(crate) fn models_line(&self) -> String {
        if self.offline {
            return "none".to_owned();
        }
        let mut names: Vec<String> = Vec::new();
        for role in [Role::Atomize, Role::Propose, Role::Select, Role::Answer] {
            let model = endpoints::chat(&self.settings, role).and_then(|chat| chat.model);
            names.push(format!("{role}: {}", model.unwrap_or_else(|| "none".to_owned())));
        }
        names.join(", ")
    }
}
