//! Writes HTML tables; cells that span rows or columns are repeated in each.

use ego_tree::NodeRef;
use pikerag_knowledge::{BlockKind, Link, Span, Table};
use scraper::Node;
use scraper::node::Element;

use super::Writer;
use crate::document::blocks::add_block;
use crate::formats::web::html::content::is_left_out;

/// The largest span, in rows or columns; larger values are cut to it.
const WIDEST_SPAN: usize = 100;
/// A cell with more characters is a part of the page; its table serves layout.
const LONGEST_CELL: usize = 2_000;

/// Writes a table of data; `false`, without output, if the table only serves layout.
///
/// One line per row, with cells separated by ` | `; a cell over the whole row appears once.
pub(super) fn write(writer: &mut Writer, table: NodeRef<'_, Node>) -> bool {
    let rows = rows_of(writer, table);
    if !is_data(table, &rows) {
        return false;
    }
    for child in table.children() {
        if child.value().as_element().is_some_and(|element| element.name() == "caption") {
            writer.write(child);
        }
    }
    let n_header = match header_rows(&rows) {
        all if all == rows.len() => all.min(1),
        n => n,
    };
    let mut grid = fill(writer, &rows);
    let header = merge(grid.drain(..n_header.min(grid.len())).collect());
    grid.retain(|row| row.iter().any(|cell| !cell.text.is_empty()));
    write_lines(writer, header, grid);
    true
}

/// A row as written, with its own cells only.
struct Row<'a> {
    cells: Vec<NodeRef<'a, Node>>,
    is_header: bool,
}

fn rows_of<'a>(writer: &Writer, table: NodeRef<'a, Node>) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for child in table.children() {
        match shown(writer, child).map(Element::name) {
            Some("tr") => rows.push(row_of(writer, child, "table")),
            Some(section @ ("thead" | "tbody" | "tfoot")) => {
                for row in child.children() {
                    if shown(writer, row).is_some_and(|element| element.name() == "tr") {
                        rows.push(row_of(writer, row, section));
                    }
                }
            }
            _ => {}
        }
    }
    rows.retain(|row| !row.cells.is_empty());
    rows
}

fn row_of<'a>(writer: &Writer, row: NodeRef<'a, Node>, section: &str) -> Row<'a> {
    let name = |cell: NodeRef<'a, Node>| shown(writer, cell).map(Element::name);
    let cells: Vec<_> =
        row.children().filter(|cell| matches!(name(*cell), Some("td" | "th"))).collect();
    let is_header = section == "thead" || cells.iter().all(|cell| name(*cell) == Some("th"));
    Row { cells, is_header }
}

/// The number of header rows at the top. Below the first row, a cell that reaches down into the
/// rows of values names rows, not columns: `2024` beside its months.
fn header_rows(rows: &[Row]) -> usize {
    let n_header = rows.iter().take_while(|row| row.is_header).count();
    let reaches_down = |(at, row): (usize, &Row)| {
        let span = |cell: &NodeRef<'_, Node>| Some(span_of(cell.value().as_element()?, "rowspan"));
        row.cells.iter().filter_map(span).any(|span| n_header < at + span)
    };
    let mut below_first = rows.iter().enumerate().take(n_header).skip(1);
    let names_rows = below_first.find(|row| reaches_down(*row));
    names_rows.map_or(n_header, |(at, _)| at)
}

fn shown<'a>(writer: &Writer, node: NodeRef<'a, Node>) -> Option<&'a Element> {
    node.value().as_element().filter(|element| !is_left_out(node, element, writer.keep))
}

