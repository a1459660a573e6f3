//! Reads a document around one of its passages, as far as an assistant can take it.

use std::collections::BTreeMap;

use pikerag_engine::knowledge::{Chunk, ChunkId, Source};

/// The most characters of a text; a longer document is read around the passage.
pub(crate) const MOST_CHARACTERS: usize = 20_000;

/// A range of the passages of a document as one text.
pub(super) struct Surroundings {
    pub(super) text: String,
    /// The number of its first passage, from 1, and that of its last one.
    pub(super) passages: (usize, usize),
}

/// The text of a document around a passage: whole passages before and after it in turn, until the
/// next one would exceed the limit. The passage itself is never cut. `None` if it is not among the
/// passages of the document.
pub(super) fn around(chunks: &[Chunk], id: ChunkId) -> Option<Surroundings> {
    within(chunks, id, MOST_CHARACTERS)
}

fn within(chunks: &[Chunk], id: ChunkId, most: usize) -> Option<Surroundings> {
    let at = chunks.iter().position(|chunk| chunk.id == id)?;
    let length = |at: usize| chunks.get(at).map(|chunk| chunk.reading_text().chars().count());
    let (mut from, mut to) = (at, at);
    let mut left = most.saturating_sub(length(at)?);
    let (mut may_go_back, mut may_go_on) = (true, true);
    while may_go_back || may_go_on {
        if may_go_on {
            match length(to.saturating_add(1)).and_then(|length| left.checked_sub(length)) {
                Some(rest) => (left, to) = (rest, to.saturating_add(1)),
                None => may_go_on = false,
            }
        }
        if may_go_back {
            let before = from.checked_sub(1);
            let rest = before.and_then(length).and_then(|length| left.checked_sub(length));
            match (before, rest) {
                (Some(before), Some(rest)) => (left, from) = (rest, before),
                _ => may_go_back = false,
            }
        }
    }
    let text = joined(chunks.get(from..=to)?);
    Some(Surroundings { text, passages: (from.saturating_add(1), to.saturating_add(1)) })
}

/// Passages as one text. The part of a passage that overlaps the one before is left out.
fn joined(chunks: &[Chunk]) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for chunk in chunks {
        let is_new = end <= chunk.span.start;
        let part = match is_new {
            true => chunk.reading_text(),
            false => {
                let overlap = end.saturating_sub(chunk.span.start);
                chunk.text.get(overlap..).unwrap_or_default().into()
            }
        };
        if is_new && !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&part);
        end = end.max(chunk.span.end);
    }
    text
}

/// What is known of a passage and its document, as text: the document's own metadata first.
pub(super) fn metadata(source: &Source, chunk: &Chunk, passages: &str) -> BTreeMap<String, String> {
    let mut metadata = source.metadata.clone();
    let page = chunk.page.map(|page| page.to_string());
    let facts = [
        ("uri", Some(source.uri.clone())),
        ("document", Some(source.title.clone())),
        ("media_type", Some(source.media_type.clone())),
        ("language", source.language.clone()),
        ("page", page),
        ("passages", Some(passages.to_owned())),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            metadata.insert(name.to_owned(), value);
        }
    }
    metadata
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Passages with these texts; each begins where the one before ends, or earlier by the overlap.
    fn chunks(texts: &[&str], overlap: usize) -> Vec<Chunk> {
        let mut end = 0;
        let numbered = (0..).zip(texts);
        let chunks = numbered.map(|(ordinal, text)| {
            let start = if ordinal == 0 { 0 } else { end - overlap };
            end = start + text.len();
            json!({
                "id": ChunkId(ordinal), "source": "0000000000000001", "uri": "a.md", "title": "A", "section": null,
                "headings": [], "ordinal": ordinal, "kind": "text", "text": text, "page": null, "table": null,
                "span": {"start": start, "end": end},
            })
        });
        chunks.map(|chunk| serde_json::from_value(chunk).unwrap()).collect()
    }

    #[test]
    fn a_long_document_is_read_around_the_passage() {
        let document = chunks(&["one", "two", "three", "four", "five"], 0);
        let read = |id: u64, most: usize| {
            let read = within(&document, ChunkId(id), most).unwrap();
            (read.text, read.passages)
        };
        assert_eq!(read(2, 100), ("one\n\ntwo\n\nthree\n\nfour\n\nfive".to_owned(), (1, 5)));
        assert_eq!(read(2, 12), ("two\n\nthree\n\nfour".to_owned(), (2, 4)));
        assert_eq!(read(2, 9), ("three\n\nfour".to_owned(), (3, 4)));
        assert_eq!(read(2, 1), ("three".to_owned(), (3, 3)));
        assert_eq!(read(4, 10), ("four\n\nfive".to_owned(), (4, 5)));
        assert!(within(&document, ChunkId(9), 100).is_none());
    }

    #[test]
    fn what_overlaps_is_read_once() {
        let document = chunks(&["The crane lifts", "lifts forty tons."], 5);
        let read = within(&document, ChunkId(0), 100).unwrap();
        assert_eq!(read.text, "The crane lifts forty tons.");
    }
}
