//! What does a picture say? The words that a program outside recognises on it, as tables, by rules or
//! by alignment, and as the paragraphs that the program found.

mod clean;
mod grey;
mod place;
mod strokes;
mod table;

use pikerag_knowledge::{Area, Image};

use crate::layout::is_wide;
use crate::pdf::ink::Rule;
use crate::pdf::lines::Line;
use crate::pdf::page::Body;
use crate::writing::Linked;
use crate::{Helpers, SeenWord, Unavailable};

use grey::Grey;
use table::Fate;

/// A word that the program is less sure of is most likely a stain or a line of the drawing.
const LEAST_CONFIDENCE: f32 = 0.3;
/// From so many letters on, it is a word if the paragraph around it reads well.
const LONG: usize = 4;
/// Words below this are read, but worth a look.
const SHAKY: f32 = 0.6;

/// What was recognised on a picture, in points from its upper left corner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// As the program gave them.
    pub(crate) words: Vec<SeenWord>,
    /// The lines drawn on it.
    rules: Vec<Rule>,
}

/// What a picture says, in reading order.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Texts and tables.
    pub(crate) pieces: Vec<(Area, Body)>,
    /// Words that are read, but worth a look.
    pub(crate) shaky: usize,
    /// All words, also those that were dropped.
    pub(crate) n_words: usize,
}

impl Said {
    /// What is to be told about it.
    pub(crate) fn problem(&self) -> Option<String> {
        (0 < self.shaky).then(|| {
            format!(
                "{} of {} words were recognised with little certainty",
                self.shaky, self.n_words
            )
        })
    }
}

/// Looks at a picture; `scale` is points per pixel. One with ruled tables is shown to the program
/// without their rules; where it finds no words in them, or empty cells, it is asked about the picture
/// itself, too.
///
/// # Errors
/// The program cannot be asked.
pub(crate) fn look(image: &Image, scale: f32, helpers: &dyn Helpers) -> Result<Seen, Unavailable> {
    let (rules, clean) = match Grey::of(image) {
        Some(grey) => {
            let strokes = strokes::find(&grey);
            let clean = clean::without_frames(&grey, &strokes).and_then(|clean| clean.encode());
            (strokes.into_iter().map(|stroke| scaled(stroke.rule, scale)).collect(), clean)
        }
        None => (Vec::new(), None),
    };
    let Some(clean) = clean else {
        return Ok(Seen { words: helpers.recognize(image, scale)?, rules });
    };
    let mut seen = Seen { words: helpers.recognize(&clean, scale)?, rules };
    let holes = table::holes(&kept(&seen.words), &seen.rules);
    match holes.as_deref() {
        Some([]) => {}
        Some(holes) => {
            let more = helpers.recognize(image, scale).unwrap_or_default();
            fill(&mut seen.words, more, holes);
        }
        None => {
            if let Ok(words) = helpers.recognize(image, scale) {
                seen.words = words;
            }
        }
    }
    Ok(seen)
}

/// Adds words, each as a paragraph, that stand in tables with empty cells and touch no other: single
/// digits are overlooked where no rule is near.
fn fill(words: &mut Vec<SeenWord>, more: Vec<SeenWord>, tables: &[Area]) {
    let mut next = words.iter().map(|word| word.line.max(word.paragraph)).max().unwrap_or(0);
    let n = words.len();
    for mut word in more.into_iter().filter(|word| SHAKY <= word.confidence) {
        let touches = |other: &SeenWord| share(word.area, other.area);
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

fn scaled(rule: Rule, scale: f32) -> Rule {
    let Rule { flat, at, from, to } = rule;
    Rule { flat, at: at * scale, from: from * scale, to: to * scale }
}

/// The words of a picture as tables and paragraphs.
pub(crate) fn said(seen: &Seen) -> Said {
    let words = kept(&seen.words);
    let shaky = words.iter().filter(|word| word.confidence < SHAKY).count();
    let (tables, fates) = table::tables(&words, &seen.rules);
    // Its own paragraphs, parted where words between them stand in a table.
    let mut paragraphs: Vec<(usize, Area, Body)> = Vec::new();
    let mut last: Option<&SeenWord> = None;
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
    Said { pieces: place::placed(paragraphs, tables), shaky, n_words: seen.words.len() }
}

/// Words that are words: those that are sure enough, and long ones in a paragraph that reads well, such
/// as names and words of a language that the program was not told of.
fn kept(words: &[SeenWord]) -> Vec<&SeenWord> {
    let mut kept = Vec::with_capacity(words.len());
    for paragraph in words.chunk_by(|a, b| a.paragraph == b.paragraph) {
        let n_sure = paragraph.iter().filter(|word| SHAKY <= word.confidence).count();
        let reads_well = 2 * paragraph.len() <= 3 * n_sure;
        kept.extend(paragraph.iter().filter(|word| {
            let n_letters = word.text.chars().filter(|c| c.is_alphanumeric()).count();
            let is_likely = reads_well && LONG <= n_letters;
            !word.text.trim().is_empty() && (LEAST_CONFIDENCE <= word.confidence || is_likely)
        }));
    }
    kept
}

fn append(line: &mut Line, word: &SeenWord) {
    let text = &mut line.text.text;
    let wide = |c: Option<char>| c.is_some_and(is_wide);
    // Chinese is recognised character by character; no space belongs between them.
    if !(wide(text.chars().last()) && wide(word.text.trim().chars().next())) {
        text.push(' ');
    }
    text.push_str(word.text.trim());
    line.area = line.area.around(word.area);
}

/// A line whose font is not known.
fn line(word: &SeenWord) -> Line {
    Line {
        text: Linked::from(word.text.trim()),
        area: word.area,
        base: word.area.bottom,
        size: 0.0,
        weight: 0.0,
        mono: false,
        first: 0.0,
    }
}

#[cfg(test)]
mod tests;
