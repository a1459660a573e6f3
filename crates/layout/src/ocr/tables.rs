//! Finds the tables among recognised words, with the same search for rules and alignment as on PDF
//! pages.

use std::collections::HashSet;

use pikerag_knowledge::Area;

use super::RecognizedWord;
use super::place::Found;
use crate::marks::{Rule, Word};
use crate::piece::Body;
use crate::tables::{PageTable, aligned, ruled};
use crate::text::lines;
use crate::text::script::{is_right_to_left, is_wide};

/// The size of most words, whatever the picture's resolution; tables are searched in these units.
const EM: f32 = 10.0;
/// Rules closer than this form a double rule: no word fits between them.
const DOUBLE: f32 = 0.5 * EM;
/// An end of a rule at most this far from a crossing rule touches it.
const NEAR_END: f32 = 0.6 * EM;
/// A shorter stroke may belong to a letter, such as the stem of an `l`, or be a dash.
const SHORT: f32 = 1.2 * EM;
/// The ends of a short rule touch the crossing rules; strokes of letters keep a larger distance.
const TOUCHING: f32 = 0.2 * EM;
/// The centre of a word's box may miss the centre of its content by this much.
const BLUR: f32 = 0.1 * EM;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The word belongs to a paragraph.
    Text,
    /// The word belongs to a table.
    Cell,
    /// The word is a rule that the program read as a letter.
    Rule,
}

/// The tables, and the fate of each word.
pub(super) fn tables(seen: &[&RecognizedWord], rules: &[Rule]) -> (Vec<Found>, Vec<Fate>) {
    let mut fates = vec![Fate::Text; seen.len()];
    let mut found = Vec::new();
    let Some(Page { mut words, strokes, rules, scale }) = page(seen, rules) else {
        return (found, fates);
    };
    for (word, fate) in seen.iter().zip(&mut fates) {
        if is_rule(word, &strokes, scale) {
            *fate = Fate::Rule;
        }
    }
    words.retain(|word| {
        word.link.and_then(|index| fates.get(index)).is_none_or(|fate| *fate != Fate::Rule)
    });
    let mut take = |before: Vec<Word>, after: Vec<Word>, tables: Vec<PageTable>| {
        let left: HashSet<_> = after.iter().map(|word| word.link).collect();
        let gone: Vec<Word> =
            before.into_iter().filter(|word| !left.contains(&word.link)).collect();
        for index in gone.iter().filter_map(|word| word.link) {
            if let Some(fate) = fates.get_mut(index) {
                *fate = Fate::Cell;
            }
        }
        for table in tables {
            let inside = gone.iter().filter(|word| holds(table.area, word));
            let first = inside.filter_map(|word| word.link).min().unwrap_or_default();
            found.push((first, back(table.area, scale), Body::Table(table)));
        }
    };
    let before = words.clone();
    let tables = ruled::tables(&rules, &mut words);
    take(before, words.clone(), tables);
    let mut rows = lines::rows(words);
    let all = |rows: &[lines::Row]| rows.iter().flat_map(|row| row.words.clone()).collect();
    let before = all(&rows);
    let tables = aligned::tables(&mut rows);
    take(before, all(&rows), tables);
    (found, fates)
}

/// The empty cells of tables with rules; `None` if the rules form no table of the words.
pub(super) fn with_empty_cells(seen: &[&RecognizedWord], rules: &[Rule]) -> Option<Vec<Area>> {
    let Page { mut words, rules, scale, .. } = page(seen, rules)?;
    let tables = ruled::tables(&rules, &mut words);
    if tables.is_empty() {
        return None;
    }
    let has_hole = |table: &&PageTable| {
        table.rows.iter().chain([&table.header]).flatten().any(String::is_empty)
    };
    Some(tables.iter().filter(has_hole).map(|table| back(table.area, scale)).collect())
}

/// Converts an area to the picture's own units.
fn back(area: Area, scale: f32) -> Area {
    let Area { left, top, right, bottom } = area;
    let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge / scale);
    Area { left, top, right, bottom }
}