/// Whether a table holds data: not only one column, and no other table, headings or long passages.
fn is_data(table: NodeRef<'_, Node>, rows: &[Row]) -> bool {
    let element = table.value().as_element();
    if element.is_some_and(|table| matches!(table.attr("role"), Some("presentation" | "none"))) {
        return false;
    }
    if rows.iter().all(|row| row.cells.len() <= 1) {
        return false;
    }
    if rows.iter().any(|row| row.is_header) {
        return true;
    }
    rows.iter().flat_map(|row| &row.cells).all(|cell| {
        let mut length = 0;
        cell.descendants().all(|node| match node.value() {
            Node::Text(text) => {
                length += text.len();
                length <= LONGEST_CELL
            }
            Node::Element(element) => {
                !matches!(element.name(), "table" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
            }
            _ => true,
        })
    })
}

/// The content of one place of the grid.
#[derive(Clone, Default)]
struct Cell {
    text: String,
    /// Spans count in the cell's text.
    links: Vec<Link>,
    /// Whether it repeats the cell to the left.
    continues: bool,
}

/// Puts every cell at its visible place: one line per row.
fn fill(writer: &mut Writer, rows: &[Row]) -> Vec<Vec<Cell>> {
    let mut grid = Vec::new();
    // Cells from rows above by column, and the number of rows that they still cover.
    let mut hanging: Vec<(usize, Cell)> = Vec::new();
    for row in rows {
        let mut line: Vec<Cell> = Vec::new();
        for node in &row.cells {
            hang(writer, &mut hanging, &mut line);
            let Some(element) = node.value().as_element() else { continue };
            if writer.cells_left == 0 {
                writer.cut = true;
                break;
            }
            writer.cells_left -= 1;
            let mut inner = Writer::flat(writer.keep);
            inner.write(*node);
            let mut cell = Cell { text: inner.text, links: inner.links, continues: false };
            let (columns, rows) = (span_of(element, "colspan"), span_of(element, "rowspan"));
            for _ in 0..columns {
                if cell.continues && !may_repeat(writer, &cell) {
                    break;
                }
                if 1 < rows {
                    let width = hanging.len().max(line.len() + 1);
                    hanging.resize(width, (0, Cell::default()));
                    if let Some(below) = hanging.get_mut(line.len()) {
                        *below = (rows - 1, Cell { links: Vec::new(), ..cell.clone() });
                    }
                }
                line.push(cell.clone());
                cell.continues = true;
                cell.links.clear();
            }
        }
        hang(writer, &mut hanging, &mut line);
        grid.push(line);
    }
    grid
}

/// Repeats the cells that reach into this line from above, as far as they are adjacent.
fn hang(writer: &mut Writer, hanging: &mut [(usize, Cell)], line: &mut Vec<Cell>) {
    while let Some((rows, cell)) = hanging.get_mut(line.len()).filter(|(rows, _)| 0 < *rows) {
        if !may_repeat(writer, cell) {
            *rows = 0;
            return;
        }
        *rows -= 1;
        line.push(cell.clone());
    }
}

/// A fixed budget pays for repetitions; otherwise a page could grow ten-thousandfold.
fn may_repeat(writer: &mut Writer, cell: &Cell) -> bool {
    let price = cell.text.len() + 8;
    let paid = price <= writer.repeats_left && 0 < writer.cells_left;
    if paid {
        writer.repeats_left -= price;
        writer.cells_left -= 1;
    }
    paid
}

fn span_of(element: &Element, attribute: &str) -> usize {
    let span = element.attr(attribute).and_then(|span| span.trim().parse::<usize>().ok());
    match span {
        Some(0) if attribute == "rowspan" => WIDEST_SPAN, // To the end of the table.
        span => span.unwrap_or(1).clamp(1, WIDEST_SPAN),
    }
}

/// Merges the rows of a header: `2024` over `Q1` becomes `2024 Q1`.
fn merge(rows: Vec<Vec<Cell>>) -> Vec<Cell> {
    let mut header: Vec<Cell> = Vec::new();
    let mut last: Vec<String> = Vec::new();
    for row in rows {
        for (column, mut cell) in row.into_iter().enumerate() {
            let (Some(above), Some(last)) = (header.get_mut(column), last.get_mut(column)) else {
                cell.continues = false;
                last.push(cell.text.clone());
                header.push(cell);
                continue;
            };
            if cell.text.is_empty() || *last == cell.text {
                continue;
            }
            if !above.text.is_empty() {
                above.text.push(' ');
            }
            let shift = above.text.len();
            above.text.push_str(&cell.text);
            above.links.extend(cell.links.into_iter().map(|link| shifted(link, shift)));
            *last = cell.text;
        }
    }
    header
}

fn write_lines(writer: &mut Writer, header: Vec<Cell>, grid: Vec<Vec<Cell>>) {
    if grid.is_empty() && header.iter().all(|cell| cell.text.is_empty()) {
        return;
    }
    writer.part();
    let start = writer.text.len();
    let mut table = Table::default();
    if header.iter().any(|cell| !cell.text.is_empty()) {
        table.lines.push(write_line(writer, &header, start));
        table.header = header.into_iter().map(|cell| cell.text).collect();
    }
    for row in grid {
        table.lines.push(write_line(writer, &row, start));
        table.rows.push(row.into_iter().map(|cell| cell.text).collect());
    }
    let span = Span { start, end: writer.text.len() };
    add_block(&mut writer.blocks, &writer.text, BlockKind::Table(table), span);
}

/// Writes one row; the table starts at `table`.
fn write_line(writer: &mut Writer, row: &[Cell], table: usize) -> Span {
    if table < writer.text.len() {
        writer.text.push('\n');
    }
    let start = writer.text.len();
    // A cell across the whole row is written once. Behind a blank cell, cells of rows above go on.
    let alone = row.first().is_some_and(|cell| !cell.text.is_empty())
        && row.iter().skip(1).all(|cell| cell.continues);
    for (column, cell) in row.iter().take(if alone { 1 } else { row.len() }).enumerate() {
        if 0 < column {
            writer.text.push_str(if start == writer.text.len() { "| " } else { " | " });
        }
        let shift = writer.text.len();
        writer.text.push_str(&cell.text);
        writer.links.extend(cell.links.iter().map(|link| shifted(link.clone(), shift)));
    }
    writer.text.truncate(writer.text.trim_end().len());
    Span { start, end: writer.text.len() }
}

fn shifted(mut link: Link, by: usize) -> Link {
    link.span = Span { start: link.span.start + by, end: link.span.end + by };
    link
}
