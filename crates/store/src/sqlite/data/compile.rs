//! Translates a plan to SQL.

use std::fmt::Write;

use pikerag_knowledge::{
    Aggregate, ColumnKind, ColumnRef, DataError, OrderBy, PlanRows, TableMeasure, TablePlan,
};

use super::expressions::{Notation, Writer, number, ordered, sortable};

/// The statements of a plan, which share their bound values.
pub(super) struct Statement {
    /// For each group: its keys and measures, its number of rows, how many of them have the first
    /// measure's value, and the numbers of its first rows. For each shown row: its columns, its
    /// order value, its number.
    pub(super) rows: String,
    /// Counts the rows that fulfil the filters, if rows are shown.
    pub(super) count: String,
    /// Keys and measures, or columns.
    pub(super) width: usize,
    /// The position of the order value in a row.
    pub(super) by: Option<usize>,
}

/// A plan's parts as SQL.
struct Clauses {
    from: String,
    holds: Vec<String>,
    keys: Vec<String>,
    measures: Vec<String>,
    having: Vec<String>,
    show: Vec<String>,
    /// The value that must be present for the first measure to count a row.
    counted_by: String,
    order: Option<String>,
    is_descending: bool,
}

/// The statement to run; afterwards `writer` holds the values that it binds.
pub(super) fn statement(writer: &mut Writer<'_>, plan: &TablePlan) -> Result<Statement, DataError> {
    let by = by_place(plan)?;
    let clauses = clauses(writer, plan)?;
    let group_by = clauses.group_by();
    let Clauses { from, holds, keys, measures, show, counted_by, order, is_descending, .. } =
        clauses;
    let holds = holds.join(" AND ");
    let count = format!("SELECT count(*) FROM {from} WHERE {holds}");
    let direction = if is_descending { "DESC " } else { "" };
    if plan.measures.is_empty() {
        let order = order.unwrap_or_else(|| "NULL".to_owned());
        // Enough for further rows that equal the last one.
        let most =
            plan.limit.map_or(PlanRows::MOST, |limit| limit.min(PlanRows::MOST) + PlanRows::MOST);
        let rows = format!(
            "SELECT {}, {order}, t0.row FROM {from} WHERE {holds} ORDER BY {order} {direction}NULLS LAST, t0.row LIMIT {most}",
            show.join(", ")
        );
        return Ok(Statement { rows, count, width: show.len(), by: by.map(|_| show.len()) });
    }
    let width = keys.len() + measures.len();
    let list = keys.iter().chain(&measures).map(String::as_str).collect::<Vec<_>>().join(", ");
    let mut rows = format!(
        "SELECT {list}, count(*), count({counted_by}), first_rows(t0.row) FROM {from} WHERE {holds}"
    );
    if !keys.is_empty() {
        let by_key = keys.iter().map(|key| format!("{key} NULLS LAST")).collect::<Vec<_>>();
        let order =
            order.map(|order| format!("{order} {direction}NULLS LAST, ")).unwrap_or_default();
        let _ = write!(rows, "{group_by} ORDER BY {order}{}", by_key.join(", "));
    }
    Ok(Statement { rows, count, width, by })
}

/// The statement for people. It gives the same, except for rows that equal the last one.
pub(super) fn for_people(writer: &mut Writer<'_>, plan: &TablePlan) -> Result<String, DataError> {
    let clauses = clauses(writer, plan)?;
    let group_by = clauses.group_by();
    let Clauses { from, mut holds, keys, measures, show, order, is_descending, .. } = clauses;
    holds.retain(|condition| condition != "TRUE");
    if let (Some(function), Some(measure)) = (plan.over, measures.first()) {
        let holds = match holds.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", holds.join(" AND ")),
        };
        let figure = match function {
            Aggregate::Count => "count(*)".to_owned(),
            Aggregate::Distinct => "count(DISTINCT figure)".to_owned(),
            _ => format!("{}(figure)", name_of(function)),
        };
        return Ok(format!(
            "SELECT {figure} FROM (SELECT {measure} AS figure FROM {from}{holds}{group_by})"
        ));
    }
    let list = if plan.measures.is_empty() { show } else { [keys.clone(), measures].concat() };
    let mut sql = format!("SELECT {} FROM {from}", list.join(", "));
    if !holds.is_empty() {
        let _ = write!(sql, " WHERE {}", holds.join(" AND "));
    }
    if !plan.measures.is_empty() {
        sql.push_str(&group_by);
    }
    match order {
        Some(order) if plan.measures.is_empty() || !keys.is_empty() => {
            let direction = if is_descending { " DESC" } else { "" };
            let _ = write!(sql, " ORDER BY {order}{direction} NULLS LAST");
        }
        None if !keys.is_empty() && !plan.measures.is_empty() => {
            let _ = write!(sql, " ORDER BY {}", keys.join(", "));
        }
        _ => {}
    }
    if let Some(limit) = plan.limit {
        let _ = write!(sql, " LIMIT {limit}");
    }
    Ok(sql)
}

