//! Finds tables whose rows join a name to a number by a line of dots, as in tables of contents and
//! price lists.
//!
//! They are tables of two columns, without the dots.

use std::ops::Range;

use pikerag_knowledge::Area;

use super::page_table::{self, PageTable};
use crate::marks::Word;
use crate::text::lines::{self, Row};

/// The fewest rows with dots of a table.
const FEWEST_ROWS: usize = 3;
/// The fewest dots of a leader; fewer occur in running text.
const FEWEST_DOTS: usize = 4;
/// The most lines without dots between two rows: the rest of a long name, or a name without a
/// number.
const MOST_BETWEEN: usize = 2;
/// The most columns of a page.
const MOST_COLUMNS: usize = 8;

/// Takes the tables whose rows have leaders out of `rows`. A row with more columns than a name and
/// a number remains, without its leaders.
pub(crate) fn tables(rows: &mut Vec<Row>) -> Vec<PageTable> {
    if rows.iter().filter(|row| has_leader(row)).count() < FEWEST_ROWS {
        return Vec::new();
    }
    let parts: Vec<Part> = rows.iter().enumerate().flat_map(|(at, row)| parts(at, row)).collect();
    let mut taken: Vec<Vec<bool>> = rows.iter().map(|row| vec![false; row.words.len()]).collect();
    let mut wider = vec![false; rows.len()];
    let mut tables = Vec::new();
    for mut column in columns(&parts) {
        column.retain(|part| {
            let taken = taken.get(part.row).and_then(|row| row.get(part.words.start));
            taken.is_some_and(|taken| !taken)
        });
        let mut start = 0;
        while start < column.len() {
            let end = run(&column, start);
            if let Some(run) = column.get(start..end)
                && FEWEST_ROWS <= run.iter().filter(|part| part.has_leader()).count()
                && let Some(table) = table(run)
            {
                if goes_on(run, rows) {
                    for part in run.iter().filter(|part| part.has_leader()) {
                        wider.get_mut(part.row).into_iter().for_each(|wider| *wider = true);
                    }
                    start = end;
                    continue;
                }
                tables.push(table);
                for part in run {
                    let words =
                        taken.get_mut(part.row).and_then(|row| row.get_mut(part.words.clone()));
                    words.into_iter().flatten().for_each(|taken| *taken = true);
                }
            }
            start = end.max(start + 1);
        }
    }
    for ((row, taken), wider) in rows.iter_mut().zip(taken).zip(wider) {
        let mut taken = taken.into_iter();
        row.words.retain(|_| !taken.next().unwrap_or(false));
        if wider {
            row.words = without_leaders(&row.words);
        }
    }
    rows.retain(|row| !row.words.is_empty());
    tables
}

/// The part of a row in one column of the page.
struct Part {
    row: usize,
    words: Range<usize>,
    line: Row,
    entry: Option<Entry>,
}

/// A name and its number.
struct Entry {
    name: Vec<Word>,
    number: Vec<Word>,
    /// Whether dots connect the name and the number, not only their place.
    has_leader: bool,
}

impl Part {
    fn has_leader(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.has_leader)
    }

    /// The entry whose number lies under or over the number of another.
    fn entry_beside(&self, other: &Self) -> Option<&Entry> {
        let entry = self.entry.as_ref()?;
        ((self.right() - other.right()).abs() < 2.0 * self.line.size).then_some(entry)
    }

    fn left(&self) -> f32 {
        self.line.words.first().map_or(0.0, |word| word.left)
    }

    fn right(&self) -> f32 {
        self.line.words.last().map_or(0.0, |word| word.right)
    }
}

/// A row, cut after each number that dots lead to.
fn parts(at: usize, row: &Row) -> Vec<Part> {
    let mut ends = Vec::new();
    let (mut n, mut behind) = (0, false);
    for (index, word) in row.words.iter().enumerate() {
        let last = index.checked_sub(1).and_then(|index| row.words.get(index));
        let gap = last.map_or(0.0, |last| word.left - last.right);
        if behind && 0.75 * row.size < gap {
            ends.push(index);
            (n, behind) = (0, false);
        }
        if let Some(more) = dots(&word.text) {
            (n, behind) = (n + more, false);
        } else {
            behind |= FEWEST_DOTS <= n.max(n_dots(&word.text)) && !word.text.ends_with(is_dot);
            n = 0;
        }
    }
    ends.push(row.words.len());
    let mut from = 0;
    let part = |end: usize| {
        let words = from..end;
        from = end;
        let line = Row { words: row.words.get(words.clone())?.to_vec(), ..*row };
        Some(Part { row: at, words, entry: entry(&line), line })
    };
    ends.into_iter().filter_map(part).collect()
}

