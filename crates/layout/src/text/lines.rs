//! Joins words into lines: words on one baseline form a row, and a row is split where a column
//! ends.

use pikerag_knowledge::Area;

use super::bidi;
use super::linked::LinkedText;
use super::markers::is_mark;
use super::script::is_wide;
use crate::marks::Word;

/// A gap this wide, as a share of the font's size, always ends a line.
const FAR: f32 = 2.4;
/// A gap this wide ends a line if the row above or below has a gap at the same place.
const APART: f32 = 0.75;
/// A gap this wide is a space.
const SPACE: f32 = 0.15;

/// Words that share a baseline, from left to right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) words: Vec<Word>,
    pub(crate) base: f32,
    /// The size of its largest font.
    pub(crate) size: f32,
}

/// Words of one row that belong together.
#[derive(Clone, Debug)]
pub struct Line {
    /// In logical order; not empty.
    pub text: LinkedText,
    /// The smallest box around its words, in the coordinates of its direction.
    pub area: Area,
    /// The y of its baseline; for recognised words, the lower edge of `area`.
    pub base: f32,
    /// Height of the font of most of its characters; 0 for recognised words.
    pub size: f32,
    /// Width of the strokes in thousandths of the size; 0 if unknown.
    pub weight: f32,
    /// Whether all letters are equally wide.
    pub mono: bool,
    /// Width of its first word; 0 for recognised words.
    pub first: f32,
}

/// Rows from top to bottom. Words drawn twice, to look bold, appear once.
pub(crate) fn rows(mut words: Vec<Word>) -> Vec<Row> {
    words.sort_by(|a, b| a.base.total_cmp(&b.base).then(a.left.total_cmp(&b.left)));
    let mut rows: Vec<Row> = Vec::new();
    for word in words {
        // Rows rise, so only the last few can take the word.
        let fitting = rows.iter_mut().rev().take(4).find(|row| {
            let size = row.size.min(word.size);
            (row.base - word.base).abs() <= 0.25 * size
        });
        match fitting {
            Some(row) => {
                row.size = row.size.max(word.size);
                row.words.push(word);
            }
            None => {
                let (base, size) = (word.base, word.size);
                rows.push(Row { words: vec![word], base, size });
            }
        }
    }
    for row in &mut rows {
        row.words
            .sort_by(|a, b| a.left.total_cmp(&b.left).then_with(|| b.right.total_cmp(&a.right)));
        row.words.dedup_by(|word, last| {
            let shift = (word.left - last.left).abs() + (word.base - last.base).abs();
            word.text == last.text && shift < 0.25 * word.size
        });
    }
    rows
}

/// The lines of all rows, from top to bottom and from left to right.
pub(crate) fn lines(rows: &[Row], targets: &[String]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let mono = row.words.iter().all(|word| {
            let even = word.wide - word.narrow < 0.02 && (0.4..0.8).contains(&word.wide);
            even || word.wide <= 0.0 && word.text.len() < 4
        }) && row.words.iter().any(|word| 0.0 < word.wide);
        let mut from = 0;
        for gap in gaps(row) {
            let far = FAR * gap.size < gap.to - gap.from;
            // Program text uses spaces for its layout.
            let apart = match mono {
                true => 8.0 * gap.size < gap.to - gap.from,
                false => far || is_gutter(rows, index, gap),
            };
            if apart {
                lines.extend(row.words.get(from..gap.word).and_then(|words| line(words, targets)));
                from = gap.word;
            }
        }
        lines.extend(row.words.get(from..).and_then(|words| line(words, targets)));
    }
    lines
}

