//! Finds the words of a question that name a calculation, a rank, a bound or a period.

mod ahead;
mod bounds;
mod events;
mod extremes;
mod noise;
mod numbers;
mod periods;
mod relative;
mod words;

use std::collections::HashSet;
use std::ops::Range;

use pikerag_knowledge::tables::By;
use pikerag_language::{Regex, pattern};

use crate::pieces::{Piece, pieces};
pub(crate) use ahead::Ahead;
pub(crate) use bounds::{Bound, BoundTest};
pub(crate) use events::{EventMention, is_of_a_beginning, is_of_an_event};
pub(crate) use extremes::{Direction, Extreme, Ranked};
pub(crate) use noise::{is_change, noise_length};
pub(crate) use periods::Period;

/// The cues of a question, before any table is known. Spans count pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cues {
    /// The question with narrow digits and complete dates.
    pub(crate) text: String,
    pub(crate) pieces: Vec<Piece>,
    /// For each piece: whether a cue covers it.
    pub(crate) used: Vec<bool>,
    pub(crate) goal: Goal,
    asked: HashSet<Cue>,
    /// `how many`, `多少个`.
    pub(crate) count: Option<Range<usize>>,
    /// `which`, `哪个`: the requested thing is near.
    pub(crate) which: Option<Range<usize>>,
    pub(crate) extremes: Vec<Extreme>,
    /// `top three`.
    pub(crate) limit: Option<usize>,
    /// `second most`: the rank, from 1.
    pub(crate) nth: Option<usize>,
    pub(crate) occurrence: Option<Occurrence>,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) periods: Vec<Period>,
    /// Months of any year, from 1.
    pub(crate) months: Vec<u8>,
    /// Quarters of any year, from 1, with their places.
    pub(crate) quarters: Vec<(u8, Range<usize>)>,
    /// Whether a word ends in a sign that distinguishes values: `A+`, `0-`.
    pub(crate) has_signs: bool,
    /// `missing`, `缺失`.
    pub(crate) empty: Option<Range<usize>>,
    /// `known`, `有记录`.
    pub(crate) filled: Option<Range<usize>>,
    /// `not`, `除了`.
    pub(crate) not: Option<Range<usize>>,
    /// `no rain at all`.
    pub(crate) none_of: Option<Range<usize>>,
    /// Words for events whose time a column may hold.
    pub(crate) events: Vec<EventMention>,
    /// `last year`, 上个月: a period relative to today.
    pub(crate) relative: Option<Range<usize>>,
    /// Words such as 台账里, which name no column.
    harmless: Vec<Range<usize>>,
    /// `per`, `各`.
    pub(crate) each: Option<Range<usize>>,
    /// `per month`, 每年: the length of the periods that need a figure each.
    pub(crate) per_period: Option<(By, Range<usize>)>,
}

/// The calculation that a question asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Goal {
    Count,
    Sum,
    Mean,
    Median,
    Exists,
    Share,
    Growth,
    Difference,
    /// A value, or the things that fulfil the conditions.
    #[default]
    Value,
}

/// A word that can stand beside any goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cue {
    Mean,
    Sum,
    /// `different`, `不同的`.
    Distinct,
    When,
    Where,
    HowMuch,
}

/// The first time that something happens, or the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    First,
    Last,
}

pattern!(SIGNS, r"(?:^|[\s（(])(?:[a-z]{1,3}|0)[+＋−-](?:[\s,.?？，。）)]|$|\p{Han})");

// One column often covers these two words.
pattern!(RUN_OUT, r"\b(?:runs?|ran|running) out\b");
pattern!(BREAK_DOWN, r"\b(?:break|breaks|broke|broken|breaking) down\b");

impl Cues {
    /// Reads a question.
    pub(crate) fn of(question: &str) -> Self {
        let mut cues = Self::written(question);
        cues.read_rest();
        cues
    }