/// The position of the order value among keys and measures; in shown rows it is behind the columns.
fn by_place(plan: &TablePlan) -> Result<Option<usize>, DataError> {
    let Some(order) = &plan.order else { return Ok(None) };
    match &order.by {
        OrderBy::Measure if plan.measures.is_empty() => Err(DataError::NoMeasure),
        OrderBy::Measure => Ok(Some(plan.group.len())),
        OrderBy::Column(_) if plan.measures.is_empty() => Ok(Some(plan.show.len())),
        OrderBy::Column(column) => {
            let place = plan.group.iter().position(|group| group.column == *column);
            let none = || DataError::NoGroup { column: column.column.clone() };
            place.map(Some).ok_or_else(none)
        }
    }
}

fn clauses(writer: &mut Writer<'_>, plan: &TablePlan) -> Result<Clauses, DataError> {
    let from = from(writer, plan)?;
    let mut holds = vec![writer.visible_rows("t0")];
    for filter in &plan.filters {
        let condition = writer.condition(filter)?;
        holds.push(format!("({condition})"));
    }
    let keys =
        plan.group.iter().map(|group| writer.key(group)).collect::<Result<Vec<String>, _>>()?;
    if plan.over.is_some() {
        holds.extend(keys.iter().map(|key| format!("({key}) IS NOT NULL")));
    }
    let mut measures = Vec::with_capacity(plan.measures.len());
    let mut counted_by = "*".to_owned();
    for (place, measure) in plan.measures.iter().enumerate() {
        let (function, counted) = figure(writer, measure)?;
        measures.push(function);
        if place == 0 {
            counted_by = counted;
        }
    }
    let mut having = Vec::new();
    let has_groups = !keys.is_empty() && !plan.measures.is_empty();
    for filter in plan.having.iter().filter(|_| has_groups) {
        refuse_dates(writer, &filter.measure)?;
        let (figure, _) = figure(writer, &filter.measure)?;
        having.push(writer.in_range(&figure, &filter.range));
    }
    let mut show = Vec::new();
    if plan.measures.is_empty() {
        for column in shown_columns(writer, plan) {
            show.push(writer.column(&column)?.sql);
        }
    }
    let by = plan.order.as_ref().map(|order| &order.by);
    let order = match by {
        None => None,
        Some(OrderBy::Measure) => Some(measures.first().cloned().ok_or(DataError::NoMeasure)?),
        Some(OrderBy::Column(column)) => match plan.measures.is_empty() {
            true => Some(sortable(&writer.column(column)?)),
            false => match by_place(plan)? {
                Some(place) => keys.get(place).cloned(),
                None => None,
            },
        },
    };
    let is_descending = plan.order.as_ref().is_some_and(|order| order.descending);
    Ok(Clauses { from, holds, keys, measures, having, show, counted_by, order, is_descending })
}

impl Clauses {
    /// ` GROUP BY … HAVING …`; nothing without keys.
    fn group_by(&self) -> String {
        if self.keys.is_empty() {
            return String::new();
        }
        let mut written = format!(" GROUP BY {}", self.keys.join(", "));
        if !self.having.is_empty() {
            let _ = write!(written, " HAVING {}", self.having.join(" AND "));
        }
        written
    }
}

/// The columns of shown rows: those of the plan, else all of its first table.
fn shown_columns(writer: &Writer<'_>, plan: &TablePlan) -> Vec<ColumnRef> {
    let Some(first) = writer.tables.first().filter(|_| plan.show.is_empty()) else {
        return plan.show.clone();
    };
    let column = |sql: &String| ColumnRef { table: first.table.name.clone(), column: sql.clone() };
    first.table.columns.iter().map(|info| column(&info.sql)).collect()
}

