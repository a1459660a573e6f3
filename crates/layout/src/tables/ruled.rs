//! Finds tables by their rules, and the cell of each word.

use pikerag_knowledge::Area;

use super::aligned;
use super::page_table::PageTable;
use crate::disjoint_sets::DisjointSets;
use crate::marks::{Rule, Word};
use crate::text::lines;

/// Rules closer than this are one rule; a rule may miss its corner by this much.
const NEAR: f32 = 3.0;
/// More crossings are a drawing.
const MOST_PAIRS: usize = 4_000_000;
const MOST_CELLS: usize = 20_000;
/// The most tables of a page; further rules are a drawing.
const MOST_TABLES: usize = 100;

/// The rules, and the edges of shaded rows: fills that span a table as its rules do.
pub(crate) fn with_shades(rules: &[Rule], fills: &[Area]) -> Vec<Rule> {
    let flat = merged(rules.iter().filter(|rule| rule.flat));
    let edges: Vec<Rule> = (fills.iter())
        .flat_map(|fill| [(fill.top, fill), (fill.bottom, fill)])
        .map(|(at, fill)| Rule { flat: true, at, from: fill.left, to: fill.right })
        .collect();
    let upright = merged(rules.iter().filter(|rule| !rule.flat));
    let mut rules = rules.to_vec();
    let edges = merged(edges.iter());
    if MOST_PAIRS < (flat.len() + upright.len()) * edges.len() {
        return rules;
    }
    rules.extend(edges.into_iter().filter(|edge| {
        let reaches =
            |rule: &&Rule| (rule.from - edge.from).abs() < NEAR && (rule.to - edge.to).abs() < NEAR;
        let meets = |wall: &Rule| meets(edge, wall);
        flat.iter().any(|rule| reaches(&rule)) && upright.iter().any(meets)
    }));
    rules
}

/// Takes the words of ruled tables out of `words`. Words in another direction than the first form
/// no table, but belong to a table if their box lies in it.
pub(crate) fn tables(rules: &[Rule], words: &mut Vec<Word>) -> Vec<PageTable> {
    let Some(level) = words.first().map(|word| word.angle) else { return Vec::new() };
    let flat = merged(rules.iter().filter(|rule| rule.flat));
    let upright = merged(rules.iter().filter(|rule| !rule.flat));
    if flat.len() < 2 || upright.is_empty() || MOST_PAIRS < flat.len() * upright.len() {
        return Vec::new();
    }
    let mut groups = DisjointSets::new(flat.len() + upright.len());
    for (i, line) in flat.iter().enumerate() {
        for (j, wall) in upright.iter().enumerate() {
            if meets(line, wall) {
                groups.join(i, flat.len() + j);
            }
        }
    }
    let mut frames: Vec<(usize, Vec<Rule>)> = Vec::new();
    for (index, rule) in flat.iter().chain(&upright).enumerate() {
        let root = groups.root(index);
        match frames.iter_mut().find(|(of, _)| *of == root) {
            Some((_, rules)) => rules.push(*rule),
            None => frames.push((root, vec![*rule])),
        }
    }
    frames
        .into_iter()
        .take(MOST_TABLES)
        .filter_map(|(_, rules)| table(&rules, words, level))
        .collect()
}

/// Whether a flat and an upright rule touch.
fn meets(line: &Rule, wall: &Rule) -> bool {
    line.from - NEAR <= wall.at
        && wall.at <= line.to + NEAR
        && wall.from - NEAR <= line.at
        && line.at <= wall.to + NEAR
}

/// Merges touching rules along one line.
fn merged<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = rules.copied().collect();
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    // Sorts rules of almost one place together, so that they can be joined end to end.
    let mut at = f32::MIN;
    for rule in &mut rules {
        if rule.at - at < 1.5 {
            rule.at = at;
        }
        at = rule.at;
    }
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    let mut merged: Vec<Rule> = Vec::new();
    for rule in rules {
        match merged.last_mut() {
            Some(last) if last.at.total_cmp(&rule.at).is_eq() && rule.from <= last.to + NEAR => {
                last.to = last.to.max(rule.to);
            }
            _ => merged.push(rule),
        }
    }
    merged.retain(|rule| 4.0 < rule.to - rule.from);
    merged
}

/// The distinct places, ascending.
fn places(at: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut at: Vec<f32> = at.collect();
    at.sort_by(f32::total_cmp);
    at.dedup_by(|b, a| *b - *a < NEAR);
    at
}

