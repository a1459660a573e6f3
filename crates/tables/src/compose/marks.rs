//! Filters rows by yes/no columns, which the question names by their meaning: `certified`, 不合格.

use std::ops::Range;

use pikerag_knowledge::data::{ColumnKind, DataValue, TableTest};

use super::{Composer, Filter};
use crate::cues::Goal;
use crate::pieces::{Piece, pieces};
use crate::scope::ColumnPlace;

/// Words that begin the name of a yes/no column.
const OPENINGS: [&str; 10] = ["is", "has", "was", "are", "were", "did", "have", "been", "是", "否"];
/// Words that negate the next word, and words allowed between them.
const DENIALS: [&str; 3] = ["not", "never", "non"];
const BETWEEN: [&str; 5] = ["yet", "been", "be", "being", "fully"];
const DENIALS_ZH: [&str; 7] = ["没有", "尚未", "并不", "不", "未", "没", "非"];

impl Composer<'_> {
    /// Filters by all yes/no columns that the question names.
    pub(super) fn filter_by_marks(&mut self) {
        let has_rows = !matches!(self.cues.goal, Goal::Growth | Goal::Difference);
        if !has_rows || self.cues.each.is_some() {
            return;
        }
        let marks: Vec<(ColumnPlace, Range<usize>)> = self
            .scope
            .columns()
            .filter(|(place, column, _)| place.table == 0 && column.kind == ColumnKind::Boolean)
            .filter_map(|(place, column, _)| Some((place, self.words_of_mark(&column.name)?)))
            .collect();
        for (place, span) in marks {
            let denial = self.denial_of_mark(&span);
            let words = denial.as_ref().map_or(span.start, |it| it.start)..span.end;
            if words.clone().any(|at| self.is_in_condition(at)) {
                continue;
            }
            // A cell without a value may mean no.
            self.n_unplaced += usize::from(denial.is_some() && self.has_gaps(place));
            let value = DataValue::Integer(i64::from(denial.is_none()));
            self.claim_event(&span, place);
            self.mark_only(words.clone());
            self.denials.extend(denial);
            let test = TableTest::Is(vec![value]);
            self.filters.push(Filter { place, test, span: words, value: None, is_exact: true });
        }
    }

    /// The place of a yes/no column's name in the question, without question words.
    fn words_of_mark(&self, name: &str) -> Option<Range<usize>> {
        let name: Vec<Piece> = pieces(name)
            .into_iter()
            .skip_while(|piece| OPENINGS.contains(&piece.folded.as_str()))
            .collect();
        let last = self.cues.pieces.len().checked_sub(name.len())?;
        let is_name = |start: &usize| {
            let here = self.cues.pieces_in(*start..*start + name.len());
            here.iter().zip(&name).all(|(one, other)| one.stem == other.stem)
        };
        // A single character is also part of other words.
        let is_long = 2 <= name.len() || name.iter().any(|piece| !piece.is_han);
        let start = (0..=last).find(is_name).filter(|_| is_long)?;
        Some(start..start + name.len())
    }

    fn denial_of_mark(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let is_han = self.cues.pieces.get(span.start)?.is_han;
        if is_han {
            return DENIALS_ZH.iter().find_map(|word| {
                let start = span.start.checked_sub(word.chars().count())?;
                (self.cues.text_of(start..span.start) == *word).then_some(start..span.start)
            });
        }
        let mut at = span.start;
        while let Some(before) = at.checked_sub(1) {
            let piece = self.cues.pieces.get(before)?;
            let is_denial = DENIALS.contains(&piece.folded.as_str())
                || ["'t", "’t"].iter().any(|end| piece.raw.ends_with(end));
            if is_denial {
                return Some(before..span.start);
            }
            if !BETWEEN.contains(&piece.folded.as_str()) {
                return None;
            }
            at = before;
        }
        None
    }

    /// Whether a piece belongs to a condition, or to one of missing values.
    fn is_in_condition(&self, at: usize) -> bool {
        let missing = [&self.cues.empty, &self.cues.none_of];
        self.filters.iter().any(|filter| filter.span.contains(&at))
            || missing.into_iter().flatten().any(|span| span.contains(&at))
    }
}
