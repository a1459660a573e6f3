//! Computes the numbers of items and headings; Word stores only how to count.

use std::collections::{HashMap, HashSet};

use crate::formats::office::numerals::format_number;
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Element, Tree};

/// The number of list levels in Word.
const LEVELS: usize = 9;

/// Lists and their current counts.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// By `w:abstractNumId`.
    patterns: HashMap<String, Vec<Level>>,
    /// By `w:numId`.
    lists: HashMap<String, List>,
    counts: HashMap<String, [Option<i64>; LEVELS]>,
    /// Lists that have occurred; their start overrides apply only at their first use.
    begun: HashSet<String>,
    /// The list and level of a style's numbering.
    by_style: HashMap<String, (String, usize)>,
}

#[derive(Clone, Debug)]
struct Level {
    start: i64,
    format: String,
    /// `%1.%2`
    text: String,
}

#[derive(Clone, Debug, Default)]
struct List {
    pattern: String,
    starts: HashMap<usize, i64>,
    levels: HashMap<usize, Level>,
}

impl Numbering {
    pub(super) fn read(part: Option<(String, String)>, problems: &mut Problems) -> Self {
        let mut numbering = Self::default();
        let Some((text, name)) = part else { return numbering };
        let tree = Tree::read(&text, &name, problems);
        let Some(root) = tree.root() else { return numbering };
        let id_of =
            |element: Element, name: &str| element.attr(name).unwrap_or_default().into_owned();
        // A pattern may only name the style whose list it uses.
        let mut style_links: HashMap<String, String> = HashMap::new();
        let mut linked: Vec<(String, String)> = Vec::new();
        for pattern in root.all("abstractNum") {
            let id = id_of(pattern, "abstractNumId");
            if let Some(style) = pattern.child("styleLink") {
                style_links.insert(id_of(style, "val"), id.clone());
            }
            if let Some(style) = pattern.child("numStyleLink") {
                linked.push((id.clone(), id_of(style, "val")));
            }
            let mut levels = Vec::new();
            for (at, level) in pattern.all("lvl").take(LEVELS).enumerate() {
                if let Some(style) = level.child("pStyle") {
                    numbering.by_style.insert(id_of(style, "val"), (id.clone(), at));
                }
                levels.push(Level::read(level));
            }
            numbering.patterns.insert(id, levels);
        }
        for (id, style) in linked {
            let levels =
                style_links.get(&style).and_then(|real| numbering.patterns.get(real)).cloned();
            numbering.patterns.insert(id, levels.unwrap_or_default());
        }
        for list in root.all("num") {
            let pattern = list.child("abstractNumId").map(|id| id_of(id, "val"));
            let mut read = List { pattern: pattern.unwrap_or_default(), ..List::default() };
            for other in list.all("lvlOverride") {
                let Some(level) = other.number::<usize>("ilvl") else { continue };
                if let Some(start) =
                    other.child("startOverride").and_then(|start| start.number("val"))
                {
                    read.starts.insert(level, start);
                }
                if let Some(lvl) = other.child("lvl") {
                    read.levels.insert(level, Level::read(lvl));
                }
            }
            numbering.lists.insert(id_of(list, "numId"), read);
        }
        numbering
    }

    /// The level of a style, if only the style says that it is numbered.
    pub(super) fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        let (pattern, level) = self.by_style.get(style)?;
        (self.lists.get(list)?.pattern == *pattern).then_some(*level)
    }

    /// Advances the count and returns the marker of the next item: `2.1`, or `- ` for a bullet, or
    /// an empty text for hidden numbers. `None` if there is no such list.
    pub(super) fn next(&mut self, list_id: &str, level: usize) -> Option<String> {
        let list = self.lists.get(list_id)?;
        let level = level.min(LEVELS - 1);
        let pattern = self.patterns.get(&list.pattern)?;
        let level_at = |at: usize| list.levels.get(&at).or_else(|| pattern.get(at));
        let counts = self.counts.entry(list.pattern.clone()).or_default();
        if self.begun.insert(list_id.to_owned()) {
            for (at, start) in &list.starts {
                if let Some(count) = counts.get_mut(*at) {
                    *count = Some(start.saturating_sub(1));
                }
            }
        }
        let mut shown = Vec::new();
        for (at, count) in counts.iter_mut().enumerate() {
            let start = list
                .starts
                .get(&at)
                .copied()
                .or(level_at(at).map(|level| level.start))
                .unwrap_or(1);
            if at == level {
                *count = Some(count.map_or(start, |count| count.saturating_add(1)));
            } else if level < at {
                *count = None;
            } else if count.is_none() {
                *count = Some(start);
            }
            shown.push(count.unwrap_or(start));
        }
        let this = level_at(level)?;
        if this.format == "bullet" {
            return Some("-".to_owned());
        }
        if this.format == "none" {
            return Some(this.text.replace(|c: char| c == '%' || c.is_ascii_digit(), ""));
        }
        let mut marker = String::new();
        let mut pieces = this.text.split('%');
        marker.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let mut letters = piece.chars();
            let at = letters.next().and_then(|digit| digit.to_digit(10)).unwrap_or(0) as usize;
            let number = at.checked_sub(1).and_then(|at| Some((shown.get(at)?, level_at(at)?)));
            match number {
                Some((number, level)) => marker.push_str(&format_number(*number, &level.format)),
                None => marker.push('%'),
            }
            marker.push_str(letters.as_str());
        }
        Some(marker.trim().to_owned())
    }
}

impl Level {
    fn read(level: Element) -> Self {
        let val = |name| level.child(name).and_then(|child| Some(child.attr("val")?.into_owned()));
        Self {
            start: val("start").and_then(|start| start.parse().ok()).unwrap_or(1),
            format: val("numFmt").unwrap_or_else(|| "decimal".to_owned()),
            text: val("lvlText").unwrap_or_default(),
        }
    }
}
