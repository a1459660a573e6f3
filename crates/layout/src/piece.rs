//! What is a page made of once its layout is known?

use pikerag_knowledge::{Area, Image};

use crate::tables::PageTable;
use crate::text::lines::Line;

/// A page as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Its extent; the upper left corner is the origin.
    pub area: Area,
}

/// A paragraph, a table or a figure of a page.
#[derive(Debug)]
pub struct Piece {
    /// Number of its page, from 1.
    pub page: u32,
    /// Where on the page it stands: the smallest box around it.
    pub area: Area,
    /// A reader of the page does not see it.
    pub hidden: bool,
    /// Whether it stands where pages repeat themselves.
    pub edge: Edge,
    /// What stands there.
    pub body: Body,
    /// Where each line of a text stands, on the page as it is shown; empty for tables and figures.
    pub lines: Vec<LinePlace>,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePlace {
    /// Its page, from 1; none on a picture.
    pub page: Option<u32>,
    /// The smallest box around it.
    pub area: Area,
}

/// Does a piece stand at an edge of its page?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// In the upper ninth of the page, where headers stand.
    Upper,
    /// In the lower ninth, where footers and page numbers stand.
    Lower,
    /// Between them.
    No,
}

/// Lines, a table or a picture.
#[derive(Debug)]
pub enum Body {
    /// The lines of one paragraph, from top to bottom; at least one.
    Text(Vec<Line>),
    /// Found by its rules, by its leaders or by its alignment.
    Table(PageTable),
    /// A picture; `None` where it could not be kept.
    Figure(Option<Image>),
}

impl Sheet {
    /// A piece of this page; its edge is told from its place.
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
