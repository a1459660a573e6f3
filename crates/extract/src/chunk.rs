//! Splits a document into chunks, first along structure, then by size (PIKE-RAG §5.2.1, without a
//! model).
//!
//! A chunk stays in its section, takes its heading along, and never cuts a table row.

use pikerag_knowledge::{
    Area, Block, BlockKind, Chunk, ChunkId, ChunkKind, Chunking, Document, DocumentGraph, Image,
    PageBox, Section, SectionId, Source, SourceId, Span, document_uri,
};
use pikerag_language::language_of;

use crate::links;
use crate::references::known_as;
use crate::split::{ChunkParams, Draft, Piece, pack, pieces};

/// Splits a document from the file `path`. A document without text gives no chunks.
pub fn document_graph(path: &str, document: Document, params: ChunkParams) -> DocumentGraph {
    let source = source_of(path, &document);
    let (sections, drafts) = match document.chunking {
        Chunking::Given => (Vec::new(), given(&document)),
        Chunking::Free => split(&document, source.id, params),
    };
    assembled(path, document, source, sections, drafts)
}

/// The source node of a document from the file `path`.
pub(crate) fn source_of(path: &str, document: &Document) -> Source {
    let uri = document_uri(path, &document.fragment);
    Source {
        id: SourceId::of(&uri),
        title: document.title.clone(),
        media_type: document.media_type.clone(),
        hash: content_hash(&document.text),
        language: language_of(&document.text).map(str::to_owned),
        metadata: document.metadata.clone(),
        summary: None,
        uri,
    }
}

/// Assembles a document with its chunks.
pub(crate) fn assembled(
    path: &str,
    document: Document,
    source: Source,
    sections: Vec<Section>,
    drafts: Vec<Draft>,
) -> DocumentGraph {
    let (chunks, figures) = identified(&source, &document, &sections, drafts);
    let links = links::by_chunk(path, &document.links, &chunks);
    let names = links::names(path, &source, &chunks, &links);
    let known_as = known_as(path, &source);
    let text = document.text;
    DocumentGraph { source, text, sections, chunks, links, figures, names, known_as }
}

fn content_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The whole document as one chunk, as its file asks for.
fn given(document: &Document) -> Vec<Draft> {
    let (Some(first), Some(last)) = (document.blocks.first(), document.blocks.last()) else {
        return Vec::new();
    };
    let span = Span { start: first.span.start, end: last.span.end };
    vec![Draft { kind: ChunkKind::Text, ..Draft::bare(span, first.page) }]
}

fn split(document: &Document, source: SourceId, params: ChunkParams) -> (Vec<Section>, Vec<Draft>) {
    let outline =
        outline(document, source, |block| pieces(&document.text, block, params.max_tokens));
    let mut drafts = Vec::new();
    for mut run in outline.runs {
        drafts.extend(pack(&mut run.pieces, run.section, params));
    }
    drafts.extend(outline.tail);
    (outline.sections, drafts)
}

/// The sections of a document before they are cut into chunks.
pub(crate) struct Outline {
    pub(crate) sections: Vec<Section>,
    /// In reading order.
    pub(crate) runs: Vec<Run>,
    /// Headings at the very end, without text after them.
    pub(crate) tail: Option<Draft>,
}

/// The pieces between two headings.
pub(crate) struct Run {
    /// Place in the list of sections.
    pub(crate) section: Option<usize>,
    pub(crate) pieces: Vec<Piece>,
}

/// The sections of a document with their pieces; the first piece of a section takes its headings
/// along.
pub(crate) fn outline(
    document: &Document,
    source: SourceId,
    pieces: impl Fn(&Block) -> Vec<Piece>,
) -> Outline {
    let mut sections: Vec<Section> = Vec::new();
    // Sections that are open, outermost first: places in `sections`.
    let mut open: Vec<usize> = Vec::new();
    let mut runs: Vec<Run> = Vec::new();
    let mut run: Vec<Piece> = Vec::new();
    // Start of the headings without text so far; the next chunk takes them along.
    let mut headings_from: Option<usize> = None;
    for block in &document.blocks {
        // A hidden heading is hidden text: it opens no section, and no visible chunk takes it along.
        if let (BlockKind::Heading { level }, false) = (&block.kind, block.hidden) {
            let level = *level;
            runs.push(Run { section: open.last().copied(), pieces: std::mem::take(&mut run) });
            headings_from.get_or_insert(block.span.start);
            open.retain(|place| sections.get(*place).is_some_and(|section| section.level < level));
            let parent =
                open.last().and_then(|place| sections.get(*place)).map(|section| section.id);
            let ordinal = sections.len() as u32;
            open.push(sections.len());
            let heading = block.span.of(&document.text).unwrap_or_default();
            sections.push(Section {
                id: SectionId::of(source, ordinal),
                source,
                parent,
                ordinal,
                level,
                heading: clean_heading(heading),
            });
            continue;
        }
        let mut found = pieces(block);
        if let (Some(start), Some(first)) = (headings_from, found.first_mut())
            && !first.hidden
        {
            first.span.start = start;
            headings_from = None;
        }
        run.extend(found);
    }
    runs.push(Run { section: open.last().copied(), pieces: run });
    // Headings at the very end become a chunk of their own; otherwise they would be lost.
    let seen = document.blocks.iter().rev().find(|block| !block.hidden);
    let tail = headings_from.zip(seen).map(|(start, last)| {
        let span = Span { start, end: last.span.end };
        Draft { section: open.last().copied(), ..Draft::bare(span, last.page) }
    });
    Outline { sections, runs, tail }
}

