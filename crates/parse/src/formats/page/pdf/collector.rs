//! Collects the marks of a page: words with their places, ruling lines, fills and pictures.
//!
//! Coordinates are points from the upper left corner of the page as shown.

use std::collections::HashMap;

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_cmap::WritingMode;
use hayro_interpret::kurbo::{BezPath, PathEl, Point, Rect, Shape};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint, SoftMask,
};
use pikerag_knowledge::Area;
use pikerag_layout::marks::{Rule, Word};

use super::picture::{self, Picture, PictureBudget};
use super::place::{Placed, area_of, box_of};

/// The most words, rules and fills of a page; a drawing may have more, and then it is not a table.
const MOST_WORDS: usize = 100_000;
const MOST_RULES: usize = 10_000;

/// The marks of a page.
#[derive(Debug, Default)]
pub(crate) struct PageContent {
    pub(crate) words: Vec<Word>,
    pub(crate) rules: Vec<Rule>,
    /// Fills in a colour other than white that are larger than a rule.
    pub(crate) fills: Vec<Area>,
    pub(crate) pictures: Vec<Picture>,
    /// The number of characters without a meaning in the file.
    pub(crate) unknown: usize,
    /// The number of words beyond [`MOST_WORDS`].
    pub(crate) left_out: usize,
}

/// The width of the strokes of each glyph, by its key.
pub(crate) type Weights = HashMap<u128, f32>;

/// The most glyphs of a file whose strokes are measured; others have no weight.
const MOST_WEIGHTS: usize = 100_000;

/// The device on which the interpreter draws a page: it joins glyphs to words and lines to rules.
pub(crate) struct Collector<'r> {
    pub(crate) content: PageContent,
    word: Option<Word>,
    strokes: f32,
    letters: u32,
    space: bool,
    weights: &'r mut Weights,
    page: Area,
    budget: &'r mut PictureBudget,
}

impl<'r> Collector<'r> {
    /// For a page of this extent; pictures use `budget`, and each glyph is measured once.
    pub(crate) fn new(page: Area, budget: &'r mut PictureBudget, weights: &'r mut Weights) -> Self {
        Self {
            content: PageContent::default(),
            word: None,
            strokes: 0.0,
            letters: 0,
            space: false,
            weights,
            page,
            budget,
        }
    }

    pub(crate) fn finish(mut self) -> PageContent {
        self.end_word();
        self.content
    }

    fn end_word(&mut self) {
        let Some(mut word) = self.word.take() else { return };
        if 0 < self.letters {
            word.weight = self.strokes / self.letters as f32;
        }
        (self.strokes, self.letters) = (0.0, 0);
        if MOST_WORDS <= self.content.words.len() {
            self.content.left_out += 1;
        } else {
            self.content.words.push(word);
        }
    }

    fn add(&mut self, mut word: Word, weight: Option<f32>, same_run: bool) {
        if let Some(last) = &mut self.word {
            let size = last.size.max(word.size).max(0.01);
            let alike = last.angle == word.angle
                && last.invisible == word.invisible
                && last.white == word.white;
            let gap = (word.left - last.right) / size;
            let lift = (word.base - last.base).abs() / size;
            let fitting = if same_run { -1.0..0.15 } else { -0.35..0.15 };
            if alike && !self.space && fitting.contains(&gap) && lift < 0.6 {
                let level = lift < 0.06 && (last.size - word.size).abs() < 0.05 * size;
                if level && last.left <= word.left {
                    last.right = word.right.max(last.left);
                    if 0.0 < word.wide {
                        last.narrow = last.narrow.min(word.narrow);
                        last.wide = last.wide.max(word.wide);
                    }
                    last.text.push_str(&word.text);
                    if let Some(weight) = weight {
                        self.strokes += weight;
                        self.letters += 1;
                    }
                    return;
                }
                // A superscript or subscript stays on the line of its neighbour.
                if word.size < 0.86 * last.size {
                    word.base = last.base;
                } else if last.size < 0.86 * word.size {
                    last.base = word.base;
                }
            }
        }
        self.end_word();
        word.spaced = std::mem::take(&mut self.space);
        if let Some(weight) = weight {
            (self.strokes, self.letters) = (weight, 1);
        }
        self.word = Some(word);
    }

    fn weight(&mut self, text: &str, glyph: &Glyph<'_>) -> Option<f32> {
        let Glyph::Outline(outline) = glyph else { return None };
        if !text.starts_with(char::is_alphanumeric) || MOST_WEIGHTS < self.weights.len() {
            return None;
        }
        let known = self.weights.entry(outline.identifier().cache_key());
        let weight = *known.or_insert_with(|| {
            let path = outline.outline();
            // A stroke of width w and length l has the area wl and a perimeter of almost 2l.
            let around = path.perimeter(5.0) as f32;
            if around <= 1.0 { 0.0 } else { 2.0 * path.area().abs() as f32 / around }
        });
        (0.0 < weight).then_some(weight)
    }

    fn add_rule(&mut self, rule: Rule) {
        let rule = Rule { from: rule.from.min(rule.to), to: rule.from.max(rule.to), ..rule };
        if self.content.rules.len() < MOST_RULES && rule.at.is_finite() && rule.from < rule.to {
            self.content.rules.push(rule);
        }
    }

