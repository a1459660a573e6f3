//! Lays out the words that a program recognised on a picture or scan: tables, by rules or
//! alignment, and the program's paragraphs.

mod place;
mod tables;
#[cfg(test)]
mod tests;

use pikerag_knowledge::Area;
use pikerag_knowledge::ProblemFact;

use crate::marks::Rule;
use crate::piece::Body;
use crate::text::script::is_wide;
use crate::text::{Line, LinkedText};
use tables::Fate;

/// Words with a lower confidence are probably stains or lines of the drawing.
const LEAST_CONFIDENCE: f32 = 0.3;
/// A word with at least this many letters is kept if its paragraph reads well.
const LONG: usize = 4;
/// Words with a lower confidence are kept, but reported.
const UNCERTAIN: f32 = 0.6;

/// A word recognised on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct RecognizedWord {
    /// The word. White space around it is ignored, and a blank word is dropped.
    pub text: String,
    /// Its place, in points from the upper left corner.
    pub area: Area,
    /// Words with equal numbers share a line; numbers rise in reading order.
    pub line: u32,
    /// Lines with equal numbers share a paragraph; numbers rise in reading order.
    pub paragraph: u32,
    /// The program's confidence, from 0 to 1.
    pub confidence: f32,
}

/// The words and rules found on a picture, in points from its upper left corner.
#[derive(Clone, Debug, Default)]
pub struct Recognized {
    /// In the program's order.
    pub words: Vec<RecognizedWord>,
    /// The drawn lines ([`crate::raster::strokes::find`]).
    pub rules: Vec<Rule>,
}

/// The text and tables of a picture, in reading order.
#[derive(Debug, Default)]
pub struct OcrLayout {
    /// Texts and tables with the boxes around them; no figures.
    pub pieces: Vec<(Area, Body)>,
    /// The number of kept words that should be checked.
    pub n_uncertain: usize,
    /// The number of all words, dropped ones included.
    pub n_words: usize,
}

impl OcrLayout {
    /// The number of uncertain words; `None` if all words are certain.
    pub fn problem(&self) -> Option<ProblemFact> {
        (0 < self.n_uncertain).then_some(ProblemFact::UncertainWords {
            uncertain: self.n_uncertain,
            words: self.n_words,
        })
    }
}

/// Lays out the words of a picture as tables and the program's paragraphs, in reading order. Each
/// word appears once. Rules read as letters are left out, and so are uncertain words in paragraphs
/// that do not read well.
pub fn lay_out(recognized: &Recognized) -> OcrLayout {
    let words = kept(&recognized.words);
    let n_uncertain = words.iter().filter(|word| word.confidence < UNCERTAIN).count();
    let (tables, fates) = tables::tables(&words, &recognized.rules);
    // The program's paragraphs, split where words between them belong to a table.
    let mut paragraphs: Vec<(usize, Area, Body)> = Vec::new();
    let mut last: Option<&RecognizedWord> = None;
    for (index, (word, fate)) in words.iter().zip(&fates).enumerate() {
        match fate {
            Fate::Text => {}
            Fate::Cell => {
                last = None;
                continue;
            }
            Fate::Rule => continue,
        }
        let same_paragraph = last.is_some_and(|last| last.paragraph == word.paragraph);
        let same_line = last.is_some_and(|last| last.line == word.line);
        last = Some(word);
        match paragraphs.last_mut().filter(|_| same_paragraph) {
            Some((_, area, Body::Text(lines))) => {
                *area = area.around(word.area);
                match lines.last_mut().filter(|_| same_line) {
                    Some(line) => append(line, word),
                    None => lines.push(line(word)),
                }
            }
            _ => paragraphs.push((index, word.area, Body::Text(vec![line(word)]))),
        }
    }
    let pieces = place::placed(paragraphs, tables);
    OcrLayout { pieces, n_uncertain, n_words: recognized.words.len() }
}

/// The words with enough confidence, and long words in a paragraph that reads well, such as names
/// and words of a language that the program does not know.
fn kept(words: &[RecognizedWord]) -> Vec<&RecognizedWord> {
    let mut kept = Vec::with_capacity(words.len());
    for paragraph in words.chunk_by(|a, b| a.paragraph == b.paragraph) {
        let n_sure = paragraph.iter().filter(|word| UNCERTAIN <= word.confidence).count();
        let reads_well = 2 * paragraph.len() <= 3 * n_sure;
        kept.extend(paragraph.iter().filter(|word| {
            let n_letters = word.text.chars().filter(|c| c.is_alphanumeric()).count();
            let is_likely = reads_well && LONG <= n_letters;
            !word.text.trim().is_empty() && (LEAST_CONFIDENCE <= word.confidence || is_likely)
        }));
    }
    kept
}

fn append(line: &mut Line, word: &RecognizedWord) {
    let text = &mut line.text.text;
    let wide = |c: Option<char>| c.is_some_and(is_wide);
    // Chinese is recognised character by character, without spaces between characters.
    if !(wide(text.chars().last()) && wide(word.text.trim().chars().next())) {
        text.push(' ');
    }
    text.push_str(word.text.trim());
    line.area = line.area.around(word.area);
}

/// A line with an unknown font.
fn line(word: &RecognizedWord) -> Line {
    Line {
        text: LinkedText::from(word.text.trim()),
        area: word.area,
        base: word.area.bottom,
        size: 0.0,
        weight: 0.0,
        mono: false,
        first: 0.0,
    }
}

/// The empty cells of tables with rules; `None` if the rules form no table of the words.
pub fn tables_with_empty_cells(recognized: &Recognized) -> Option<Vec<Area>> {
    tables::with_empty_cells(&kept(&recognized.words), &recognized.rules)
}

/// Adds the words of `more` that are certain, lie in one of the tables and touch no other word,
/// each as a paragraph of its own. Programs overlook single digits without a rule nearby.
pub fn fill_empty_cells(
    words: &mut Vec<RecognizedWord>,
    more: Vec<RecognizedWord>,
    tables: &[Area],
) {
    let mut next = words.iter().map(|word| word.line.max(word.paragraph)).max().unwrap_or(0);
    let n = words.len();
    for mut word in more.into_iter().filter(|word| UNCERTAIN <= word.confidence) {
        let touches = |other: &RecognizedWord| share(word.area, other.area);
        let (x, y) = middle(word.area);
        let inside = |area: &Area| share(Area { left: x, top: y, right: x, bottom: y }, *area);
        if !tables.iter().any(inside) || words.iter().take(n).any(touches) {
            continue;
        }
        next = next.saturating_add(1);
        (word.line, word.paragraph) = (next, next);
        words.push(word);
    }
}

fn share(a: Area, b: Area) -> bool {
    a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom
}

fn middle(area: Area) -> (f32, f32) {
    (f32::midpoint(area.left, area.right), f32::midpoint(area.top, area.bottom))
}
