//! Carries out the calls of the tools.

use pikerag_engine::knowledge::{Check, Chunk, ChunkId};
use pikerag_engine::{AskRequest, AskResponse, GraphAroundRequest, SearchRequest, Session};
use serde_json::{Value, json};

use super::links::Target;
use super::reports::Reports;
use super::result::ToolResult;
use super::{Mcp, arguments, passages};
use crate::api::look::no_such;
use crate::api::search::found;
use crate::app::Caller;
use crate::compat::words::line;
use crate::problem::Problem;
use crate::streams::{Drafts, Happened, Underway, Wanted, answered, broken};

/// The number of sources in one list.
const PAGE: usize = 100;

impl Mcp {
    pub(super) async fn ask(
        &self,
        (caller, reports): (&Caller, &Reports),
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
        let wanted = Wanted::Ask(request);
        let underway = Underway::begin(&self.app, place, session.clone(), wanted, Drafts::LeftOut);
        let came = answered(*followed(underway, reports).await?, reports.language())?;
        let answer = came.run.answer.as_ref().ok_or_else(broken)?;
        let targets: Vec<Target<'_>> = answer
            .citations
            .iter()
            .map(|citation| Target {
                chunk: citation.chunk,
                uri: &citation.uri,
                page: citation.page,
            })
            .collect();
        let urls = self.links.to(&self.app, (base, &session), &targets).await?;
        let citations = answer.citations.iter().zip(&urls).map(|(citation, url)| {
            let mut shown = json!({
                "number": citation.number, "title": citation.title, "uri": citation.uri, "page": citation.page,
                "quote": citation.quote, "stands": citation.check == Check::Verified, "chunk": citation.chunk,
            });
            insert(&mut shown, "url", url.as_ref());
            insert(&mut shown, "replaced_by", citation.replaced_by.as_ref());
            shown
        });
        let citations: Vec<Value> = citations.collect();
        let usage = came.run.cost.spent.usage();
        let content = json!({
            "answer": answer.text, "rationale": answer.rationale, "refused": answer.refused,
            "missing": answer.missing, "citations": citations, "run": came.run.id, "method": came.run.method,
            "calls": came.run.cost.spent.calls(), "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        });
        let titles = answer.citations.iter().map(|citation| citation.title.clone());
        Ok(ToolResult::linked(content, urls.into_iter().zip(titles).collect()))
    }

    /// Passages in two forms: `hits` with their text, `results` for `fetch`. The result is one
    /// block of text, because `ChatGPT` reads no other.
    pub(super) async fn search(
        &self,
        base: &str,
        session: &Session,
        given: arguments::Search,
    ) -> Result<ToolResult, Problem> {
        let arguments::Search { query, k, filter } = given;
        let filter = filter.unwrap_or_default();
        let request = SearchRequest { query, k, filter, ..SearchRequest::default() };
        let found = found(&self.app, base, session, &request).await?;
        let targets: Vec<Target<'_>> = found.hits.iter().map(|hit| target(&hit.chunk)).collect();
        let urls = self.links.to(&self.app, (base, session), &targets).await?;
        let (mut hits, mut results) = (Vec::new(), Vec::new());
        for (hit, url) in found.hits.iter().zip(&urls) {
            let mut shown = passage(&hit.chunk, url.as_ref());
            insert(&mut shown, "score", Some(&hit.score));
            insert(&mut shown, "metadata", Some(&hit.metadata));
            hits.push(shown);
            let (id, title) = (hit.chunk.id, hit.chunk.full_title());
            // An empty address is none: clients expect the field.
            let url = url.as_deref().unwrap_or_default();
            results.push(json!({ "id": id, "title": title, "url": url }));
        }
        Ok(ToolResult::new(json!({ "hits": hits, "results": results })))
    }

    pub(super) async fn fetch(
        &self,
        base: &str,
        session: &Session,
        given: arguments::Fetch,
    ) -> Result<ToolResult, Problem> {
        let chunk = chunk_of(session, &given.id).await?;
        let (source, chunks) = pikerag_engine::source(session, chunk.source).await?;
        let (text, range) = match passages::around(&chunks, chunk.id) {
            Some(read) => {
                let (first, last) = read.passages;
                (read.text, format!("{first} to {last} of {}", chunks.len()))
            }
            // The document has changed in the meantime, or has too many passages.
            None => (chunk.reading_text().into_owned(), "1".to_owned()),
        };
        let url = self.link(base, session, &chunk).await?;
        let metadata = passages::metadata(&source, &chunk, &range);
        Ok(ToolResult::new(json!({
            "id": chunk.id, "title": chunk.full_title(), "text": text, "url": url.unwrap_or_default(),
            "metadata": metadata,
        })))
    }

    pub(super) async fn chunk(
        &self,
        base: &str,
        session: &Session,
        given: arguments::GetChunk,
    ) -> Result<ToolResult, Problem> {
        let chunk = chunk_of(session, &given.chunk).await?;
        let url = self.link(base, session, &chunk).await?;
        let content = passage(&chunk, url.as_ref());
        Ok(ToolResult::linked(content, vec![(url, chunk.full_title())]))
    }

    pub(super) async fn neighbours(
        &self,
        session: Session,
        given: arguments::GraphNeighbours,
    ) -> Result<ToolResult, Problem> {
        let (of, depth) = (given.of, given.depth.unwrap_or(1));
        self.app.within(&[&of], &[])?;
        if !(1..=3).contains(&depth) {
            return Err(Problem::bad_request("`depth` must be 1, 2 or 3")
                .in_chinese("`depth` 必须是 1、2 或 3"));
        }
        let request = GraphAroundRequest { of, depth, most: usize::MAX };
        let around = pikerag_engine::graph_around(&session, request).await?;
        Ok(ToolResult::new(json!(around)))
    }

    async fn link(
        &self,
        base: &str,
        session: &Session,
        chunk: &Chunk,
    ) -> Result<Option<String>, Problem> {
        let links = self.links.to(&self.app, (base, session), &[target(chunk)]).await?;
        Ok(links.into_iter().next().flatten())
    }
}

/// Waits for a run, and reports its steps.
async fn followed(mut underway: Underway, reports: &Reports) -> Result<Box<AskResponse>, Problem> {
    while let Some(happened) = underway.next().await {
        match happened {
            Happened::Event(event) => {
                if let Some(line) = line(&event, reports.language()) {
                    reports.step(line).await;
                }
            }
            Happened::Ended(came) => return came,
            Happened::Began(_) | Happened::Calls(_) | Happened::Draft(_) => {}
        }
    }
    Err(broken())
}

async fn chunk_of(session: &Session, name: &str) -> Result<Chunk, Problem> {
    let id: ChunkId = name.parse().map_err(|_| no_such("chunk", name))?;
    Ok(pikerag_engine::chunk(session, id).await?)
}

fn target(chunk: &Chunk) -> Target<'_> {
    Target { chunk: chunk.id, uri: &chunk.uri, page: chunk.page }
}

fn passage(chunk: &Chunk, url: Option<&String>) -> Value {
    let mut shown = json!({
        "chunk": chunk.id, "title": chunk.full_title(), "uri": chunk.uri, "page": chunk.page,
        "text": chunk.reading_text(),
    });
    insert(&mut shown, "url", url);
    shown
}

/// Adds a field to an object, if it has a value.
fn insert(object: &mut Value, name: &str, value: Option<&impl serde::Serialize>) {
    if let (Some(value), Some(fields)) = (value, object.as_object_mut()) {
        fields.insert(name.to_owned(), json!(value));
    }
}

pub(super) async fn sources(
    session: &Session,
    given: arguments::ListSources,
) -> Result<ToolResult, Problem> {
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
    Ok(ToolResult::new(json!({ "sources": page, "left": left })))
}
