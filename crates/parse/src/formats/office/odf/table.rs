//! Writes `OpenDocument` tables.

use super::Reader;
use crate::document::grid::{Grid, RowStyle};
use crate::document::writing::LinkedText;
use pikerag_unpack::xml::Element;

/// The most repetitions of a cell.
const MOST_REPEATS: usize = 100;
/// A cell with more bytes is a part of the page; its table serves layout.
const LONGEST_CELL: usize = 4_000;

/// The content of a cell, a note or a title, one line per paragraph.
#[derive(Default)]
pub(super) struct Flat<'x> {
    pub(super) text: LinkedText,
    pub(super) hidden: String,
    /// Frames, notes and comments, which are written after the text.
    pub(super) after: Vec<Element<'x>>,
}

impl<'x> Reader<'_, '_> {
    pub(super) fn table(&mut self, table: Element<'x>) {
        self.table_with(table, RowStyle::Plain);
    }

    /// Writes a table; `style` says whether its rows name their cells.
    pub(super) fn table_with(&mut self, table: Element<'x>, style: RowStyle) {
        let mut rows = Vec::new();
        collect(table, false, &mut rows);
        let cells_of = |row: Element<'x>| -> Vec<Element<'x>> {
            row.elements()
                .filter(|cell| matches!(cell.name(), "table-cell" | "covered-table-cell"))
                .collect()
        };
        let is_one = |row: &(Element<'x>, bool)| {
            let cells = cells_of(row.0);
            cells.len() <= 1
                && cells
                    .iter()
                    .all(|cell| cell.number::<usize>("number-columns-repeated").unwrap_or(1) < 2)
        };
        let is_page = |row: &(Element<'x>, bool)| {
            cells_of(row.0).iter().any(|cell| LONGEST_CELL < cell.text().len())
        };
        if rows.iter().all(is_one) || rows.iter().any(is_page) {
            for cell in rows.iter().flat_map(|(row, _)| cells_of(*row)) {
                self.blocks(cell);
            }
            return;
        }
        let mut grid = Grid::default();
        let mut after = Vec::new();
        let mut hidden = String::new();
        for (row, is_header) in rows {
            grid.row(is_header);
            for cell in cells_of(row) {
                let repeats = cell.number("number-columns-repeated").unwrap_or(1).min(MOST_REPEATS);
                if cell.name() == "covered-table-cell" {
                    (0..repeats).for_each(|_| grid.covered());
                    continue;
                }
                let mut flat = Flat::default();
                let is_bold = self.flatten(cell, &mut flat);
                hidden.push_str(&flat.hidden);
                after.extend(flat.after);
                let columns = cell.number("number-columns-spanned").unwrap_or(1);
                let rows = cell.number("number-rows-spanned").unwrap_or(1);
                grid.covering(flat.text, is_bold, columns, rows);
                grid.cell_again(repeats.saturating_sub(1));
            }
            grid.row_again(
                row.number::<usize>("number-rows-repeated").unwrap_or(1).saturating_sub(1),
            );
        }
        grid.write(&mut self.writing, style);
        self.write_hidden(&hidden);
        for attachment in after {
            self.write_attachment(attachment);
        }
    }

    /// Adds all text in it, one line per paragraph; returns whether all of it is bold.
    pub(super) fn flatten(&mut self, parent: Element<'x>, flat: &mut Flat<'x>) -> bool {
        let mut is_bold = true;
        for child in parent.elements() {
            match child.name() {
                "p" | "h" => {
                    let para = self.paragraph(child);
                    is_bold &= para.is_bold;
                    flat.after.extend(para.after);
                    if !para.hidden.trim().is_empty() {
                        flat.hidden.push_str(para.hidden.trim());
                        flat.hidden.push('\n');
                    }
                    if para.visible.text.trim().is_empty() {
                        continue;
                    }
                    let text = &mut flat.text;
                    if !text.text.is_empty() {
                        text.push("\n");
                    }
                    let shift = text.text.len();
                    text.push(&para.visible.text);
                    let links = para.visible.links.into_iter();
                    text.links
                        .extend(links.map(|(from, to, target)| (from + shift, to + shift, target)));
                }
                "note" | "annotation" | "tracked-changes" => {}
                _ => is_bold &= self.flatten(child, flat),
            }
        }
        is_bold
    }
}

/// Rows, also inside groups; header rows are marked.
fn collect<'x>(parent: Element<'x>, is_header: bool, rows: &mut Vec<(Element<'x>, bool)>) {
    for child in parent.elements() {
        match child.name() {
            "table-row" => rows.push((child, is_header)),
            "table-header-rows" => collect(child, true, rows),
            "table-rows" | "table-row-group" => collect(child, is_header, rows),
            _ => {}
        }
    }
}
