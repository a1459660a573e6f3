//! Marks words that repeat a part of the plan: units, labels, glosses, names of the rows.

use std::ops::Range;

use pikerag_knowledge::data::{Aggregate, ColumnKind, ColumnRef, OrderBy, TableTest};

use super::Composer;
use crate::lexicon::{known_length, meanings};
use crate::link::ColumnMention;
use crate::pieces::{Piece, han_run};
use crate::reading::Computation;
use crate::scope::ColumnPlace;
use crate::units::unit_of;

/// Words for the kind of an adjacent value: `code` of `code B6`.
const LABELS: [&str; 24] = [
    "code", "codes", "number", "numbers", "letter", "name", "type", "kind", "full", "zone", "time",
    "cod", "代码", "编号", "号码", "名称", "全名", "数字", "类型", "号", "字母", "机场", "国家",
    "城市",
];

/// Labels that the question may ask for.
const CODES: [&str; 6] = ["code", "codes", "cod", "代码", "编号", "号码"];

/// Words for the count of rows. They may contain the name of a column: the date 天 of `天数`.
pub(super) const COUNTS: [&str; 14] = [
    "天数", "次数", "个数", "件数", "数量", "笔数", "场数", "年数", "款数", "部数", "条数", "起数",
    "篇数", "项数",
];

/// Words for the values of the column before them: `engine type`.
pub(super) const KINDS: [&str; 6] = ["type", "types", "kind", "kinds", "类型", "种类"];

/// The longest gloss, in pieces.
const MOST_GLOSS: usize = 6;

/// The greatest number of used pieces between a gloss and its value.
const MOST_BETWEEN: usize = 4;

/// The longest name of rows, in Chinese characters.
const MOST_ROW_NOUN: usize = 4;

