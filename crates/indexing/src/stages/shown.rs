//! Collects the visible text around a table or figure for a prompt.

use pikerag_knowledge::{Chunk, ChunkId, ChunksOf, Image, KnowledgeBase, SourceId, StoreError};
use pikerag_prompt::{one_line, quiet_headings};

use crate::stage::{NewChunk, Piece};

/// The most characters of text before, and after, a table or figure in a prompt.
const AROUND: usize = 300;

/// A chunk and the text around it.
pub(crate) struct Shown {
    pub(crate) chunk: Chunk,
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) image: Option<Image>,
}

impl Piece for Shown {
    fn label(&self) -> String {
        self.chunk.uri.clone()
    }

    fn chunk(&self) -> Option<ChunkId> {
        Some(self.chunk.id)
    }
}

impl Shown {
    pub(crate) fn of_new(new: &NewChunk<'_>) -> Self {
        let (before, after) = around(new.text, new.chunk);
        Self { chunk: new.chunk.clone(), before, after, image: new.image.cloned() }
    }

    /// The inputs of a prompt: title, surrounding text, and under `name` the chunk's own text.
    pub(crate) fn inputs(&self, name: &'static str, own: &str) -> [(&'static str, String); 3] {
        let around = [self.before.as_str(), "…", self.after.as_str()].join("\n");
        [
            ("title", quiet_headings(&one_line(&self.chunk.full_title()))),
            ("around", quiet_headings(&around)),
            (name, quiet_headings(own.trim())),
        ]
    }
}

/// These chunks, in order, with the text around them.
pub(crate) async fn shown(
    base: &dyn KnowledgeBase,
    ids: &[ChunkId],
) -> Result<Vec<Shown>, StoreError> {
    let mut chunks: Vec<(usize, Chunk)> = base.chunks(ids).await?.into_iter().enumerate().collect();
    // Sorted by document, so that each text is read once.
    chunks.sort_by_key(|(place, chunk)| (chunk.source, *place));
    let mut text = (None, String::new());
    let mut all = Vec::with_capacity(chunks.len());
    for (place, chunk) in chunks {
        if text.0 != Some(chunk.source) {
            text = (Some(chunk.source), visible_text(base, chunk.source).await?);
        }
        let (before, after) = around(&text.1, &chunk);
        all.push((place, Shown { chunk, before, after, image: None }));
    }
    all.sort_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, shown)| shown).collect())
}

/// A document's text with white space in place of hidden parts, because hidden words must not instruct a
/// model through the text around a table.
async fn visible_text(base: &dyn KnowledgeBase, source: SourceId) -> Result<String, StoreError> {
    let ids = base
        .chunks_of(ChunksOf::Sources(&[source]), usize::MAX)
        .await?
        .pop()
        .unwrap_or_default()
        .chunks;
    Ok(only(&base.source_text(source).await?, &base.chunks(&ids).await?))
}

/// A text with white space in place of everything outside these chunks and inside hidden ones.
pub(crate) fn only(text: &str, chunks: &[Chunk]) -> String {
    let mut visible = String::with_capacity(text.len());
    for chunk in chunks.iter().filter(|chunk| !chunk.hidden) {
        // Chunks may overlap.
        let start = chunk.span.start.max(visible.len());
        let Some(part) = text.get(start..chunk.span.end) else { continue };
        visible.extend(std::iter::repeat_n(' ', start - visible.len()));
        visible.push_str(part);
    }
    visible.extend(std::iter::repeat_n(' ', text.len().saturating_sub(visible.len())));
    visible
}

/// The text before and after a chunk, each on one line.
fn around(text: &str, chunk: &Chunk) -> (String, String) {
    let before = text.get(..chunk.span.start).unwrap_or_default();
    let from = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = text.get(chunk.span.end..).unwrap_or_default();
    let to = after.char_indices().nth(AROUND).map_or(after.len(), |(at, _)| at);
    let one = |text: Option<&str>| one_line(text.unwrap_or_default());
    (one(before.get(from..)), one(after.get(..to)))
}
