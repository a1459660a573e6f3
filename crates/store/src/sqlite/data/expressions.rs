//! Writes columns, values and conditions of a plan as SQL. Tables and columns are numbers, and
//! values are bound: no text of a plan enters the SQL. For people, the same is written with names
//! and literals.

use pikerag_knowledge::tables::By;
use pikerag_knowledge::{
    ColumnKind, ColumnRef, DataColumn, DataError, DataValue, TableFilter, TableGroup, TableTest,
};

use super::catalogue::{Entry, visible_rows};
use super::shown::{literal, quoted};

/// How tables, columns and values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// To run.
    Numbers,
    /// To be read, and run, by a person.
    Names,
}

/// A plan's tables, and the values bound so far.
pub(super) struct Writer<'a> {
    pub(super) tables: Vec<&'a Entry>,
    /// All tables, of which a condition may look values up.
    pub(super) entries: &'a [Entry],
    pub(super) notation: Notation,
    /// Whether a filter limits the visible rows.
    pub(super) is_filtered: bool,
    pub(super) bound: Vec<DataValue>,
}

/// A column of one of the tables.
pub(super) struct Column<'a> {
    pub(super) sql: String,
    pub(super) info: &'a DataColumn,
    /// The table's position in the plan, and the column's position in the table.
    table: usize,
    place: usize,
}

impl<'a> Writer<'a> {
    /// The name in the statement of the table at a position of the plan.
    pub(super) fn alias(&self, place: usize) -> String {
        match (self.notation, self.tables.get(place)) {
            (Notation::Names, Some(entry)) => quoted(&entry.table.name),
            _ => format!("t{place}"),
        }
    }

    /// The table in the statement that rows are taken from.
    pub(super) fn rows(&self, entry: &Entry) -> String {
        match self.notation {
            Notation::Numbers => format!("main.data_{}", entry.id),
            Notation::Names => quoted(&entry.table.name),
        }
    }

    /// The condition that visible rows of a table fulfil.
    pub(super) fn visible_rows(&self, alias: &str) -> String {
        visible_rows(self.is_filtered && self.notation == Notation::Numbers, alias)
    }

