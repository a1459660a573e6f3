//! Reads a `SELECT` of rows or groups as a plan: tables, conditions, groups, figures, order and limit.

use pikerag_knowledge::data::{
    Aggregate, ColumnRef, OrderBy, TableFilter, TableGroup, TableMeasure, TableOrder, TablePlan,
};
use pikerag_knowledge::tables::By;
use sqlparser::ast::{Expr, SelectItem};

use super::aggregates::{Measured, figure_of_rows};
use super::conditions::{Conditions, Extreme, Reader};
use super::expressions::{date_part, term};
use super::fault::{PlanFault, unsupported};
use super::groups::having;
use super::names::{Scope, Seen};
use super::syntax::{Call, ONE_SELECT, Parts, bare};
use crate::reading::Form;

const ONE_MEASURE: &str = "each column is an aggregate, or one that GROUP BY names";

/// A model's statement, over the tables that the model was shown.
pub(super) struct Statement<'a> {
    pub(super) seen: Vec<Seen<'a>>,
}

/// The contents of a `SELECT`'s columns.
#[derive(Default)]
struct Columns {
    keys: Vec<TableGroup>,
    measures: Vec<Measured>,
    /// Combinations of two columns of a row.
    terms: Vec<TableMeasure>,
}

impl Statement<'_> {
    /// The plan of rows or groups, with the requested rank.
    ///
    /// # Errors
    /// The query names an unknown table, column or value, or contains a part that no plan can hold.
    pub(super) fn plan(
        &self,
        parts: &Parts<'_>,
    ) -> Result<(TablePlan, Option<usize>, Form), PlanFault> {
        if parts.with.is_some() {
            return Err(unsupported(parts.select, ONE_SELECT));
        }
        let scope = Scope::of(&self.seen, &parts.select.from)?;
        let reader = Reader { seen: &self.seen, scope: &scope };
        let Conditions { filters, extreme } = reader.conditions(parts.select.selection.as_ref())?;
        let columns = columns(parts, &reader)?;
        let groups = parts.groups()?;
        let mut plan = TablePlan { filters, ..scope.plan() };
        scope.require(&mut plan);
        let (mut plan, form) = match (groups.is_empty(), columns.measures.as_slice()) {
            (true, _) if parts.having.is_some() => {
                return Err(unsupported(parts.select, "HAVING needs GROUP BY"));
            }
            (true, []) => {
                let plan = shown(plan, parts, &reader, columns, extreme)?;
                let form = if plan.measures.is_empty() { Form::Things } else { Form::Groups };
                (plan, form)
            }
            _ if !columns.terms.is_empty() => return Err(unsupported(parts.select, ONE_MEASURE)),
            _ if extreme.is_some() => return Err(unsupported(parts.select, ONE_SELECT)),
            (true, [measured]) if !columns.keys.is_empty() => {
                (row_of_extreme(plan, measured, &columns.keys, parts)?, Form::Things)
            }
            (true, _) if columns.keys.is_empty() => {
                let form = if columns.measures.len() == 1 { Form::Figure } else { Form::Groups };
                (of_all_rows(plan, columns.measures), form)
            }
            (true, _) => return Err(unsupported(parts.select, ONE_MEASURE)),
            (false, _) => {
                let plan = grouped(plan, parts, &reader, columns, groups)?;
                let form = if plan.measures.is_empty() { Form::Things } else { Form::Groups };
                (plan, form)
            }
        };
        let nth = (0 < parts.offset).then_some(parts.offset + 1);
        if nth.is_some() && (parts.limit != Some(1) || plan.order.is_none()) {
            return Err(unsupported(parts.select, "OFFSET is used with ORDER BY and LIMIT 1 only"));
        }
        plan.limit = nth.or(plan.limit);
        Ok((plan, nth, form))
    }
}

/// Reads the columns of a `SELECT`: each is a key or an aggregate.
fn columns(parts: &Parts<'_>, reader: &Reader<'_, '_>) -> Result<Columns, PlanFault> {
    let mut columns = Columns::default();
    for item in &parts.select.projection {
        let (SelectItem::UnnamedExpr(expression)
        | SelectItem::ExprWithAlias { expr: expression, .. }) = item
        else {
            let all = reader.scope.columns();
            columns.keys.extend(all.map(|column| TableGroup { column, by: By::Value }));
            continue;
        };
        match figure_of_rows(reader, expression)? {
            Some(measured) => columns.measures.push(measured),
            None => match row_term(reader, expression) {
                Some(term) => columns.terms.push(term),
                None => columns.keys.push(key(reader, expression)?),
            },
        }
    }
    Ok(columns)
}

/// Reads a combination of two columns of a row. It takes the greatest value of the rows with the same name, which is
/// mostly one row.
fn row_term(reader: &Reader<'_, '_>, expression: &Expr) -> Option<TableMeasure> {
    let (column, with) = term(reader.scope, expression)?;
    let column = Some(column.reference());
    let (function, with) = (Aggregate::Greatest, Some(with));
    Some(TableMeasure { function, column, with, ..TableMeasure::default() })
}

/// Reads a group key: a column, or a period of its dates.
fn key(reader: &Reader<'_, '_>, expression: &Expr) -> Result<TableGroup, PlanFault> {
    if let Some((column, part)) = date_part(reader.scope, expression)? {
        let by = part.by().filter(|_| column.is_date());
        let is_other = column.is_date() && by.is_none();
        return match is_other {
            true => Err(unsupported(expression, "dates are grouped by '%Y' or '%Y-%m'")),
            false => Ok(TableGroup { column: column.reference(), by: by.unwrap_or(By::Value) }),
        };
    }
    let column = reader.scope.column(bare(expression))?;
    Ok(TableGroup { column: column.reference(), by: By::Value })
}