/// Words and rules in units in which most words have the size [`EM`].
struct Page {
    /// Each has its own number as its link, because a picture has no link targets.
    words: Vec<Word>,
    /// The drawn rules, without strokes of letters.
    strokes: Vec<Rule>,
    /// The rules after [`joined`].
    rules: Vec<Rule>,
    scale: f32,
}

/// `None` if no word gives a size. Right-to-left words come in logical order, not in visual order,
/// so they remain in the paragraphs.
fn page(seen: &[&RecognizedWord], rules: &[Rule]) -> Option<Page> {
    if seen.iter().any(|word| word.text.chars().any(is_right_to_left)) {
        return None;
    }
    let mut sizes: Vec<f32> =
        seen.iter().filter_map(|word| shape(word)).map(|(size, _)| size).collect();
    let scale = EM / median(&mut sizes)?;
    let mut words = Vec::with_capacity(seen.len());
    for line in seen.chunk_by(|a, b| a.line == b.line) {
        words.extend(measured(line, words.len(), EM / scale));
    }
    for word in &mut words {
        let Word { left, right, base, size, .. } = word;
        for number in [left, right, base, size] {
            *number *= scale;
        }
    }
    let rules = rules.iter().map(|rule| rule.scaled(scale)).collect();
    let strokes = without_letters(rules);
    Some(Page { words, rules: joined(strokes.clone()), strokes, scale })
}

/// Removes the strokes of large letters: they are short and do not connect two rules. Two strokes
/// of an `E` or an `H` do not confirm a third.
fn without_letters(mut rules: Vec<Rule>) -> Vec<Rule> {
    let is_long = |rule: &Rule| SHORT <= rule.to - rule.from;
    let long: Vec<Rule> = rules.iter().copied().filter(is_long).collect();
    rules.retain(|rule| {
        let meets = |end: f32| {
            long.iter().any(|across| {
                across.flat != rule.flat
                    && (across.at - end).abs() < TOUCHING
                    && across.from - TOUCHING <= rule.at
                    && rule.at <= across.to + TOUCHING
            })
        };
        is_long(rule) || (meets(rule.from) && meets(rule.to))
    });
    rules
}

/// The words of a line with baseline and font size, as far as their boxes give them.
fn measured(line: &[&RecognizedWord], first: usize, usual: f32) -> Vec<Word> {
    let shapes: Vec<Option<(f32, f32)>> = line.iter().map(|word| shape(word)).collect();
    let mut sizes: Vec<f32> = shapes.iter().flatten().map(|(size, _)| *size).collect();
    let size = median(&mut sizes).unwrap_or(usual);
    // A box may also contain a stain or a rule.
    let sound = |shape: &(f32, f32)| (0.7 * size..1.4 * size).contains(&shape.0);
    let mut bases: Vec<f32> = shapes.iter().flatten().filter(|s| sound(s)).map(|s| s.1).collect();
    let usual_base = median(&mut bases);
    let mut words: Vec<Word> = Vec::with_capacity(line.len());
    for (index, (word, shape)) in line.iter().zip(shapes).enumerate() {
        let own = shape.map_or(word.area.bottom, |(_, base)| base);
        let base = match usual_base {
            // The words in one line of a table may have several heights.
            Some(base) if (own - base).abs() < 0.35 * size => base,
            Some(base) if !shape.is_some_and(|shape| sound(&shape)) && near(word.area, base) => {
                base
            }
            _ => own,
        };
        // Boxes touch if their letters do; there is still a space between the words.
        if let Some(last) = words.last_mut()
            && last.left < word.area.left
        {
            last.right = last.right.min(word.area.left - 0.05 * size).max(last.left);
        }
        words.push(Word {
            text: word.text.trim().to_owned(),
            left: word.area.left,
            right: word.area.right,
            base,
            size,
            angle: 0,
            weight: 0.0,
            narrow: f32::MAX,
            wide: 0.0,
            spaced: true,
            invisible: false,
            white: false,
            link: Some(first + index),
        });
    }
    words
}

fn near(area: Area, base: f32) -> bool {
    area.top < base && base <= area.bottom
}

