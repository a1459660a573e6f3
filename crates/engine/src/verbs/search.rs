//! Searches chunks, each with the parts of its score (`search`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pikerag_knowledge::{Chunk, ChunkId, Filter, Ledger, SourceId, Which};
use pikerag_methods::Ports;
use pikerag_retrieve::{AtomHit, Finder, Hit, Search, SimilarityBy, closest_atoms, similarities};
use pikerag_store::on_one_thread;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ask::has_word;
use crate::engine::{SearchLedger, Session};
use crate::error::{EngineError, Needed, NoWords, Result};
use crate::notice::Notice;
use crate::settings::Reranks;
use crate::uploads::FOLDER_ENDING;

/// The default number of hits.
const HITS: usize = 8;

/// A query, and the way to search.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// The query; at least one word.
    pub query: String,
    /// The kind of search.
    #[serde(default)]
    pub by: Search,
    /// The number of hits; 8 by default. A server finds at most 200.
    #[serde(default)]
    pub k: Option<usize>,
    /// The number of hits to rerank; 0 for none. By default as in the settings.
    #[serde(default)]
    pub rerank: Option<usize>,
    /// The documents to search: conditions such as `folder=law`, `date>=2020`, all of which must
    /// hold.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// The time at which model replies are recorded.
    #[serde(skip)]
    pub recorded: Recorded,
}

/// The time at which model replies are recorded. With `Soon`, two processes that search for the
/// same words at once may both pay for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// Before the hits are returned.
    #[default]
    First,
    /// Soon afterwards: the search does not wait for a process that holds the writer's lock.
    Soon,
}

/// The hits of one search, with notices.
#[derive(Clone, Debug)]
pub struct SearchResponse {
    /// The hits, best first, each chunk once; fewer than `k` if no more chunks fit.
    pub hits: Vec<SearchHit>,
    /// The measure of the hits' similarity. By words for a search by words, without an embedder, or
    /// if the embedder does not know the language of the query.
    pub similarity_by: SimilarityBy,
    /// Notices about the search.
    pub notices: Vec<Notice>,
}

/// A chunk that was found.
#[derive(Clone, Debug, Serialize)]
pub struct SearchHit {
    /// The score; comparable only within one search.
    pub score: f32,
    /// How similar the chunk is to the query, whatever else was found: comparable between searches
    /// of one base by the same measure. By meaning a cosine from −1 to 1, by words from 0 to 1.
    pub similarity: f32,
    /// The parts of the score.
    pub parts: BTreeMap<String, f32>,
    /// The atom that led to it.
    pub atom: Option<String>,
    /// The whole chunk, with its source, headings, page and span.
    pub chunk: Chunk,
    /// The metadata of its document; empty if it has none.
    pub metadata: BTreeMap<String, String>,
    /// The name under which the document's file was uploaded; none for a file from this machine.
    pub sent_as: Option<String>,
}

/// Finds chunks.
///
/// # Errors
/// The query contains no word, there is no base, or a model that the search needs is missing.
///
/// # Cancel safety
/// Reads only.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::parts::Search;
/// use pikerag_engine::{SearchRequest, search};
///
/// let request = SearchRequest {
///     query: "calibration of pressure sensors".to_owned(),
///     by: Search::Hybrid,
///     k: Some(5),
///     ..Default::default()
/// };
/// for hit in search(session, &request).await?.hits {
///     println!("{:.3} {}", hit.score, hit.chunk.full_title());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn search(session: &Session, request: &SearchRequest) -> Result<SearchResponse> {
    let (session, request) = (session.clone(), request.clone());
    on_one_thread(async move { Box::pin(searched(&session, &request)).await }).await?
}

