//! Finds the headings of a document and their levels from the style of most of its text.

use crate::piece::{Body, Piece};
use crate::text::script::is_wide;
use crate::text::{Line, markers};

/// The most levels of a document.
const LEVELS: usize = 6;

/// The style of most of the text, and the styles of headings.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    /// Size and weight of most of the text.
    size: f32,
    weight: f32,
    /// Styles of headings (size in half points, and whether it is bold) and their levels.
    headings: Vec<((u32, bool), u8)>,
    /// Level of headings with a single number, such as `3 Title`.
    numbered: Option<u8>,
}

impl Styles {
    /// Measured over all visible text; there are no headings if no line has a size.
    pub(crate) fn of(pieces: &[Piece]) -> Self {
        let texts = || {
            pieces.iter().filter(|piece| !piece.hidden).filter_map(|piece| match &piece.body {
                Body::Text(lines) => Some(lines),
                _ => None,
            })
        };
        let mut sizes: Vec<(u32, usize)> = Vec::new();
        for line in texts().flatten().filter(|line| 0.0 < line.size) {
            count(&mut sizes, half_points(line.size), line.text.text.len());
        }
        let Some(most) = sizes.iter().max_by_key(|(_, n)| *n).map(|(size, _)| *size) else {
            return Self::default();
        };
        let mut weights: Vec<(u32, usize)> = Vec::new();
        for line in texts().flatten().filter(|line| half_points(line.size) == most) {
            if 0.0 < line.weight {
                count(&mut weights, (line.weight / 4.0).round() as u32, line.text.text.len());
            }
        }
        let weight = weights.iter().max_by_key(|(_, n)| *n).map_or(0, |(weight, _)| *weight);
        let mut styles =
            Self { size: most as f32 / 2.0, weight: weight as f32 * 4.0, ..Self::default() };
        let mut found: Vec<((u32, bool), usize)> = Vec::new();
        let mut numbered: Vec<(u32, bool)> = Vec::new();
        for lines in texts() {
            let text: String =
                lines.iter().flat_map(|line| [line.text.text.as_str(), " "]).collect();
            if let Some(style) = styles.prominent_style(lines, &text) {
                match found.iter_mut().find(|(known, _)| *known == style) {
                    Some((_, n)) => *n += 1,
                    None => found.push((style, 1)),
                }
                if markers::depth(&text) == Some(1) {
                    numbered.push(style);
                }
            }
        }
        found.sort_by_key(|(style, _)| std::cmp::Reverse(*style));
        // A cover has many styles. If there are too many, a style that occurs once gets the level
        // of the next smaller frequent style.
        let often = |n: usize| found.len() <= LEVELS || 1 < n;
        let mut level = 1;
        for (style, n) in &found {
            styles.headings.push((*style, level));
            level += u8::from(often(*n) && usize::from(level) < LEVELS);
        }
        styles.numbered = numbered.iter().map(|style| styles.level(*style)).min();
        styles
    }

    /// The level of these lines as a heading; `None` if they are not a heading.
    pub(crate) fn heading(&self, lines: &[Line], text: &str) -> Option<u8> {
        let style = self.prominent_style(lines, text)?;
        let level = self.level(style);
        match (markers::depth(text), self.numbered) {
            (Some(depth), Some(first)) => Some((usize::from(first) + depth - 1).min(LEVELS) as u8),
            _ => Some(level),
        }
    }

    fn level(&self, style: (u32, bool)) -> u8 {
        let known = self.headings.iter().find(|(known, _)| *known == style);
        known.map_or(LEVELS as u8, |(_, level)| *level)
    }

    /// The style of short text that is larger or bolder than most.
    fn prominent_style(&self, lines: &[Line], text: &str) -> Option<(u32, bool)> {
        let text = text.trim();
        let n_chars = text.chars().count();
        let first = lines.first()?;
        if lines.len() > 4
            || !(2..=200).contains(&n_chars)
            || !text.chars().any(char::is_alphabetic)
        {
            return None;
        }
        let size = lines.iter().map(|line| line.size).fold(f32::MAX, f32::min);
        let weight = lines.iter().map(|line| line.weight).fold(f32::MAX, f32::min);
        let larger = 1.09 * self.size < size;
        let bold = 0.0 < self.weight && 1.22 * self.weight < weight && 0.93 * self.size < size;
        if !larger && (!bold || first.mono) {
            return None;
        }
        let sentence =
            text.ends_with(['.', ',', ';', '。', '，']) && markers::depth(text).is_none();
        // Skips lines of a table of contents and page numbers.
        let roman = text.len() <= 5 && text.chars().all(|c| "ivxl".contains(c));
        if markers::ends_in_leader(text) || roman {
            return None;
        }
        let item = markers::is_item(text)
            && !text.starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase());
        // A large number or an emphasised word is not a heading.
        let long_enough =
            3 <= text.chars().filter(|c| c.is_alphabetic()).count() || text.chars().any(is_wide);
        let prose = sentence && (lines.len() > 1 || 60 < n_chars || !bold && !larger);
        (!prose && !item && long_enough && !text.ends_with(',')).then(|| (half_points(size), bold))
    }
}

fn half_points(size: f32) -> u32 {
    (size * 2.0).round().clamp(0.0, 2000.0) as u32
}

fn count(counts: &mut Vec<(u32, usize)>, key: u32, n: usize) {
    match counts.iter_mut().find(|(known, _)| *known == key) {
        Some((_, sum)) => *sum += n,
        None => counts.push((key, n)),
    }
}