/// The font size and the baseline from a word's box and letters; `None` if it has no letter and no
/// digit.
fn shape(word: &RecognizedWord) -> Option<(f32, f32)> {
    let Area { top, bottom, .. } = word.area;
    let (mut rises, mut falls, mut wide, mut any) = (false, 0.0_f32, false, false);
    for c in word.text.chars() {
        any |= c.is_alphanumeric();
        wide |= is_wide(c);
        rises |= c.is_uppercase() || c.is_numeric() || "bdfhijklt()[]{}/|%&$§'\"!?".contains(c);
        falls = falls.max(match c {
            'g' | 'j' | 'p' | 'q' | 'y' | '(' | ')' | '[' | ']' | '{' | '}' | '|' => 0.21,
            ',' | ';' | 'Q' | '/' => 0.13,
            _ => 0.0,
        });
    }
    let (above, below) = match (wide, rises) {
        (true, _) => (0.82, 0.1),
        (false, true) => (0.72, falls),
        (false, false) => (0.5, falls),
    };
    let size = (bottom - top) / (above + below);
    (any && 0.0 < size && size.is_finite()).then_some((size, bottom - below * size))
}

fn median(numbers: &mut [f32]) -> Option<f32> {
    numbers.sort_by(f32::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

/// Merges double rules and extends ends that almost reach a crossing rule, so that cells drawn as
/// separate boxes form a table.
fn joined(rules: Vec<Rule>) -> Vec<Rule> {
    let (mut flat, mut upright): (Vec<Rule>, Vec<Rule>) =
        rules.into_iter().partition(|rule| rule.flat);
    let (lines, walls) = (gathered(&mut flat), gathered(&mut upright));
    for (rules, across) in [(&mut flat, walls), (&mut upright, lines)] {
        for rule in rules {
            for end in [&mut rule.from, &mut rule.to] {
                let next = across.partition_point(|at| *at < *end);
                let both = [next.checked_sub(1), Some(next)];
                let places = both.into_iter().flatten().filter_map(|at| across.get(at));
                let nearest =
                    places.min_by(|a, b| (**a - *end).abs().total_cmp(&(**b - *end).abs()));
                if let Some(nearest) = nearest.filter(|at| (**at - *end).abs() < NEAR_END) {
                    *end = *nearest;
                }
            }
        }
    }
    flat.append(&mut upright);
    flat
}

/// Moves rules that are almost in one place to their middle; returns the places, ascending.
fn gathered(rules: &mut [Rule]) -> Vec<f32> {
    rules.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut places: Vec<f32> = Vec::new();
    let mut rest = rules;
    while let Some(first) = rest.first().map(|rule| rule.at) {
        let n = rest.partition_point(|rule| rule.at <= first + DOUBLE);
        let (group, others) = rest.split_at_mut(n.max(1));
        let place = group.iter().map(|rule| rule.at).sum::<f32>() / group.len() as f32;
        for rule in group.iter_mut() {
            rule.at = place;
        }
        places.push(place);
        rest = others;
    }
    places
}

/// Whether the word is a rule that the program read as letters: its box then contains the rule. The
/// box of an underlined dash does not.
fn is_rule(word: &RecognizedWord, strokes: &[Rule], scale: f32) -> bool {
    let Area { left, top, right, bottom } = word.area;
    let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge * scale);
    let (x, y) = (f32::midpoint(left, right), f32::midpoint(top, bottom));
    let is_on = |flat: bool| {
        let (first, last, along) = if flat { (top, bottom, x) } else { (left, right, y) };
        strokes.iter().any(|rule| {
            rule.flat == flat
                && first - BLUR <= rule.at
                && rule.at <= last + BLUR
                && rule.from <= along
                && along <= rule.to
        })
    };
    let text = word.text.trim();
    // Checks the rules last, because few words consist of such signs.
    let is_drawn = |signs: &str, flat: bool| !text.contains(|c| signs.contains(c)) || is_on(flat);
    text.chars().all(|c| "|¦[]_—–-=".contains(c))
        && (2.0 * EM <= right - left || !text.contains(['–', '-', '=']))
        && is_drawn("|¦[]", false)
        && is_drawn("_—–-=", true)
}

fn holds(area: Area, word: &Word) -> bool {
    let own = word.area();
    let (x, y) = (f32::midpoint(own.left, own.right), f32::midpoint(own.top, own.bottom));
    area.left <= x && x <= area.right && area.top <= y && y <= area.bottom
}
