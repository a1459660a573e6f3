//! Turns runs of RTF text into paragraphs, items and tables.

use pikerag_knowledge::BlockKind;

use crate::document::cells::split_header;
use crate::document::links::is_followed;
use crate::document::writing::{LinkedText, Writing};

/// The kind of a paragraph by its control words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paragraph {
    /// Outline level, from 0.
    pub(super) level: Option<u8>,
    pub(super) is_item: bool,
    pub(super) in_table: bool,
}

/// The finished text, and the open paragraph and table.
pub(super) struct Page {
    pub(super) writing: Writing,
    text: LinkedText,
    /// Hidden text of the open paragraph.
    hidden: String,
    /// Rows of the open table, cells of its open row, and whether each continues from the row
    /// above.
    rows: Vec<Vec<String>>,
    cells: Vec<String>,
    pub(super) goes_on: Vec<bool>,
    header_stated: bool,
}

impl Page {
    pub(super) fn new(max_cells: usize) -> Self {
        Self {
            writing: Writing::new(max_cells),
            text: LinkedText::default(),
            hidden: String::new(),
            rows: Vec::new(),
            cells: Vec::new(),
            goes_on: Vec::new(),
            header_stated: false,
        }
    }

    /// The length of the open paragraph in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.text.len()
    }

    pub(super) fn push(&mut self, text: &str, is_hidden: bool) {
        match is_hidden {
            true => self.hidden.push_str(text),
            false => self.text.push(text),
        }
    }

    /// Begins a link in the open paragraph at this byte.
    pub(super) fn link(&mut self, start: usize, target: String) {
        if start < self.len() && is_followed(&target) {
            self.text.links.push((start, self.len(), target));
        }
    }

    pub(super) fn end_paragraph(&mut self, paragraph: Paragraph) {
        if paragraph.in_table {
            // The cell has several paragraphs.
            self.push(" ", false);
            return;
        }
        self.end_table();
        let kind = match paragraph {
            Paragraph { level: Some(level @ 0..=8), .. } => {
                BlockKind::Heading { level: level.min(5) + 1 }
            }
            Paragraph { is_item: true, .. } => BlockKind::Item,
            _ => BlockKind::Paragraph,
        };
        self.writing.piece(kind, &std::mem::take(&mut self.text));
        self.end_hidden();
    }

    fn end_hidden(&mut self) {
        if !self.hidden.trim().is_empty() {
            self.writing.place.hidden = true;
            self.writing.plain(BlockKind::Paragraph, &self.hidden);
            self.writing.place.hidden = false;
        }
        self.hidden.clear();
    }

    pub(super) fn end_cell(&mut self) {
        // Links in cells are dropped, because a table's text is written again.
        self.cells.push(std::mem::take(&mut self.text).text);
    }

    pub(super) fn begin_row(&mut self) {
        self.goes_on.clear();
    }

    pub(super) fn mark_header(&mut self) {
        self.header_stated |= self.rows.is_empty();
    }

    pub(super) fn end_row(&mut self) {
        if self.len() > 0 && !self.text.text.trim().is_empty() {
            self.end_cell();
        }
        let mut cells = std::mem::take(&mut self.cells);
        if let Some(above) = self.rows.last() {
            for ((cell, above), goes_on) in cells.iter_mut().zip(above).zip(&self.goes_on) {
                if *goes_on && cell.trim().is_empty() {
                    cell.clone_from(above);
                }
            }
        }
        if !cells.is_empty() {
            self.rows.push(cells);
        }
    }

    fn end_table(&mut self) {
        if !self.cells.is_empty() {
            self.rows.push(std::mem::take(&mut self.cells));
        }
        let mut rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return;
        }
        for cell in rows.iter_mut().flatten() {
            *cell = cell.trim().to_owned();
        }
        let (header, rows) = match std::mem::take(&mut self.header_stated) {
            true => (rows.remove(0), rows),
            false => split_header(rows),
        };
        self.writing.table(header, rows);
        self.end_hidden();
    }

    /// Writes the last paragraph and the open table.
    pub(super) fn finish(mut self, paragraph: Paragraph) -> Writing {
        if paragraph.in_table && !self.text.text.trim().is_empty() {
            self.end_cell();
        }
        self.end_paragraph(Paragraph { in_table: false, ..paragraph });
        self.writing
    }
}
