//! Collects the unused words of a composition and scores it.

use std::ops::Range;

use pikerag_knowledge::data::{ColumnKind, ColumnRef, TableTest};
use pikerag_language::is_stop_word;

use super::{Composed, Composer, DAY, Filter};
use crate::cues::{Goal, is_change, noise_length};
use crate::lexicon::known_length;
use crate::pieces::Piece;
use crate::reading::{Computation, Reading, UNPLACED};

impl Composer<'_> {
    /// The reading of the whole composition.
    pub(super) fn finish(mut self, (computation, form): Composed) -> Reading {
        for at in self.links.topic.clone() {
            self.mark(at..at + 1);
        }
        for span in self.cues.noise() {
            // A word that is also a value may be a condition: jobs that are `done`.
            if !self.is_value(&span) {
                self.mark(span);
            }
        }
        self.n_unplaced += usize::from(self.cues.has_signs) + self.n_doubts(&computation);
        self.mark_events(&computation);
        self.mark_redundant(&computation);
        self.n_unplaced += usize::from(self.has_period_gap);
        self.n_unplaced += usize::from(self.has_unplaced_periods(&computation));
        self.n_unplaced += usize::from(says_nothing(&computation));
        self.n_unplaced += usize::from(self.filters.iter().any(|it| self.is_column_too(it)));
        let nth = self.placed_nth(&computation);
        let mut unused_words = self.unused_words();
        let score = self.score(unused_words.len());
        if let Some(relative) = &self.cues.relative {
            unused_words.push(self.cues.text_of(relative.clone()).to_owned());
        }
        if 0 < self.n_unplaced {
            unused_words.push(UNPLACED.to_owned());
        }
        Reading {
            computation,
            form,
            unused_words,
            n_used: self.used.iter().filter(|used| **used).count(),
            tables: self.scope.places.clone(),
            score,
            is_grounded: self.is_grounded(),
            nth,
        }
    }

    /// Whether words are a whole value of a column with few values.
    fn is_value(&self, span: &Range<usize>) -> bool {
        let words = self.cues.text_of(span.clone());
        self.scope.columns().any(|(_, column, view)| {
            column.kind == ColumnKind::Category
                && view.values.iter().any(|value| value.eq_ignore_ascii_case(words))
        })
    }

    /// Whether a value is also the name of a measure: Ada's votes, or the districts that she won.
    fn is_column_too(&self, filter: &Filter) -> bool {
        let is_named = |value: &String| {
            self.scope.columns().any(|(place, column, _)| {
                self.scope.is_measure(place) && column.name.eq_ignore_ascii_case(value)
            })
        };
        filter.value.as_ref().is_some_and(is_named)
    }

    /// The requested rank, if the plan has it. A rank or limit that the plan does not have stays unplaced.
    fn placed_nth(&mut self, computation: &Computation) -> Option<usize> {
        let limit = match computation {
            Computation::One(plan) => plan.limit,
            _ => None,
        };
        let is_placed = |asked: Option<usize>| asked.is_none() || asked == limit;
        let nth = self.cues.nth.filter(|_| self.cues.limit.is_none());
        if !is_placed(self.cues.limit) || !is_placed(self.cues.nth) {
            self.n_unplaced += 1;
        }
        nth.filter(|_| is_placed(nth))
    }

    fn score(&self, n_unused: usize) -> i64 {
        let filters: i64 =
            self.filters.iter().map(|filter| if filter.is_exact { 3 } else { 1 }).sum();
        let n_matched: usize = self.links.columns.iter().map(|mention| mention.n_matched).sum();
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        2 * signed(self.links.topic.len()) + filters + 2 * signed(n_matched)
            - 6 * signed(n_unused)
            - 8 * signed(self.n_unplaced)
            - 3 * signed(self.scope.joins.len())
    }

    fn is_grounded(&self) -> bool {
        let is_named = |mention: &crate::link::ColumnMention| {
            mention.is_whole()
                && mention.columns.iter().any(|place| !self.scope.kind(*place).is_time())
        };
        !self.links.topic.is_empty()
            || self.has_used_event()
            || self.filters.iter().any(|filter| filter.is_exact && filter.value.is_some())
            || self.links.columns.iter().any(is_named)
    }

    /// Mentions of columns that the plan does not use, then the other unused words.
    fn unused_words(&self) -> Vec<String> {
        let mut unused: Vec<String> = self
            .unclaimed
            .iter()
            .filter(|mention| !mention.span.clone().all(|at| self.is_used(at)))
            .map(|mention| self.cues.text_of(mention.span.clone()).to_owned())
            .collect();
        // The end of the last added Chinese word.
        let mut last_end = None;
        let mut at = 0;
        while let Some(piece) = self.cues.pieces.get(at) {
            let is_small = self.is_small(piece) && !self.is_value(&(at..at + 1));
            if self.is_used(at) || self.is_unclaimed(at) || is_small {
                at += 1;
                continue;
            }
            if !piece.is_han {
                unused.push(self.cues.text_of(at..at + 1).to_owned());
                at += 1;
                continue;
            }
            let run = self.unused_run(at);
            let (known, noise) = (known_length(&run), noise_length(&run));
            if known <= noise && 0 < noise {
                at += noise;
                continue;
            }
            let span = at..at + known.max(1);
            let word = self.cues.text_of(span.clone());
            match unused.last_mut().filter(|_| known == 0 && last_end == Some(at)) {
                Some(last) => last.push_str(word),
                None => unused.push(word.to_owned()),
            }
            at = span.end;
            last_end = Some(at);
        }
        unused
    }

    fn is_unclaimed(&self, at: usize) -> bool {
        self.unclaimed.iter().any(|mention| mention.span.contains(&at))
    }

    /// Whether a word adds nothing to a question.
    fn is_small(&self, piece: &Piece) -> bool {
        let is_change_asked = matches!(self.cues.goal, Goal::Growth | Goal::Difference);
        !piece.is_han
            && (is_stop_word(&piece.folded) || (is_change_asked && is_change(&piece.folded)))
    }

    /// The characters of the unused Chinese run from a piece onward.
    fn unused_run(&self, at: usize) -> Vec<char> {
        let pieces = self.cues.pieces.get(at..).unwrap_or_default();
        let used = self.used.get(at..).unwrap_or_default();
        pieces
            .iter()
            .zip(used)
            .take_while(|(piece, used)| piece.is_han && !**used)
            .flat_map(|(piece, _)| piece.raw.chars())
            .collect()
    }
}

/// Whether a plan only shows the values of its own conditions: the year of rows of 2015.
fn says_nothing(computation: &Computation) -> bool {
    let Computation::One(plan) = computation else { return false };
    let is_fixed = |column: &ColumnRef| {
        plan.filters.iter().any(|filter| {
            let names_one = match &filter.test {
                TableTest::Is(values) => values.len() == 1,
                TableTest::Within(period) => period.len() == DAY,
                _ => false,
            };
            names_one && filter.column == *column
        })
    };
    plan.measures.is_empty() && !plan.show.is_empty() && plan.show.iter().all(is_fixed)
}
