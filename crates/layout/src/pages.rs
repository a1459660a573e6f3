//! Joins the pieces of all pages into one text.
//!
//! Repeats at the edges appear once, words cut at line ends are joined, and text that is larger or
//! bolder than most is a heading.

mod headings;
mod joining;
mod repeats;

use std::ops::Range;

use pikerag_knowledge::{Area, BlockKind, Image};

use crate::piece::{Body, Edge, LinePlace, Piece};
use crate::tables::PageTable;
use crate::text::{LinkedText, markers};
use headings::Styles;

/// A part of the document in reading order.
#[derive(Debug)]
pub struct Element {
    /// The page of its beginning, from 1.
    pub page: u32,
    /// Its place on that page; for a paragraph that continues elsewhere, the place of its first
    /// part.
    pub area: Area,
    /// Whether it is invisible on the page.
    pub hidden: bool,
    /// The content, ready to be written.
    pub content: Content,
    /// The places of a text's lines, each with its byte range in the text; empty for tables and
    /// figures.
    pub lines: Vec<(Range<usize>, LinePlace)>,
}

/// Text, a table or a picture.
#[derive(Debug)]
pub enum Content {
    /// A heading, paragraph, item (without its bullet), caption or program text; `kind` is never a
    /// table or a figure.
    Text {
        /// The kind of the text; headings have the levels 1 to 6.
        kind: BlockKind,
        /// The text with its links; program text keeps its lines and indentation, and has no links.
        text: LinkedText,
    },
    /// A table of one page; it is not joined with its rest on the next page.
    Table(PageTable),
    /// A picture; `None` if it could not be kept.
    Figure(Option<Image>),
}

/// The elements of a document with `n_pages` pages, and its title: the highest heading on the first
/// page with a heading, if there is one.
pub fn elements(pieces: Vec<Piece>, n_pages: usize) -> (Vec<Element>, Option<String>) {
    let pieces = joining::joined(repeats::without_repeats(pieces, n_pages));
    let styles = Styles::of(&pieces);
    let hyphened = joining::hyphened(&pieces);
    let mut elements = Vec::with_capacity(pieces.len());
    let mut title: Option<(u8, u32, String)> = None;
    for Piece { page, area, hidden, edge, body, lines: places } in pieces {
        let mut ranges = Vec::new();
        let content = match body {
            Body::Figure(image) => Content::Figure(image),
            Body::Table(table) => Content::Table(table),
            Body::Text(lines) if joining::is_code(&lines) => {
                let code = joining::code(&lines);
                ranges = code.ranges;
                Content::Text { kind: BlockKind::Code, text: code.text }
            }
            Body::Text(lines) => {
                let mut of_lines = joining::text_of(&lines, &hyphened);
                let text = &of_lines.text.text;
                let heading = styles.heading(&lines, text);
                let kind = match heading.filter(|_| edge != Edge::Lower) {
                    _ if hidden => BlockKind::Paragraph,
                    _ if markers::is_caption(text) => BlockKind::Caption,
                    Some(level) => BlockKind::Heading { level },
                    None if markers::is_item(text) => BlockKind::Item,
                    None => BlockKind::Paragraph,
                };
                if let BlockKind::Heading { level } = kind {
                    let first = title.as_ref().map_or(page, |(_, first, _)| *first);
                    let higher = title.as_ref().is_none_or(|(best, ..)| level < *best);
                    if higher && page == first {
                        title = Some((level, page, text.clone()));
                    }
                }
                if kind == BlockKind::Item {
                    let cut = text.len() - markers::without_bullet(text).len();
                    of_lines = joining::behind(of_lines, cut);
                }
                ranges = of_lines.ranges;
                Content::Text { kind, text: of_lines.text }
            }
        };
        let lines = ranges.into_iter().zip(places).collect();
        elements.push(Element { page, area, hidden, content, lines });
    }
    (elements, title.map(|(.., text)| text))
}