    pub(super) fn column(&self, of: &ColumnRef) -> Result<Column<'a>, DataError> {
        let names = || self.tables.iter().map(|entry| entry.table.name.clone()).collect();
        let no_table = || DataError::NoTable { table: of.table.clone(), known: names() };
        let table = self.tables.iter().position(|entry| entry.table.name == of.table);
        let (table, entry) =
            table.and_then(|at| Some((at, self.tables.get(at)?))).ok_or_else(no_table)?;
        let (place, info) = column_of(entry, &of.column)?;
        let sql = match self.notation {
            Notation::Numbers => format!("t{table}.c{place}"),
            Notation::Names if self.tables.len() == 1 => quoted(&info.sql),
            Notation::Names => format!("{}.{}", self.alias(table), quoted(&info.sql)),
        };
        Ok(Column { sql, info, table, place })
    }

    pub(super) fn bind(&mut self, value: DataValue) -> String {
        match self.notation {
            Notation::Names => literal(&value),
            Notation::Numbers => {
                self.bound.push(value);
                format!("?{}", self.bound.len())
            }
        }
    }

    /// A condition. Except for `IsEmpty`, it is never true for a row without a value.
    pub(super) fn condition(&mut self, filter: &TableFilter) -> Result<String, DataError> {
        let column = self.column(&filter.column)?;
        let (sql, kind) = (column.sql.clone(), column.info.kind);
        Ok(match &filter.test {
            TableTest::IsEmpty => format!("{sql} IS NULL"),
            TableTest::IsFilled => format!("{sql} IS NOT NULL"),
            TableTest::Is(values) => {
                let list = self.list(&column, values);
                format!("{sql} IN ({list})")
            }
            TableTest::IsNot(values) => {
                let list = self.list(&column, values);
                format!("{sql} IS NOT NULL AND {sql} NOT IN ({list})")
            }
            TableTest::Contains(_) if kind.is_numeric() => {
                return Err(wrong(&column, "searched for words"));
            }
            TableTest::Contains(words) => {
                format!("contains({sql}, {})", self.bind(DataValue::Text(words.clone())))
            }
            TableTest::Between { from, from_included, to, to_included } => {
                let mut ends = Vec::new();
                for (end, is_in, signs) in
                    [(from, from_included, [">", ">="]), (to, to_included, ["<", "<="])]
                {
                    let [without, with] = signs;
                    if let Some(end) = end {
                        ends.push(self.end(&column, end, if *is_in { with } else { without })?);
                    }
                }
                ends.push(format!("{sql} IS NOT NULL"));
                ends.join(" AND ")
            }
            TableTest::Within(period) => self.within(&column, period)?,
            TableTest::InMonths(months) => match kind {
                ColumnKind::Date => {
                    let text = |month: &u8| DataValue::Text(format!("{month:02}"));
                    let months: Vec<String> =
                        months.iter().map(|month| self.bind(text(month))).collect();
                    format!("substr({}, 6, 2) IN ({})", date(&column), months.join(", "))
                }
                _ => return Err(wrong(&column, "compared with a month")),
            },
            TableTest::MoreThan(other) => more(&column, &self.column(other)?)?,
            TableTest::Combined { with, range } => {
                let value = self.combined(&column, with)?;
                self.in_range(&value, range)
            }
            TableTest::AnyOf(filters) => {
                let mut any = Vec::with_capacity(filters.len());
                for filter in filters {
                    any.push(format!("({})", self.condition(filter)?));
                }
                if any.is_empty() { "FALSE".to_owned() } else { any.join(" OR ") }
            }
            TableTest::Among { column: other, filters, is_in } => {
                let sign = if *is_in { "IN" } else { "NOT IN" };
                let values = self.values_of(other, filters)?;
                format!("{sql} IS NOT NULL AND {sql} {sign} ({values})")
            }
            TableTest::BesideMean { above } => {
                let sign = if *above { ">" } else { "<" };
                let mean = self.mean(&column);
                format!("{} {sign} ({mean})", number(&column, "compared with a mean")?)
            }
        })
    }

    fn list(&mut self, column: &Column<'_>, values: &[DataValue]) -> String {
        let mut list = Vec::with_capacity(values.len());
        for value in values.iter().filter(|value| **value != DataValue::Empty) {
            list.push(self.bind(as_stored(column.info.kind, value)));
        }
        list.join(", ")
    }

    /// One end of a range. Dates are compared to the precision of the less precise one.
    fn end(
        &mut self,
        column: &Column<'_>,
        end: &DataValue,
        sign: &str,
    ) -> Result<String, DataError> {
        let end = as_stored(column.info.kind, end);
        if column.info.kind.is_numeric() {
            if matches!(end, DataValue::Text(_) | DataValue::Empty) {
                return Err(wrong(column, "compared with a text"));
            }
            let end = self.bind(end);
            return Ok(format!("{} {sign} {end}", number(column, "compared with a number")?));
        }
        let is_date = column.info.kind == ColumnKind::Date;
        let end = if is_date { month_of_end(end, sign) } else { end };
        let length = end.to_string().len();
        let end = self.bind(end);
        Ok(match column.info.kind {
            ColumnKind::Date => {
                let date = match holds_quarters(column.info) {
                    true => format!("({})", month_of(&date(column))),
                    false => date(column),
                };
                format!("substr({date}, 1, {length}) {sign} substr({end}, 1, length({date}))")
            }
            _ => format!("{} {sign} {end}", column.sql),
        })
    }

    fn within(&mut self, column: &Column<'_>, period: &str) -> Result<String, DataError> {
        let wrong = || wrong(column, "compared with a period");
        match column.info.kind {
            ColumnKind::Year => {
                let year: i64 = period.parse().map_err(|_| wrong())?;
                Ok(format!("{} = {}", column.sql, self.bind(DataValue::Integer(year))))
            }
            ColumnKind::Date => {
                let date = date(column);
                if let Some((_, "Q1" | "Q2" | "Q3" | "Q4")) = period.split_once('-') {
                    let quarter = self.bind(DataValue::Text(period.to_owned()));
                    return Ok(format!("{} = {quarter}", quarter_of(&date)));
                }
                let length = period.len();
                let period = self.bind(DataValue::Text(period.to_owned()));
                Ok(format!("substr({date}, 1, {length}) = {period}"))
            }
            _ => Err(wrong()),
        }
    }

    /// The mean of a column over all visible rows of its table.
    fn mean(&self, column: &Column<'_>) -> String {
        let Some(entry) = self.tables.get(column.table) else { return "NULL".to_owned() };
        let own = match self.notation {
            Notation::Numbers => format!("c{}", column.place),
            Notation::Names => quoted(&column.info.sql),
        };
        let number = guarded(&own, column.info);
        let holds = match self.visible_rows("") {
            all if all == "TRUE" => String::new(),
            visible_rows => format!(" WHERE {visible_rows}"),
        };
        format!("SELECT avg({number}) FROM {}{holds}", self.rows(entry))
    }

    /// The value that distinguishes groups; null if a date is not precise enough.
    pub(super) fn key(&self, group: &TableGroup) -> Result<String, DataError> {
        let column = self.column(&group.column)?;
        let period = |length: usize, shown: String| {
            let date = date(&column);
            format!("CASE WHEN {length} <= length({date}) THEN {shown} END")
        };
        Ok(match (group.by, column.info.kind) {
            (By::Value, _) | (By::Year, ColumnKind::Year) => column.sql,
            (By::Year, ColumnKind::Date) => format!("substr({}, 1, 4)", date(&column)),
            (By::Month, ColumnKind::Date) => period(7, format!("substr({}, 1, 7)", date(&column))),
            (By::Quarter, ColumnKind::Date) => period(7, quarter_of(&date(&column))),
            _ => return Err(wrong(&column, "told apart by time")),
        })
    }
}

