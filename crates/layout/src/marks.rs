//! What is drawn on a page, as far as its layout is concerned?

use pikerag_knowledge::Area;

/// Everything on a page, in points from its upper left corner.
#[derive(Debug, Default)]
pub struct PageMarks {
    /// In the order in which they were drawn.
    pub words: Vec<Word>,
    /// Ruling lines, in any order.
    pub rules: Vec<Rule>,
    /// What was filled with a colour other than white, larger than a rule.
    pub fills: Vec<Area>,
    /// Where images lie, in the order in which they were drawn; they may touch and overlap.
    pub images: Vec<Area>,
}

/// Characters that stand together. A word that runs in another direction than left to right has the
/// coordinates of the page turned by `angle`.
#[derive(Clone, Debug)]
pub struct Word {
    /// Not empty, without white space; as it is seen, so right-to-left text stands backwards.
    pub text: String,
    /// Where its first glyph begins; never NaN.
    pub left: f32,
    /// Where its last glyph ends; left of `left` for a glyph that moves backwards.
    pub right: f32,
    /// The y of its baseline.
    pub base: f32,
    /// Height of the font, not of the glyphs.
    pub size: f32,
    /// Degrees clockwise from left to right, in `0..360`.
    pub angle: i16,
    /// Width of the strokes in thousandths of the size; 0 where it could not be measured.
    pub weight: f32,
    /// Narrowest advance of an ASCII letter or digit, in parts of the size; `f32::MAX` without one.
    pub narrow: f32,
    /// Widest advance of one; 0 without one.
    pub wide: f32,
    /// A space character stands before it.
    pub spaced: bool,
    /// Drawn without ink, as the recognised text under the picture of a scan.
    pub invisible: bool,
    /// Drawn in white.
    pub white: bool,
    /// Place in the page's list of link targets; what is recognised on a picture bears its own number
    /// among the words here.
    pub link: Option<usize>,
}

impl Word {
    /// Its box as the font's height tells it, in its own coordinates ([`crate::frame::Frame`]).
    pub fn area(&self) -> Area {
        Area {
            left: self.left,
            top: self.base - 0.78 * self.size,
            right: self.right.max(self.left),
            bottom: self.base + 0.22 * self.size,
        }
    }
}

/// A straight line, or a fill that is as thin as one, along an edge of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// It is horizontal; else it is vertical.
    pub flat: bool,
    /// Its y where it is flat, else its x.
    pub at: f32,
    /// Where it begins: its least x where it is flat, else its least y.
    pub from: f32,
    /// Where it ends; greater than `from`.
    pub to: f32,
}

impl Rule {
    /// The same rule on a page that is so many times as large.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        let Self { flat, at, from, to } = self;
        Self { flat, at: at * scale, from: from * scale, to: to * scale }
    }
}
