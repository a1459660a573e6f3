//! Speaks the Model Context Protocol: tools for assistants, over HTTP without sessions and over
//! standard streams. A result has structured content, the same as text, and a link for each
//! passage.

mod arguments;
mod tools;

use std::sync::Arc;

use axum::http::request::Parts;
use pikerag_engine::knowledge::{Check, Chunk, ChunkId};
use pikerag_engine::narrate::Language;
use pikerag_engine::settings::DEFAULT_BASE;
use pikerag_engine::{AskRequest, GraphAroundRequest, SearchRequest, Session};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, Resource, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use self::arguments::read;
use crate::api::look::no_such;
use crate::api::search::found;
use crate::app::{App, Caller};
use crate::problem::Problem;
use crate::streams::{Drafts, Underway, Wanted, answered, broken};

/// The number of sources in one list.
const PAGE: usize = 100;

/// The tools over all bases.
#[derive(Clone)]
pub(crate) struct Mcp {
    app: App,
    /// The caller if no request names one: the person who started the program.
    nobody: Caller,
}

/// The service over HTTP, without sessions, so that a broken connection stops its request.
pub(crate) fn over_http(app: App) -> StreamableHttpService<Mcp, NeverSessionManager> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.cancellation_token = app.stopping.clone();
    // The server's own guard has checked host and origin before.
    config.allowed_hosts = Vec::new();
    config.allowed_origins = Vec::new();
    let tools = move || Ok(Mcp::new(Arc::clone(&app)));
    StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config)
}

impl Mcp {
    pub(crate) fn new(app: App) -> Self {
        Self { app, nobody: Caller { key: None } }
    }

    async fn called(
        &self,
        name: &str,
        mut given: JsonObject,
        caller: &Caller,
    ) -> Result<ToolResult, Problem> {
        let base = arguments::base(&mut given)?.unwrap_or_else(|| DEFAULT_BASE.to_owned());
        let session = self.app.base(caller, &base)?;
        match name {
            tools::ASK => self.ask(caller, &base, session, read(given)?).await,
            tools::SEARCH => self.search(&base, &session, read(given)?).await,
            tools::GET_CHUNK => self.chunk(&base, &session, read(given)?).await,
            tools::LIST_SOURCES => sources(&session, read(given)?).await,
            tools::GRAPH_NEIGHBOURS => self.neighbours(session, read(given)?).await,
            other => Err(no_such("tool", other)),
        }
    }

