//! Defines the marks on a page that matter for its layout.

use pikerag_knowledge::Area;

/// All marks of a page, in points from its upper left corner.
#[derive(Debug, Default)]
pub struct PageMarks {
    /// In drawing order.
    pub words: Vec<Word>,
    /// Ruling lines, in any order.
    pub rules: Vec<Rule>,
    /// Fills in a colour other than white that are larger than a rule.
    pub fills: Vec<Area>,
    /// The places of images in drawing order; they may touch and overlap.
    pub images: Vec<Area>,
}

/// Characters without a gap between them. A word in another direction than left to right has the
/// coordinates of the page turned by `angle`.
#[derive(Clone, Debug)]
pub struct Word {
    /// Not empty, without white space, in visual order: right-to-left text is backwards.
    pub text: String,
    /// The start of its first glyph; never NaN.
    pub left: f32,
    /// The end of its last glyph; left of `left` for a glyph that moves backwards.
    pub right: f32,
    /// The y of its baseline.
    pub base: f32,
    /// Height of the font, not of the glyphs.
    pub size: f32,
    /// Degrees clockwise from left to right, in `0..360`.
    pub angle: i16,
    /// Width of the strokes in thousandths of the size; 0 if unknown.
    pub weight: f32,
    /// Narrowest advance of an ASCII letter or digit as a share of the size; `f32::MAX` if there is
    /// none.
    pub narrow: f32,
    /// Widest advance of an ASCII letter or digit as a share of the size; 0 if there is none.
    pub wide: f32,
    /// Whether a space character comes before it.
    pub spaced: bool,
    /// Whether it is drawn without ink, as the recognised text under the picture of a scan is.
    pub invisible: bool,
    /// Whether it is drawn in white.
    pub white: bool,
    /// Index in the page's list of link targets; for recognised words, their own number among the
    /// words.
    pub link: Option<usize>,
}

impl Word {
    /// The box computed from the font's height, in the word's own coordinates
    /// ([`crate::frame::Frame`]).
    pub fn area(&self) -> Area {
        Area {
            left: self.left,
            top: self.base - 0.78 * self.size,
            right: self.right.max(self.left),
            bottom: self.base + 0.22 * self.size,
        }
    }
}

/// A straight line, or a fill as thin as one, parallel to an edge of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Whether it is horizontal; else it is vertical.
    pub flat: bool,
    /// Its y if it is horizontal, else its x.
    pub at: f32,
    /// The start: its smallest x if it is horizontal, else its smallest y.
    pub from: f32,
    /// The end; greater than `from`.
    pub to: f32,
}

impl Rule {
    /// The same rule on a page enlarged by `scale`.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        let Self { flat, at, from, to } = self;
        Self { flat, at: at * scale, from: from * scale, to: to * scale }
    }
}