/// The tables: each row of the first, with the first row of each other table that has the same
/// value.
fn from(writer: &Writer<'_>, plan: &TablePlan) -> Result<String, DataError> {
    let Some(first) = writer.tables.first() else { return Ok(String::new()) };
    let mut from = writer.rows(first);
    if writer.notation == Notation::Numbers {
        from.push_str(" AS t0");
    }
    for (place, join) in (1..).zip(&plan.joins) {
        let Some(entry) = writer.tables.get(place) else { continue };
        let (key, other) = (writer.column(&join.from)?, writer.column(&join.to)?);
        let rows = writer.rows(entry);
        match writer.notation {
            Notation::Names => {
                let _ = write!(from, " LEFT JOIN {rows} ON {} = {}", other.sql, key.sql);
            }
            Notation::Numbers => {
                let own = other.sql.split_once('.').map_or(other.sql.as_str(), |(_, own)| own);
                let _ = write!(
                    from,
                    " LEFT JOIN (SELECT {own} AS value, min(row) AS row FROM {rows} WHERE {} AND {own} IS NOT NULL \
                     GROUP BY {own}) AS k{place} ON k{place}.value = {} LEFT JOIN {rows} AS t{place} ON t{place}.row = k{place}.row",
                    writer.visible_rows(""),
                    key.sql
                );
            }
        }
    }
    Ok(from)
}

/// A measure, and the value that must be present for a row to count.
fn figure(writer: &mut Writer<'_>, measure: &TableMeasure) -> Result<(String, String), DataError> {
    let (whole, counted) = figure_of_all(writer, measure)?;
    if measure.only.is_empty() {
        return Ok((whole, counted));
    }
    let mut only = Vec::with_capacity(measure.only.len());
    for filter in &measure.only {
        only.push(format!("({})", writer.condition(filter)?));
    }
    let part = format!("{whole} FILTER (WHERE {})", only.join(" AND "));
    let figure = match measure.is_share {
        true => format!("(100.0 * {part} / nullif({whole}, 0))"),
        false => part,
    };
    Ok((figure, counted))
}

/// The same without the measure's own conditions.
fn figure_of_all(
    writer: &Writer<'_>,
    measure: &TableMeasure,
) -> Result<(String, String), DataError> {
    let Some(column) = &measure.column else {
        return match measure.function {
            Aggregate::Count => Ok(("count(*)".to_owned(), "*".to_owned())),
            _ => Err(DataError::NoMeasure),
        };
    };
    let column = writer.column(column)?;
    let wanted = "worked out as a figure";
    let value = match (&measure.with, measure.function) {
        (Some(with), _) => writer.combined(&column, with)?,
        (None, Aggregate::Count | Aggregate::Distinct) => column.sql.clone(),
        (None, Aggregate::Sum | Aggregate::Mean | Aggregate::Median) => number(&column, wanted)?,
        (None, Aggregate::Least | Aggregate::Greatest) => ordered(&column, wanted)?,
    };
    let input = match measure.function {
        Aggregate::Distinct => format!("DISTINCT {value}"),
        // As a sum of real numbers it cannot go beyond 64 bits. `total` would give 0 for no value.
        Aggregate::Sum if measure.with.is_some() || is_large(&column) => format!("1.0 * {value}"),
        _ => value.clone(),
    };
    Ok((format!("{}({input})", name_of(measure.function)), value))
}

fn name_of(function: Aggregate) -> &'static str {
    match function {
        Aggregate::Count | Aggregate::Distinct => "count",
        Aggregate::Sum => "sum",
        Aggregate::Mean => "avg",
        Aggregate::Median => "median",
        Aggregate::Least => "min",
        Aggregate::Greatest => "max",
    }
}

/// The least or greatest date is no number, and a text is above every number for SQLite.
fn refuse_dates(writer: &Writer<'_>, measure: &TableMeasure) -> Result<(), DataError> {
    let (Aggregate::Least | Aggregate::Greatest, Some(column), None) =
        (measure.function, &measure.column, &measure.with)
    else {
        return Ok(());
    };
    number(&writer.column(column)?, "compared with a number").map(|_| ())
}

/// Whether a sum of whole numbers may go beyond 64 bits, which SQLite refuses.
fn is_large(column: &super::expressions::Column<'_>) -> bool {
    const SAFE: f64 = 1e12;
    let info = column.info;
    let ends = [&info.least, &info.greatest];
    let is_safe = |end: &&Option<String>| {
        end.as_ref().and_then(|end| end.parse().ok()).is_some_and(|end: f64| end.abs() < SAFE)
    };
    // The ends are unknown if a table is not surveyed.
    info.kind == ColumnKind::Integer && info.least.is_some() && !ends.iter().all(is_safe)
}
