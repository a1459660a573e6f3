//! Reads superlatives and comparatives: `heaviest`, `最高`, `most`, `heavier`, `更高`.

use pikerag_knowledge::data::Aggregate;
use std::ops::Range;

use Ranked::{CountOrMeasure, Dimension, Measure, Rows, Tenure};

use pikerag_language::pattern;

use super::{Cues, Occurrence};
use crate::lexicon::{Meaning, meanings};

pattern!(
    LONGEST_SERVING,
    r"\blongest[- ](?:serving|tenured|standing)\b|\b(?:been (?:here|with us|with the company|employed)|worked (?:here|for us|for the company)|served)(?: for)?(?: the)? longest\b|(?:资历|司龄|工龄)最(?:老|深|长)|(?:任职|在职|入职)(?:时间)?最(?:久|长)"
);
pattern!(RECENT, r"\b(?:most recent(?:ly)?|latest)\b|最近(?:一[次笔个位名份])?");

/// A superlative or comparative.
#[derive(Clone, Debug)]
pub(crate) struct Extreme {
    pub(crate) direction: Direction,
    pub(crate) ranked: Ranked,
    /// Whether it compares two things: `heavier`.
    pub(crate) is_comparative: bool,
    pub(crate) span: Range<usize>,
}

/// The end of the order that the question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Greatest,
    Least,
}

/// The value that a superlative ranks by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ranked {
    /// A measure that the question names elsewhere: `highest`.
    Measure,
    /// A dimension, by an English word for it: `heaviest` ranks by weight.
    Dimension(&'static str),
    /// A measure or the count of rows: `most`.
    CountOrMeasure,
    /// The count of rows: `most common`.
    Rows,
    /// A time of service: `longest-serving`.
    Tenure,
}

/// The characters of 最近, which may mean the nearest place; 最近一次 means a time.
const RECENT_ONE: usize = 2;

impl Extreme {
    /// The meanings of the ranked dimension; empty if it has none.
    pub(crate) fn dimension(&self) -> &'static [Meaning] {
        match self.ranked {
            Dimension(word) => meanings(&pikerag_language::stem(word)),
            Measure | CountOrMeasure | Rows | Tenure => &[],
        }
    }

    /// Whether it can rank by the count of rows.
    pub(crate) fn can_count(&self) -> bool {
        matches!(self.ranked, CountOrMeasure | Rows)
    }
}

impl Direction {
    /// The figure at that end.
    pub(crate) fn aggregate(self) -> Aggregate {
        match self {
            Self::Greatest => Aggregate::Greatest,
            Self::Least => Aggregate::Least,
        }
    }

    pub(crate) fn is_descending(self) -> bool {
        self == Self::Greatest
    }
}

/// If two overlap, the longer one comes first.
const GREATEST: [(&str, Ranked); 29] = [
    ("highest", Measure),
    ("largest", Measure),
    ("biggest", Measure),
    ("greatest", Measure),
    ("maximum", Measure),
    ("peak", Measure),
    ("longest", Dimension("length")),
    ("tallest", Dimension("height")),
    ("heaviest", Dimension("weight")),
    ("newest", Dimension("year")),
    ("youngest", Dimension("year")),
    ("hottest", Dimension("temperature")),
    ("warmest", Dimension("temperature")),
    ("deepest", Dimension("depth")),
    ("fastest", Dimension("speed")),
    ("strongest", Dimension("magnitude")),
    ("densest", Dimension("density")),
    ("wettest", Dimension("precipitation")),
    ("windiest", Dimension("wind")),
    ("most expensive", Dimension("cost")),
    ("costliest", Dimension("cost")),
    ("farthest north", Dimension("latitude")),
    ("northernmost", Dimension("latitude")),
    ("most populous", Dimension("population")),
    ("most common", Rows),
    ("most often", Rows),
    ("most frequently", Rows),
    ("most frequent", Rows),
    ("most", CountOrMeasure),
];

const LEAST: [(&str, Ranked); 15] = [
    ("lowest", Measure),
    ("smallest", Measure),
    ("minimum", Measure),
    ("shortest", Dimension("length")),
    ("lightest", Dimension("weight")),
    ("oldest", Dimension("year")),
    ("coldest", Dimension("temperature")),
    ("coolest", Dimension("temperature")),
    ("shallowest", Dimension("depth")),
    ("slowest", Dimension("speed")),
    ("weakest", Dimension("magnitude")),
    ("driest", Dimension("precipitation")),
    ("cheapest", Dimension("cost")),
    ("fewest", CountOrMeasure),
    ("least", CountOrMeasure),
];

const SOUTHERNMOST: [(&str, Ranked); 2] =
    [("farthest south", Dimension("latitude")), ("southernmost", Dimension("latitude"))];

/// These are read last: `farthest north` ranks by another dimension.
const FARTHEST: [(&str, Ranked); 2] =
    [("farthest", Dimension("distance")), ("furthest", Dimension("distance"))];

