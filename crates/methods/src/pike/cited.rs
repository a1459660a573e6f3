//! Builds the answers that the program computes, with citations of the places that they rest on.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Answer, Check, Chunk, ChunkId, Citation, Context, Event, Span, Worked, WrittenBy,
};
use pikerag_reason::columns_of;

use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Places that are cited, at most.
const CITED: usize = 40;

/// An answer that the program computed from `places`; the trace gets its text.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn computed_answer(
    ports: &Ports,
    run: &mut Run,
    (text, rationale): (String, String),
    places: impl IntoIterator<Item = (ChunkId, Span)>,
    worked: Worked,
) -> Result<Answer, SolveError> {
    let (context, citations) = cited(ports, places).await?;
    run.push(Event::Answered { answer: text.clone() });
    Ok(Answer {
        text,
        rationale,
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::Computation,
        citations,
        context,
        quotes: None,
        worked: Some(Box::new(worked)),
    })
}

/// The citations of the first places, in order, with the chunks that contain them. A place whose chunk is gone is left out.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn cited(
    ports: &Ports,
    places: impl IntoIterator<Item = (ChunkId, Span)>,
) -> Result<(Context, Vec<Citation>), SolveError> {
    let places: Vec<(ChunkId, Span)> = places.into_iter().take(CITED).collect();
    let mut ids: Vec<ChunkId> = Vec::new();
    for (chunk, _) in &places {
        if !ids.contains(chunk) {
            ids.push(*chunk);
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
    for (id, span) in places {
        let Some(chunk) = chunks.get(&id) else { continue };
        let start = span.start.checked_sub(chunk.span.start);
        let end = span.end.checked_sub(chunk.span.start);
        let quote = start.zip(end).and_then(|(start, end)| chunk.text.get(start..end));
        let boxes = chunk.boxes.iter().filter_map(|line| line.within(span)).collect();
        citations.push(Citation {
            number: citations.len() + 1,
            chunk: id,
            uri: chunk.address_of(span),
            title: chunk.full_title(),
            page: chunk.page,
            span,
            boxes,
            quote: quote.unwrap_or_default().to_owned(),
            columns: columns_of(chunk, span),
            best: None,
            check: if quote.is_some() { Check::Verified } else { Check::NotFound },
            replaced_by: None,
            corrected: false,
        });
    }
    pikerag_reason::verify(ports.base.as_ref(), &context, &mut citations).await?;
    Ok((context, citations))
}