/// The plan that shows rows with their columns.
fn shown(
    plan: TablePlan,
    parts: &Parts<'_>,
    reader: &Reader<'_, '_>,
    columns: Columns,
    extreme: Option<Extreme>,
) -> Result<TablePlan, PlanFault> {
    let mut terms = columns.terms;
    let by_term = parts.order.and_then(|(by, _)| row_term(reader, parts.resolved(by)));
    if let Some(by) = &by_term {
        terms.retain(|term| term != by);
        terms.insert(0, by.clone());
    }
    if !terms.is_empty() {
        let is_plain = extreme.is_none() && (parts.order.is_none() || by_term.is_some());
        if columns.keys.is_empty() || !is_plain {
            return Err(unsupported(
                parts.select,
                "columns put together need a name beside them, and are what is ordered by",
            ));
        }
        let order =
            parts.order.map(|(_, descending)| TableOrder { by: OrderBy::Measure, descending });
        return Ok(TablePlan {
            group: columns.keys,
            measures: terms,
            order,
            limit: parts.limit,
            ..plan
        });
    }
    let show: Vec<ColumnRef> = columns.keys.into_iter().map(|key| key.column).collect();
    if show.is_empty() {
        return Err(PlanFault::Nothing);
    }
    let order = match parts.order {
        None => None,
        Some((by, descending)) => {
            let by = OrderBy::Column(key(reader, parts.resolved(by))?.column);
            Some(TableOrder { by, descending })
        }
    };
    let Some(Extreme { column, is_greatest, filters }) = extreme else {
        return Ok(TablePlan { show, order, limit: parts.limit, ..plan });
    };
    let is_required = |filter: &&TableFilter| !reader.scope.is_required(filter);
    if !filters.iter().eq(plan.filters.iter().filter(is_required)) {
        return Err(unsupported(
            parts.select,
            "the subquery with the greatest or least value needs the same conditions as the query",
        ));
    }
    let order = Some(TableOrder { by: OrderBy::Column(column), descending: is_greatest });
    Ok(TablePlan { show, order, limit: Some(1), ..plan })
}

/// `SELECT name, max(x) FROM t` means the row with the greatest `x`, as in SQLite.
fn row_of_extreme(
    plan: TablePlan,
    measured: &Measured,
    keys: &[TableGroup],
    parts: &Parts<'_>,
) -> Result<TablePlan, PlanFault> {
    let TableMeasure { function, column, with, .. } = &measured.measure;
    let (Aggregate::Greatest | Aggregate::Least, Some(column), None, true) =
        (function, column, with, measured.filters.is_empty())
    else {
        return Err(unsupported(parts.select, ONE_MEASURE));
    };
    let descending = *function == Aggregate::Greatest;
    let order = Some(TableOrder { by: OrderBy::Column(column.clone()), descending });
    let shown = keys.iter().map(|key| &key.column).chain([column]).cloned();
    Ok(TablePlan { show: shown.collect(), order, limit: Some(1), ..plan })
}

/// The plan of figures over all rows.
fn of_all_rows(plan: TablePlan, measures: Vec<Measured>) -> TablePlan {
    let measures = measures.into_iter().map(Measured::measure).collect();
    TablePlan { measures, ..plan }
}

/// The plan of figures for each group.
fn grouped(
    mut plan: TablePlan,
    parts: &Parts<'_>,
    reader: &Reader<'_, '_>,
    columns: Columns,
    groups: &[Expr],
) -> Result<TablePlan, PlanFault> {
    let mut group = Vec::new();
    for expression in groups {
        let key = key(reader, parts.resolved(expression))?;
        if !group.contains(&key) {
            group.push(key);
        }
    }
    // A column that depends on its group, such as the name beside a code, makes no more groups.
    for key in columns.keys {
        if !group.contains(&key) && !group.iter().any(|it: &TableGroup| it.column == key.column) {
            group.push(key);
        }
    }
    let mut measures = columns.measures;
    let mut order = None;
    if let Some((by, descending)) = parts.order {
        let by = parts.resolved(by);
        let by = match figure_of_rows(reader, by)? {
            Some(first) => {
                // The order goes by the first measure.
                measures.retain(|it| it.measure != first.measure || it.filters != first.filters);
                measures.insert(0, first);
                OrderBy::Measure
            }
            None if Call::of(bare(by)).is_some() && date_part(reader.scope, by)?.is_none() => {
                return Err(unsupported(by, "groups are ordered by an aggregate or a column"));
            }
            None => OrderBy::Column(key(reader, by)?.column),
        };
        order = Some(TableOrder { by, descending });
    }
    let limit = parts.limit;
    let having = having(parts, reader)?;
    if measures.is_empty() && !having.is_empty() {
        // The result shows the figures that choose the groups.
        let figures = having.iter().map(|filter| filter.measure.clone());
        let measures = figures.collect();
        return Ok(TablePlan { group, measures, having, order, limit, ..plan });
    }
    if measures.is_empty() {
        // Groups without a figure are the different values of these columns.
        let show = group.into_iter().map(|key| key.column).collect();
        return Ok(TablePlan { show, order, limit, ..plan });
    }
    if let [one] = measures.as_mut_slice()
        && !one.is_share
        && having.is_empty()
    {
        plan.filters.append(&mut one.filters);
    }
    Ok(TablePlan { group, having, order, limit, ..of_all_rows(plan, measures) })
}
