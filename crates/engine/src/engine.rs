//! What stands behind every request? The adapters behind the ports, put together from settings.

mod callers;
mod cost;
mod embedding;
mod endpoints;
mod labelled;
mod named;
mod reranking;
mod weights;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pikerag_coordinate::ingest::{Available, Params, Tools};
use pikerag_coordinate::methods::adaptive::try_out;
use pikerag_coordinate::{Method, Models, Ports, Tables};
use pikerag_knowledge::{
    ChatModel, CorpusReader, Embedder, Filter, KnowledgeBase, Ledger, Reranker, Role, RunEvent,
    Snapshots, Structure,
};
use pikerag_models::{CallContext, MemoryLedger, Meter, Mode, Pins, Transport};
use pikerag_store::{Base, DATABASE};
use tokio_util::sync::CancellationToken;

pub use self::callers::{Grant, Share};
pub use self::cost::{Cost, CostPart};
use crate::costs::Costs;
use crate::error::{EngineError, Result};
use crate::notice::Notice;
use crate::sandbox::{Programs, SandboxedReader};
use crate::settings::{Chunking, Settings, this_program};

/// Puts everything together. Nothing is read, started or called yet.
///
/// # Errors
/// [`EngineError::NoProgram`].
pub fn open(settings: Settings) -> Result<Engine> {
    let program = match &settings.program {
        Some(program) => program.clone(),
        None => this_program().map_err(EngineError::NoProgram)?,
    };
    let programs =
        Programs::new(program.clone(), &settings.programs, settings.program_limits.clone());
    let reader = SandboxedReader {
        root: PathBuf::new(),
        program,
        limits: settings.parser_limits.clone(),
        programs: Arc::new(programs),
    };
    Ok(Engine {
        meter: Arc::new(Meter::new(settings.prices.clone(), settings.cap)),
        share: None,
        visible: Filter::default(),
        settings,
        shared: Arc::new(Shared {
            reader: Arc::new(reader),
            transport: Transport::default(),
            local: OnceLock::new(),
            multilingual: OnceLock::new(),
            local_reranker: OnceLock::new(),
        }),
        opened: Arc::default(),
        cancel: CancellationToken::new(),
    })
}

/// All that pikerag does: a method for each verb (see the crate's page). What its requests cost is counted
/// together, and held under one cap.
pub struct Engine {
    settings: Settings,
    meter: Arc<Meter>,
    /// What this caller may spend of it; all that there is, if none.
    share: Option<Arc<Meter>>,
    /// What this caller may see of the base.
    visible: Filter,
    shared: Arc<Shared>,
    opened: Arc<Mutex<Option<Opened>>>,
    cancel: CancellationToken,
}

/// What engines over several bases, and for several callers, have in common.
struct Shared {
    transport: Transport,
    reader: Arc<SandboxedReader>,
    /// Local weights are opened once.
    local: OnceLock<Result<weights::Local, String>>,
    multilingual: OnceLock<Option<Arc<dyn Embedder>>>,
    local_reranker: OnceLock<Result<Arc<dyn Reranker>, String>>,
}

/// A base that is held open, and which file it is.
struct Opened {
    base: Base,
    file: (u64, u64),
}

/// The method for whoever names none.
pub(crate) const USUAL_METHOD: &str = "pike";

