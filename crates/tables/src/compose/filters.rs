//! Filters rows by the values and numbers that a question names.

use pikerag_knowledge::data::{ColumnKind, DataValue, TableTest};

use super::{Composer, Filter};
use crate::catalog::stored_value;
use crate::link::{ColumnMention, ValueMention};
use crate::scope::ColumnPlace;

impl Composer<'_> {
    /// Filters by all values that the question names.
    pub(super) fn filter_by_values(&mut self) {
        for mention in self.links.values.clone() {
            let Some((place, values)) = mention.columns.get(self.column_of_value(&mention)) else {
                continue;
            };
            let kind = self.scope.kind(*place);
            let glue =
                if self.cues.pieces_in(mention.span.clone()).first().is_some_and(|it| it.is_han) {
                    ""
                } else {
                    " "
                };
            let raw: Vec<&str> = self
                .cues
                .pieces_in(mention.span.clone())
                .iter()
                .map(|piece| piece.raw.as_str())
                .collect();
            let words = raw.join(glue);
            let is_part = !mention.is_exact && (1 < values.len() || kind == ColumnKind::Text);
            let test = match is_part {
                true => TableTest::Contains(words.clone()),
                false => TableTest::Is(values.iter().map(|it| stored_value(kind, it)).collect()),
            };
            let value = values.first().cloned().unwrap_or(words);
            self.mark(mention.span.clone());
            // `肯尼迪机场（JFK）` names one value twice.
            let is_held = self.filters.iter().any(|held| held.place == *place && held.test == test);
            if !is_held {
                self.filters.push(Filter {
                    place: *place,
                    test,
                    span: mention.span.clone(),
                    value: Some(value),
                    is_exact: mention.is_exact,
                });
            }
        }
        self.claim_labels();
    }

    /// Chooses a column for a value by the words around it; returns its place among the mention's columns.
    fn column_of_value(&self, mention: &ValueMention) -> usize {
        let columns = &mention.columns;
        let start = mention.span.start;
        let is_before = |words: &[&str]| {
            (start.saturating_sub(3)..start).any(|at| words.contains(&self.cues.folded(at)))
        };
        let behind: String =
            (mention.span.end..mention.span.end + 6).map(|at| self.cues.folded(at)).collect();
        let is_origin = is_before(&["from", "从", "at", "out"])
            || behind.starts_with("出发")
            || behind.contains("起飞");
        let is_destination = is_before(&["to", "往", "到"]);
        let of_meaning =
            |word: &str| columns.iter().position(|(place, _)| self.scope.has_meaning(*place, word));
        let is_labelled = |place: &ColumnPlace| {
            self.unclaimed.iter().any(|label| {
                label.columns.contains(place) && self.is_near(&label.span, &mention.span, 2)
            })
        };
        columns
            .iter()
            .position(|(place, _)| is_labelled(place))
            .or_else(|| of_meaning("destination").filter(|_| is_destination))
            .or_else(|| of_meaning("origin").filter(|_| is_origin))
            .or_else(|| columns.iter().position(|(place, _)| place.table == 0))
            .unwrap_or(0)
    }

    /// Claims mentions that name the column of an adjacent value: `carrier code` of `carrier code B6`.
    fn claim_labels(&mut self) {
        let is_label = |mention: &ColumnMention| {
            self.filters.iter().any(|filter| {
                mention.columns.contains(&filter.place)
                    && self.is_near(&mention.span, &filter.span, 3)
            })
        };
        let (labels, unclaimed) = self.unclaimed.iter().cloned().partition(is_label);
        self.unclaimed = unclaimed;
        let labels: Vec<ColumnMention> = labels;
        for label in labels {
            self.mark(label.span);
        }
    }

    /// Filters by numbers next to the name of their column: `numeric code 392`, `区号86`.
    pub(super) fn filter_by_numbers(&mut self) {
        for (at, piece) in self.cues.pieces.iter().enumerate() {
            let is_number = piece.raw.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',');
            if self.is_used(at) || !is_number {
                continue;
            }
            let span = at..at + 1;
            if let Some((place, value)) = self.value_with_sign(at) {
                self.mark(span.clone());
                let test = TableTest::Is(vec![stored_value(self.scope.kind(place), &value)]);
                let value = Some(value);
                self.filters.push(Filter { place, test, span, value, is_exact: true });
                continue;
            }
            // In `3 rooms`, the label after the number takes precedence over a label nearby.
            let behind = self.unclaimed.iter().position(|label| label.span.start == span.end);
            let near = behind
                .or_else(|| self.unclaimed.iter().position(|it| self.is_near(&it.span, &span, 2)));
            let label = near.and_then(|near| self.unclaimed.get(near));
            let Some(place) = label.and_then(|label| label.columns.first().copied()) else {
                continue;
            };
            let kind = self.scope.kind(place);
            let is_code = matches!(kind, ColumnKind::Identifier | ColumnKind::Category);
            let digits = piece.raw.replace(',', "");
            if (!self.scope.is_number(place) && !is_code) || self.is_no_value(place, &digits) {
                continue;
            }
            if let Some(near) = near {
                self.claim(near);
            }
            self.mark(span.clone());
            let test = TableTest::Is(vec![stored_value(kind, &digits)]);
            self.filters.push(Filter { place, test, span, value: Some(digits), is_exact: true });
        }
    }

    /// The value that consists of a number and an adjacent sign: `50+` or `<18` of an age group.
    fn value_with_sign(&self, at: usize) -> Option<(ColumnPlace, String)> {
        const SIGNS: [char; 8] = ['<', '>', '≤', '≥', '+', '＜', '＞', '＋'];
        let piece = self.cues.pieces.get(at)?;
        let before = self.cues.text.get(..piece.start)?;
        let start = before.trim_end_matches(SIGNS).len();
        let behind = self.cues.text.get(piece.end..)?;
        let end = piece.end + behind.len() - behind.trim_start_matches(SIGNS).len();
        let written = self.cues.text.get(start..end).filter(|it| *it != piece.raw)?;
        self.scope.columns().find_map(|(place, _, view)| {
            let value = view.values.iter().find(|value| *value == written)?;
            Some((place, value.clone()))
        })
    }

    /// Whether all values of a column of texts are known, and none of them is this one.
    fn is_no_value(&self, place: ColumnPlace, text: &str) -> bool {
        let Some((view, column)) = self.scope.view(place).zip(self.scope.column(place)) else {
            return true;
        };
        let values = view.values(place.column);
        !column.kind.is_numeric()
            && values.len() as u64 == column.distinct
            && !values.iter().any(|value| value == text)
    }

    /// Filters by missing values: `unknown price`, `没有记录`, `no rain at all`.
    pub(super) fn filter_by_missing_values(&mut self) {
        let cues = [
            (self.cues.empty.clone(), TableTest::IsEmpty),
            (self.cues.filled.clone(), TableTest::IsFilled),
        ];
        for (span, test) in cues {
            let Some(span) = span else { continue };
            // `No end date entered` contains the name of the column.
            let is_inside = |mention: &ColumnMention| {
                span.start <= mention.span.start && mention.span.end <= span.end
            };
            let has_name = self.unclaimed.iter().any(is_inside);
            let distance = |mention: &ColumnMention| {
                let before = span.start.abs_diff(mention.span.end);
                mention.span.start.abs_diff(span.end).min(before)
            };
            // In `apartments have no tenant`, the missing thing comes last.
            let lacks = ["no", "without", "a", "an", "缺少", "缺失"]
                .contains(&self.cues.folded(span.end - 1));
            let fits = |mention: &ColumnMention| match has_name {
                true => is_inside(mention),
                false => !lacks || span.end <= mention.span.start,
            };
            let near = self.unclaimed.iter().enumerate().filter(|(_, mention)| fits(mention));
            let near = near.map(|(at, mention)| (at, distance(mention))).min_by_key(|(_, it)| *it);
            let Some((at, _)) = near.filter(|(_, distance)| *distance <= 3) else { continue };
            let at = self.head_noun(at);
            let Some(mention) = self.unclaimed.get(at).cloned() else { continue };
            self.unclaimed.remove(at);
            let Some(place) = mention.columns.first().copied() else { continue };
            // In a measure without gaps, 0 means missing.
            let is_complete = self.scope.is_measure(place)
                && self
                    .scope
                    .view(place)
                    .zip(self.scope.column(place))
                    .is_some_and(|(view, column)| column.filled == view.table.rows);
            // `No balcony`, if a yes/no column records it.
            let is_mark = lacks && self.scope.kind(place) == ColumnKind::Boolean;
            // `No budget entered` in a column without gaps: a word or a 0 may mean missing.
            let is_full = test == TableTest::IsEmpty && !self.has_gaps(place) && !is_mark;
            self.n_unplaced += usize::from(is_full && (has_name || !is_complete));
            let test = if is_complete || is_mark { is_zero() } else { test };
            self.mark(span.clone());
            self.mark(mention.span.clone());
            let span = mention.span;
            self.filters.push(Filter { place, test, span, value: None, is_exact: true });
        }
        self.filter_by_none_of();
    }

    fn filter_by_none_of(&mut self) {
        let Some(span) = self.cues.none_of.clone() else { return };
        // Words of an existing filter make no second filter.
        if self.filters.iter().any(|it| span.start <= it.span.start && it.span.end <= span.end) {
            return;
        }
        let is_inside = |mention: &ColumnMention| {
            span.start <= mention.span.start && mention.span.end <= span.end
        };
        let Some(at) = self.unclaimed.iter().position(is_inside) else {
            if !self.is_used(span.start) {
                self.n_unplaced += 1;
            }
            return;
        };
        let mention = self.unclaimed.remove(at);
        let Some(place) = mention.columns.first().copied() else { return };
        let is_mark = self.scope.kind(place) == ColumnKind::Boolean;
        let is_number = self.scope.is_measure(place) || is_mark;
        let test = if is_number { is_zero() } else { TableTest::IsEmpty };
        self.mark(span);
        let span = mention.span;
        self.filters.push(Filter { place, test, span, value: None, is_exact: true });
    }

    /// Negates the filter after `not`, and a filter at the beginning of the question: `After Gentoo, which …`.
    pub(super) fn negate_filters(&mut self) {
        if self.cues.folded(0) == "after"
            && self.cues.nth.is_none()
            && let Some(filter) = self.filters.iter_mut().find(|filter| filter.span.start <= 2)
        {
            negate(filter);
        }
        let Some(not) = self.cues.not.clone() else { return };
        if self.denials.iter().any(|it| it.start <= not.start && not.end <= it.end) {
            return;
        }
        let behind = self.filters.iter_mut().find(|filter| {
            filter.value.is_some()
                && not.end <= filter.span.start
                && filter.span.start - not.end <= 4
        });
        let is_negated = behind.is_some_and(negate);
        if is_negated {
            self.mark(not);
        } else if !not.clone().all(|at| self.is_used(at)) {
            self.n_unplaced += 1;
        }
    }
}

fn is_zero() -> TableTest {
    TableTest::Is(vec![DataValue::Integer(0)])
}

/// Negates the test; returns whether that was possible.
fn negate(filter: &mut Filter) -> bool {
    let TableTest::Is(values) = &mut filter.test else { return false };
    filter.test = TableTest::IsNot(std::mem::take(values));
    true
}
