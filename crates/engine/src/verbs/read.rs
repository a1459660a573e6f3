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
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> Result<(), Box<dyn std::error::Error>> {
/// use pikerag_engine::knowledge::Filter;
///
/// let filter = Filter { conditions: vec!["date>=2020".parse()?] };
/// for source in pikerag_engine::sources(session, &filter).await? {
///     println!("{} {}: {}", source.id, source.uri, source.title);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn sources(session: &Session, filter: &Filter) -> Result<Vec<Source>> {
    let seen = session.snapshot(&session.base_in_part().await?, filter).await?;
    Ok(seen.sources(Which::All).await?)
}

/// These documents, in the given order; those that do not exist or may not be seen are omitted.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::SourceId;
///
/// let ids = [SourceId::of("handbook/sensor.md"), SourceId::of("handbook/oil.md")];
/// let found = pikerag_engine::sources_by_id(session, &ids).await?;
/// println!("{} of {} documents exist", found.len(), ids.len());
/// # Ok(())
/// # }
/// ```
pub async fn sources_by_id(session: &Session, ids: &[SourceId]) -> Result<Vec<Source>> {
    let seen = session.snapshot(&session.base_in_part().await?, &Filter::default()).await?;
    Ok(seen.sources(Which::Of(ids)).await?)
}

/// One document, with its searchable chunks in reading order.
///
/// # Errors
/// [`EngineError::NotFound`] if the document does not exist or may not be seen.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::SourceId;
///
/// let id = SourceId::of("handbook/sensor.md");
/// let (source, chunks) = pikerag_engine::source(session, id).await?;
/// println!("{} has {} chunks", source.title, chunks.len());
/// # Ok(())
/// # }
/// ```
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
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, knowledge::ChunkId};
/// # async fn f(session: &Session, id: ChunkId) -> Result<()> {
/// let chunk = pikerag_engine::chunk(session, id).await?;
/// println!("{}, page {:?}\n{}", chunk.full_title(), chunk.page, chunk.reading_text());
/// # Ok(())
/// # }
/// ```
pub async fn chunk(session: &Session, id: ChunkId) -> Result<Chunk> {
    let seen = session.snapshot(&session.base_in_part().await?, &Filter::default()).await?;
    let chunk = seen.chunks(&[id]).await?.pop();
    chunk.ok_or_else(|| EngineError::NotFound { what: Missing::Chunk, name: id.to_string() })
}