/// Whether the gap continues above or below, with text beside it.
fn is_gutter(rows: &[Row], index: usize, gap: Gap) -> bool {
    let Some(row) = rows.get(index) else { return false };
    let slack = 1.2 * gap.size;
    let mut along = 0;
    let start = index.saturating_sub(4);
    for (at, other) in rows.iter().enumerate().skip(start).take(index - start + 5) {
        let far = (other.base - row.base).abs();
        if at == index || 4.0 * row.size < far {
            continue;
        }
        // The free part of the gap in that row.
        let (mut from, mut to) = (gap.from, gap.to);
        for word in &other.words {
            if word.left <= gap.from {
                from = from.max(word.right);
            } else if word.left < gap.to {
                to = to.min(word.left);
            }
        }
        if to - from < 0.6 * gap.size {
            // A title above or below ends the gap; text next to the gap shows that there is none.
            if far < 1.8 * row.size {
                return false;
            }
            continue;
        }
        let left = other.words.iter().any(|word| (from - word.right).abs() < slack);
        let right = other.words.iter().any(|word| (word.left - to).abs() < slack);
        along += usize::from(left) + usize::from(right);
    }
    2 <= along
}

/// A wide gap before a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub(crate) word: usize,
    pub(crate) from: f32,
    pub(crate) to: f32,
    size: f32,
}

/// The places where a row may be split.
pub(crate) fn gaps(row: &Row) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut reached: Option<f32> = None;
    for (index, word) in row.words.iter().enumerate() {
        if let Some(from) = reached {
            // A large initial must not hide the gaps of small text.
            let size = word.size.min(row.size);
            // The text after a bullet belongs to the bullet.
            let marked = index == 1 && row.words.first().is_some_and(|mark| is_mark(&mark.text));
            let apart = if marked { 3.0 * FAR } else { APART };
            if apart * size < word.left - from {
                gaps.push(Gap { word: index, from, to: word.left, size });
            }
        }
        reached = Some(reached.map_or(word.right, |right| right.max(word.right)));
    }
    gaps
}

/// Joins words into one line of text; `None` if there are no words.
pub(crate) fn line(words: &[Word], targets: &[String]) -> Option<Line> {
    let first = words.first()?;
    let mut area = first.area();
    let mut sizes: Vec<(f32, usize)> = Vec::with_capacity(words.len());
    let (mut strokes, mut letters, mut weights) = (0.0, 0, Vec::new());
    let (mut narrow, mut wide, mut measured) = (f32::MAX, 0.0_f32, 0);
    for word in words {
        area = area.around(word.area());
        let n = word.text.chars().count();
        sizes.push((word.size, n));
        if 0.0 < word.weight {
            let n = word.text.chars().filter(|c| c.is_alphanumeric()).count();
            strokes += word.weight * n as f32;
            letters += n;
            if 3 <= n {
                weights.push(word.weight);
            }
        }
        if 0.0 < word.wide {
            narrow = narrow.min(word.narrow);
            wide = wide.max(word.wide);
            measured += n;
        }
    }
    let n_chars: usize = sizes.iter().map(|(_, n)| n).sum();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = n_chars / 2;
    let mut seen = 0;
    let size = (sizes.iter())
        .find(|(_, n)| {
            seen += n;
            half < seen
        })
        .map_or(first.size, |(size, _)| *size);
    Some(Line {
        text: bidi::logical(words, size, targets, is_space),
        area,
        base: first.base,
        size,
        // One bold word does not make a line bold; a few letters give no weight.
        weight: match letters {
            _ if !weights.is_empty() => {
                weights.sort_by(f32::total_cmp);
                weights.get(weights.len() / 4).copied().unwrap_or_default()
            }
            2.. if n_chars <= 3 * letters => strokes / letters as f32,
            _ => 0.0,
        },
        mono: 4 <= measured
            && n_chars <= 2 * measured
            && wide - narrow < 0.02
            && (0.4..0.8).contains(&wide),
        first: first.right - first.left,
    })
}

/// Whether there is a space between two neighbours.
fn is_space(last: &Word, word: &Word, size: f32) -> bool {
    let gap = (word.left - last.right) / size.max(0.01);
    let ends = (last.text.chars().last(), word.text.chars().next());
    if let (Some(a), Some(b)) = ends
        && is_wide(a)
        && is_wide(b)
    {
        return 1.2 < gap;
    }
    // A space character with almost no width was meant as no space.
    SPACE < gap || (word.spaced && 0.02 < gap)
}