/// The columns of a page: parts whose numbers end at one place, and the parts between them.
fn columns(parts: &[Part]) -> Vec<Vec<&Part>> {
    let mut ends: Vec<(f32, f32, f32)> = Vec::new();
    for part in parts.iter().filter(|part| part.has_leader()) {
        let (left, right, slack) = (part.left(), part.right(), 2.0 * part.line.size);
        let known = ends.iter_mut().find(|(_, end, slack)| (right - *end).abs() < *slack);
        if let Some((from, ..)) = known {
            *from = from.min(left);
        } else if ends.len() < MOST_COLUMNS {
            ends.push((left, right, slack));
        }
    }
    let inside = |(left, right, slack): (f32, f32, f32)| {
        let fits = |part: &&Part| left - slack < part.left() && part.right() < right + slack;
        parts.iter().filter(fits).collect()
    };
    ends.into_iter().map(inside).collect()
}

fn has_leader(row: &Row) -> bool {
    let n_dots: usize = row.words.iter().map(|word| n_dots(&word.text)).sum();
    FEWEST_DOTS <= n_dots
}

fn is_dot(c: char) -> bool {
    matches!(c, '.' | '·' | '․' | '‥' | '…' | '⋯' | '．' | '・')
}

fn n_dots(text: &str) -> usize {
    text.chars().filter(|c| is_dot(*c)).map(|c| if matches!(c, '…' | '⋯') { 3 } else { 1 }).sum()
}

/// The number of dots of the text; `None` if it is anything else.
fn dots(text: &str) -> Option<usize> {
    text.chars().all(is_dot).then(|| n_dots(text))
}

fn entry(row: &Row) -> Option<Entry> {
    let words: Vec<Word> = row.words.iter().flat_map(without_dots).collect();
    // The start of the number: after the last dots, else the last word alone.
    let behind = words.iter().rposition(|word| dots(&word.text).is_some()).map(|at| at + 1);
    let number = behind.unwrap_or(words.len().checked_sub(1)?);
    let name = words.get(..number)?.iter().rposition(|word| dots(&word.text).is_none())? + 1;
    let leader = longest_leader(words.get(name..number)?);
    let spaced = words.get(name).is_some_and(|word| word.text.chars().count() == 1);
    let (mut name, number) = (words.get(..name)?.to_vec(), words.get(number..)?.to_vec());
    if let Some(last) = name.last_mut().filter(|_| spaced && FEWEST_DOTS <= leader) {
        last.text.truncate(without_first_dot(&last.text).len());
    }
    let text: String = number.iter().map(|word| word.text.as_str()).collect();
    let single = longest_leader(&name) < FEWEST_DOTS;
    let has_leader = FEWEST_DOTS <= leader;
    (is_number(&text) && number.len() <= 3 && single).then_some(Entry { name, number, has_leader })
}

/// A word without the first of the single dots after it, which could be the word's own dot;
/// `U.S.A.` keeps its dot.
fn without_first_dot(text: &str) -> &str {
    let stem = text.strip_suffix(is_dot).unwrap_or(text);
    if stem.contains(is_dot) && stem.contains(char::is_alphabetic) { text } else { stem }
}

/// A name without the dots after it; a single dot belongs to the name.
fn without_tail(name: &str) -> &str {
    let stem = name.trim_end_matches(|c| is_dot(c) || c == ' ');
    let tail = name.strip_prefix(stem).map_or(0, n_dots);
    if tail < 2 { name.trim_end() } else { stem }
}

/// The number of dots in the longest row of dots.
fn longest_leader(words: &[Word]) -> usize {
    let (mut longest, mut n) = (0, 0);
    for word in words {
        n = dots(&word.text).map_or(0, |more| n + more);
        longest = longest.max(n);
    }
    longest
}

/// `12`, `xiv`, `A-3`, `$ 4.50`
fn is_number(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let roman = !text.is_empty() && text.chars().all(|c| "ivxlcIVXLC".contains(c));
    text.chars().count() <= 16 && (roman || 0 < digits && letters <= 3)
}

