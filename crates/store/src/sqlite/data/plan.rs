//! Runs a plan over the visible rows.

use std::time::{Duration, Instant};

use pikerag_knowledge::{
    Aggregate, ChunkId, ColumnRef, DataError, DataValue, OrderBy, PlanRow, PlanRows, RowOrigin,
    Span, StoreError, TablePlan,
};
use rusqlite::{Connection, ErrorCode, Row, params, params_from_iter};

use super::catalogue::{Entry, entries, visible_rows};
use super::compile::{Statement, for_people, statement};
use super::expressions::{Notation, Writer};
use super::values::{Bound, value};
use crate::error::Context;
use crate::sqlite::rows;

/// Seconds after which a plan is stopped.
const SECONDS: u64 = 30;
/// Steps of SQLite's virtual machine between two checks of the clock.
const STEPS: i32 = 20_000;

const DOING: &str = "running a plan over tables";

pub(in crate::sqlite) fn run_plan(
    connection: &Connection,
    is_filtered: bool,
    plan: &TablePlan,
) -> Result<PlanRows, StoreError> {
    let entries = entries(connection, is_filtered).context(DOING)?;
    let tables = tables(&entries, plan)?;
    let write = |notation| Writer {
        tables: tables.clone(),
        entries: &entries,
        notation,
        is_filtered,
        bound: Vec::new(),
    };
    let mut writer = write(Notation::Numbers);
    let statement = statement(&mut writer, plan)?;
    let sql = for_people(&mut write(Notation::Names), plan)?;
    let table = tables.first().map_or(0, |entry| entry.id);
    let worked = limited(connection, SECONDS, || {
        let mut found = match plan.measures.is_empty() {
            true => show(connection, plan, &statement, &writer.bound),
            false => group(connection, plan, &statement, &writer.bound),
        }?;
        let rows = origins(connection, table, std::mem::take(&mut found.rows))?;
        Ok(PlanRows { rows, matched: found.matched, unmeasured: found.unmeasured, sql })
    });
    match worked {
        Err(error) if is_stopped(&error) => Err(DataError::TooLong { seconds: SECONDS }.into()),
        worked => worked.context(DOING),
    }
}

/// The distinct visible values of a column, the most frequent first.
pub(in crate::sqlite) fn distinct(
    connection: &Connection,
    is_filtered: bool,
    column: &ColumnRef,
    most: usize,
) -> Result<Vec<(DataValue, u64)>, StoreError> {
    let entries = entries(connection, is_filtered).context(DOING)?;
    let plan = TablePlan { table: column.table.clone(), ..TablePlan::default() };
    let tables = tables(&entries, &plan)?;
    let table = tables.first().map_or(0, |entry| entry.id);
    let (entries, notation) = (entries.as_slice(), Notation::Numbers);
    let writer = Writer { tables, entries, notation, is_filtered, bound: Vec::new() };
    let column = writer.column(column)?.sql;
    let sql = format!(
        "SELECT {column}, count(*) FROM main.data_{table} AS t0 WHERE {} AND {column} IS NOT NULL
         GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?1",
        visible_rows(is_filtered, "t0")
    );
    let mut statement = connection.prepare(&sql).context(DOING)?;
    let read = |row: &Row<'_>| Ok((value(row.get_ref(0)?), rows::id(row, 1)?));
    let values = statement.query_map([rows::limit_of(most)], read).context(DOING)?;
    values.collect::<rusqlite::Result<_>>().context(DOING)
}

/// The plan's tables in the order in which it names them.
fn tables<'a>(entries: &'a [Entry], plan: &TablePlan) -> Result<Vec<&'a Entry>, DataError> {
    let mut tables: Vec<&Entry> = Vec::new();
    let joined = plan.joins.iter().map(|join| &join.to.table);
    for name in std::iter::once(&plan.table).chain(joined) {
        if tables.iter().any(|entry| entry.table.name == *name) {
            return Err(DataError::TwiceJoined { table: name.clone() });
        }
        let found = entries.iter().find(|entry| entry.table.name == *name);
        tables.push(found.ok_or_else(|| DataError::NoTable {
            table: name.clone(),
            known: entries.iter().map(|entry| entry.table.name.clone()).collect(),
        })?);
    }
    Ok(tables)
}

