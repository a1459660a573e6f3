//! Chooses the measure that a question asks about.

use std::ops::Range;

use pikerag_knowledge::data::Aggregate;

use super::{Composed, Composer};
use crate::cues::{Direction, Extreme};
use crate::link::ColumnMention;
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

impl Composer<'_> {
    /// A figure of the named measure, or of the only measure.
    pub(super) fn aggregate(&mut self, function: Aggregate) -> Option<Composed> {
        let place = self.take_measure(None, None).or_else(|| self.scope.only_measure())?;
        let plan = self.measured(self.plan(), function, place);
        Some((Computation::One(plan), Form::Figure))
    }

    /// Chooses the column of a mention. If several fit, the direction decides, then a total, then the first table.
    pub(super) fn choose(
        &self,
        mention: &ColumnMention,
        direction: Option<Direction>,
    ) -> Option<ColumnPlace> {
        let several = match mention.columns.as_slice() {
            [only] => return Some(*only),
            several => several,
        };
        let named = |word: &str| {
            several.iter().copied().find(|place| {
                let column = self.scope.column(*place);
                column.is_some_and(|column| column.name.to_lowercase().contains(word))
            })
        };
        let directed = direction.and_then(|direction| match direction {
            Direction::Greatest => named("max"),
            Direction::Least => named("min"),
        });
        directed.or_else(|| named("total")).or_else(|| named("总")).or_else(|| {
            let mut first = several.iter().copied().filter(|place| place.table == 0);
            first.next().filter(|_| first.next().is_none())
        })
    }

    pub(super) fn has_measure(&self) -> bool {
        self.unclaimed.iter().any(|mention| self.has_measure_in(mention))
    }

    pub(super) fn has_measure_in(&self, mention: &ColumnMention) -> bool {
        mention.columns.iter().any(|place| self.scope.is_measure(*place))
    }

    /// Claims the measure nearest to a span, or the first measure if there is no span.
    pub(super) fn take_measure(
        &mut self,
        near: Option<&Range<usize>>,
        direction: Option<Direction>,
    ) -> Option<ColumnPlace> {
        let distance = |at: usize, mention: &ColumnMention| match near {
            None => at,
            Some(near) if near.end <= mention.span.start => mention.span.start - near.end,
            Some(near) => near.start.abs_diff(mention.span.end),
        };
        let (_, at) = self
            .unclaimed
            .iter()
            .enumerate()
            .filter(|(_, mention)| self.has_measure_in(mention))
            .map(|(at, mention)| (distance(at, mention), at))
            .min()?;
        let mut mention = self.unclaimed.get(at)?.clone();
        mention.columns.retain(|place| self.scope.is_measure(*place));
        let place = self.choose(&mention, direction)?;
        self.claim(at);
        Some(place)
    }

    /// The column of the dimension that an extreme ranks by: a weight for `heaviest`.
    pub(super) fn dimension(&self, extreme: &Extreme) -> Option<ColumnPlace> {
        let wanted = extreme.dimension();
        let columns: Vec<ColumnPlace> = self
            .scope
            .columns()
            .filter(|(place, column, _)| {
                (column.kind.is_measure() || column.kind.is_time())
                    && self.scope.has_any_meaning(*place, wanted)
            })
            .map(|(place, ..)| place)
            .collect();
        let mention = ColumnMention {
            span: extreme.span.clone(),
            columns,
            n_matched: 1,
            n_words: 1,
            further_spans: Vec::new(),
        };
        self.choose(&mention, Some(extreme.direction))
    }
}
