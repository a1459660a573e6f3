//! Chooses the column of the things that a question asks for.

use super::Composer;
use super::redundant::KINDS;
use crate::link::ColumnMention;
use crate::scope::ColumnPlace;
use pikerag_knowledge::data::TableTest;

/// The most pieces between `which` and the thing after it, and before it.
const MOST_BEHIND: usize = 5;
const MOST_BEFORE: usize = 3;

impl Composer<'_> {
    /// Claims the column that `which` asks for: after it, or else before it, as in `…的公司是哪一家`.
    pub(super) fn take_asked_column(&mut self) -> Option<ColumnPlace> {
        let which = self.cues.which.clone()?;
        let behind = |mention: &ColumnMention| {
            let start = mention.span.start;
            (which.start <= start && start <= which.end + MOST_BEHIND).then_some(start)
        };
        let before = |mention: &ColumnMention| {
            which.start.checked_sub(mention.span.end).filter(|distance| *distance <= MOST_BEFORE)
        };
        self.take_thing_at(&behind).or_else(|| self.take_thing_at(&before))
    }

    /// Claims the nearest mention of a thing. A mention of several possible columns stays unplaced.
    fn take_thing_at(
        &mut self,
        distance: &dyn Fn(&ColumnMention) -> Option<usize>,
    ) -> Option<ColumnPlace> {
        let mut near: Vec<(usize, usize)> = self
            .unclaimed
            .iter()
            .enumerate()
            .filter_map(|(at, mention)| Some((distance(mention)?, at)))
            .collect();
        near.sort_unstable();
        for (_, at) in near {
            // In `哪个厂用电最多`, the measure after the thing is not its head.
            let head = Some(self.head_noun(at)).filter(|head| !self.things_at(*head).is_empty());
            let at = head.unwrap_or(at);
            let things = self.things_at(at);
            let first: Vec<ColumnPlace> =
                things.iter().copied().filter(|place| place.table == 0).collect();
            match (things.as_slice(), first.as_slice()) {
                ([], _) => {}
                ([only], _) | (_, [only]) => {
                    self.claim(at);
                    return Some(*only);
                }
                _ => self.n_unplaced += 1,
            }
        }
        None
    }

    /// A mention's columns that are no measures and have no fixed value.
    fn things_at(&self, at: usize) -> Vec<ColumnPlace> {
        let is_thing =
            |place: &ColumnPlace| !self.scope.is_measure(*place) && !self.is_fixed(*place);
        let columns = self.unclaimed.get(at).map(|mention| mention.columns.iter().copied());
        columns.into_iter().flatten().filter(is_thing).collect()
    }

    /// Whether a filter fixes the value of a column.
    pub(super) fn is_fixed(&self, place: ColumnPlace) -> bool {
        self.filters.iter().any(|filter| {
            filter.place == place
                && filter.value.is_some()
                && matches!(filter.test, TableTest::Is(_))
        })
    }

    /// The head of adjacent names: the capital of `state capital`, the year of `year of manufacture`.
    pub(super) fn head_noun(&self, at: usize) -> usize {
        let mut at = at;
        // Each step moves to another mention. More steps than mentions would be a cycle.
        for _ in 0..self.unclaimed.len() {
            let Some(mention) = self.unclaimed.get(at) else { break };
            let Some(next) = self.step_to_head(mention) else { break };
            at = next;
        }
        at
    }

    fn step_to_head(&self, mention: &ColumnMention) -> Option<usize> {
        let span = &mention.span;
        let of = span.start.checked_sub(1).filter(|of| self.cues.folded(*of) == "of");
        let before_of =
            of.and_then(|of| self.unclaimed.iter().position(|other| other.span.end == of));
        let is_next = |other: &ColumnMention| {
            let last = span.end.saturating_sub(1);
            other.span.start == span.end
                && other.span != *span
                && span.end < self.cues.pieces.len()
                && self.cues.text_between(last, span.end).is_empty()
                && !(KINDS.contains(&self.cues.text_of(other.span.clone()))
                    && self.has_kinds(mention))
        };
        before_of.or_else(|| self.unclaimed.iter().position(is_next))
    }

    /// Claims the first mention of a thing that is no measure.
    pub(super) fn take_thing(&mut self) -> Option<ColumnPlace> {
        let is_thing = |place: &ColumnPlace| !self.scope.is_measure(*place);
        let (at, thing) = self.unclaimed.iter().enumerate().find_map(|(at, mention)| {
            Some((at, mention.columns.iter().copied().find(is_thing)?))
        })?;
        self.claim(at);
        Some(thing)
    }
}
