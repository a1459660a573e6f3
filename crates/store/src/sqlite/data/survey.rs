//! Counts the values of a column: filled and distinct ones, the least, the greatest and the most
//! frequent.

use std::collections::HashMap;

use pikerag_knowledge::{ColumnKind, DataColumn, DataValue};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::functions::is_date;

/// The most bytes of a text that is shown as a sample.
const LONGEST: usize = 120;

/// The values counted so far in each column of a table.
pub struct Survey {
    columns: Vec<ColumnSurvey>,
}

#[derive(Default)]
struct ColumnSurvey {
    kind: ColumnKind,
    filled: u64,
    unread: u64,
    /// Distinct values are counted up to a limit; further ones are not distinguished.
    texts: HashMap<String, u64>,
    integers: HashMap<i64, u64>,
    reals: HashMap<u64, u64>,
    is_full: bool,
    least: Option<DataValue>,
    greatest: Option<DataValue>,
}

impl Survey {
    /// Begins with no row.
    pub fn new(columns: &[DataColumn]) -> Self {
        let empty =
            |column: &DataColumn| ColumnSurvey { kind: column.kind, ..ColumnSurvey::default() };
        Self { columns: columns.iter().map(empty).collect() }
    }

    /// Counts the values of a row.
    pub fn see(&mut self, values: &[DataValue]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.see(match value {
                DataValue::Empty => ValueRef::Null,
                DataValue::Integer(number) => ValueRef::Integer(*number),
                DataValue::Real(number) => ValueRef::Real(*number),
                DataValue::Text(text) => ValueRef::Text(text.as_bytes()),
            });
        }
    }

    /// The columns with the facts from their values.
    pub fn described(self, columns: Vec<DataColumn>) -> Vec<DataColumn> {
        columns
            .into_iter()
            .zip(self.columns)
            .map(|(column, survey)| survey.described(column))
            .collect()
    }
}

impl ColumnSurvey {
    fn see(&mut self, value: ValueRef<'_>) {
        let is_new = match value {
            ValueRef::Null | ValueRef::Blob(_) => return,
            ValueRef::Text(bytes) => {
                let Ok(text) = str::from_utf8(bytes) else { return };
                let is_read = match self.kind {
                    ColumnKind::Date => is_date(text),
                    kind => !kind.is_numeric(),
                };
                self.filled += 1;
                self.unread += u64::from(!is_read);
                if let Some(count) = self.texts.get_mut(text) {
                    *count += 1;
                    return;
                }
                if !self.is_full {
                    self.texts.insert(text.to_owned(), 1);
                }
                is_read && self.kind == ColumnKind::Date
            }
            ValueRef::Integer(number) => {
                self.filled += 1;
                count(&mut self.integers, number, self.is_full)
            }
            ValueRef::Real(number) => {
                self.filled += 1;
                // 5 and 5.0 are one value.
                let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
                match is_whole {
                    true => count(&mut self.integers, number as i64, self.is_full),
                    false => count(&mut self.reals, number.to_bits(), self.is_full),
                }
            }
        };
        let different = self.texts.len() + self.integers.len() + self.reals.len();
        self.is_full = DataColumn::MOST_DISTINCT as usize <= different;
        if is_new {
            self.extend(&super::values::value(value));
        }
    }

    fn extend(&mut self, value: &DataValue) {
        if self.least.as_ref().is_none_or(|least| is_below(value, least)) {
            self.least = Some(value.clone());
        }
        if self.greatest.as_ref().is_none_or(|greatest| is_below(greatest, value)) {
            self.greatest = Some(value.clone());
        }
    }

