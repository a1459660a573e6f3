//! Builds small documents for the tests of chunking from a few marks.

use std::collections::BTreeMap;

use pikerag_knowledge::{Block, BlockKind, Chunking, Document, Span, Table};

/// Each line is a heading (`# x`), table rows (`| x`), a caption (`: x`) or a paragraph.
pub(crate) fn document(title: &str, source: &str) -> Document {
    let (mut blocks, mut at) = (Vec::new(), 0);
    let mut table = Table::default();
    for line in source.split_inclusive('\n') {
        let span = Span { start: at, end: at + line.trim_end().len() };
        at += line.len();
        if let Some(row) = line.strip_prefix("| ") {
            table.rows.push(vec![row.trim().to_owned()]);
            table.lines.push(span);
            continue;
        }
        if !table.lines.is_empty() {
            let span = Span { start: table.lines[0].start, end: table.lines.last().unwrap().end };
            blocks.push(Block::new(BlockKind::Table(std::mem::take(&mut table)), span));
        }
        let level = line.chars().take_while(|c| *c == '#').count() as u8;
        let kind = match level {
            0 if line.starts_with(": ") => BlockKind::Caption,
            0 => BlockKind::Paragraph,
            level => BlockKind::Heading { level },
        };
        if span.start < span.end {
            blocks.push(Block::new(kind, span));
        }
    }
    Document {
        fragment: String::new(),
        title: title.to_owned(),
        media_type: "text/plain".to_owned(),
        text: source.to_owned(),
        blocks,
        links: vec![],
        images: vec![],
        chunking: Chunking::Free,
        metadata: BTreeMap::default(),
    }
}