/// Splits a word from the dots that are written together with it.
fn without_dots(word: &Word) -> Vec<Word> {
    let text = &word.text;
    if n_dots(text) < 3 || dots(text).is_some() {
        return vec![word.clone()];
    }
    let mut parts: Vec<(usize, String)> = Vec::new();
    for (at, c) in text.chars().enumerate() {
        match parts.last_mut() {
            Some((_, part)) if part.ends_with(is_dot) == is_dot(c) => part.push(c),
            _ => parts.push((at, c.to_string())),
        }
    }
    // `Part 3.1` and `etc.` keep their dot.
    let mut joined: Vec<(usize, String)> = Vec::new();
    for (at, part) in parts {
        let leads = |part: &str| dots(part).is_some_and(|n| 3 <= n);
        match joined.last_mut() {
            Some((_, last)) if !leads(last) && !leads(&part) => last.push_str(&part),
            _ => joined.push((at, part)),
        }
    }
    let step = (word.right - word.left) / text.chars().count().max(1) as f32;
    let place = |(at, part): (usize, String)| {
        let left = word.left + step * at as f32;
        let right = left + step * part.chars().count() as f32;
        Word { text: part, left, right, ..word.clone() }
    };
    joined.into_iter().map(place).collect()
}

/// The end of the run of entries that begins at `start`.
fn run(column: &[&Part], start: usize) -> usize {
    let Some(first) = column.get(start).filter(|part| part.has_leader()) else { return start };
    let near = |above: usize, below: usize| {
        let rows = column.get(above).zip(column.get(below));
        rows.is_some_and(|(above, below)| {
            let (a, b) = (&above.line, &below.line);
            b.base - a.base < 3.2 * a.size.max(b.size)
        })
    };
    let ends_alike = |part: &&Part| part.entry_beside(first).is_some();
    let mut end = start + 1;
    loop {
        let next = (end..=end + MOST_BETWEEN).find(|at| column.get(*at).is_some_and(ends_alike));
        let Some(next) = next.filter(|next| (end..=*next).all(|at| near(at - 1, at))) else {
            return end;
        };
        end = next + 1;
    }
}

/// Whether the rows have more numbers to the right; then these columns belong to a wider table.
fn goes_on(run: &[&Part], rows: &[Row]) -> bool {
    let entries = || run.iter().filter(|part| part.entry.is_some());
    let more = |part: &&&Part| rows.get(part.row).is_some_and(|row| number_behind(row, part));
    entries().count() <= 2 * entries().filter(more).count()
}

/// Whether the text after the part, apart from dots, is a number and not the name of another entry.
fn number_behind(row: &Row, part: &Part) -> bool {
    let others = row.words.get(part.words.end..).unwrap_or_default();
    let words = others.iter().flat_map(without_dots).filter(|word| dots(&word.text).is_none());
    let row = Row { words: words.collect(), ..*row };
    let end = lines::gaps(&row).first().map_or(row.words.len(), |gap| gap.word);
    let cell = row.words.get(..end).unwrap_or_default();
    is_number(&cell.iter().map(|word| word.text.as_str()).collect::<String>())
}

/// The words without the dots that lead from one to another.
fn without_leaders(words: &[Word]) -> Vec<Word> {
    let mut kept: Vec<Word> = Vec::with_capacity(words.len());
    let mut lead: Vec<Word> = Vec::new();
    for word in words.iter().flat_map(without_dots) {
        if dots(&word.text).is_some() {
            lead.push(word);
            continue;
        }
        if longest_leader(&lead) < FEWEST_DOTS {
            kept.append(&mut lead);
        }
        lead.clear();
        kept.push(word);
    }
    kept.extend(lead);
    kept
}

fn table(run: &[&Part]) -> Option<PageTable> {
    let words = run.iter().flat_map(|part| &part.line.words);
    let area = words.map(Word::area).reduce(Area::around)?;
    let first = *run.first()?;
    let numbers = run.iter().filter_map(|part| part.entry_beside(first)?.number.first());
    let column = numbers.map(|word| word.left).fold(f32::MAX, f32::min);
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(run.len());
    // The first lines of a name that continues.
    let mut begun: Vec<Word> = Vec::new();
    for part in run {
        let entry = part.entry_beside(first);
        begun.extend_from_slice(entry.map_or(&part.line.words, |entry| &entry.name));
        // If the line is full, the name continues in the next line.
        if entry.is_none() && column - part.right() < 8.0 * part.line.size {
            continue;
        }
        let name = page_table::text(std::mem::take(&mut begun));
        let name = without_tail(&name).to_owned();
        let number = entry.map(|entry| page_table::text(entry.number.clone()));
        rows.push(vec![name, number.unwrap_or_default()]);
    }
    Some(PageTable { area, header: Vec::new(), rows })
}