impl Engine {
    /// What it was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Stops everything that is under way, for good: no model call is begun after that, and those under way are
    /// given up. Runs end as cancelled, with their trace and their cost; other verbs with
    /// [`EngineError::Cancelled`]. What was paid and stored stays.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits until [`Engine::cancel`] is called.
    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Work that loses at most the calls in flight when it is stopped.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match self.cancel.run_until_cancelled(work).await {
            Some(result) => result,
            None => Err(EngineError::Cancelled),
        }
    }

    /// Whether there is a base.
    pub(crate) fn has_base(&self) -> bool {
        self.settings.base.join(DATABASE).is_file()
    }

    /// The base, which must be there, for a caller who may see all of it.
    pub(crate) fn base(&self) -> Result<Base> {
        if !self.sees_all() {
            return Err(EngineError::OnlyPart);
        }
        self.base_in_part()
    }

    /// The same for a verb that looks through [`Engine::snapshot`] alone, which shows each caller what that one may see.
    pub(crate) fn base_in_part(&self) -> Result<Base> {
        let path = self.settings.base.join(DATABASE);
        let no_base = || EngineError::NoBase { folder: self.settings.base.clone() };
        let file = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        let file = file.map(|file| (file.dev(), file.ino())).ok_or_else(no_base)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        match &*opened {
            Some(held) if held.file == file => Ok(held.base.clone()),
            _ => {
                let base = Base::open(&self.settings.base)?;
                *opened = Some(Opened { base: base.clone(), file });
                Ok(base)
            }
        }
    }

    pub(crate) fn base_or_create(&self) -> Result<Base> {
        if self.has_base() {
            let base = self.base()?;
            if !base.is_read_only() {
                return Ok(base);
            }
        }
        Ok(Base::open_or_create(&self.settings.base)?)
    }

    /// The base as it stands now, and of it what the filter admits and the caller may see: what a question reads.
    ///
    /// # Errors
    /// The base does not have a field of the filter, or the filter admits nothing.
    pub(crate) async fn snapshot(
        &self,
        base: &Base,
        filter: &Filter,
    ) -> Result<Arc<dyn KnowledgeBase>> {
        let snapshot = base.snapshot(&self.seen(filter)).await?;
        if !filter.is_empty() && snapshot.state().await?.chunks == 0 {
            return Err(EngineError::NothingAdmitted { filter: filter.clone() });
        }
        Ok(snapshot)
    }

    /// What answering works with, and what to know of it; `seen` is all of the base that it reads. Vectors are
    /// searched only with the embedder that made them.
    pub(crate) async fn ports(
        &self,
        base: &Base,
        seen: Arc<dyn KnowledgeBase>,
    ) -> Result<(Ports, Vec<Notice>)> {
        self.ports_reranking(base, seen, self.settings.rerank.first).await
    }

    /// The same where so many hits of a search are reranked, whatever is set.
    pub(crate) async fn ports_reranking(
        &self,
        base: &Base,
        seen: Arc<dyn KnowledgeBase>,
        first: usize,
    ) -> Result<(Ports, Vec<Notice>)> {
        let mut notices = Vec::new();
        if base.is_read_only() {
            notices.push(Notice::ReadOnly { folder: base.folder().to_owned() });
        }
        let made_by = base.state().await?.embedder;
        let mut embedder = match made_by {
            Some(_) => self.embedder_on(base).await?,
            None => None,
        };
        if let Some(made_by) = made_by {
            match embedder.as_ref().map(|embedder| embedder.name().to_owned()) {
                Some(in_use) if in_use == made_by => {}
                Some(in_use) => {
                    notices.push(Notice::OtherVectors { made_by, in_use });
                    embedder = None;
                }
                None => notices.push(Notice::NoEmbedder { made_by }),
            }
        }
        let mut models = self.models(Arc::new(base.clone()))?;
        models.reranker = self.reranking(base, first, &mut notices)?;
        if let Some(path) = &self.settings.skr_examples {
            models.labelled = labelled::read(path)?;
        }
        let tables = Tables {
            schemas: self.settings.ingest.records.clone().into(),
            engine: Some(Arc::new(pikerag_store::Tables)),
        };
        Ok((Ports { base: seen, embedder, models, tables, said_until: None }, notices))
    }

    /// What indexing works with.
    pub(crate) async fn tools(&self, base: &Base) -> Result<Tools> {
        Ok(Tools {
            base: Arc::new(base.clone()),
            reader: self.shared.reader.clone(),
            models: self.models(Arc::new(base.clone()))?,
            embedder: self.embedder_on(base).await?,
        })
    }

    /// Reads files, each in a process of its own, by their paths.
    pub(crate) fn reader(&self) -> &SandboxedReader {
        &self.shared.reader
    }

    /// The connections that all models share.
    pub(crate) fn transport(&self) -> &Transport {
        &self.shared.transport
    }

    /// The same by names that count from a folder.
    pub(crate) fn reader_at(&self, root: &Path) -> SandboxedReader {
        SandboxedReader { root: root.to_owned(), ..self.shared.reader.as_ref().clone() }
    }

    /// The settings, and what a request asks for besides.
    pub(crate) fn ingest_params(
        &self,
        with: &[Structure],
        without: &[Structure],
        chunking: Option<Chunking>,
    ) -> Params {
        let mut params = self.settings.ingest.clone();
        if let Some(chunking) = chunking {
            params.chunk_by = self.settings.chunk_by(chunking);
        }
        for structure in with {
            if !params.with.contains(structure) {
                params.with.push(*structure);
            }
        }
        params.with.retain(|structure| !without.contains(structure));
        params.without = without.to_vec();
        params
    }

    fn calls(&self, ledger: Arc<dyn Ledger>, mode: Mode) -> CallContext {
        let mode = if self.settings.replay { Mode::ReplayOnly } else { mode };
        let (meter, transport) = (Arc::clone(&self.meter), self.shared.transport.clone());
        CallContext { ledger, mode, pins: Pins::default(), meter, transport }
    }

    /// Which roles have a chat model, and whether there is an embedder.
    pub(crate) fn available(&self) -> Available {
        Available {
            chat: Role::ALL.into_iter().filter(|role| self.has_chat(*role)).collect(),
            embedder: self.bare_embedder().is_ok_and(|embedder| embedder.is_some()),
        }
    }

    pub(crate) fn has_chat(&self, role: Role) -> bool {
        self.settings.chat(role).is_some()
    }

    /// Models that answer with the recorded replies that a run had.
    pub(crate) fn models_of_run(&self, base: &Base, events: &[RunEvent]) -> Result<Models> {
        let pins = Pins::all(events.iter().flat_map(|event| event.calls.iter().cloned()));
        let calls = self.calls(Arc::new(base.clone()), Mode::ReplayOnly);
        endpoints::models(&self.settings, &CallContext { pins, ..calls }, self.share.as_ref())
    }

    fn models(&self, ledger: Arc<dyn Ledger>) -> Result<Models> {
        endpoints::models(&self.settings, &self.calls(ledger, Mode::Record), self.share.as_ref())
    }

    /// The model of a role whose calls the base records; `None` if none is set.
    pub(crate) fn recorded_chat(
        &self,
        base: &Base,
        role: Role,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        Ok(self.models(Arc::new(base.clone()))?.by_role.get(&role).cloned())
    }

    /// The model of a role without a record; `None` if none is set.
    pub(crate) fn bare_chat(&self, role: Role) -> Result<Option<Arc<dyn ChatModel>>> {
        let models = self.models(Arc::new(MemoryLedger::default()))?;
        Ok(models.by_role.get(&role).cloned())
    }

    /// Whether the model of looks reads at once, as `doctor` found when it tried it on this base; `None` where it did not.
    pub(crate) async fn reads_at_once(&self, base: &Base) -> Option<bool> {
        let calls = CallContext {
            mode: Mode::ReplayOnly,
            ..self.calls(Arc::new(base.clone()), Mode::ReplayOnly)
        };
        let models = endpoints::models(&self.settings, &calls, self.share.as_ref()).ok()?;
        let trial = try_out(models.of(Role::Look)?).await.ok()?;
        Some(trial.reads_at_once())
    }

    /// What questions have cost this user so far.
    pub(crate) fn costs(&self) -> Costs {
        let file = |folder: &PathBuf| folder.join("costs.json");
        Costs { path: self.settings.state.as_ref().map(file) }
    }

    /// The model that writes answers, by the name that settings give it; empty where none is set.
    pub(crate) fn answering_model(&self) -> &str {
        self.settings.chat(Role::Answer).map_or("", |chat| chat.endpoint.model.as_str())
    }

    /// A method by name, with the user's parameters.
    pub(crate) fn method(&self, name: &str) -> Result<Method> {
        Ok(name.trim().parse::<Method>()?.with(&self.settings.methods))
    }
}