impl Composer<'_> {
    /// Marks words that repeat a part of the plan.
    pub(super) fn mark_redundant(&mut self, computation: &Computation) {
        self.mark_named_again(computation);
        let units = self.units(computation);
        let linked: Vec<Range<usize>> = self
            .filters
            .iter()
            .map(|filter| &filter.span)
            .chain(self.links.columns.iter().map(|mention| &mention.span))
            .cloned()
            .collect();
        for at in 0..self.cues.pieces.len() {
            if !self.is_used(at)
                && let Some(span) = self.redundant_span(at, &units, &linked)
            {
                self.mark_only(span);
            }
        }
        self.mark_row_noun();
        self.mark_still();
        let is_of_two =
            matches!(computation, Computation::Difference(..) | Computation::Compare { .. });
        // In 海天比明光多多少, 比 is redundant.
        for at in 0..self.cues.pieces.len() {
            if is_of_two && self.cues.folded(at) == "比" {
                self.mark_only(at..at + 1);
            }
        }
    }

    /// Marks 尚 of 尚未付款, if 未付款 is a value.
    fn mark_still(&mut self) {
        let starts: Vec<usize> = self
            .filters
            .iter()
            .filter(|filter| filter.value.is_some() && self.cues.folded(filter.span.start) == "未")
            .filter_map(|filter| filter.span.start.checked_sub(1))
            .collect();
        for at in starts {
            if ["尚", "还", "仍"].contains(&self.cues.folded(at)) {
                self.mark_only(at..at + 1);
            }
        }
    }

    /// Marks mentions that the plan already computes, shows or orders by: `风最大的那天风速`.
    fn mark_named_again(&mut self, computation: &Computation) {
        let named: Vec<ColumnRef> = computation
            .plans()
            .iter()
            .flat_map(|plan| {
                let by = plan.order.iter().filter_map(|order| match &order.by {
                    OrderBy::Column(column) => Some(column),
                    OrderBy::Measure => None,
                });
                let measured = plan.measures.iter().filter_map(|measure| measure.column.as_ref());
                by.chain(measured).chain(&plan.show).cloned()
            })
            .collect();
        let counts_rows = computation.plans().iter().all(|plan| {
            let function = plan.measures.first().map(|measure| measure.function);
            function == Some(Aggregate::Count)
        });
        let again: Vec<usize> = (0..self.unclaimed.len())
            .rev()
            .filter(|at| {
                self.unclaimed.get(*at).is_some_and(|mention| {
                    let is_named =
                        |place: &ColumnPlace| named.contains(&self.scope.reference(*place));
                    mention.columns.iter().any(is_named)
                        || (counts_rows
                            && COUNTS.contains(&self.cues.text_of(mention.span.clone())))
                        || self.names_kind(mention)
                })
            })
            .collect();
        for at in again {
            self.claim(at);
        }
    }

    /// Whether a word only means that the column before it has kinds as values.
    fn names_kind(&self, mention: &ColumnMention) -> bool {
        KINDS.contains(&self.cues.text_of(mention.span.clone()))
            && self.links.columns.iter().any(|before| {
                before.span.end == mention.span.start
                    && before.span.clone().all(|at| self.is_used(at))
                    && self.has_kinds(before)
            })
    }

    /// Whether a mention is the whole name of a column with few different values.
    pub(super) fn has_kinds(&self, mention: &ColumnMention) -> bool {
        let is_category = |place: &ColumnPlace| self.scope.kind(*place) == ColumnKind::Category;
        mention.is_whole()
            && mention.columns.iter().all(is_category)
            && !mention.span.clone().all(|at| self.links.topic.contains(&at))
    }

    /// The redundant words that begin at a piece.
    fn redundant_span(
        &self,
        at: usize,
        units: &[Option<String>],
        linked: &[Range<usize>],
    ) -> Option<Range<usize>> {
        let piece = self.cues.pieces.get(at)?;
        let (word, length) = if piece.is_han {
            let run = han_run(self.cues.pieces.get(at..)?);
            let length = known_length(&run).max(1);
            (run.iter().take(length).collect(), length)
        } else {
            (piece.folded.clone(), 1)
        };
        let span = at..at + length;
        // A measure without a unit may have any unit.
        let is_unit = unit_of(&word).is_some_and(|unit| {
            units.iter().any(|own| own.as_deref().is_none_or(|own| own == unit))
        });
        // A code without a part in the plan is the requested value.
        let is_code = CODES.contains(&word.as_str())
            && self.unclaimed.iter().any(|mention| mention.span.contains(&at));
        let is_label = !is_code
            && LABELS.contains(&word.as_str())
            && linked.iter().any(|near| {
                near.end == span.start || span.end == near.start || self.is_near(near, &span, 1)
            });
        match is_unit || is_label || self.labels_a_date(&word, &span) {
            true => Some(span),
            false => self.gloss(at, linked),
        }
    }

    /// Whether a word only means that the adjacent column holds dates: the date of `end date`.
    fn labels_a_date(&self, word: &str, span: &Range<usize>) -> bool {
        const DATES: [&str; 5] = ["date", "dates", "day", "日期", "时间"];
        let is_date = |mention: &ColumnMention| {
            mention.span.end == span.start
                && mention.span.clone().all(|at| self.is_used(at))
                && mention.columns.iter().all(|it| self.scope.kind(*it) == ColumnKind::Date)
        };
        DATES.contains(&word) && self.links.columns.iter().any(is_date)
    }

    /// The units of the measures in a plan; `None` for a measure without one.
    fn units(&self, computation: &Computation) -> Vec<Option<String>> {
        let plans = computation.plans();
        let columns: Vec<&ColumnRef> = plans.iter().flat_map(|plan| plan.columns()).collect();
        self.scope
            .columns()
            .filter(|(place, column, _)| {
                column.kind.is_measure() && columns.contains(&&self.scope.reference(*place))
            })
            .map(|(_, column, _)| {
                let unit = column.unit.as_deref()?.to_lowercase();
                Some(unit_of(&unit).map(str::to_owned).unwrap_or(unit))
            })
            .collect()
    }

    /// The name from a piece onward that repeats an adjacent value: `加拿大雁（Canada goose）`.
    fn gloss(&self, at: usize, linked: &[Range<usize>]) -> Option<Range<usize>> {
        let is_han = self.cues.pieces.get(at)?.is_han;
        let rest = self.cues.pieces.get(at..)?;
        let is_name = |piece: &Piece| piece.is_han == is_han && (is_han || piece.is_capitalized());
        let length = rest
            .iter()
            .zip(at..)
            .take(MOST_GLOSS)
            .take_while(|(piece, place)| is_name(piece) && !self.is_used(*place))
            .count();
        if length == 0 {
            return None;
        }
        let end = at + length;
        // Used words of the same script may follow: `肯尼迪机场（JFK）`.
        let n_between = rest
            .iter()
            .zip(at..)
            .skip(length)
            .take(MOST_BETWEEN)
            .take_while(|(piece, place)| {
                piece.is_han == is_han
                    && self.is_used(*place)
                    && self.cues.text_between(place - 1, *place).is_empty()
            })
            .count();
        let last = end + n_between;
        let opens_at =
            |piece: usize| 0 < piece && self.cues.text_between(piece - 1, piece).starts_with('(');
        let is_before = linked.iter().any(|near| near.start == last) && opens_at(last);
        let is_behind = linked.iter().any(|near| near.end == at) && opens_at(at);
        (is_before || is_behind).then_some(at..end)
    }

    /// Marks the unknown noun after `how many`, if a value or a missing value selects the rows.
    fn mark_row_noun(&mut self) {
        let Some(count) = self.cues.count.clone() else { return };
        let is_selected = self.filters.iter().any(|filter| {
            (filter.value.is_some() && filter.is_exact)
                || matches!(filter.test, TableTest::IsEmpty | TableTest::IsFilled)
        });
        // `How many XL pizzas`: a value may stand before the noun.
        let is_value =
            |at: &usize| self.filters.iter().any(|it| it.value.is_some() && it.span.contains(at));
        let behind = count.end..self.cues.pieces.len();
        let start = count.end + behind.take_while(is_value).count();
        let rest = self.cues.pieces.get(start..).unwrap_or_default();
        let is_han = rest.first().is_some_and(|piece| piece.is_han);
        let most = if is_han { MOST_ROW_NOUN } else { 1 };
        let is_unknown = |at: usize, piece: &Piece| match is_han {
            true => known_length(&han_run(rest.get(at..).unwrap_or_default())) == 0,
            false => meanings(&piece.stem).is_empty(),
        };
        let used = self.used.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .zip(used)
            .take(most)
            .enumerate()
            .take_while(|(at, (piece, used))| {
                piece.is_han == is_han && !**used && is_unknown(*at, piece)
            })
            .count();
        // In `how many painted repairs`, a name of the rows follows, so the word is a condition.
        let end = start + length;
        let is_adjective = !is_han && self.links.topic.contains(&end);
        if is_selected && !is_adjective {
            self.mark_only(start..end);
        }
    }
}