    fn described(self, mut column: DataColumn) -> DataColumn {
        column.filled = self.filled;
        column.unread = self.unread;
        let number = |(number, count): (i64, u64)| (DataValue::Integer(number), count);
        let real = |(bits, count): (u64, u64)| (DataValue::Real(f64::from_bits(bits)), count);
        let text = |(text, count): (String, u64)| (DataValue::Text(text), count);
        let mut values: Vec<(DataValue, u64)> = self.integers.into_iter().map(number).collect();
        values.extend(self.reals.into_iter().map(real));
        values.extend(self.texts.into_iter().map(text));
        column.distinct = (values.len() as u64).min(DataColumn::MOST_DISTINCT);
        values.retain(|(value, _)| match value {
            DataValue::Text(text) => text.len() <= LONGEST,
            _ => true,
        });
        values.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| in_order(a, b)));
        values.truncate(DataColumn::SAMPLES);
        column.samples = values.into_iter().map(|(value, _)| value.to_string()).collect();
        column.least = self.least.map(|value| value.to_string());
        column.greatest = self.greatest.map(|value| value.to_string());
        column
    }
}

/// Counts a number. Returns whether it may be the least or the greatest, which a number that was
/// counted before is not.
fn count<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u64>, key: K, is_full: bool) -> bool {
    if let Some(count) = counts.get_mut(&key) {
        *count += 1;
        return false;
    }
    if !is_full {
        counts.insert(key, 1);
    }
    true
}

fn is_below(a: &DataValue, b: &DataValue) -> bool {
    in_order(a, b).is_lt()
}

/// Orders values as SQLite does: numbers before texts.
pub(super) fn in_order(a: &DataValue, b: &DataValue) -> std::cmp::Ordering {
    let number = |value: &DataValue| match value {
        DataValue::Integer(number) => Some(*number as f64),
        DataValue::Real(number) => Some(*number),
        _ => None,
    };
    match (a, b) {
        (DataValue::Integer(a), DataValue::Integer(b)) => a.cmp(b),
        (DataValue::Text(a), DataValue::Text(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        },
    }
}

/// A column without the facts that come from all rows. The numbers of filled and unread values
/// stay, as upper limits.
pub fn without_facts(column: DataColumn) -> DataColumn {
    let (distinct, least, greatest, samples) = (0, None, None, Vec::new());
    DataColumn { distinct, least, greatest, samples, ..column }
}

/// Surveys the visible rows of a table.
pub(super) fn surveyed(
    connection: &Connection,
    table: i64,
    visible: &str,
    columns: Vec<DataColumn>,
) -> rusqlite::Result<Vec<DataColumn>> {
    let mut survey = Survey::new(&columns);
    let list: Vec<String> = (0..columns.len()).map(|place| format!("c{place}")).collect();
    let sql = format!("SELECT {} FROM main.data_{table} WHERE {visible}", list.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for (place, column) in survey.columns.iter_mut().enumerate() {
            column.see(row.get_ref(place)?);
        }
    }
    Ok(survey.described(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_counts_read_and_unread_values() {
        let columns = [ColumnKind::Real, ColumnKind::Date, ColumnKind::Text]
            .map(|kind| DataColumn { kind, ..DataColumn::default() });
        let mut survey = Survey::new(&columns);
        let text = |text: &str| DataValue::Text(text.to_owned());
        for (number, date, word) in [
            (DataValue::Real(5.0), text("2013-07"), text("b")),
            (DataValue::Integer(5), text("soon"), text("b")),
            (DataValue::Real(-1.5), text("2012"), text("a")),
            (text("n/a"), DataValue::Empty, DataValue::Empty),
        ] {
            survey.see(&[number, date, word]);
        }
        let described = survey.described(columns.to_vec());
        let shown = |column: &DataColumn| {
            let DataColumn { filled, unread, distinct, .. } = column;
            let (least, greatest) = (&column.least, &column.greatest);
            format!("{filled} {unread} {distinct} {least:?} {greatest:?} {:?}", column.samples)
        };
        insta::assert_snapshot!(described.iter().map(shown).collect::<Vec<_>>().join("\n"), @r#"
        4 1 3 Some("-1.5") Some("5") ["5", "-1.5", "n/a"]
        3 1 3 Some("2012") Some("2013-07") ["2012", "2013-07", "soon"]
        3 0 2 None None ["b", "a"]
        "#);
    }
}
