//! `search`: chunks, each with how its score came about.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pikerag_knowledge::{AtomKind, Chunk, ChunkId, Filter, Ledger};
use pikerag_methods::Ports;
use pikerag_retrieve::{AtomHit, Hit, Search, atoms};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ask::has_word;
use crate::engine::{SearchLedger, Session};
use crate::error::{EngineError, Needed, Result, Wordless};
use crate::notice::Notice;
use crate::settings::Reranks;

/// Hits, where nobody says how many.
const HITS: usize = 8;

/// What to look for, and how.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// What to look for; at least one word.
    pub query: String,
    /// How to look.
    #[serde(default)]
    pub by: Search,
    /// How many to find; 8, if none is named. A server finds 200 at most.
    #[serde(default)]
    pub k: Option<usize>,
    /// How many of the hits are reranked; 0 for none. Else as it is set.
    #[serde(default)]
    pub rerank: Option<usize>,
    /// What may be seen: conditions such as `folder=law`, `date>=2020`, all of which must fit.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// When what models replied is on record.
    #[serde(skip)]
    pub recorded: Recorded,
}

/// When what models replied is on record: two processes that search for the same words at once may both pay for them if it
/// need not be before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// Before anybody sees a hit.
    #[default]
    First,
    /// Soon: a search does not wait for a process that holds the writer's lock.
    Soon,
}

/// The hits of one search, and what to know of them.
#[derive(Clone, Debug)]
pub struct SearchResponse {
    /// Best first, each chunk once; fewer than `k` where the base holds no more that fit.
    pub hits: Vec<SearchHit>,
    /// What to know besides.
    pub notices: Vec<Notice>,
}

/// A chunk that was found.
#[derive(Clone, Debug, Serialize)]
pub struct SearchHit {
    /// How well it fits; comparable within one search only.
    pub score: f32,
    /// What the score is made of.
    pub parts: BTreeMap<String, f32>,
    /// The atom that led to it.
    pub atom: Option<String>,
    /// The chunk whole, with its source, headings, page and span.
    pub chunk: Chunk,
}

/// Finds chunks.
///
/// # Errors
/// The query holds no word, there is no base, or what the search needs is not at hand.
///
/// # Cancel safety
/// Reads only.
pub async fn search(session: &Session, request: &SearchRequest) -> Result<SearchResponse> {
    if !has_word(&request.query) {
        return Err(EngineError::Wordless(Wordless::Query));
    }
    let base = session.base_for_a_question().await?;
    let seen = session.snapshot(&base, &request.filter).await?;
    let rerank = &session.settings().rerank;
    if request.rerank.is_some_and(|first| 0 < first) && matches!(rerank.by, Reranks::Off) {
        return Err(EngineError::Needs(Needed::Reranker));
    }
    let first = request.rerank.unwrap_or(rerank.first);
    let ledger: Arc<dyn Ledger> = match request.recorded {
        Recorded::First => Arc::new(base.clone()),
        Recorded::Soon => Arc::new(SearchLedger(base.clone())),
    };
    let (ports, notices) = session.ports_reranking(&base, seen, (first, ledger)).await?;
    let (hits, mut atoms) = session.unless_cancelled(look_up(session, &ports, request)).await?;
    let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = ports.base.chunks(&ids).await?;
    let chunks: HashMap<ChunkId, Chunk> =
        chunks.into_iter().map(|chunk| (chunk.id, chunk)).collect();
    atoms.resize(hits.len(), None);
    let hits = hits.into_iter().zip(atoms).filter_map(|(Hit { chunk, score, parts }, atom)| {
        Some(SearchHit { score, parts, atom, chunk: chunks.get(&chunk)?.clone() })
    });
    Ok(SearchResponse { hits: hits.collect(), notices })
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

/// The closest atoms, each with its chunk; where chunks are reranked, each chunk with the closest of its atoms.
async fn by_atoms(ports: &Ports, query: &str, k: usize) -> Result<(Vec<Hit>, Vec<Option<String>>)> {
    let summary = ports.base.summary().await?;
    let kind = match (summary.questions, summary.statements) {
        (0, 0) => AtomKind::Sentence,
        (0, _) => AtomKind::Statement,
        _ => AtomKind::Question,
    };
    let asked = [query.to_owned()];
    let find = |k| atoms(ports.finder(), kind, &asked, k, 0.0, &[]);
    if ports.models.reranker.is_none() {
        let found = find(k).await?;
        let texts = found.iter().map(|hit| Some(hit.atom.text.clone())).collect();
        return Ok((found.iter().map(AtomHit::as_chunk).collect(), texts));
    }
    let mut closest: HashMap<ChunkId, String> = HashMap::new();
    let held = &mut closest;
    let search = |k| async move {
        let mut found = find(k).await?;
        // The chunk is what is read: its first atom stands for the others.
        found.retain(|hit| {
            let is_first = !held.contains_key(&hit.atom.chunk);
            held.entry(hit.atom.chunk).or_insert_with(|| hit.atom.text.clone());
            is_first
        });
        Ok(found.iter().map(AtomHit::as_chunk).collect())
    };
    let hits = ports.best(query, k, search).await?;
    let texts = hits.iter().map(|hit| closest.remove(&hit.chunk)).collect();
    Ok((hits, texts))
}