const GREATER: [(&str, Ranked); 10] = [
    ("higher", Measure),
    ("larger", Measure),
    ("bigger", Measure),
    ("greater", Measure),
    ("longer", Dimension("length")),
    ("heavier", Dimension("weight")),
    ("warmer", Dimension("temperature")),
    ("denser", Dimension("density")),
    ("newer", Dimension("year")),
    ("more", CountOrMeasure),
];

const LESSER: [(&str, Ranked); 7] = [
    ("lower", Measure),
    ("smaller", Measure),
    ("shorter", Dimension("length")),
    ("lighter", Dimension("weight")),
    ("colder", Dimension("temperature")),
    ("older", Dimension("year")),
    ("fewer", CountOrMeasure),
];

/// Prefixes that make an adjective a superlative or a comparative.
const PREFIXES_ZH: [(&str, bool); 6] = [
    ("最", false),
    ("第二", false),
    ("第三", false),
    ("第四", false),
    ("第五", false),
    ("更", true),
];

const GREATEST_ZH: [(&str, Ranked); 15] = [
    ("年轻", Dimension("year")),
    ("高", Measure),
    ("大", Measure),
    ("长", Dimension("length")),
    ("重", Dimension("weight")),
    ("热", Dimension("temperature")),
    ("深", Dimension("depth")),
    ("快", Dimension("speed")),
    ("强", Dimension("magnitude")),
    ("贵", Dimension("cost")),
    ("远", Dimension("distance")),
    ("新", Dimension("year")),
    ("晚", Dimension("year")),
    ("常见", Rows),
    ("多", CountOrMeasure),
];

const LEAST_ZH: [(&str, Ranked); 15] = [
    ("年长", Dimension("year")),
    ("低", Measure),
    ("小", Measure),
    ("短", Dimension("length")),
    ("轻", Dimension("weight")),
    ("冷", Dimension("temperature")),
    ("浅", Dimension("depth")),
    ("慢", Dimension("speed")),
    ("弱", Dimension("magnitude")),
    ("便宜", Dimension("cost")),
    ("近", Dimension("distance")),
    ("老", Dimension("year")),
    ("旧", Dimension("year")),
    ("早", Dimension("year")),
    ("少", CountOrMeasure),
];

impl Cues {
    pub(super) fn read_extremes(&mut self) {
        self.read_recent();
        if let Some(span) = self.find(&LONGEST_SERVING) {
            self.push_extreme(span, Direction::Greatest, Tenure, false);
        }
        let lower = self.text.to_ascii_lowercase();
        for (list, direction, is_comparative) in [
            (GREATEST.as_slice(), Direction::Greatest, false),
            (&LEAST, Direction::Least, false),
            (&SOUTHERNMOST, Direction::Least, false),
            (&FARTHEST, Direction::Greatest, false),
            (&GREATER, Direction::Greatest, true),
            (&LESSER, Direction::Least, true),
        ] {
            for (word, ranked) in list {
                if let Some(at) = find_word(&lower, word) {
                    let span = self.span(at..at + word.len());
                    self.push_extreme(span, direction, *ranked, is_comparative);
                }
            }
        }
        for (list, direction) in
            [(&GREATEST_ZH, Direction::Greatest), (&LEAST_ZH, Direction::Least)]
        {
            for (word, ranked) in list {
                for (prefix, is_comparative) in PREFIXES_ZH {
                    let whole = format!("{prefix}{word}");
                    if let Some(at) = self.text.find(&whole) {
                        let span = self.span(at..at + whole.len());
                        self.push_extreme(span, direction, *ranked, is_comparative);
                    }
                }
            }
        }
        self.extremes.sort_by_key(|extreme| extreme.span.start);
    }

    /// Reads `most recently`, and 最近 directly before an event or `one`, as the last time. Elsewhere 最近 may mean the
    /// nearest place.
    fn read_recent(&mut self) {
        let is_recent = |span: &Range<usize>| {
            let is_han = self.pieces_in(span.clone()).iter().all(|piece| piece.is_han);
            let is_before_event = self.events.iter().any(|it| it.span.start == span.end);
            !is_han || is_before_event || RECENT_ONE < span.len()
        };
        let found = self.find(&RECENT).filter(is_recent);
        if let Some(span) = found.filter(|span| span.clone().all(|at| !self.is_used(at))) {
            self.mark(span);
            self.occurrence = Some(Occurrence::Last);
        }
    }

    /// Adds an extreme, unless an earlier cue covers one of its pieces: `most` of `most common`.
    fn push_extreme(
        &mut self,
        span: Range<usize>,
        direction: Direction,
        ranked: Ranked,
        is_comparative: bool,
    ) {
        if span.clone().any(|piece| self.is_used(piece)) {
            return;
        }
        self.mark(span.clone());
        self.extremes.push(Extreme { direction, ranked, is_comparative, span });
    }
}

/// The first byte of a whole word in a text.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_edge = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(word).map(|(start, _)| start).find(|start| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let behind = text.get(start + word.len()..).and_then(|behind| behind.chars().next());
        is_edge(before) && is_edge(behind)
    })
}
