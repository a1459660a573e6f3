//! Builds plans out of filters, measures and columns.

use pikerag_knowledge::data::{
    Aggregate, ColumnKind, DataValue, OrderBy, TableFilter, TableGroup, TableMeasure, TableOrder,
    TablePlan, TableTest,
};
use pikerag_knowledge::tables::By;

use super::{Composer, Filter};
use crate::cues::{Cue, Direction, Goal};
use crate::scope::ColumnPlace;

impl Composer<'_> {
    /// A plan over the rows that fulfil all filters.
    pub(super) fn plan(&self) -> TablePlan {
        self.plan_of(&self.filters)
    }

    /// A plan over the rows that fulfil some filters. Named values of one column are alternatives.
    pub(super) fn plan_of<'f>(&self, filters: impl IntoIterator<Item = &'f Filter>) -> TablePlan {
        let mut conditions: Vec<TableFilter> = Vec::new();
        let mut alternatives: Vec<(ColumnPlace, Vec<DataValue>)> = Vec::new();
        for filter in filters {
            let TableTest::Is(values) = &filter.test else {
                conditions.push(self.condition(filter.place, filter.test.clone()));
                continue;
            };
            let held = alternatives.iter_mut().find(|(place, _)| *place == filter.place);
            match held {
                _ if filter.value.is_none() => {
                    conditions.push(self.condition(filter.place, filter.test.clone()));
                }
                Some((_, held)) => held.extend(values.iter().cloned()),
                None => alternatives.push((filter.place, values.clone())),
            }
        }
        for (place, values) in alternatives {
            conditions.push(self.condition(place, TableTest::Is(values)));
        }
        let table = self.scope.views.first().map(|view| view.table.name.clone());
        TablePlan {
            table: table.unwrap_or_default(),
            joins: self.scope.joins.clone(),
            filters: conditions,
            ..TablePlan::default()
        }
    }

    fn condition(&self, place: ColumnPlace, test: TableTest) -> TableFilter {
        TableFilter { column: self.scope.reference(place), test }
    }

    /// The plan with the count of its rows.
    pub(super) fn counted(plan: TablePlan) -> TablePlan {
        let count = TableMeasure::default();
        TablePlan { measures: vec![count], ..plan }
    }

    /// The plan with a figure of one column.
    pub(super) fn measured(
        &self,
        plan: TablePlan,
        function: Aggregate,
        place: ColumnPlace,
    ) -> TablePlan {
        let column = Some(self.scope.reference(place));
        let measure = TableMeasure { function, column, ..TableMeasure::default() };
        TablePlan { measures: vec![measure], ..plan }
    }

    /// The plan with the cells of these columns.
    pub(super) fn shown(&self, plan: TablePlan, places: &[ColumnPlace]) -> TablePlan {
        let show = places.iter().map(|place| self.scope.reference(*place)).collect();
        TablePlan { show, ..plan }
    }

    /// The plan with a figure for each value of a column.
    pub(super) fn grouped(&self, plan: TablePlan, place: ColumnPlace) -> TablePlan {
        let group = TableGroup { column: self.scope.reference(place), by: self.grain_of(place) };
        TablePlan { group: vec![group], ..plan }
    }

    /// The first groups of a plan, by its measure.
    pub(super) fn ranked(plan: TablePlan, direction: Direction, limit: usize) -> TablePlan {
        let order = TableOrder { by: OrderBy::Measure, descending: direction.is_descending() };
        TablePlan { order: Some(order), limit: Some(limit), ..plan }
    }

    /// The first rows of a plan, by a column.
    pub(super) fn ordered(
        &self,
        plan: TablePlan,
        place: ColumnPlace,
        direction: Direction,
        limit: usize,
    ) -> TablePlan {
        let by = OrderBy::Column(self.scope.reference(place));
        let order = TableOrder { by, descending: direction.is_descending() };
        TablePlan { order: Some(order), limit: Some(limit), ..plan }
    }

    /// The aggregate that the question names; `None` if it names none.
    pub(super) fn named_aggregate(&self) -> Option<Aggregate> {
        match () {
            () if self.cues.has(Cue::Mean) => Some(Aggregate::Mean),
            () if self.cues.goal == Goal::Median => Some(Aggregate::Median),
            () if self.cues.has(Cue::Sum) => Some(Aggregate::Sum),
            () => None,
        }
    }

    /// The precision of groups by a column: dates by year or month if the question says so.
    pub(super) fn grain_of(&self, place: ColumnPlace) -> By {
        let text = self.cues.text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        match self.scope.kind(place) {
            ColumnKind::Date if says(&["which year", "哪一年", "哪年"]) => By::Year,
            ColumnKind::Date if says(&["which quarter", "哪个季度"]) => By::Quarter,
            ColumnKind::Date if says(&["which month", "哪个月"]) => By::Month,
            _ => By::Value,
        }
    }
}