    fn outline(&mut self, points: &[Point], filled: bool, stroked: bool, white: bool) {
        let straight = |a: &Point, b: &Point| (a.x - b.x).abs() < 0.5 || (a.y - b.y).abs() < 0.5;
        let edges = points.iter().zip(points.iter().skip(1));
        if !edges.clone().all(|(a, b)| straight(a, b)) {
            // It is not a rule, but white text may lie on it.
            let area = box_of(points);
            if filled && !white && 3.0 < (area.bottom - area.top).min(area.right - area.left) {
                self.fill(area, white);
            }
            return;
        }
        if stroked {
            for (a, b) in edges {
                let (dx, dy) = ((a.x - b.x).abs(), (a.y - b.y).abs());
                if dy < 0.5 && 0.5 < dx {
                    let (from, to) = (a.x as f32, b.x as f32);
                    self.add_rule(Rule { flat: true, at: a.y as f32, from, to });
                } else if dx < 0.5 && 0.5 < dy {
                    let (from, to) = (a.y as f32, b.y as f32);
                    self.add_rule(Rule { flat: false, at: a.x as f32, from, to });
                }
            }
        }
        if filled && 2 < points.len() {
            self.fill(box_of(points), white);
        }
    }

    fn fill(&mut self, area: Area, white: bool) {
        let (wide, high) = (area.right - area.left, area.bottom - area.top);
        if high <= 3.0 && high < wide {
            let at = f32::midpoint(area.top, area.bottom);
            self.add_rule(Rule { flat: true, at, from: area.left, to: area.right });
        } else if wide <= 3.0 && wide < high {
            let at = f32::midpoint(area.left, area.right);
            self.add_rule(Rule { flat: false, at, from: area.top, to: area.bottom });
        } else if !white && self.content.fills.len() < MOST_RULES {
            self.content.fills.push(area);
        }
    }
}

impl<'a> Device<'a> for Collector<'_> {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let (filled, stroked) = match mode {
            DrawMode::Fill(_) => (true, false),
            DrawMode::Stroke(_) => (false, true),
            DrawMode::FillAndStroke(..) => (true, true),
            DrawMode::Invisible => return,
        };
        let white = is_white(&props.paint);
        let mut points: Vec<Point> = Vec::new();
        let mut curved = false;
        for element in path.elements() {
            match *element {
                PathEl::MoveTo(point) => {
                    if !std::mem::take(&mut curved) {
                        self.outline(&points, filled, stroked, white);
                    }
                    points.clear();
                    points.push(props.transform * point);
                }
                PathEl::LineTo(point) => points.push(props.transform * point),
                PathEl::ClosePath => points.extend(points.first().copied()),
                PathEl::QuadTo(..) | PathEl::CurveTo(..) => curved = true,
            }
        }
        if curved {
            // A round shape is not a rule, but white text may lie on it.
            if filled && !white {
                let around = (props.transform.transform_rect_bbox(path.bounding_box())).abs();
                self.fill(area_of(around), white);
            }
        } else {
            self.outline(&points, filled, stroked, white);
        }
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        let invisible = matches!(mode, DrawMode::Invisible);
        let white = is_white(&props.paint);
        let vertical = matches!(run.writing_mode(), WritingMode::Vertical);
        let mut same_run = false;
        for glyph in run.glyphs() {
            let text = match glyph.as_unicode() {
                Some(BfString::Char(c)) => c.to_string(),
                Some(BfString::String(text)) => text,
                None => {
                    self.content.unknown += 1;
                    '\u{fffd}'.to_string()
                }
            };
            if text.chars().all(|c| c.is_whitespace() || c.is_control() || c == '\u{200b}') {
                self.space = true;
                continue;
            }
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let Some(place) = Placed::new(
                props.transform * glyph.transform(),
                f64::from(advance.unwrap_or(500.0)),
                vertical,
            ) else {
                continue;
            };
            let advance = (place.right - place.left) / place.size;
            let measured = text.chars().all(|c| c.is_ascii_alphanumeric());
            let weight = self.weight(&text, glyph);
            let word = Word {
                text,
                left: place.left,
                right: place.right,
                base: place.base,
                size: place.size,
                angle: place.angle,
                weight: 0.0,
                narrow: if measured { advance } else { f32::MAX },
                wide: if measured { advance } else { 0.0 },
                spaced: false,
                invisible,
                white,
                link: None,
            };
            self.add(word, weight, same_run);
            same_run = true;
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        if let Some(picture) = picture::take(&image, props.transform, self.page, self.budget) {
            self.content.pictures.push(picture);
        }
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        self.draw_path(&rect.to_path(0.1), props, mode);
    }
}

fn is_white(paint: &Paint<'_>) -> bool {
    match paint {
        Paint::Color(color) => {
            let [red, green, blue, alpha] = color.to_rgba().components();
            [red, green, blue].iter().all(|part| 0.96 < *part) || alpha < 0.02
        }
        Paint::Pattern(_) => false,
    }
}