    /// The pieces of a question, without any cue.
    fn written(question: &str) -> Self {
        let text = periods::with_complete_dates(question.chars().map(narrow).collect());
        let text = BREAK_DOWN.replace_all(&text, "breakdown");
        let text = RUN_OUT.replace_all(&text, "expires").into_owned();
        let pieces = pieces(&text);
        let used = vec![false; pieces.len()];
        Self { text, pieces, used, ..Self::default() }
    }

    /// Reads all cues except words about the future. Later cues skip the words of earlier ones.
    fn read_rest(&mut self) {
        self.read_periods();
        self.read_relative();
        self.read_per_period();
        self.read_quarters();
        self.read_months();
        self.read_events();
        self.has_signs = SIGNS.is_match(&self.text);
        self.read_bounds();
        self.read_extremes();
        self.read_words();
        self.read_harmless();
    }

    pub(crate) fn has(&self, cue: Cue) -> bool {
        self.asked.contains(&cue)
    }

    /// Whether a cue covers a piece; true behind the end.
    pub(crate) fn is_used(&self, piece: usize) -> bool {
        self.used.get(piece).copied().unwrap_or(true)
    }

    /// The pieces of a span; none where it leaves the question.
    pub(crate) fn pieces_in(&self, span: Range<usize>) -> &[Piece] {
        self.pieces.get(span).unwrap_or_default()
    }

    /// The folded text of a piece; empty behind the end.
    pub(crate) fn folded(&self, piece: usize) -> &str {
        self.pieces.get(piece).map(|piece| piece.folded.as_str()).unwrap_or_default()
    }

    /// The text between two pieces.
    pub(crate) fn text_between(&self, first: usize, second: usize) -> &str {
        let (Some(first), Some(second)) = (self.pieces.get(first), self.pieces.get(second)) else {
            return "";
        };
        self.text.get(first.end..second.start).unwrap_or_default().trim()
    }

    /// The text of a span.
    pub(crate) fn text_of(&self, span: Range<usize>) -> &str {
        let pieces = self.pieces_in(span);
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return "" };
        self.text.get(first.start..last.end).unwrap_or_default()
    }

    /// The pieces that a range of bytes touches.
    pub(crate) fn span(&self, bytes: Range<usize>) -> Range<usize> {
        let from = self.pieces.iter().position(|piece| bytes.start < piece.end);
        let from = from.unwrap_or(self.pieces.len());
        let to = self.pieces.iter().rposition(|piece| piece.start < bytes.end);
        from..to.map_or(0, |at| at + 1).max(from)
    }

    fn find(&self, pattern: &Regex) -> Option<Range<usize>> {
        Some(self.span(pattern.find(&self.text)?.range()))
    }

    /// Finds a pattern and marks its pieces as used.
    fn take(&mut self, pattern: &Regex) -> Option<Range<usize>> {
        let span = self.find(pattern)?;
        self.mark(span.clone());
        Some(span)
    }

    /// Takes a pattern outside periods: the first of `first quarter` is no first time.
    fn take_beside_periods(&mut self, pattern: &Regex) -> Option<Range<usize>> {
        let span = self.find(pattern).filter(|span| !self.is_in_period(span))?;
        self.mark(span.clone());
        Some(span)
    }

    /// Whether words begin within a period or a quarter.
    fn is_in_period(&self, span: &Range<usize>) -> bool {
        let periods = self.periods.iter().map(|period| &period.span);
        let mut held = periods.chain(self.quarters.iter().map(|(_, span)| span));
        held.any(|held| held.contains(&span.start))
    }

    fn mark(&mut self, span: Range<usize>) {
        for used in self.used.get_mut(span).into_iter().flatten() {
            *used = true;
        }
    }
}

fn narrow(c: char) -> char {
    match c {
        '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '（' | '）' | '％' => {
            pikerag_language::narrow(c)
        }
        _ => c,
    }
}
