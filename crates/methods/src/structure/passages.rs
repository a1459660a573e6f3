//! Finds the passages that may report the things of a schema, best first.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{
    Candidate, Chunk, ChunkId, ChunkKind, ChunksOf, RecordSchema, SourceId, Which,
};
use pikerag_records::asks_model;

use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};

/// Chunks that each search finds.
const FOUND: usize = 64;
/// Best chunks of each search that fit, whatever their words.
const BEST: usize = 4;
/// The most chunks of which each is compared with the words; in a larger base, only those of documents that a search
/// finds.
const MOST_CHUNKS: usize = 20_000;
/// Chunks that are fetched at once.
const PAGE: usize = 512;

/// Candidates of several searches, interleaved: the best of each, then the second of each. Each chunk once.
pub(super) async fn found(
    ports: &Ports,
    searches: &[String],
) -> Result<Vec<Candidate>, SolveError> {
    let mut lists = Vec::new();
    for search in searches {
        let params = RetrievalParams { chunks: FOUND, ..RetrievalParams::auto() };
        lists.push(retrieve(ports, search, params).await?.into_iter());
    }
    let (mut all, mut seen): (Vec<Candidate>, _) = (Vec::new(), BTreeSet::new());
    loop {
        let next: Vec<Candidate> = lists.iter_mut().filter_map(Iterator::next).collect();
        if next.is_empty() {
            return Ok(all);
        }
        all.extend(next.into_iter().filter(|candidate| seen.insert(candidate.chunk)));
    }
}

/// The chunks that fit a schema: those that contain one of its words, and the best ones of each search. Those that searches
/// found come first, then the others of their documents, then the rest of the base in its order.
pub(super) async fn fitting(
    ports: &Ports,
    schema: &RecordSchema,
    searches: &[String],
) -> Result<Vec<ChunkId>, SolveError> {
    let found = found(ports, searches).await?;
    let ranked: Vec<ChunkId> = found.iter().map(|candidate| candidate.chunk).collect();
    let best = ranked.iter().take(BEST * searches.len()).copied().collect::<BTreeSet<_>>();
    let sources: Vec<SourceId> =
        ports.base.sources(Which::All).await?.into_iter().map(|source| source.id).collect();
    let hits = ports.base.chunks(&ranked).await?;
    let mut documents: Vec<SourceId> = Vec::new();
    for chunk in &hits {
        if !documents.contains(&chunk.source) {
            documents.push(chunk.source);
        }
    }
    if ports.base.state().await?.chunks <= MOST_CHUNKS {
        let hit: BTreeSet<SourceId> = documents.iter().copied().collect();
        documents.extend(sources.into_iter().filter(|source| !hit.contains(source)));
    }
    let of_documents: Vec<ChunkId> = ports
        .base
        .chunks_of(ChunksOf::Sources(&documents), MOST_CHUNKS)
        .await?
        .into_iter()
        .flat_map(|list| list.chunks)
        .collect();
    let place: HashMap<ChunkId, usize> =
        ranked.iter().enumerate().map(|(place, chunk)| (*chunk, place)).collect();
    let mut fitting: Vec<ChunkId> = Vec::new();
    let fits = |chunk: &Chunk| match best.contains(&chunk.id) || schema.words.is_empty() {
        true => is_read(chunk),
        false => asks_model(schema, chunk),
    };
    // Without words, only what searches find.
    let rest: &[ChunkId] = if schema.words.is_empty() { &ranked } else { &of_documents };
    for page in rest.chunks(PAGE) {
        let chunks = ports.base.chunks(page).await?;
        fitting.extend(chunks.iter().filter(|chunk| fits(chunk)).map(|chunk| chunk.id));
    }
    // The others keep their order.
    fitting.sort_by_key(|chunk| place.get(chunk).copied().unwrap_or(usize::MAX));
    Ok(fitting)
}

/// Whether a model can read a chunk.
pub(super) fn is_read(chunk: &Chunk) -> bool {
    !chunk.hidden && matches!(chunk.kind, ChunkKind::Text | ChunkKind::Table)
}
