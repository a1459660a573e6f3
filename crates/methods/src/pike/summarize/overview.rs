//! Replaces passages beyond the token limit by the summary that a model wrote at indexing, of the document or
//! of the passage (PIKE-RAG §5.3.1). A point from a summary is traced back to the source's words.

use std::collections::BTreeSet;

use crate::context::{Organized, tokens_of};
use pikerag_knowledge::{Chunk, ChunkId, ChunkKind, LeftOut, SourceId, StoreError, Which};
use pikerag_language::{query_terms, sentences};
use pikerag_reason::Claim;

use crate::ports::Ports;

/// Chunks of a document that are searched for words that support a point.
const SEARCHED: usize = 200;
/// The share of a point's terms that a sentence must hold to support it.
const SUPPORT: f64 = 0.5;

/// A summary in place of passages that are not read, in the form of a passage.
pub(super) struct Overview {
    /// As prompts show it: the summary in place of the text. It never becomes part of a context.
    pub shown: Chunk,
    /// The passage that it summarizes; none where it summarizes the whole document.
    of: Option<ChunkId>,
}

/// The summaries of passages beyond the limit, in the order given, as far as they fit into `tokens`; and how
/// many passages they represent.
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
    let summary_of = |chunk: &Chunk| {
        let source = sources.iter().find(|source| source.id == chunk.source);
        let whole =
            source.and_then(|source| source.summary.clone()).filter(|summary| !summary.is_empty());
        let own = chunk.summary.clone().filter(|_| chunk.kind != ChunkKind::Figure);
        whole.map(|summary| (None, summary)).or(own.map(|summary| (Some(chunk.id), summary)))
    };
    let (mut overviews, mut n_represented, mut budget) = (Vec::new(), 0, tokens);
    let mut whole: BTreeSet<SourceId> = BTreeSet::new();
    for chunk in given.iter().filter(|chunk| without.contains(&chunk.id)) {
        if whole.contains(&chunk.source) {
            n_represented += 1;
            continue;
        }
        let Some((of, text)) = summary_of(chunk) else { continue };
        let headings = if of.is_none() { Vec::new() } else { chunk.headings.clone() };
        let shown = Chunk {
            text,
            headings,
            table: None,
            summary: None,
            boxes: Vec::new(),
            ..chunk.clone()
        };
        let Some(left) = budget.checked_sub(tokens_of(&shown)) else { continue };
        budget = left;
        n_represented += 1;
        if of.is_none() {
            whole.insert(chunk.source);
        }
        overviews.push(Overview { shown, of });
    }
    Ok((overviews, n_represented))
}

/// The sentence that supports a point, with its passage, from the passages that an overview summarizes; none
/// where no sentence does.
pub(super) async fn supporting_sentence(
    ports: &Ports,
    overview: &Overview,
    point: &str,
) -> Result<Option<(Chunk, Claim)>, StoreError> {
    let chunks = match overview.of {
        Some(id) => ports.base.chunks(&[id]).await?,
        None => ports.base.first_chunks(overview.shown.source, SEARCHED).await?,
    };
    let terms: BTreeSet<String> = query_terms(point).into_iter().collect();
    let mut best: Option<(f64, &Chunk, &str)> = None;
    for chunk in chunks.iter().filter(|chunk| chunk.table.is_none()) {
        for sentence in sentences(&chunk.text).into_iter().filter_map(|at| chunk.text.get(at)) {
            let own: BTreeSet<String> = query_terms(sentence).into_iter().collect();
            let share = terms.intersection(&own).count() as f64 / terms.len().max(1) as f64;
            if SUPPORT <= share && best.is_none_or(|(held, ..)| held < share) {
                best = Some((share, chunk, sentence.trim()));
            }
        }
    }
    Ok(best.map(|(_, chunk, quote)| {
        (chunk.clone(), Claim { chunk: chunk.id, quote: quote.to_owned() })
    }))
}
