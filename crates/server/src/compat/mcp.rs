//! Speaks the Model Context Protocol: tools for assistants, over HTTP without sessions and over
//! standard streams. A result has structured content and the same as text.

mod arguments;
mod calls;
mod cancelling;
mod errors;
mod links;
mod long;
mod passages;
mod reports;
mod result;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use futures::future::BoxFuture;
use pikerag_engine::narrate::Words;
use pikerag_engine::settings::DEFAULT_BASE;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CreateTaskResult,
    DetailedTask, GetTaskParams, GetTaskResult, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use self::arguments::read;
pub(crate) use self::cancelling::{Running, cancellable};
use self::links::Links;
use self::long::LongCalls;
pub(crate) use self::long::{KEPT, MOST, MOST_OF_CALLER};
pub(crate) use self::passages::MOST_CHARACTERS;
use self::reports::Reports;
use self::result::ToolResult;
use crate::api::look::no_such;
use crate::app::{App, Caller};
use crate::problem::Problem;

/// The time after which a call becomes a task, if the client knows tasks.
const BECOMES_TASK: Duration = Duration::from_secs(5);

/// A call under way; dropping it stops it.
type Work = BoxFuture<'static, CallToolResult>;

/// The tools over all bases.
#[derive(Clone)]
pub(crate) struct Mcp {
    app: App,
    links: Links,
    /// The caller if no request names one: the person who started the program.
    nobody: Caller,
    long: LongCalls,
}

/// The service over HTTP, without sessions, so that a broken connection stops its request. When the
/// server stops, running calls finish like other requests.
pub(crate) fn over_http(app: App) -> StreamableHttpService<Mcp, NeverSessionManager> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    // A call without notifications is answered as JSON, another one as a stream.
    config.json_response = true;
    // The server's own guard has checked host and origin before.
    config.allowed_hosts = Vec::new();
    config.allowed_origins = Vec::new();
    let mcp = Mcp::new(app, Links::Served);
    let tools = move || Ok(mcp.clone());
    StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config)
}

impl Mcp {
    /// The tools for one assistant on this machine, over standard streams.
    pub(crate) fn local(app: App) -> Self {
        Self::new(app, Links::Local)
    }

    fn new(app: App, links: Links) -> Self {
        Self { app, links, nobody: Caller { key: None }, long: LongCalls::default() }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        caller.unwrap_or(&self.nobody).clone()
    }

    fn task(
        &self,
        context: &RequestContext<RoleServer>,
        task: &str,
    ) -> Result<DetailedTask, ErrorData> {
        self.long.task(&self.caller(context), task, self.app.responses.forgettings())
    }

    /// The result of a call, or its problem as a result.
    async fn result(
        self,
        tool: Tool,
        given: JsonObject,
        caller: Caller,
        reports: Arc<Reports>,
    ) -> CallToolResult {
        let call = Box::pin(reports.during(self.called(&tool, given, &caller, &reports)));
        match call.await {
            Ok(result) => result.into_result(),
            Err(problem) => result::of_problem(&problem),
        }
    }

    async fn called(
        &self,
        tool: &Tool,
        mut given: JsonObject,
        caller: &Caller,
        reports: &Reports,
    ) -> Result<ToolResult, Problem> {
        arguments::check_names(tool, &given)?;
        let base = arguments::base(&mut given)?.unwrap_or_else(|| DEFAULT_BASE.to_owned());
        let session = self.app.base(caller, &base)?;
        match &*tool.name {
            tools::ASK => self.ask((caller, reports), &base, session, read(given)?).await,
            tools::SEARCH => self.search(&base, &session, read(given)?).await,
            tools::FETCH => self.fetch(&base, &session, read(given)?).await,
            tools::GET_CHUNK => self.chunk(&base, &session, read(given)?).await,
            tools::LIST_SOURCES => calls::sources(&session, read(given)?).await,
            tools::GRAPH_NEIGHBOURS => self.neighbours(session, read(given)?).await,
            other => Err(no_such("tool", other)),
        }
    }
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
            .with_server_info(Implementation::new("pikerag", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Answers questions over an organisation's documents, with citations that were checked. `ask` reads and \
                 reasons; `search` finds passages to read; `fetch` returns a document around a passage; `get_chunk` \
                 returns one passage.",
            )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context);
        let forgettings = self.app.responses.forgettings();
        let given = request.arguments.unwrap_or_default();
        let language = arguments::language(&given);
        let Some(tool) = tools::all().into_iter().find(|tool| tool.name == request.name) else {
            let name = &request.name;
            let words =
                Words::new(format!("there is no tool `{name}`"), format!("没有工具 `{name}`"));
            return Err(errors::wrong(words, language));
        };
        let knows_tasks = context.client_capabilities().is_some_and(|known| known.supports_tasks());
        let may_become_task = knows_tasks && tool.name == tools::ASK;
        let reports = Arc::new(Reports::of(&context, language));
        let call = self.clone().result(tool, given, caller.clone(), Arc::clone(&reports));
        let mut work: Work = Box::pin(call);
        // Dropping the future stops the run.
        let cancelled = || errors::cancelled(language);
        if may_become_task {
            tokio::select! {
                result = &mut work => return Ok(result.into()),
                () = tokio::time::sleep(BECOMES_TASK) => {}
                () = context.ct.cancelled() => return Err(cancelled()),
            }
            let began = (&caller, forgettings);
            work = match self.long.keep(began, work, &reports, self.app.stopping.clone()) {
                Ok(task) => return Ok(CreateTaskResult::new(task).into()),
                // There are too many tasks: the client waits.
                Err(work) => work,
            };
        }
        tokio::select! {
            result = work => Ok(result.into()),
            () = context.ct.cancelled() => Err(cancelled()),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&context, &request.task_id).map(GetTaskResult::new)
    }

    /// No call asks its client for anything, so there is nothing to update.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.task(&context, &request.task_id).map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.long.cancel(&self.caller(&context), &request.task_id)
    }
}