fn table(rules: &[Rule], words: &mut Vec<Word>, level: i16) -> Option<PageTable> {
    let (flat, upright): (Vec<Rule>, Vec<Rule>) = rules.iter().partition(|rule| rule.flat);
    let ends = |rules: &[Rule]| {
        let from = rules.iter().map(|rule| rule.from).fold(f32::MAX, f32::min);
        let to = rules.iter().map(|rule| rule.to).fold(f32::MIN, f32::max);
        [from, to]
    };
    // A table may have no outer walls; then its lines give its ends.
    let columns = walls(&upright, ends(&flat));
    let lines = walls(&flat, ends(&upright));
    let (wide, high) = (columns.len().checked_sub(1)?, lines.len().checked_sub(1)?);
    if wide < 2 || high < 2 || MOST_CELLS < wide * high {
        return None;
    }
    let area = Area {
        left: *columns.first()?,
        top: *lines.first()?,
        right: *columns.last()?,
        bottom: *lines.last()?,
    };
    // Cells without a wall between them are one.
    let mut cells = DisjointSets::new(wide * high);
    let has = |rules: &[Rule], at: f32, through: f32| {
        (rules.iter()).any(|rule| {
            (rule.at - at).abs() < NEAR && rule.from - NEAR <= through && through <= rule.to + NEAR
        })
    };
    for (row, ends) in lines.windows(2).enumerate() {
        let &[top, bottom] = ends else { continue };
        for (column, ends) in columns.windows(2).enumerate() {
            let &[left, right] = ends else { continue };
            let cell = row * wide + column;
            if column + 1 < wide && !has(&upright, right, f32::midpoint(top, bottom)) {
                cells.join(cell, cell + 1);
            }
            if row + 1 < high && !has(&flat, bottom, f32::midpoint(left, right)) {
                cells.join(cell, cell + wide);
            }
        }
    }
    // The area of merged cells, stored at the first of them.
    let mut boxes: Vec<Option<Area>> = vec![None; wide * high];
    for (row, ends) in lines.windows(2).enumerate() {
        let &[top, bottom] = ends else { continue };
        for (column, ends) in columns.windows(2).enumerate() {
            let &[left, right] = ends else { continue };
            let cell = Area { left, top, right, bottom };
            if let Some(whole) = boxes.get_mut(cells.root(row * wide + column)) {
                *whole = Some(whole.map_or(cell, |whole| whole.around(cell)));
            }
        }
    }
    let mut place = |word: &Word| {
        let area = word.area();
        let (x, y) = (f32::midpoint(area.left, area.right), f32::midpoint(area.top, area.bottom));
        let column = columns.partition_point(|wall| *wall <= x).checked_sub(1)?;
        let row = lines.partition_point(|line| *line <= y).checked_sub(1)?;
        if wide <= column || high <= row {
            return None;
        }
        let cell = cells.root(row * wide + column);
        // A turned word that leaves its cell is a stamp.
        let fits = || boxes.get(cell).copied().flatten().is_some_and(|cell| within(area, cell));
        (word.angle == level || fits()).then_some(cell)
    };
    let mut inside: Vec<Vec<Word>> = vec![Vec::new(); wide * high];
    let mut n_words = 0;
    for word in words.iter() {
        if let Some(cell) = place(word).and_then(|cell| inside.get_mut(cell)) {
            cell.push(word.clone());
            n_words += usize::from(word.angle == level);
        }
    }
    // Lines around a form separate its sections; the tables are inside them. Boxes around columns
    // of text are a layout.
    let is_part =
        |cell: &Vec<Word>| 12 <= cell.len() && (aligned::is_table(cell) || is_set_in_columns(cell));
    if inside.iter().any(is_part) {
        return None;
    }
    let is_level = |word: &Word| word.angle == level;
    let filled = inside.iter().filter(|cell| cell.iter().any(is_level)).count();
    // A frame around text, or the table of a drawing, is not a table.
    if filled < 3 || 80 * filled < n_words {
        return None;
    }
    words.retain(|word| place(word).is_none());
    let mut rows = inside.into_iter();
    let rows = (0..high).map(|_| rows.by_ref().take(wide).collect()).collect();
    Some(PageTable::of_cells(area, rows))
}

/// Whether the cell contains the box, apart from the tolerance of rules.
fn within(area: Area, cell: Area) -> bool {
    cell.left - NEAR <= area.left
        && cell.top - NEAR <= area.top
        && area.right <= cell.right + NEAR
        && area.bottom <= cell.bottom + NEAR
}

/// Whether rows of the words split at a gutter repeatedly.
fn is_set_in_columns(words: &[Word]) -> bool {
    let rows = lines::rows(words.to_vec());
    5 <= rows.len() && 5 * rows.len() <= 4 * lines::lines(&rows, &[]).len()
}

/// The ends of the columns (or rows).
fn walls(rules: &[Rule], ends: [f32; 2]) -> Vec<f32> {
    let mut at = places(rules.iter().map(|rule| rule.at));
    let [from, to] = ends;
    if at.first().is_none_or(|first| from + 8.0 < *first) {
        at.insert(0, from);
    }
    if at.last().is_none_or(|last| *last + 8.0 < to) {
        at.push(to);
    }
    at
}
