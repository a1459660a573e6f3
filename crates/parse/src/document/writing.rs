//! Writes documents of binary formats piece by piece in reading order.
//!
//! All binary formats use it, so spans, tables and figures look alike.

use std::fmt::Write;
use std::ops::Range;

use pikerag_knowledge::{Area, Block, BlockKind, Document, Image, Link, PageBox, Span, Table};
use pikerag_layout::piece::LinePlace;

pub(crate) use pikerag_layout::text::LinkedText;

use crate::document::cells::named_row;

/// The document written so far.
#[derive(Default)]
pub(crate) struct Writing {
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    pub(crate) images: Vec<Image>,
    n_figures: usize,
    /// The place of all further pieces.
    pub(crate) place: Place,
    /// The number of further cells allowed.
    cells_left: usize,
    /// Whether rows were skipped because there were too many cells.
    pub(crate) cut: bool,
}

/// The place of a piece on the pages, and whether it is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) page: Option<u32>,
    pub(crate) area: Option<Area>,
    pub(crate) hidden: bool,
}

impl Writing {
    /// Begins a document with at most `max_cells` cells.
    pub(crate) fn new(max_cells: usize) -> Self {
        Self { cells_left: max_cells, ..Self::default() }
    }

    /// Writes a heading, paragraph, item, caption or program text; skips blank text.
    pub(crate) fn piece(&mut self, kind: BlockKind, text: &LinkedText) {
        self.lines(kind, text, &[]);
    }

    /// Like [`Writing::piece`], with the places of the lines and their byte ranges in the text.
    pub(crate) fn lines(
        &mut self,
        kind: BlockKind,
        text: &LinkedText,
        lines: &[(Range<usize>, LinePlace)],
    ) {
        let body = text.text.trim_end();
        let lead = body.len() - body.trim_start().len();
        if body.len() == lead {
            return;
        }
        let start = self.open();
        self.text.push_str(body.get(lead..).unwrap_or_default());
        self.close(kind, start);
        let within = |at: usize| start + at.clamp(lead, body.len()) - lead;
        if let Some(block) = self.blocks.last_mut() {
            for (range, LinePlace { page, area }) in lines {
                let span = Span { start: within(range.start), end: within(range.end) };
                if span.start < span.end {
                    block.boxes.push(PageBox { span, page: *page, area: *area });
                }
            }
        }
        for (from, to, target) in &text.links {
            let (from, to) = (from.max(&lead) - lead, to.min(&body.len()).saturating_sub(lead));
            if from < to {
                let span = Span { start: start + from, end: start + to };
                self.links.push(Link { target: target.clone(), span });
            }
        }
    }

    /// Writes text without links.
    pub(crate) fn plain(&mut self, kind: BlockKind, text: &str) {
        self.piece(kind, &LinkedText::from(text));
    }

    /// Writes a table, one line per row, with cells joined by ` | ` and single spaces in cells.
    /// Skips rows and columns that are empty throughout.
    pub(crate) fn table(&mut self, header: Vec<String>, rows: Vec<Vec<String>>) {
        self.table_with(header, rows, |_, row| row.join(" | "));
    }

    /// Writes a table whose rows name their cells, `Name: Ada; Born: 1815`, so that each row can be
    /// found and read alone.
    pub(crate) fn named_table(&mut self, header: Vec<String>, rows: Vec<Vec<String>>) {
        let size: usize = rows.iter().flatten().map(|cell| cell.len() + 1).sum();
        // Each row repeats the names; this bounds the growth from long names over many short cells.
        let mut left = size.saturating_mul(16).saturating_add(1 << 16);
        self.table_with(header, rows, |header, row| {
            let line = named_row(header, row);
            match left.checked_sub(line.len()) {
                Some(rest) if !header.is_empty() && !line.is_empty() => {
                    left = rest;
                    line
                }
                _ => row.join(" | "),
            }
        });
    }

    fn table_with(
        &mut self,
        header: Vec<String>,
        rows: Vec<Vec<String>>,
        mut line_of: impl FnMut(&[String], &[String]) -> String,
    ) {
        let clean = |row: Vec<String>| -> Vec<String> {
            row.iter().map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        let header = clean(header);
        let mut kept: Vec<Vec<String>> = Vec::with_capacity(rows.len());
        for row in rows.into_iter().map(clean) {
            if row.iter().all(String::is_empty) {
                continue;
            }
            match self.cells_left.checked_sub(row.len()) {
                Some(left) => self.cells_left = left,
                None => {
                    self.cut = true;
                    break;
                }
            }
            kept.push(row);
        }
        let width = kept.iter().chain([&header]).map(Vec::len).max().unwrap_or_default();
        let filled = |column: usize| {
            let holds = |row: &Vec<String>| row.get(column).is_some_and(|cell| !cell.is_empty());
            kept.iter().any(holds) || holds(&header)
        };
        let columns: Vec<bool> = (0..width).map(filled).collect();
        let only_filled = |row: Vec<String>| -> Vec<String> {
            let cells = row.into_iter().zip(&columns);
            cells.filter(|(_, filled)| **filled).map(|(cell, _)| cell).collect()
        };
        let mut header = only_filled(header);
        if header.iter().all(String::is_empty) {
            header.clear();
        }
        let rows: Vec<Vec<String>> = kept.into_iter().map(only_filled).collect();
        if rows.is_empty() && header.is_empty() {
            return;
        }
        let start = self.open();
        let mut lines = Vec::with_capacity(rows.len() + 1);
        let first = (!header.is_empty()).then(|| header.join(" | "));
        let others = rows.iter().map(|row| line_of(&header, row));
        for (number, line) in first.into_iter().chain(others).enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            let from = self.text.len();
            self.text.push_str(&line);
            lines.push(Span { start: from, end: self.text.len() });
        }
        self.close(BlockKind::Table(Table { header, rows, lines, key: 0 }), start);
    }