/// Stops SQLite's work after this many seconds.
pub(super) fn limited<T>(
    connection: &Connection,
    seconds: u64,
    work: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let end = Instant::now() + Duration::from_secs(seconds);
    connection.progress_handler(STEPS, Some(move || end <= Instant::now()))?;
    let worked = work();
    connection.progress_handler(STEPS, None::<fn() -> bool>)?;
    worked
}

pub(super) fn is_stopped(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// Rows with the numbers of the rows that they rest on.
#[derive(Default)]
struct Found {
    rows: Vec<(Vec<DataValue>, Vec<i64>)>,
    matched: u64,
    unmeasured: u64,
}

fn group(
    connection: &Connection,
    plan: &TablePlan,
    statement: &Statement,
    bound: &[DataValue],
) -> rusqlite::Result<Found> {
    let mut found = Found::default();
    let mut cut = Cut::of(plan, statement);
    let mut prepared = connection.prepare(&statement.rows)?;
    let mut groups = prepared.query(params_from_iter(bound.iter().map(Bound)))?;
    let mut over = plan.over.map(Over::of);
    while let Some(row) = groups.next()? {
        let (all, measured) =
            (rows::id(row, statement.width)?, rows::id(row, statement.width + 1)?);
        found.matched += all;
        found.unmeasured += all - measured;
        if let Some(over) = &mut over {
            over.add(row, (plan.group.len(), statement.width + 2))?;
        } else if cut.takes(row, found.rows.len())? {
            found.rows.push((cells(row, statement.width)?, first_rows(row, statement.width + 2)?));
        }
    }
    if let Some(over) = over {
        found.rows.push(over.finish());
    }
    Ok(found)
}

/// The numbers of the first rows of a group.
fn first_rows(row: &Row<'_>, place: usize) -> rusqlite::Result<Vec<i64>> {
    let first = row.get_ref(place)?.as_blob_or_null()?.unwrap_or_default();
    let numbers = first.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
    Ok(numbers.collect())
}

/// One figure of the figures of all groups: 8 bytes for each group.
struct Over {
    function: Aggregate,
    n_groups: i64,
    numbers: Vec<f64>,
    first_rows: Vec<i64>,
}

impl Over {
    fn of(function: Aggregate) -> Self {
        Self { function, n_groups: 0, numbers: Vec::new(), first_rows: Vec::new() }
    }

    /// Adds a group, by the places of its figure and of its first rows.
    fn add(&mut self, row: &Row<'_>, (figure, first): (usize, usize)) -> rusqlite::Result<()> {
        self.n_groups += 1;
        match value(row.get_ref(figure)?) {
            DataValue::Integer(number) => self.numbers.push(number as f64),
            DataValue::Real(number) => self.numbers.push(number),
            DataValue::Empty | DataValue::Text(_) => {}
        }
        if self.first_rows.len() < PlanRow::MOST_ORIGINS {
            self.first_rows.extend(first_rows(row, first)?);
        }
        Ok(())
    }

    fn finish(mut self) -> (Vec<DataValue>, Vec<i64>) {
        self.numbers.sort_by(f64::total_cmp);
        let numbers = &self.numbers;
        let middle = |at: usize| numbers.get(at).copied();
        let sum = numbers.iter().sum::<f64>();
        let figure = match self.function {
            Aggregate::Count => Some(self.n_groups as f64),
            Aggregate::Distinct => {
                let mut different = numbers.clone();
                different.dedup();
                Some(different.len() as f64)
            }
            _ if numbers.is_empty() => None,
            Aggregate::Sum => Some(sum),
            Aggregate::Mean => Some(sum / numbers.len() as f64),
            Aggregate::Median => middle((numbers.len() - 1) / 2)
                .zip(middle(numbers.len() / 2))
                .map(|(below, above)| f64::midpoint(below, above)),
            Aggregate::Least => middle(0),
            Aggregate::Greatest => numbers.last().copied(),
        };
        let figure = figure.map_or(DataValue::Empty, DataValue::Real);
        (vec![figure], self.first_rows)
    }
}

fn show(
    connection: &Connection,
    plan: &TablePlan,
    statement: &Statement,
    bound: &[DataValue],
) -> rusqlite::Result<Found> {
    let bound = || params_from_iter(bound.iter().map(Bound));
    let matched = connection.query_row(&statement.count, bound(), |row| rows::id(row, 0))?;
    let mut found = Found { matched, ..Found::default() };
    let mut cut = Cut::of(plan, statement);
    let mut prepared = connection.prepare(&statement.rows)?;
    let mut shown = prepared.query(bound())?;
    while let Some(row) = shown.next()? {
        if !cut.takes(row, found.rows.len())? {
            break;
        }
        found.rows.push((cells(row, statement.width)?, vec![row.get(statement.width + 1)?]));
    }
    Ok(found)
}

fn cells(row: &Row<'_>, width: usize) -> rusqlite::Result<Vec<DataValue>> {
    (0..width).map(|place| Ok(value(row.get_ref(place)?))).collect()
}

/// Decides which rows of an order are within a limit.
struct Cut {
    limit: Option<usize>,
    by: Option<usize>,
    /// The order value of the last row within the limit.
    last: Option<DataValue>,
}

impl Cut {
    fn of(plan: &TablePlan, statement: &Statement) -> Self {
        let is_measure = matches!(&plan.order, Some(order) if order.by == OrderBy::Measure);
        // A single figure of all rows has no order.
        let is_single = is_measure && plan.group.is_empty();
        Self { limit: plan.limit, by: statement.by.filter(|_| !is_single), last: None }
    }

    /// Whether a row is taken after `taken` others.
    fn takes(&mut self, row: &Row<'_>, taken: usize) -> rusqlite::Result<bool> {
        if PlanRows::MOST <= taken {
            return Ok(false);
        }
        let Some(limit) = self.limit else { return Ok(true) };
        let Some(by) = self.by else { return Ok(taken < limit) };
        let own = value(row.get_ref(by)?);
        // Rows without an order value are not among the first.
        if own == DataValue::Empty || (limit <= taken && self.last.as_ref() != Some(&own)) {
            return Ok(false);
        }
        self.last = Some(own);
        Ok(true)
    }
}

/// Adds to each row the places of the rows that it rests on, as many for each as the budget allows.
fn origins(
    connection: &Connection,
    table: i64,
    found: Vec<(Vec<DataValue>, Vec<i64>)>,
) -> rusqlite::Result<Vec<PlanRow>> {
    let each = (PlanRows::MOST_ORIGINS / found.len().max(1)).clamp(1, PlanRow::MOST_ORIGINS);
    let sql = format!("SELECT chunk, start, stop FROM main.data_{table} WHERE row = ?1");
    let mut statement = connection.prepare(&sql)?;
    let mut origin = |row: i64| {
        statement.query_row(params![row], |row| {
            let span = Span { start: rows::size(row, 1)?, end: rows::size(row, 2)? };
            Ok(RowOrigin { chunk: ChunkId(rows::id(row, 0)?), span })
        })
    };
    let mut rows = Vec::with_capacity(found.len());
    for (cells, numbers) in found {
        let mut origins: Vec<RowOrigin> = Vec::new();
        for number in numbers {
            if each <= origins.len() {
                break;
            }
            // Periods of one row of a document have the same place.
            let origin = origin(number)?;
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        rows.push(PlanRow { cells, origins });
    }
    Ok(rows)
}
