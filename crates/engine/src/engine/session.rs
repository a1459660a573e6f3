//! Holds a caller's base, rights and payer, and builds the models and readers for the caller's
//! requests.

mod callers;
mod cost;
mod demonstrations;
mod embedding;
mod endpoints;
mod labelled;
mod named;
mod reads_at_most;
mod reranking;
mod searching;
mod trial;
pub(super) mod weights;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_indexing::{Available, Params, Tools};
use pikerag_knowledge::{
    ChatModel, Filter, KnowledgeBase, Lease, Ledger, Role, RunEvent, Structure,
};
use pikerag_methods::adaptive::try_out;
use pikerag_methods::{Models, Ports, Tables};
use pikerag_models::{CallContext, MemoryLedger, Mode, OpenCalls, Payer, Pins, Transport};

pub use self::callers::Grant;
pub use self::cost::{Cost, CostPart};
pub(crate) use self::searching::SearchLedger;
pub(crate) use self::trial::TrialModel;
use super::{Engine, Shared};
use crate::base::Base;
use crate::costs::Costs;
use crate::error::{EngineError, Result};
use crate::in_use::InUse;
use crate::local_models::LocalServer;
use crate::notice::Notice;
use crate::paces::PaceFile;
use crate::sandbox::SandboxedReader;
use crate::settings::{Chunking, FileChoice, Settings};

/// One caller's access to one base, with the caller's view and payer. Each verb is a function over
/// a session (see the crate's page). A clone is the same session.
#[derive(Clone)]
pub struct Session {
    engine: Engine,
    /// The base's folder, or its address.
    folder: PathBuf,
    /// The part of the base that this caller may see.
    visible: Filter,
    /// Pays for this caller's model calls; `None` if no payer must agree.
    payer: Option<Arc<dyn Payer>>,
    /// Whether its model calls let those of other sessions go first.
    is_background: bool,
    /// Shows the chat calls that have no reply yet; `None` if nobody watches.
    open_calls: Option<Arc<OpenCalls>>,
    /// The lease of the job that this session works for.
    lease: Option<Lease>,
    /// Counted by [`Engine::sessions_over`].
    _user: Arc<()>,
    /// See [`Engine::hold`].
    _used: Option<Arc<InUse>>,
}

/// The method if the caller names none.
pub(crate) const DEFAULT_METHOD: &str = "pike";

impl Session {
    pub(crate) fn new(engine: Engine, folder: PathBuf) -> Self {
        Self {
            _user: engine.user_of(&folder),
            engine,
            folder,
            visible: Filter::default(),
            payer: None,
            is_background: false,
            open_calls: None,
            lease: None,
            _used: None,
        }
    }

    /// This session, which shows its open chat calls among these, with their expected times.
    pub(crate) fn observed_by(&self, open_calls: Option<&Arc<OpenCalls>>) -> Self {
        if let Some(calls) = open_calls {
            calls.expect(self.paces().known());
        }
        Self { open_calls: open_calls.cloned(), ..self.clone() }
    }

