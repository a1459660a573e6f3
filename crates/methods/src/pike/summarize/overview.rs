//! What of the passages for which there is no room? What a model said of them when they were indexed: of a document its
//! summary, of a passage its own (PIKE-RAG §5.3.1). A point that comes of it is led back to the source's words.

use std::collections::BTreeSet;

use crate::context::{Organized, tokens_of};
use pikerag_knowledge::{Chunk, ChunkId, ChunkKind, LeftOut, SourceId, StoreError, Which};
use pikerag_language::{query_terms, sentences};
use pikerag_reason::Claim;

use crate::ports::Ports;

/// Chunks of a document that are looked through for the words that bear a point out.
const LOOKED_THROUGH: usize = 200;
/// The share of a point's terms that a sentence must hold to bear it out.
const BORNE_OUT: f64 = 0.5;

/// What stands for passages that are not read: a summary, as a passage to be shown.
pub(super) struct Overview {
    /// As prompts show it: the summary in place of the text. It never becomes part of a context.
    pub shown: Chunk,
    /// The passage that it tells of; none where it tells of the whole document.
    of: Option<ChunkId>,
}

/// The summaries of what had no room, in the order given, as far as so many tokens hold them; and how many passages they
/// stand for.
pub(super) async fn overviews(
    ports: &Ports,
    given: &[Chunk],
    organized: &Organized,
    tokens: u64,
) -> Result<(Vec<Overview>, usize), StoreError> {
    let without = organized.left_out.iter().filter(|(_, why)| *why == LeftOut::NoRoom);
    let without: BTreeSet<ChunkId> = without.map(|(id, _)| *id).collect();
    let read: BTreeSet<SourceId> = organized.kept.iter().map(|chunk| chunk.source).collect();
    let unread: Vec<SourceId> = given.iter().map(|chunk| chunk.source).collect();
    let unread: BTreeSet<SourceId> = unread.into_iter().filter(|id| !read.contains(id)).collect();
    let sources = ports.base.sources(Which::Of(&unread.into_iter().collect::<Vec<_>>())).await?;
    let said_of = |chunk: &Chunk| {
        let source = sources.iter().find(|source| source.id == chunk.source);
        let whole =
            source.and_then(|source| source.summary.clone()).filter(|said| !said.is_empty());
        let own = chunk.summary.clone().filter(|_| chunk.kind != ChunkKind::Figure);
        whole.map(|said| (None, said)).or(own.map(|said| (Some(chunk.id), said)))
    };
    let (mut told, mut stands_for, mut room) = (Vec::new(), 0, tokens);
    let mut whole: BTreeSet<SourceId> = BTreeSet::new();
    for chunk in given.iter().filter(|chunk| without.contains(&chunk.id)) {
        if whole.contains(&chunk.source) {
            stands_for += 1;
            continue;
        }
        let Some((of, text)) = said_of(chunk) else { continue };
        let headings = if of.is_none() { Vec::new() } else { chunk.headings.clone() };
        let shown = Chunk {
            text,
            headings,
            table: None,
            summary: None,
            boxes: Vec::new(),
            ..chunk.clone()
        };
        let Some(left) = room.checked_sub(tokens_of(&shown)) else { continue };
        room = left;
        stands_for += 1;
        if of.is_none() {
            whole.insert(chunk.source);
        }
        told.push(Overview { shown, of });
    }
    Ok((told, stands_for))
}

/// The sentence of what an overview tells of that bears a point out, with its passage; none where no sentence does.
pub(super) async fn borne_out(
    ports: &Ports,
    overview: &Overview,
    point: &str,
) -> Result<Option<(Chunk, Claim)>, StoreError> {
    let chunks = match overview.of {
        Some(id) => ports.base.chunks(&[id]).await?,
        None => ports.base.first_chunks(overview.shown.source, LOOKED_THROUGH).await?,
    };
    let terms: BTreeSet<String> = query_terms(point).into_iter().collect();
    let mut best: Option<(f64, &Chunk, &str)> = None;
    for chunk in chunks.iter().filter(|chunk| chunk.table.is_none()) {
        for sentence in sentences(&chunk.text).into_iter().filter_map(|at| chunk.text.get(at)) {
            let own: BTreeSet<String> = query_terms(sentence).into_iter().collect();
            let share = terms.intersection(&own).count() as f64 / terms.len().max(1) as f64;
            if BORNE_OUT <= share && best.is_none_or(|(held, ..)| held < share) {
                best = Some((share, chunk, sentence.trim()));
            }
        }
    }
    Ok(best.map(|(_, chunk, quote)| {
        (chunk.clone(), Claim { chunk: chunk.id, quote: quote.to_owned() })
    }))
}
