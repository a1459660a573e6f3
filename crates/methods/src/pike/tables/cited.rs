//! Cites the rows that an answer rests on.

use std::collections::BTreeMap;

use pikerag_knowledge::data::RowOrigin;
use pikerag_knowledge::{Check, Chunk, ChunkId, Citation, Context};

use crate::ports::{Ports, SolveError};

/// Rows of tables that are cited.
const CITED: usize = 40;

/// Citations of rows, with the chunks that hold them.
pub(super) async fn cited(
    ports: &Ports,
    origins: &[RowOrigin],
) -> Result<(Context, Vec<Citation>), SolveError> {
    let mut places: Vec<RowOrigin> = Vec::new();
    for origin in origins {
        if CITED <= places.len() {
            break;
        }
        if !places.contains(origin) {
            places.push(*origin);
        }
    }
    let mut ids: Vec<ChunkId> = Vec::new();
    for place in &places {
        if !ids.contains(&place.chunk) {
            ids.push(place.chunk);
        }
    }
    let chunks: BTreeMap<ChunkId, Chunk> =
        ports.base.chunks(&ids).await?.into_iter().map(|chunk| (chunk.id, chunk)).collect();
    let mut context = Context::default();
    for id in &ids {
        if let Some(chunk) = chunks.get(id) {
            context.add(1, chunk.clone());
        }
    }
    let mut citations = Vec::new();
    for place in &places {
        let Some(chunk) = chunks.get(&place.chunk) else { continue };
        let start = place.span.start.checked_sub(chunk.span.start);
        let end = place.span.end.checked_sub(chunk.span.start);
        let quote = start.zip(end).and_then(|(start, end)| chunk.text.get(start..end));
        let boxes = chunk.boxes.iter().filter_map(|line| line.within(place.span)).collect();
        citations.push(Citation {
            number: citations.len() + 1,
            chunk: place.chunk,
            uri: chunk.uri.clone(),
            title: chunk.full_title(),
            page: chunk.page,
            span: place.span,
            boxes,
            quote: quote.unwrap_or_default().to_owned(),
            check: if quote.is_some() { Check::Verified } else { Check::NotFound },
        });
    }
    pikerag_reason::verify(ports.base.as_ref(), &context, &mut citations).await?;
    Ok((context, citations))
}
