//! Computes the numbers of `OpenDocument` list items and headings.

use std::collections::HashMap;

use pikerag_unpack::xml::Element;

const LEVELS: usize = 10;

/// List styles by name, and the current counts of lists.
#[derive(Debug, Default)]
pub(super) struct Lists {
    styles: HashMap<String, HashMap<usize, Level>>,
    /// Counts of lists by identifier or style; a later list may continue them.
    counts: HashMap<String, Vec<i64>>,
    /// Open lists, outermost first.
    open: Vec<Open>,
}

#[derive(Clone, Debug)]
struct Level {
    /// `1`, `a`, `I`, …; `None` for bullets.
    format: Option<String>,
    prefix: String,
    suffix: String,
    start: i64,
    display_levels: usize,
}

#[derive(Clone, Debug)]
struct Open {
    style: String,
    count: i64,
    begun: bool,
    key: String,
}

impl Lists {
    pub(super) fn read(roots: [Option<Element>; 2]) -> Self {
        let mut lists = Self::default();
        let all = roots.into_iter().flatten().flat_map(Element::elements);
        for style in all.flat_map(Element::elements) {
            let name = match style.name() {
                "list-style" => style.attr("style:name").unwrap_or_default().into_owned(),
                "outline-style" => String::new(),
                _ => continue,
            };
            let mut levels = HashMap::new();
            for level in style.elements() {
                let attr = |name| level.attr(name).unwrap_or_default().into_owned();
                let format =
                    Some(attr("num-format")).filter(|_| level.name() != "list-level-style-bullet");
                let read = Level {
                    format,
                    prefix: attr("num-prefix"),
                    suffix: attr("num-suffix"),
                    start: level.number("start-value").unwrap_or(1),
                    display_levels: level.number("display-levels").unwrap_or(1),
                };
                levels.insert(level.number("level").unwrap_or(1), read);
            }
            lists.styles.insert(name, levels);
        }
        lists
    }

    /// Begins a list; inside another list it continues with that list's style.
    pub(super) fn begin(&mut self, list: Element) {
        let attr =
            |name| list.attr(name).map(std::borrow::Cow::into_owned).filter(|it| !it.is_empty());
        let outer = self.open.last().map(|open| open.style.clone());
        let style = attr("style-name").or(outer).unwrap_or_default();
        let depth = self.open.len();
        let key = attr("continue-list").or_else(|| attr("xml:id")).unwrap_or_else(|| style.clone());
        let goes_on = attr("continue-numbering").as_deref() == Some("true")
            || attr("continue-list").is_some();
        let earlier = self.counts.get(&key).and_then(|counts| counts.get(depth)).copied();
        let count = earlier.filter(|_| goes_on).unwrap_or(0);
        let key = attr("xml:id").unwrap_or(key);
        if depth < LEVELS * 4 {
            self.open.push(Open { style, count, begun: 0 < count, key });
        } else {
            self.open.push(Open { style, count: 0, begun: false, key: String::new() });
        }
    }

    pub(super) fn end(&mut self) {
        let depth = self.open.len().saturating_sub(1);
        let Some(open) = self.open.pop() else { return };
        if depth < LEVELS {
            let counts = self.counts.entry(open.key).or_default();
            if counts.len() <= depth {
                counts.resize(depth + 1, 0);
            }
            if let Some(count) = counts.get_mut(depth) {
                *count = open.count;
            }
        }
    }

    /// The marker of the next item.
    pub(super) fn next(&mut self, item: Element) -> String {
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return "- ".to_owned() };
        let level = self.styles.get(&open.style).and_then(|levels| levels.get(&depth)).cloned();
        let start = item
            .number("start-value")
            .or_else(|| level.as_ref().filter(|_| !open.begun).map(|level| level.start));
        open.begun = true;
        open.count = start.unwrap_or_else(|| open.count.saturating_add(1));
        let Some(level) = level else { return "- ".to_owned() };
        let Some(format) = level.format.filter(|format| !format.is_empty()) else {
            return "- ".to_owned();
        };
        let first = depth.saturating_sub(level.display_levels.clamp(1, LEVELS));
        let shown = self.open.iter().enumerate().skip(first);
        let numbers: Vec<String> = shown
            .map(|(at, open)| {
                let own = self.styles.get(&open.style).and_then(|levels| levels.get(&(at + 1)));
                let own =
                    own.and_then(|level| level.format.as_deref()).filter(|own| !own.is_empty());
                number(open.count, if at + 1 == depth { &format } else { own.unwrap_or("1") })
            })
            .collect();
        format!("{}{}{} ", level.prefix, numbers.join("."), level.suffix)
    }

    /// The number of a heading, if the outline is numbered.
    pub(super) fn heading(&mut self, level: usize) -> String {
        let counts = self.counts.entry(String::new()).or_default();
        let level = level.clamp(1, LEVELS);
        let styles = self.styles.get("");
        let style_at = |at: usize| styles.and_then(|levels| levels.get(&at));
        counts.resize(LEVELS, 0);
        for (at, count) in counts.iter_mut().enumerate() {
            if at + 1 == level {
                *count += 1;
            } else if level < at + 1 {
                *count = 0;
            }
        }
        let Some(style) = style_at(level) else { return String::new() };
        let Some(format) = style.format.as_deref().filter(|format| !format.is_empty()) else {
            return String::new();
        };
        let first = level.saturating_sub(style.display_levels.clamp(1, LEVELS));
        let numbers: Vec<String> = counts
            .iter()
            .enumerate()
            .take(level)
            .skip(first)
            .map(|(at, count)| {
                let own = style_at(at + 1)
                    .and_then(|level| level.format.as_deref())
                    .filter(|own| !own.is_empty());
                number((*count).max(1), if at + 1 == level { format } else { own.unwrap_or("1") })
            })
            .collect();
        format!("{}{}{} ", style.prefix, numbers.join("."), style.suffix)
    }
}

fn number(number: i64, format: &str) -> String {
    let format = match format {
        "a" => "lowerLetter",
        "A" => "upperLetter",
        "i" => "lowerRoman",
        "I" => "upperRoman",
        format if format.starts_with('一') => "chineseCounting",
        _ => "decimal",
    };
    crate::formats::office::numerals::format_number(number, format)
}
