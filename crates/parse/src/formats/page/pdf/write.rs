//! Writes the text of all pages as one document.

use pikerag_layout::pages::{Content, Element, elements};
use pikerag_layout::piece::Piece;

use crate::document::writing::{Place, Writing};

/// Writes the document; returns the text of the highest heading on the first page with a heading.
pub(crate) fn write(
    pieces: Vec<Piece>,
    n_pages: usize,
    max_cells: usize,
) -> (Writing, Option<String>) {
    let (elements, title) = elements(pieces, n_pages);
    let mut writing = Writing::new(max_cells);
    for Element { page, area, hidden, content, lines } in elements {
        writing.place = Place { page: Some(page), area: Some(area), hidden };
        match content {
            Content::Figure(image) => writing.figure("", image),
            Content::Table(table) => writing.table(table.header, table.rows),
            Content::Text { kind, text } => writing.lines(kind, &text, &lines),
        }
    }
    (writing, title)
}
