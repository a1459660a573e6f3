//! Writes conditions beyond one column of a table as SQL: two columns of a row, ranges, values of another table.

use pikerag_knowledge::{
    Arithmetic, ColumnKind, ColumnRef, DataError, DataValue, NumberRange, TableFilter, TableTerm,
};

use super::catalogue::Entry;
use super::expressions::{Column, Notation, Writer, date, number, wrong};

impl Writer<'_> {
    /// A number of a row that two of its columns make together.
    pub(super) fn combined(
        &self,
        column: &Column<'_>,
        with: &TableTerm,
    ) -> Result<String, DataError> {
        let other = self.column(&with.column)?;
        if with.by == Arithmetic::DaysSince {
            for date in [column, &other] {
                if date.info.kind != ColumnKind::Date {
                    return Err(wrong(date, "taken as a day"));
                }
            }
            return Ok(format!("({} - {})", day(&date(column)), day(&date(&other))));
        }
        let wanted = "worked out as a figure";
        let (one, other) = (number(column, wanted)?, number(&other, wanted)?);
        Ok(match with.by {
            Arithmetic::Plus => format!("({one} + {other})"),
            Arithmetic::Minus | Arithmetic::DaysSince => format!("({one} - {other})"),
            Arithmetic::Times => format!("({one} * {other})"),
            Arithmetic::Over => format!("(1.0 * {one} / nullif({other}, 0))"),
        })
    }

    /// Whether a number lies in a range; null where there is none.
    pub(super) fn in_range(&mut self, value: &str, range: &NumberRange) -> String {
        let signs = [
            (range.from, if range.from_included { ">=" } else { ">" }),
            (range.to, if range.to_included { "<=" } else { "<" }),
        ];
        let mut ends = vec![format!("{value} IS NOT NULL")];
        for (end, sign) in signs {
            if let Some(end) = end {
                let is_whole = end.fract() == 0.0 && end.abs() < 1e15;
                let end =
                    if is_whole { DataValue::Integer(end as i64) } else { DataValue::Real(end) };
                ends.push(format!("{value} {sign} {}", self.bind(end)));
            }
        }
        ends.join(" AND ")
    }

    /// The values of a column of any table in the rows that pass the filters.
    pub(super) fn values_of(
        &mut self,
        column: &ColumnRef,
        filters: &[TableFilter],
    ) -> Result<String, DataError> {
        let found = self.entries.iter().find(|entry| entry.table.name == column.table);
        let entry = found.ok_or_else(|| DataError::NoTable {
            table: column.table.clone(),
            known: self.entries.iter().map(|entry| entry.table.name.clone()).collect(),
        })?;
        let mut inner = Writer {
            tables: vec![entry],
            entries: self.entries,
            notation: self.notation,
            is_filtered: self.is_filtered,
            bound: std::mem::take(&mut self.bound),
        };
        let written = inner.values(entry, column, filters);
        self.bound = inner.bound;
        written
    }

    fn values(
        &mut self,
        entry: &Entry,
        column: &ColumnRef,
        filters: &[TableFilter],
    ) -> Result<String, DataError> {
        let column = self.column(column)?.sql;
        let mut holds = vec![format!("{column} IS NOT NULL")];
        if self.notation == Notation::Numbers {
            holds.push(self.visible_rows("t0"));
        }
        for filter in filters {
            holds.push(format!("({})", self.condition(filter)?));
        }
        let alias = if self.notation == Notation::Numbers { " AS t0" } else { "" };
        let (rows, holds) = (self.rows(entry), holds.join(" AND "));
        Ok(format!("SELECT {column} FROM {rows}{alias} WHERE {holds}"))
    }
}

/// The day of a date as a number, with the time as a part of it; null for a month or a year, which SQLite would take for
/// the number of a day.
fn day(date: &str) -> String {
    format!("CASE WHEN 10 <= length({date}) THEN julianday({date}) END")
}