    /// Writes a figure: its text (alternative text or recognised words; a line with its number if
    /// that is blank), and the picture, if it could be kept.
    pub(crate) fn figure(&mut self, text: &str, image: Option<Image>) {
        let image = image.map(|image| {
            self.images.push(image);
            self.images.len() - 1
        });
        let start = self.open();
        match text.trim() {
            // Writing to a string cannot fail.
            "" => drop(write!(self.text, "[Figure {}]", self.n_figures + 1)),
            text => self.text.push_str(text),
        }
        self.close(BlockKind::Figure { image }, start);
    }

    /// Appends the document of another reader at the current place; keeps its pictures.
    pub(crate) fn append(&mut self, document: Document) {
        let Document { text, blocks, links, images, .. } = document;
        if blocks.is_empty() {
            return;
        }
        let shift = self.open();
        let moved = |span: Span| Span { start: span.start + shift, end: span.end + shift };
        let n_images = self.images.len();
        self.text.push_str(&text);
        self.images.extend(images);
        self.links.extend(links.into_iter().map(|link| Link { span: moved(link.span), ..link }));
        for mut block in blocks {
            block.span = moved(block.span);
            block.page = block.page.or(self.place.page);
            block.boxes.iter_mut().for_each(|line| line.span = moved(line.span));
            block.hidden |= self.place.hidden;
            match &mut block.kind {
                BlockKind::Table(table) => {
                    table.lines.iter_mut().for_each(|line| *line = moved(*line));
                }
                BlockKind::Figure { image: Some(image) } => *image += n_images,
                _ => {}
            }
            self.n_figures += usize::from(is_figure(&block.kind));
            self.blocks.push(block);
        }
    }

    /// The start of the next piece, after a blank line.
    fn open(&mut self) -> usize {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.len()
    }

    fn close(&mut self, kind: BlockKind, start: usize) {
        let span = Span { start, end: self.text.len() };
        let Place { page, area, hidden } = self.place;
        self.n_figures += usize::from(is_figure(&kind));
        self.blocks.push(Block { kind, span, page, area, boxes: Vec::new(), hidden });
    }
}

fn is_figure(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Figure { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_out_with_their_spans() {
        let mut writing = Writing::new(100);
        writing.plain(BlockKind::Heading { level: 1 }, " Cranes ");
        let mut text = LinkedText::from(" See ");
        text.push_link("the manual", "manual.docx");
        text.push(". ");
        writing.place.page = Some(2);
        writing.piece(BlockKind::Paragraph, &text);
        writing.plain(BlockKind::Paragraph, " \n ");
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        writing.table(row(["Name", "", "Load"]), vec![row(["A\n1", "", "5 t"]), row(["", "", ""])]);
        writing.figure("", None);
        insta::assert_snapshot!(writing.text, @"
        Cranes

        See the manual.

        Name | Load
        A 1 | 5 t

        [Figure 1]
        ");
        let link = &writing.links[0];
        assert_eq!(link.span.of(&writing.text), Some("the manual"));
        let shown: Vec<_> =
            writing.blocks.iter().map(|b| (b.page, b.span.of(&writing.text).unwrap())).collect();
        assert_eq!(shown[1], (Some(2), "See the manual."));
        assert_eq!(shown[3].1, "[Figure 1]");
        let BlockKind::Table(table) = &writing.blocks[2].kind else { panic!() };
        assert_eq!(table.lines[1].of(&writing.text), Some("A 1 | 5 t"));
    }

    /// Counting all blocks for each figure would take minutes.
    #[test]
    fn many_figures_are_numbered_at_once() {
        let mut writing = Writing::new(0);
        for _ in 0..200_000 {
            writing.figure("", None);
        }
        assert!(writing.text.ends_with("[Figure 200000]"));
    }

    #[test]
    fn cells_are_limited() {
        let mut writing = Writing::new(3);
        writing.table(Vec::new(), vec![vec!["a".to_owned(), "b".to_owned()]; 2]);
        assert!(writing.cut);
        assert_eq!(writing.text, "a | b");
    }
}