/// The quarter of a date that has a month, or is a quarter: `2010-Q3`.
fn quarter_of(date: &str) -> String {
    format!(
        "CASE WHEN substr({date}, 6, 1) = 'Q' THEN substr({date}, 1, 7) ELSE \
         substr({date}, 1, 4) || '-Q' || ((CAST(substr({date}, 6, 2) AS INTEGER) + 2) / 3) END"
    )
}

/// A date, in which a quarter becomes its first month.
fn month_of(date: &str) -> String {
    format!(
        "CASE WHEN substr({date}, 6, 1) = 'Q' THEN substr({date}, 1, 5) || \
         printf('%02d', 3 * CAST(substr({date}, 7, 1) AS INTEGER) - 2) ELSE {date} END"
    )
}

/// An end of a range to compare dates with: a quarter becomes its first month, or its last one.
fn month_of_end(end: DataValue, sign: &str) -> DataValue {
    let DataValue::Text(text) = &end else { return end };
    let quarter = text.split_once("-Q").and_then(|(year, quarter)| {
        let quarter = quarter.parse::<u8>().ok().filter(|quarter| (1..=4).contains(quarter))?;
        Some((year, quarter))
    });
    let Some((year, quarter)) = quarter else { return end };
    let month = if matches!(sign, "<=" | ">") { 3 * quarter } else { 3 * quarter - 2 };
    DataValue::Text(format!("{year}-{month:02}"))
}

fn column_of<'a>(entry: &'a Entry, name: &str) -> Result<(usize, &'a DataColumn), DataError> {
    let columns = &entry.table.columns;
    let found = columns.iter().enumerate().find(|(_, column)| column.sql == name);
    found.ok_or_else(|| DataError::NoColumn {
        table: entry.table.name.clone(),
        column: name.to_owned(),
        known: columns.iter().map(|column| column.sql.clone()).collect(),
    })
}

pub(super) fn wrong(column: &Column<'_>, wanted: &'static str) -> DataError {
    DataError::WrongKind { column: column.info.sql.clone(), kind: column.info.kind, wanted }
}

/// A column's numbers; values that do not read as one become null.
pub(super) fn number(column: &Column<'_>, wanted: &'static str) -> Result<String, DataError> {
    match column.info.kind.is_numeric() {
        true => Ok(guarded(&column.sql, column.info)),
        false => Err(wrong(column, wanted)),
    }
}

/// A column's numbers or dates.
pub(super) fn ordered(column: &Column<'_>, wanted: &'static str) -> Result<String, DataError> {
    match column.info.kind {
        ColumnKind::Date => Ok(date(column)),
        _ => number(column, wanted),
    }
}

/// The order value of rows: numbers and dates if the column holds them, else texts.
pub(super) fn sortable(column: &Column<'_>) -> String {
    guarded(&column.sql, column.info)
}

pub(super) fn date(column: &Column<'_>) -> String {
    guarded(&column.sql, column.info)
}

/// Whether some of a column's dates are quarters.
fn holds_quarters(info: &DataColumn) -> bool {
    let ends = [&info.least, &info.greatest].into_iter().flatten();
    ends.chain(&info.samples).any(|value| value.contains("-Q"))
}

fn guarded(sql: &str, info: &DataColumn) -> String {
    match info.kind {
        _ if info.unread == 0 => sql.to_owned(),
        ColumnKind::Date => format!("CASE WHEN is_date({sql}) THEN {sql} END"),
        kind if kind.is_numeric() => {
            format!("CASE WHEN typeof({sql}) IN ('integer', 'real') THEN {sql} END")
        }
        _ => sql.to_owned(),
    }
}

/// Whether one column is above another of the same row.
fn more(one: &Column<'_>, other: &Column<'_>) -> Result<String, DataError> {
    use ColumnKind::{Date, Year};
    Ok(match (one.info.kind, other.info.kind) {
        (Date, Date) => {
            let (one, other) = (date(one), date(other));
            format!("substr({one}, 1, length({other})) > substr({other}, 1, length({one}))")
        }
        (Date, Year) => {
            format!("CAST(substr({}, 1, 4) AS INTEGER) > {}", date(one), sortable(other))
        }
        (Year, Date) => {
            format!("{} > CAST(substr({}, 1, 4) AS INTEGER)", sortable(one), date(other))
        }
        (a, b) if a.is_numeric() && b.is_numeric() => {
            format!("{} > {}", sortable(one), sortable(other))
        }
        (a, b) if !a.is_numeric() && !b.is_numeric() => format!("{} > {}", one.sql, other.sql),
        _ => return Err(wrong(one, "compared with a column of another kind")),
    })
}

/// A value as a column of this kind stores it.
fn as_stored(kind: ColumnKind, value: &DataValue) -> DataValue {
    match (kind, value) {
        (ColumnKind::Year, DataValue::Text(text)) => {
            let year = text.get(..4).and_then(|year| year.parse().ok());
            year.map_or_else(|| value.clone(), DataValue::Integer)
        }
        (_, DataValue::Text(_) | DataValue::Empty) => value.clone(),
        (kind, number) if !kind.is_numeric() => DataValue::Text(number.to_string()),
        _ => value.clone(),
    }
}
