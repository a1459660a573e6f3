//! What stands around a table or figure? What a model is shown of it, without what no reader sees.

use pikerag_knowledge::{Chunk, ChunkId, ChunksOf, Image, KnowledgeBase, SourceId, StoreError};
use pikerag_prompt::{one_line, quiet_headings};

use crate::stage::{NewChunk, Piece};

/// Characters of the text before and behind a table or figure that a model is shown.
const AROUND: usize = 300;

/// A chunk and what stands around it.
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

    /// Title, surroundings, and under `name` the chunk's own words.
    pub(crate) fn inputs(&self, name: &'static str, own: &str) -> [(&'static str, String); 3] {
        let around = [self.before.as_str(), "…", self.after.as_str()].join("\n");
        [
            ("title", quiet_headings(&one_line(&self.chunk.full_title()))),
            ("around", quiet_headings(&around)),
            (name, quiet_headings(own.trim())),
        ]
    }
}

/// These chunks, in order, with what stands around them.
pub(crate) async fn shown(
    base: &dyn KnowledgeBase,
    ids: &[ChunkId],
) -> Result<Vec<Shown>, StoreError> {
    let mut chunks: Vec<(usize, Chunk)> = base.chunks(ids).await?.into_iter().enumerate().collect();
    // By document: each text is read once.
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

/// A document's text with white space in place of what no reader sees: a prompt shows what stands around
/// a table, and hidden words must not tell a model what to say of it.
async fn visible_text(base: &dyn KnowledgeBase, source: SourceId) -> Result<String, StoreError> {
    let ids = base
        .chunks_of(ChunksOf::Sources(&[source]), usize::MAX)
        .await?
        .pop()
        .unwrap_or_default()
        .chunks;
    Ok(only(&base.source_text(source).await?, &base.chunks(&ids).await?))
}

/// A text with white space in place of all that is in none of these chunks; hidden ones do not count.
pub(crate) fn only(text: &str, chunks: &[Chunk]) -> String {
    let mut seen = String::with_capacity(text.len());
    for chunk in chunks.iter().filter(|chunk| !chunk.hidden) {
        // Chunks may overlap.
        let start = chunk.span.start.max(seen.len());
        let Some(part) = text.get(start..chunk.span.end) else { continue };
        seen.extend(std::iter::repeat_n(' ', start - seen.len()));
        seen.push_str(part);
    }
    seen.extend(std::iter::repeat_n(' ', text.len().saturating_sub(seen.len())));
    seen
}

/// What stands before and behind a chunk, each on one line.
fn around(text: &str, chunk: &Chunk) -> (String, String) {
    let before = text.get(..chunk.span.start).unwrap_or_default();
    let from = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = text.get(chunk.span.end..).unwrap_or_default();
    let to = after.char_indices().nth(AROUND).map_or(after.len(), |(at, _)| at);
    let one = |text: Option<&str>| one_line(text.unwrap_or_default());
    (one(before.get(from..)), one(after.get(..to)))
}