async fn searched(session: &Session, request: &SearchRequest) -> Result<SearchResponse> {
    if !has_word(&request.query) {
        return Err(EngineError::NoWords(NoWords::Query));
    }
    let base = session.base_for_a_question().await?;
    let seen = session.snapshot(&base, &request.filter).await?;
    let rerank = &session.settings().rerank;
    if request.rerank.is_some_and(|first| 0 < first) && matches!(rerank.by, Reranks::Off) {
        return Err(EngineError::Needs(Needed::Reranker));
    }
    let first = request.rerank.unwrap_or(rerank.first);
    let ledger: Arc<dyn Ledger> = match request.recorded {
        Recorded::First => base.arc(),
        Recorded::Soon => Arc::new(SearchLedger(base.clone())),
    };
    let (ports, notices) = session.ports_reranking(&base, seen, (first, ledger)).await?;
    // The search and the similarity of its hits need the same vector.
    let ports = session.with_memory(&base, ports, &request.filter).await?;
    let finding = async {
        let (hits, atoms) = look_up(session, &ports, request).await?;
        let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
        let finder = match request.by {
            Search::Words => Finder { embedder: None, ..ports.finder() },
            _ => ports.finder(),
        };
        let similar = similarities(finder, &request.query, &ids).await?;
        Ok::<_, EngineError>((hits, atoms, ids, similar))
    };
    let (hits, mut atoms, ids, similar) = session.unless_cancelled(finding).await?;
    let chunks = ports.base.chunks(&ids).await?;
    let sources: BTreeSet<SourceId> = chunks.iter().map(|chunk| chunk.source).collect();
    let sources: Vec<SourceId> = sources.into_iter().collect();
    let sources = ports.base.sources(Which::Of(&sources)).await?;
    let metadata: HashMap<SourceId, BTreeMap<String, String>> =
        sources.into_iter().map(|source| (source.id, source.metadata)).collect();
    // Most searches find no upload, and need not read the root.
    let may_be_uploaded = |chunk: &Chunk| chunk.uri.contains(FOLDER_ENDING);
    let uploads = match chunks.iter().any(may_be_uploaded) {
        true => session.upload_names(&base).await?,
        false => None,
    };
    let chunks: HashMap<ChunkId, Chunk> =
        chunks.into_iter().map(|chunk| (chunk.id, chunk)).collect();
    atoms.resize(hits.len(), None);
    let hits = hits.into_iter().zip(atoms).zip(similar.values);
    let hits = hits.filter_map(|((Hit { chunk, score, parts }, atom), similarity)| {
        let chunk = chunks.get(&chunk)?.clone();
        let metadata = metadata.get(&chunk.source).cloned().unwrap_or_default();
        let sent_as = uploads.as_ref().and_then(|uploads| uploads.of_document(&chunk.uri));
        Some(SearchHit { score, similarity, parts, atom, chunk, metadata, sent_as })
    });
    Ok(SearchResponse { hits: hits.collect(), similarity_by: similar.by, notices })
}

/// The hits, and the atoms that led to them.
async fn look_up(
    session: &Session,
    ports: &Ports,
    request: &SearchRequest,
) -> Result<(Vec<Hit>, Vec<Option<String>>)> {
    let finder = ports.finder();
    let (query, k) = (request.query.as_str(), request.k.unwrap_or(HITS));
    let weights = session.settings().searches();
    let by = request.by;
    match by {
        Search::Atoms => return by_atoms(ports, query, k).await,
        Search::Meaning if ports.embedder.is_none() => {
            return Err(EngineError::Needs(Needed::Embedder));
        }
        _ => {}
    }
    let hits =
        ports.best(query, k, |k| pikerag_retrieve::search(finder, by, query, k, weights)).await?;
    Ok((hits, Vec::new()))
}

/// The closest atoms, each with its chunk; if chunks are reranked, each chunk with its closest
/// atom.
async fn by_atoms(ports: &Ports, query: &str, k: usize) -> Result<(Vec<Hit>, Vec<Option<String>>)> {
    if ports.models.reranker.is_none() {
        let found = closest_atoms(ports.finder(), query, k, 0.0).await?;
        let texts = found.iter().map(|hit| Some(hit.atom.text.clone())).collect();
        return Ok((found.iter().map(AtomHit::as_chunk).collect(), texts));
    }
    let mut first: HashMap<ChunkId, String> = HashMap::new();
    let held = &mut first;
    let search = |k| async move {
        let mut found = closest_atoms(ports.finder(), query, k, 0.0).await?;
        // The reranker reads the chunk, so its first atom represents the others.
        found.retain(|hit| {
            let is_first = !held.contains_key(&hit.atom.chunk);
            held.entry(hit.atom.chunk).or_insert_with(|| hit.atom.text.clone());
            is_first
        });
        Ok(found.iter().map(AtomHit::as_chunk).collect())
    };
    let hits = ports.best(query, k, search).await?;
    let texts = hits.iter().map(|hit| first.remove(&hit.chunk)).collect();
    Ok((hits, texts))
}