    async fn ask(
        &self,
        caller: &Caller,
        base: &str,
        session: Session,
        given: arguments::Ask,
    ) -> Result<ToolResult, Problem> {
        let request = AskRequest {
            question: given.question,
            method: given.method.unwrap_or_default(),
            filter: given.filter.unwrap_or_default(),
            ..AskRequest::default()
        };
        self.app.within(&[&request.question], &request.filter.conditions)?;
        let place = self.app.admitted(caller).await?;
        let language = Language::of(&request.question);
        let underway =
            Underway::begin(&self.app, place, session, Wanted::Ask(request), Drafts::LeftOut);
        let came = answered(*underway.end().await?, language)?;
        let answer = came.run.answer.as_ref().ok_or_else(broken)?;
        let mut links = Vec::new();
        let citations = answer.citations.iter().map(|citation| {
            let url = self.app.permalink(base, citation.chunk);
            links.push((url.clone(), citation.title.clone()));
            let mut shown = json!({
                "number": citation.number, "title": citation.title, "uri": citation.uri, "page": citation.page,
                "quote": citation.quote, "stands": citation.check == Check::Verified, "chunk": citation.chunk, "url": url,
            });
            if let (Some(by), Some(fields)) = (&citation.replaced_by, shown.as_object_mut()) {
                fields.insert("replaced_by".to_owned(), json!(by));
            }
            shown
        });
        let citations: Vec<Value> = citations.collect();
        let usage = came.run.cost.spent.usage();
        let answer = json!({
            "answer": answer.text, "rationale": answer.rationale, "refused": answer.refused,
            "missing": answer.missing, "citations": citations, "run": came.run.id, "method": came.run.method,
            "calls": came.run.cost.spent.calls(), "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        });
        Ok(ToolResult { content: answer, links })
    }

    async fn search(
        &self,
        base: &str,
        session: &Session,
        given: arguments::Search,
    ) -> Result<ToolResult, Problem> {
        let arguments::Search { query, k, filter } = given;
        let filter = filter.unwrap_or_default();
        let request = SearchRequest { query, k, filter, ..SearchRequest::default() };
        let found = found(&self.app, base, session, &request).await?;
        let links =
            found.hits.iter().map(|hit| (hit.url.clone(), hit.chunk.full_title())).collect();
        let hits: Vec<Value> = found
            .hits
            .iter()
            .map(|hit| {
                let mut fields_of_hit = passage(&hit.chunk, &hit.url);
                if let Some(fields) = fields_of_hit.as_object_mut() {
                    fields.insert("score".to_owned(), json!(hit.score));
                    fields.insert("metadata".to_owned(), json!(hit.metadata));
                }
                fields_of_hit
            })
            .collect();
        Ok(ToolResult { content: json!({ "hits": hits }), links })
    }

    async fn chunk(
        &self,
        base: &str,
        session: &Session,
        given: arguments::GetChunk,
    ) -> Result<ToolResult, Problem> {
        let name = given.chunk;
        let id: ChunkId = name.parse().map_err(|_| no_such("chunk", &name))?;
        let chunk = pikerag_engine::chunk(session, id).await?;
        let url = self.app.permalink(base, id);
        let links = vec![(url.clone(), chunk.full_title())];
        Ok(ToolResult { content: passage(&chunk, &url), links })
    }

    async fn neighbours(
        &self,
        session: Session,
        given: arguments::GraphNeighbours,
    ) -> Result<ToolResult, Problem> {
        let (of, depth) = (given.of, given.depth.unwrap_or(1));
        self.app.within(&[&of], &[])?;
        if !(1..=3).contains(&depth) {
            return Err(Problem::bad_request("`depth` must be 1, 2 or 3"));
        }
        let request = GraphAroundRequest { of, depth, most: usize::MAX };
        let around = pikerag_engine::graph_around(&session, request).await?;
        Ok(ToolResult { content: json!(around), links: Vec::new() })
    }
}

/// The result of a tool, with links to its passages.
struct ToolResult {
    content: Value,
    links: Vec<(String, String)>,
}

impl ToolResult {
    fn result(self) -> CallToolResult {
        let mut result = CallToolResult::structured(self.content);
        let mut links = self.links;
        links.dedup();
        result.content.extend(links.into_iter().map(|(url, name)| {
            ContentBlock::resource_link(Resource::new(url, name).with_mime_type("text/html"))
        }));
        result
    }
}

fn passage(chunk: &Chunk, url: &str) -> Value {
    json!({
        "chunk": chunk.id, "title": chunk.full_title(), "uri": chunk.uri, "page": chunk.page,
        "text": chunk.reading_text(), "url": url,
    })
}

async fn sources(session: &Session, given: arguments::ListSources) -> Result<ToolResult, Problem> {
    let all = pikerag_engine::sources(session, &given.filter.unwrap_or_default()).await?;
    let from = match given.after {
        None => 0,
        Some(after) => {
            all.iter().position(|source| source.uri == after).map_or(all.len(), |at| at + 1)
        }
    };
    let page: Vec<Value> = all
        .iter()
        .skip(from)
        .take(PAGE)
        .map(|source| {
            json!({
                "source": source.id, "uri": source.uri, "title": source.title, "media_type": source.media_type,
                "language": source.language, "summary": source.summary,
            })
        })
        .collect();
    let left = all.len().saturating_sub(from + page.len());
    Ok(ToolResult { content: json!({ "sources": page, "left": left }), links: Vec::new() })
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("pikerag", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Answers questions over an organisation's documents, with citations that were checked. `ask` reads and \
                 reasons; `search` finds passages to read; `get_chunk` returns a whole one.",
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
        let parts = context.extensions.get::<Parts>();
        let caller =
            parts.and_then(|parts| parts.extensions.get::<Caller>()).unwrap_or(&self.nobody);
        if !tools::all().iter().any(|tool| tool.name == request.name) {
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`", request.name),
                None,
            ));
        }
        let given = request.arguments.unwrap_or_default();
        let work = self.called(&request.name, given, caller);
        let came = tokio::select! {
            came = work => came,
            // Dropping the future stops the run.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        Ok(match came {
            Ok(result) => result.result().into(),
            // An error of the tool, which the assistant can read and correct; not one of the
            // protocol.
            Err(problem) => {
                CallToolResult::error(vec![ContentBlock::text(json!(problem).to_string())]).into()
            }
        })
    }
}