    /// The session's engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine's settings. They name the default base; this session's base is
    /// [`Session::folder`].
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// The folder of the base, or its address with the password:
    /// [`shown_base`](crate::shown_base) gives a name for people.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn shared(&self) -> &Shared {
        self.engine.shared()
    }

    /// Waits until [`Engine::cancel`] is called.
    pub(crate) async fn cancelled(&self) {
        self.engine.cancellation().cancelled().await;
    }

    /// Runs `work` until the engine is cancelled. A cancelled work loses at most the calls in
    /// flight.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match self.engine.cancellation().run_until_cancelled(work).await {
            Some(result) => result,
            None => Err(EngineError::Cancelled),
        }
    }

    /// Whether the base exists.
    pub(crate) async fn has_base(&self) -> Result<bool> {
        self.engine.has_base(&self.folder).await
    }

    /// The base, which must exist, for a caller who may see all of it.
    pub(crate) async fn base(&self) -> Result<Base> {
        if !self.sees_all() {
            return Err(EngineError::OnlyPart);
        }
        self.base_in_part().await
    }

    /// The base for a verb that reads only through [`Session::snapshot`], which shows each caller
    /// the visible part.
    pub(crate) async fn base_in_part(&self) -> Result<Base> {
        self.under_lease(self.engine.base(&self.folder).await?).await
    }

    /// The base for a question or search that begins now. If a document is forgotten meanwhile, the
    /// base keeps nothing more of it.
    pub(crate) async fn base_for_a_question(&self) -> Result<Base> {
        Ok(self.base_in_part().await?.for_a_question().await?)
    }

    /// The base for verbs that count: the live base, or a snapshot if the caller sees only a part.
    pub(crate) async fn counted_base(&self) -> Result<Base> {
        if self.sees_all() { self.base().await } else { self.visible_base().await }
    }

    pub(crate) async fn base_or_create(&self) -> Result<Base> {
        if self.has_base().await? {
            let base = self.base().await?;
            if !base.is_read_only() {
                return Ok(base);
            }
        }
        self.under_lease(self.engine.base_or_create(&self.folder).await?).await
    }

    /// A snapshot for a question: the part of the base that the filter admits and the caller may
    /// see.
    ///
    /// # Errors
    /// The base does not have a field of the filter, or the filter admits nothing.
    pub(crate) async fn snapshot(
        &self,
        base: &Base,
        filter: &Filter,
    ) -> Result<Arc<dyn KnowledgeBase>> {
        let admitted = self.with_upload_names(base, filter).await?;
        let snapshot = base.snapshot(self.visible(), &admitted).await?;
        if !filter.is_empty() && snapshot.state().await?.chunks == 0 {
            return Err(EngineError::NothingAdmitted { filter: filter.clone() });
        }
        Ok(snapshot)
    }

    /// The ports that answering needs, with notices; `seen` is the part of the base that it reads.
    /// Vectors are searched only with the embedder that made them.
    pub(crate) async fn ports(
        &self,
        base: &Base,
        seen: Arc<dyn KnowledgeBase>,
    ) -> Result<(Ports, Vec<Notice>)> {
        let recorded = (self.settings().rerank.first, base.arc() as Arc<dyn Ledger>);
        self.ports_reranking(base, seen, recorded).await
    }

    /// The same ports, with `first` hits of a search reranked instead of the number that is set,
    /// and with this ledger for calls.
    pub(crate) async fn ports_reranking(
        &self,
        base: &Base,
        seen: Arc<dyn KnowledgeBase>,
        (first, ledger): (usize, Arc<dyn Ledger>),
    ) -> Result<(Ports, Vec<Notice>)> {
        let mut notices = Vec::new();
        if base.is_read_only() {
            notices.push(Notice::ReadOnly { folder: base.folder().to_owned() });
        }
        let made_by = base.state().await?.embedder;
        let mut embedder = match made_by {
            Some(_) => self.embedder_recorded_by(base, Arc::clone(&ledger)).await?,
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
        let mut models = self.models(Arc::clone(&ledger))?;
        models.reranker = self.reranking(ledger, first, &mut notices)?;
        if let Some(path) = &self.settings().skr_examples {
            models.labelled = labelled::read(path)?;
        }
        if let Some(folder) = &self.settings().demonstrations {
            models.demonstrations = demonstrations::read(folder)?;
        }
        let tables = Tables {
            schemas: self.settings().ingest.records.clone().into(),
            engine: Some(Arc::new(pikerag_store::Tables)),
            catalogs: Arc::clone(&self.shared().process.catalogs),
        };
        Ok((Ports { tables, ..Ports::new(seen, embedder, models) }, notices))
    }

    /// The tools that indexing needs.
    pub(crate) async fn tools(&self, base: &Base) -> Result<Tools> {
        Ok(Tools {
            base: base.arc(),
            reader: Arc::new(self.shared().reader.clone()),
            models: self.models(base.arc())?.chat,
            embedder: self.embedder_on(base).await?,
        })
    }

    /// The reader of files by their paths; each is read in its own process.
    pub(crate) fn reader(&self) -> &SandboxedReader {
        &self.shared().reader
    }

    /// The connections that all models share.
    pub(crate) fn transport(&self) -> &Transport {
        &self.shared().process.transport
    }

    /// The server of a model of this machine; it does not run yet.
    pub(crate) fn local_server(&self, name: &str) -> LocalServer {
        let servers = &self.shared().process.local_servers;
        servers.of(name, &self.settings().local, self.transport())
    }

    /// The reader of files by names that are relative to a folder.
    pub(crate) fn reader_at(&self, root: &Path) -> SandboxedReader {
        SandboxedReader { root: root.to_owned(), ..self.shared().reader.clone() }
    }

    /// The settings for indexing, changed by a request.
    pub(crate) fn ingest_params(
        &self,
        with: &[Structure],
        without: &[Structure],
        chunking: Option<Chunking>,
    ) -> Params {
        let mut params = self.settings().ingest.clone();
        if let Some(chunking) = chunking {
            params.chunk_by = self.settings().chunk_by(chunking);
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

    /// The rules for files in folders, with those of a request.
    pub(crate) fn file_choice(&self, request: &FileChoice) -> FileChoice {
        self.settings().choice.with(request)
    }

    fn calls(&self, ledger: Arc<dyn Ledger>, mode: Mode) -> CallContext {
        let mode = if self.settings().replay { Mode::ReplayOnly } else { mode };
        let process = &self.shared().process;
        let (meter, transport) = (Arc::clone(&process.meter), process.transport.clone());
        let (scope, payer) = (Some(self.ledger_name()), self.payer.clone());
        let (in_background, open_calls) = (self.is_background, self.open_calls.clone());
        CallContext {
            ledger,
            mode,
            pins: Pins::default(),
            meter,
            transport,
            payer,
            scope,
            in_background,
            open_calls,
        }
    }

    /// The roles that have a chat model, and whether there is an embedder.
    pub(crate) fn available(&self) -> Available {
        Available {
            chat: Role::ALL.iter().copied().filter(|role| self.has_chat(*role)).collect(),
            embedder: self.bare_embedder().is_ok_and(|embedder| embedder.is_some()),
        }
    }

    pub(crate) fn has_chat(&self, role: Role) -> bool {
        self.settings().chat(role).is_some()
    }

    /// Models that answer with the recorded replies of a run.
    pub(crate) fn models_of_run(&self, base: &Base, events: &[RunEvent]) -> Result<Models> {
        let pins = Pins::all(events.iter().flat_map(|event| event.calls.iter().cloned()));
        let calls = self.calls(base.arc(), Mode::ReplayOnly);
        self.models_with(&CallContext { pins, ..calls })
    }

    fn models_with(&self, calls: &CallContext) -> Result<Models> {
        let Shared { upstreams, process, .. } = self.shared();
        endpoints::models(self.settings(), upstreams, &process.local_servers, calls)
    }

    fn models(&self, ledger: Arc<dyn Ledger>) -> Result<Models> {
        self.models_with(&self.calls(ledger, Mode::Record))
    }

    /// The model of a role, with calls recorded in the base; `None` if none is set.
    pub(crate) fn recorded_chat(
        &self,
        base: &Base,
        role: Role,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        Ok(self.models(base.arc())?.chat.by_role.get(&role).cloned())
    }

    /// The model of a role, with calls not recorded; `None` if none is set.
    pub(crate) fn bare_chat(&self, role: Role) -> Result<Option<Arc<dyn ChatModel>>> {
        let calls = self.calls(Arc::new(MemoryLedger::default()), Mode::Record);
        let models = self.models_with(&CallContext { scope: None, ..calls })?;
        Ok(models.chat.by_role.get(&role).cloned())
    }

    /// Whether the model of the reading rounds collects facts and answers in one call. `doctor`
    /// measures this on the base; `None` if it has not.
    pub(crate) async fn reads_at_once(&self, base: &Base) -> Option<bool> {
        let calls =
            CallContext { mode: Mode::ReplayOnly, ..self.calls(base.arc(), Mode::ReplayOnly) };
        let models = self.models_with(&calls).ok()?;
        let trial = try_out(models.of(Role::Look)?).await.ok()?;
        Some(trial.reads_at_once())
    }

    /// The costs of this user's earlier questions.
    pub(crate) fn costs(&self) -> Costs {
        Costs { path: self.state_file("costs.json") }
    }

    /// The times of this user's earlier model calls.
    pub(crate) fn paces(&self) -> PaceFile {
        PaceFile { path: self.state_file("paces.json") }
    }

    fn state_file(&self, name: &str) -> Option<PathBuf> {
        self.settings().state.as_ref().map(|folder| folder.join(name))
    }

    /// The name of the model that writes answers, as the settings call it; empty if none is set.
    pub(crate) fn answering_model(&self) -> &str {
        self.settings().chat(Role::Answer).map_or("", |chat| chat.endpoint.model.as_str())
    }

    /// A method by name, with the user's parameters.
    pub(crate) fn method(&self, name: &str) -> Result<Method> {
        Ok(name.trim().parse::<Method>()?.with(&self.settings().methods))
    }
}
