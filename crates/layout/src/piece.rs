//! Defines the pieces of a page with known layout.

use pikerag_knowledge::{Area, Image};

use crate::tables::PageTable;
use crate::text::lines::Line;

/// A page as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Its extent; the origin is the upper left corner.
    pub area: Area,
}

/// A paragraph, a table or a figure of a page.
#[derive(Debug)]
pub struct Piece {
    /// Number of its page, from 1.
    pub page: u32,
    /// Its place on the page: the smallest box around it.
    pub area: Area,
    /// Whether it is invisible on the page.
    pub hidden: bool,
    /// The edge of the page at which it lies, if any.
    pub edge: Edge,
    /// Its content.
    pub body: Body,
    /// The place of each line of a text, on the page as it is shown; empty for tables and figures.
    pub lines: Vec<LinePlace>,
}

/// The place of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePlace {
    /// Its page, from 1; `None` on a picture.
    pub page: Option<u32>,
    /// The smallest box around it.
    pub area: Area,
}

/// The part of a page in which a piece lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The upper ninth of the page, with headers.
    Upper,
    /// The lower ninth, with footers and page numbers.
    Lower,
    /// The rest of the page.
    No,
}

/// Lines, a table or a picture.
#[derive(Debug)]
pub enum Body {
    /// The lines of one paragraph, from top to bottom; at least one.
    Text(Vec<Line>),
    /// A table found by its rules, leaders or alignment.
    Table(PageTable),
    /// A picture; `None` if it could not be kept.
    Figure(Option<Image>),
}

impl Sheet {
    /// Makes a piece of this page; computes its edge from its place.
    pub(crate) fn piece(self, area: Area, hidden: bool, body: Body) -> Piece {
        let high = self.area.bottom.max(1.0);
        let edge = match () {
            () if area.bottom < 0.11 * high => Edge::Upper,
            () if 0.89 * high < area.top => Edge::Lower,
            () => Edge::No,
        };
        Piece { page: self.number, area, hidden, edge, body, lines: Vec::new() }
    }
}