/// The words of a heading without Markdown marks.
fn clean_heading(heading: &str) -> String {
    let line = heading.trim().trim_start_matches('#').trim_end_matches(['#', '=', '-']).trim();
    line.replace(['*', '`', '_'], "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Turns drafts into chunks, with the pictures of figures.
fn identified(
    source: &Source,
    document: &Document,
    sections: &[Section],
    drafts: Vec<Draft>,
) -> (Vec<Chunk>, Vec<(ChunkId, Image)>) {
    let paths = heading_paths(sections);
    let mut seen = std::collections::HashMap::new();
    let mut chunks = Vec::with_capacity(drafts.len());
    let mut figures = Vec::new();
    for draft in drafts {
        let Some(body) = draft.span.of(&document.text).filter(|body| !body.trim().is_empty())
        else {
            continue;
        };
        let mut chunk = Chunk {
            id: ChunkId(0),
            source: source.id,
            uri: source.uri.clone(),
            title: source.title.clone(),
            section: draft.section.and_then(|place| sections.get(place)).map(|section| section.id),
            headings: draft.section.and_then(|place| paths.get(place)).cloned().unwrap_or_default(),
            ordinal: chunks.len() as u32,
            kind: draft.kind,
            text: body.to_owned(),
            span: draft.span,
            page: draft.page,
            area: draft.area,
            boxes: boxes(document, draft.span, draft.hidden),
            table: draft.table,
            summary: draft.summary,
            hidden: draft.hidden,
        };
        // Uses the text as it is read: rows with another header are another chunk.
        let (full_title, mut reading) = (chunk.full_title(), chunk.reading_text().into_owned());
        // The identity includes the picture and whether the text is hidden: a model's description
        // of an old picture does not fit a new one.
        let image = draft.image.and_then(|place| document.images.get(place));
        if let Some(image) = image {
            reading.push_str(blake3::hash(&image.bytes).to_hex().as_str());
        }
        if chunk.hidden {
            reading.push_str("\0hidden");
        }
        let nth: &mut u32 = seen.entry((full_title.clone(), reading.clone())).or_default();
        chunk.id = ChunkId::of(source.id, &full_title, &reading, *nth);
        *nth += 1;
        figures.extend(image.map(|image| (chunk.id, image.clone())));
        chunks.push(chunk);
    }
    (chunks, figures)
}

/// The places of the text in a span: line by line if the format gives lines, else block by block.
fn boxes(document: &Document, span: Span, hidden: bool) -> Vec<PageBox> {
    let first = document.blocks.partition_point(|block| block.span.end <= span.start);
    let mut boxes = Vec::new();
    for block in document.blocks.iter().skip(first) {
        if span.end <= block.span.start {
            break;
        }
        if block.hidden != hidden {
            continue;
        }
        let whole = block.area.map(|area| PageBox { span: block.span, page: block.page, area });
        let whole = whole.filter(|_| block.boxes.is_empty());
        boxes.extend(block.boxes.iter().copied().chain(whole).filter_map(|line| line.within(span)));
    }
    // Rounds to a tenth of a point, which is too small to see.
    let rounded = |x: f32| (x * 10.0).round() / 10.0;
    for PageBox { area: Area { left, top, right, bottom }, .. } in &mut boxes {
        for edge in [left, top, right, bottom] {
            *edge = rounded(*edge);
        }
    }
    boxes
}

/// The headings from the outermost down to each section, in the sections' order.
pub(crate) fn heading_paths(sections: &[Section]) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::with_capacity(sections.len());
    let mut places = std::collections::HashMap::new();
    for (place, section) in sections.iter().enumerate() {
        // Parents come before their children.
        let above = section
            .parent
            .and_then(|parent| places.get(&parent))
            .and_then(|place: &usize| paths.get(*place));
        let mut path = above.cloned().unwrap_or_default();
        path.push(section.heading.clone());
        places.insert(section.id, place);
        paths.push(path);
    }
    paths
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use pikerag_knowledge::Link;
    use proptest::prelude::*;

    use super::*;
    use crate::sketch::document;

    fn show(source: &str, max_tokens: u64) -> String {
        let graph = document_graph(
            "a.md",
            document("Manual", source),
            ChunkParams { max_tokens, overlap_tokens: 0 },
        );
        let mut shown = String::new();
        for chunk in graph.chunks {
            writeln!(shown, "{} | {} | {:?}", chunk.full_title(), chunk.kind.as_str(), chunk.text)
                .unwrap();
        }
        shown
    }

    #[test]
    fn headings_go_with_their_text_and_sections_do_not_mix() {
        insta::assert_snapshot!(show("# A\n## B\nOne. Two.\nThree.\n# C\nFour.\n## D\n", 240), @r###"
        Manual › A › B | text | "# A\n## B\nOne. Two.\nThree."
        Manual › C | text | "# C\nFour."
        Manual › C › D | text | "## D"
        "###);
    }

    #[test]
    fn long_text_is_cut_between_sentences() {
        insta::assert_snapshot!(show("The first sentence is here. The second one is here. The third is here.", 14), @r###"
        Manual | text | "The first sentence is here. The second one is here."
        Manual | text | "The third is here."
        "###);
    }

    #[test]
    fn tables_are_separate_and_cut_between_rows() {
        insta::assert_snapshot!(show("Before.\n| crane one\n| crane two\n| crane three\nAfter.\n", 5), @r###"
        Manual | text | "Before."
        Manual | table | "| crane one"
        Manual | table | "| crane two"
        Manual | table | "| crane three"
        Manual | text | "After."
        "###);
    }

    #[test]
    fn two_tables_share_no_chunk_and_keep_their_titles() {
        let source = ": Costs 2023\n| one\n| two\n: Costs 2024\n| three\n| four\nAfter.\n";
        insta::assert_snapshot!(show(source, 240), @r#"
        Manual | table | ": Costs 2023\n| one\n| two"
        Manual | table | ": Costs 2024\n| three\n| four"
        Manual | text | "After."
        "#);
    }

    #[test]
    fn an_unchanged_chunk_keeps_its_identity_when_others_change() {
        let ids = |source: &str| -> Vec<ChunkId> {
            let graph = document_graph("a.md", document("Manual", source), ChunkParams::default());
            graph.chunks.iter().map(|chunk| chunk.id).collect()
        };
        let before = ids("# A\nOne.\n# B\nTwo.\n");
        let after = ids("# A\nOne, longer.\n# B\nTwo.\n");
        assert_eq!(before[1], after[1]);
        assert_ne!(before[0], after[0]);
        let twins = ids("# A\nSame.\n# A\nSame.\n");
        assert_ne!(twins[0], twins[1]);
    }

    #[test]
    fn links_lead_to_uris() {
        let mut linking = document("Manual", "See the manual.\n");
        let target = "../ops/b%20c.md#part".to_owned();
        linking.links.push(Link { target, span: Span { start: 4, end: 14 } });
        let graph = document_graph("docs/hr/a.md", linking, ChunkParams::default());
        assert_eq!(graph.links[0].1.target, "docs/ops/b c.md");
    }

    proptest! {
        /// Every word of every block is in a chunk, and every chunk equals the text of its span.
        #[test]
        fn nothing_is_lost(source in "(#{0,2} ?[a-z中文。. ]{0,40}\n|\\| [a-z ]{1,20}\n){0,12}", max_tokens in 3u64..40) {
            let document = document("Manual", &source);
            let blocks = document.blocks.clone();
            let graph = document_graph("a.md", document, ChunkParams { max_tokens, overlap_tokens: 0 });
            let mut covered = vec![false; source.len()];
            for chunk in &graph.chunks {
                prop_assert_eq!(chunk.span.of(&source), Some(chunk.text.as_str()));
                covered[chunk.span.start..chunk.span.end].fill(true);
            }
            for block in blocks {
                let bytes = source.as_bytes().iter().zip(&covered);
                let inside = bytes.take(block.span.end).skip(block.span.start);
                let lost = inside.filter(|(byte, covered)| !**covered && !byte.is_ascii_whitespace()).count();
                prop_assert_eq!(lost, 0, "of {:?}", source);
            }
        }
    }
}
