//! Reads one figure over all groups: `SELECT avg(n) FROM (SELECT …, count(*) AS n … GROUP BY …)`.

use pikerag_knowledge::data::{Aggregate, TableGroup, TableMeasure, TablePlan};
use pikerag_knowledge::tables::By;
use pikerag_language::fold::fold;
use sqlparser::ast::{Expr, Ident, Query, SelectItem, TableFactor};

use super::aggregates::function_of;
use super::fault::{PlanFault, unsupported};
use super::figures::holds_aggregate;
use super::groups::group_filters;
use super::query::Statement;
use super::syntax::{Call, Parts, bare, only, unrounded};

const OVER: &str = "one figure over groups is written SELECT avg(n) FROM (SELECT x, count(*) AS n FROM t GROUP BY x)";

impl Statement<'_> {
    /// The plan of one figure over the groups of a subquery in `FROM` or of a `WITH`; `None` if the statement has
    /// neither.
    ///
    /// # Errors
    /// No plan can hold the subquery or the figure.
    pub(super) fn over_groups(&self, parts: &Parts<'_>) -> Result<Option<TablePlan>, PlanFault> {
        let Some(query) = inner_query(parts) else { return Ok(None) };
        let no = || unsupported(parts.select, OVER);
        let call = only(&parts.select.projection).map(unrounded).and_then(Call::of);
        let call = call.ok_or_else(no)?;
        let function = function_of(&call.name).ok_or_else(no)?;
        let is_plain = parts.is_whole()
            && parts.groups()?.is_empty()
            && parts.having.is_none()
            && call.filter.is_none();
        if !is_plain {
            return Err(no());
        }
        let inner = Parts::of(query)?;
        let (mut plan, nth, _) = self.plan(&inner)?;
        if nth.is_some() || plan.limit.is_some() {
            return Err(no());
        }
        plan.order = None;
        if plan.measures.is_empty() {
            // `SELECT DISTINCT x` gives only the groups.
            let by_value = |column| TableGroup { column, by: By::Value };
            plan.group = std::mem::take(&mut plan.show).into_iter().map(by_value).collect();
            plan.measures = vec![TableMeasure::default()];
        }
        let names = Names::of(&inner);
        if let Some(condition) = &parts.select.selection {
            let of_name = |expression: &Expr| {
                let place = names.measure(bare(expression))?;
                plan.measures.get(place).filter(|measure| !measure.is_share).cloned()
            };
            let filters = group_filters(condition, &mut { of_name })?;
            plan.having.extend(filters);
        }
        let input = call.inputs.first().map(|input| bare(input));
        let (measure, function) = match input {
            None => (None, function),
            Some(input) => match names.measure(input) {
                Some(place) => (Some(place), function),
                // Each group has one value of its key.
                None if function == Aggregate::Count => (None, function),
                None => return Err(no()),
            },
        };
        if call.is_distinct && measure.is_some() {
            return Err(no());
        }
        let measure = plan.measures.get(measure.unwrap_or_default()).cloned().ok_or_else(no)?;
        if plan.group.is_empty() {
            return Err(no());
        }
        Ok(Some(TablePlan { measures: vec![measure], over: Some(function), ..plan }))
    }
}

/// The subquery that provides the rows.
fn inner_query<'q>(parts: &Parts<'q>) -> Option<&'q Query> {
    let [from] = parts.select.from.as_slice() else { return None };
    if !from.joins.is_empty() {
        return None;
    }
    match &from.relation {
        TableFactor::Derived { subquery, .. } => Some(subquery),
        TableFactor::Table { name, .. } => {
            let name = name.0.last()?.as_ident()?;
            let tables = &parts.with?.cte_tables;
            let found = tables.iter().find(|it| fold(&it.alias.name.value) == fold(&name.value));
            found.map(|found| found.query.as_ref())
        }
        _ => None,
    }
}

/// The names of the measures of a subquery, in their order.
struct Names(Vec<Option<String>>);

impl Names {
    fn of(parts: &Parts<'_>) -> Self {
        let items = parts.select.projection.iter().filter_map(|item| {
            let (expression, name) = match item {
                SelectItem::UnnamedExpr(expression) => (expression, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(fold(&alias.value))),
                _ => return None,
            };
            let is_measure = holds_aggregate(expression);
            is_measure.then_some(name)
        });
        Self(items.collect())
    }

    /// The place of the measure that an expression names.
    fn measure(&self, expression: &Expr) -> Option<usize> {
        let name = match expression {
            Expr::Identifier(Ident { value, .. }) => value,
            Expr::CompoundIdentifier(names) => &names.last()?.value,
            _ => return None,
        };
        self.0.iter().position(|known| known.as_ref() == Some(&fold(name)))
    }
}
