//! Writes Word tables.

use super::Reader;
use super::paragraph::After;
use super::styles::is_on;
use crate::document::grid::{Grid, RowStyle};
use crate::document::writing::LinkedText;
use pikerag_unpack::xml::Element;

/// A cell with more bytes is a part of the page; its table serves layout.
const LONGEST_CELL: usize = 4_000;

/// The content of a cell, one line per paragraph.
pub(super) struct Flat<'x> {
    pub(super) text: LinkedText,
    pub(super) after: Vec<After<'x>>,
    pub(super) hidden: String,
    pub(super) is_bold: bool,
}

impl Default for Flat<'_> {
    fn default() -> Self {
        Self {
            text: LinkedText::default(),
            after: Vec::new(),
            hidden: String::new(),
            is_bold: true,
        }
    }
}

impl<'x> Reader<'_, '_> {
    /// Writes a table; for a layout table, writes only its content.
    pub(super) fn table(&mut self, table: Element<'x>) {
        let rows = rows_of(table);
        let cells: Vec<Vec<Element>> = rows.iter().map(|row| within(*row, "tc")).collect();
        if cells.iter().all(|row| row.len() <= 1)
            || cells.iter().flatten().any(|cell| is_page(*cell))
        {
            for cell in cells.into_iter().flatten() {
                self.blocks(cell);
            }
            return;
        }
        let mut grid = Grid::default();
        let mut after = Vec::new();
        let mut hidden = String::new();
        for (row, cells) in rows.iter().zip(cells) {
            let properties = row.child("trPr");
            grid.row(is_on(properties, "tblHeader"));
            let before = properties.and_then(|it| it.child("gridBefore")?.number("val"));
            grid.gap(before.unwrap_or(0));
            for cell in cells {
                let properties = cell.child("tcPr");
                let columns = properties.and_then(|it| it.child("gridSpan")?.number("val"));
                let columns = columns.unwrap_or(1);
                let merge = properties.and_then(|it| it.child("vMerge"));
                if merge.is_some_and(|merge| merge.attr("val").as_deref() != Some("restart")) {
                    grid.above(columns);
                    continue;
                }
                let mut flat = Flat::default();
                self.flatten(cell, &mut flat);
                grid.cell(flat.text, flat.is_bold, columns);
                after.extend(flat.after);
                hidden.push_str(&flat.hidden);
            }
        }
        grid.write(&mut self.writing, RowStyle::Plain);
        self.write_hidden(&hidden);
        self.write_after(after);
    }

    /// Adds the content of a cell, one line per paragraph; inner tables are flattened, one line per
    /// row.
    pub(super) fn flatten(&mut self, parent: Element<'x>, flat: &mut Flat<'x>) {
        for child in parent.elements() {
            match child.name() {
                "p" => {
                    let (_, _, para) = self.paragraph(child);
                    add(&mut flat.text, &para.visible, "\n");
                    flat.is_bold &= para.is_bold;
                    if !para.hidden.trim().is_empty() {
                        flat.hidden.push_str(para.hidden.trim());
                        flat.hidden.push('\n');
                    }
                    for after in para.after {
                        match after {
                            After::Box(content) => self.flatten(content, flat),
                            other => flat.after.push(other),
                        }
                    }
                }
                "tbl" => {
                    for row in rows_of(child) {
                        let mut line = LinkedText::default();
                        for cell in within(row, "tc") {
                            let mut inner = Flat::default();
                            self.flatten(cell, &mut inner);
                            add(&mut line, &inner.text, " ");
                            flat.after.extend(inner.after);
                            flat.hidden.push_str(&inner.hidden);
                        }
                        add(&mut flat.text, &line, "\n");
                    }
                }
                "del" | "moveFrom" | "tcPr" | "sdtPr" | "sdtEndPr" => {}
                _ => self.flatten(child, flat),
            }
        }
    }
}

/// Rows that are not deleted.
fn rows_of(table: Element<'_>) -> Vec<Element<'_>> {
    let mut rows = within(table, "tr");
    rows.retain(|row| row.path(&["trPr", "del"]).is_none());
    rows
}

/// Rows of a table or cells of a row, directly or in content controls.
fn within<'x>(parent: Element<'x>, name: &str) -> Vec<Element<'x>> {
    let mut found = Vec::new();
    let mut waiting: Vec<Element> = vec![parent];
    while let Some(element) = waiting.pop() {
        if element.name() == name {
            found.push(element);
            continue;
        }
        let inner = element
            .elements()
            .filter(|inner| !matches!(inner.name(), "tblPr" | "trPr" | "tblGrid" | "p" | "tbl"));
        let inner: Vec<Element> = inner.collect();
        waiting.extend(inner.into_iter().rev());
    }
    found
}

/// Whether a cell is a part of the page, not a value.
fn is_page(cell: Element) -> bool {
    let mut length = 0;
    for element in cell.descendants().filter(|element| element.name() == "t") {
        length += element.text().len();
    }
    LONGEST_CELL < length
}

/// Adds text after a separator.
fn add(text: &mut LinkedText, more: &LinkedText, separator: &str) {
    if more.text.trim().is_empty() {
        return;
    }
    if !text.text.is_empty() {
        text.push(separator);
    }
    let shift = text.text.len();
    text.push(&more.text);
    text.links.extend(
        more.links.iter().map(|(start, end, target)| (start + shift, end + shift, target.clone())),
    );
}
