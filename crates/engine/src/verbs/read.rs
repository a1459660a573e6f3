//! Reads documents and their chunks from the base.

use pikerag_knowledge::{Chunk, ChunkId, Filter, Source, SourceId, Which};

use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};

/// The most chunks of one document in a list.
const CHUNKS: usize = 10_000;

/// The documents that the filter admits, by URI.
///
/// # Errors
/// There is no base, or it cannot be read.
pub async fn sources(session: &Session, filter: &Filter) -> Result<Vec<Source>> {
    let seen = session.snapshot(&session.base_in_part().await?, filter).await?;
    Ok(seen.sources(Which::All).await?)
}

/// These documents, in the given order; those that do not exist or may not be seen are omitted.
///
/// # Errors
/// There is no base, or it cannot be read.
pub async fn sources_by_id(session: &Session, ids: &[SourceId]) -> Result<Vec<Source>> {
    let seen = session.snapshot(&session.base_in_part().await?, &Filter::default()).await?;
    Ok(seen.sources(Which::Of(ids)).await?)
}

/// One document, with its searchable chunks in reading order.
///
/// # Errors
/// [`EngineError::NotFound`] if the document does not exist or may not be seen.
pub async fn source(session: &Session, id: SourceId) -> Result<(Source, Vec<Chunk>)> {
    let seen = session.snapshot(&session.base_in_part().await?, &Filter::default()).await?;
    let source = seen.sources(Which::Of(&[id])).await?.pop();
    let source = source
        .ok_or_else(|| EngineError::NotFound { what: Missing::Node, name: id.to_string() })?;
    Ok((source, seen.first_chunks(id, CHUNKS).await?))
}

/// One chunk.
///
/// # Errors
/// [`EngineError::NotFound`] if the chunk does not exist or may not be seen.
pub async fn chunk(session: &Session, id: ChunkId) -> Result<Chunk> {
    let seen = session.snapshot(&session.base_in_part().await?, &Filter::default()).await?;
    let chunk = seen.chunks(&[id]).await?.pop();
    chunk.ok_or_else(|| EngineError::NotFound { what: Missing::Chunk, name: id.to_string() })
}
