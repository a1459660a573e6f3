//! Makes documents for tests in which only the texts matter.

use std::collections::BTreeMap;

use pikerag_knowledge::{Chunk, ChunkId, ChunkKind, DocumentGraph, Source, SourceId, Span};

/// A document with a chunk for each text, in their order, without sections, links and names. Equal
/// texts have one identifier.
pub fn passages(uri: &str, texts: &[impl AsRef<str>]) -> DocumentGraph {
    let (source, title) = (SourceId::of(uri), format!("Title of {uri}"));
    let (mut text, mut chunks) = (String::new(), Vec::new());
    for (ordinal, own) in (0_u32..).zip(texts) {
        let (own, start) = (own.as_ref(), text.len());
        text.push_str(own);
        chunks.push(Chunk {
            id: ChunkId::of(source, "", own, 0),
            source,
            uri: uri.to_owned(),
            title: title.clone(),
            section: None,
            headings: Vec::new(),
            ordinal,
            kind: ChunkKind::Text,
            text: own.to_owned(),
            span: Span { start, end: text.len() },
            page: None,
            area: None,
            boxes: Vec::new(),
            table: None,
            summary: None,
            hidden: false,
        });
    }
    let source = Source {
        id: source,
        uri: uri.to_owned(),
        title,
        media_type: "text/plain".to_owned(),
        hash: text.clone(),
        language: None,
        metadata: BTreeMap::new(),
        summary: None,
    };
    let (sections, links, figures) = (Vec::new(), Vec::new(), Vec::new());
    let (names, known_as) = (Vec::new(), Vec::new());
    DocumentGraph { source, text, sections, chunks, links, figures, names, known_as }
}
