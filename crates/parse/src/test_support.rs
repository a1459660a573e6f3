//! Checks and draws parsed documents for the tests of this crate.

use std::fmt::Write as _;

use crate::{Limits, NoTools, Parsed, parse};
use pikerag_knowledge::{Area, BlockKind, Chunking, Document, Span};

/// Parses, checks, and draws the result: one line per block, link, entry and problem.
pub(crate) fn run(name: &str, text: impl AsRef<[u8]>) -> String {
    run_within(name, text, &Limits::default())
}

/// A ZIP file with these entries.
pub(crate) fn packed(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        std::io::Write::write_all(&mut writer, content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An OLE file with a stream of this name.
pub(crate) fn ole(stream: &str) -> Vec<u8> {
    let name = stream.encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".iter().copied().chain(name).collect()
}

pub(crate) fn run_within(name: &str, text: impl AsRef<[u8]>, limits: &Limits) -> String {
    let parsed = match parse(name, text.as_ref(), limits, &NoTools) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_string(),
    };
    check(&parsed);
    let mut drawn = String::new();
    for document in &parsed.documents {
        draw(&mut drawn, document);
    }
    for problem in &parsed.problems {
        writeln!(drawn, "! {}: {}", problem.place, problem.reason).unwrap();
    }
    drawn
}

fn draw(drawn: &mut String, document: &Document) {
    let Document { fragment, title, text, blocks, links, chunking, metadata, .. } = document;
    let given = if *chunking == Chunking::Given { " (given)" } else { "" };
    let fragment = if fragment.is_empty() { String::new() } else { format!(" #{fragment}") };
    writeln!(drawn, "== {title}{fragment}{given}").unwrap();
    for block in blocks {
        let kind = match &block.kind {
            BlockKind::Heading { level } => format!("h{level}"),
            BlockKind::Paragraph => "p".to_owned(),
            BlockKind::Item => "item".to_owned(),
            BlockKind::Table(_) => "table".to_owned(),
            BlockKind::Code => "code".to_owned(),
            BlockKind::Caption => "caption".to_owned(),
            BlockKind::Figure { .. } => "figure".to_owned(),
        };
        let page = block.page.map(|page| format!(" p{page}")).unwrap_or_default();
        let area = block.area.map(|Area { left, top, right, bottom }| {
            format!(" [{left:.0} {top:.0} {right:.0} {bottom:.0}]")
        });
        let hidden = if block.hidden { " hidden" } else { "" };
        let place = format!("{page}{}{hidden}", area.unwrap_or_default());
        writeln!(drawn, "{kind}{place} {:?}", block.span.of(text).unwrap()).unwrap();
        if let BlockKind::Table(table) = &block.kind {
            writeln!(drawn, "  header {:?}", table.header).unwrap();
            for row in &table.rows {
                writeln!(drawn, "  row {row:?}").unwrap();
            }
        }
    }
    for link in links {
        writeln!(drawn, "link {:?} -> {}", link.span.of(text).unwrap(), link.target).unwrap();
    }
    for (key, value) in metadata {
        writeln!(drawn, "{key} = {value}").unwrap();
    }
}

/// Panics if an invariant of the crate does not hold.
pub(crate) fn check(parsed: &Parsed) {
    assert!(!parsed.documents.is_empty());
    let mut fragments = std::collections::HashSet::new();
    for document in &parsed.documents {
        assert!(fragments.insert(&document.fragment), "twice: {}", document.fragment);
        assert!(!document.title.trim().is_empty() && document.title.trim() == document.title);
        assert!(!document.blocks.is_empty());
        let mut end = 0;
        for block in &document.blocks {
            assert!(rises(&mut end, block.span, &document.text), "{block:?}");
            if let BlockKind::Table(table) = &block.kind {
                let lines = table.rows.len() + usize::from(!table.header.is_empty());
                assert_eq!(table.lines.len(), lines, "{table:?}");
                let mut end = block.span.start;
                for line in &table.lines {
                    assert!(rises(&mut end, *line, &document.text), "{table:?}");
                }
                assert!(end <= block.span.end, "{table:?}");
            }
        }
        for link in &document.links {
            assert!(link.span.of(&document.text).is_some_and(|text| !text.is_empty()), "{link:?}");
        }
    }
    let json = serde_json::to_string(parsed).unwrap();
    assert_eq!(&serde_json::from_str::<Parsed>(&json).unwrap(), parsed);
}

/// Whether the span is not empty, fits the text and begins no earlier than `end`, which moves to
/// its end.
fn rises(end: &mut usize, span: Span, text: &str) -> bool {
    let fits = *end <= span.start && span.of(text).is_some_and(|text| !text.trim().is_empty());
    *end = span.end;
    fits
}

/// One name for each rule that detects a format.
pub(crate) const NAMES: [&str; 16] = [
    "a", "a.txt", "a.md", "a.html", "a.xhtml", "a.json", "a.jsonl", "a.csv", "a.tsv", "a.xml",
    "a.eml", "a.rtf", "a.srt", "a.rst", "a.adoc", "a.org",
];
