//! Unfolds the rows of a wide table: one row for each period with a value.

use pikerag_knowledge::data::{ColumnKind, DataColumn, DataValue};
use pikerag_language::is_chinese;

use super::apart::Place;
use super::columns::{PeriodColumn, PeriodColumns};
use super::measured::{Measured, measured};
use super::periods::{Grain, Period};
use crate::{ColumnGuess, TypedColumn, header_says, is_missing};

/// Guesses the columns of a table as if it had a row for each period.
pub(super) struct Unfolded {
    header: Vec<String>,
    columns: PeriodColumns,
    /// The columns that are no periods and no totals.
    others: Vec<ColumnGuess>,
    value: ColumnGuess,
}

impl Unfolded {
    /// `None` where the header has no columns of periods.
    pub(super) fn of(header: &[String]) -> Option<Self> {
        let columns = PeriodColumns::of(header)?;
        let name = |column: &usize| header.get(*column).map(String::as_str).unwrap_or_default();
        let others = columns.others.iter().map(|column| ColumnGuess::new(name(column))).collect();
        let value = ColumnGuess::new("");
        Some(Self { header: header.to_vec(), columns, others, value })
    }

    pub(super) fn see(&mut self, row: &[String]) {
        let cell = |column: usize| row.get(column).map(String::as_str).unwrap_or_default();
        for period in &self.columns.periods {
            let value = cell(period.column);
            if is_missing(value) {
                continue;
            }
            self.value.see(value);
            for (column, guess) in self.columns.others.iter().zip(&mut self.others) {
                guess.see(cell(*column));
            }
        }
    }

    /// The rule for reading the rows. `None` if the table stays wide, because it has as many columns of other numbers
    /// as of periods.
    ///
    /// `kinds` are the kinds of the original columns; `periods` are the periods of the rows' places.
    pub(super) fn settle(
        self,
        kinds: &[ColumnKind],
        places: &[Place],
        periods: &[Option<Period>],
    ) -> Option<Long> {
        let Self { header, columns, others, value, .. } = self;
        let typed: Vec<TypedColumn> = others.into_iter().map(ColumnGuess::settle).collect();
        let is_measure = |column: usize| kinds.get(column).is_some_and(|kind| kind.is_measure());
        let mut keys: Vec<(usize, TypedColumn)> = Vec::new();
        let (mut n_measures, mut first_measure) = (0, None);
        for (column, typed) in columns.others.iter().copied().zip(typed) {
            match is_measure(column) {
                false => keys.push((column, typed)),
                true => {
                    n_measures += 1;
                    first_measure.get_or_insert((column, typed));
                }
            }
        }
        let is_key = |typed: &(usize, TypedColumn)| !typed.1.column.kind.is_time();
        // A column of numbers before the periods identifies the rows: 1, 2, 3 for plants.
        if !keys.iter().any(is_key)
            && let Some((column, typed)) =
                first_measure.filter(|(column, _)| columns.is_before(*column))
        {
            n_measures -= 1;
            keys.insert(0, (column, typed.of_names()));
        }
        if columns.periods.len() <= n_measures {
            return None;
        }
        let name = |column: usize| header.get(column).map(String::as_str).unwrap_or_default();
        let year_column = keys.iter().find_map(|(column, typed)| {
            let is_year =
                header_says(name(*column)).is_year && typed.column.kind == ColumnKind::Year;
            is_year.then_some(*column)
        });
        let years = years(&columns, year_column, periods);
        let names: Vec<String> = columns.others.iter().map(|it| name(*it).to_owned()).collect();
        let says = names_of_places(places, &names);
        let has_chinese = |text: &str| text.chars().any(is_chinese);
        let all = header.concat();
        let is_chinese =
            has_chinese(&all) || (!all.chars().any(char::is_alphabetic) && has_chinese(&says.name));
        let value = value.under(&value_header(says, columns.unit.clone(), is_chinese)).settle();
        let kind = match (years, columns.grain) {
            (Years::Unknown, _) => ColumnKind::Category,
            (_, Grain::Year) => ColumnKind::Year,
            _ => ColumnKind::Date,
        };
        let name = columns.grain.name(is_chinese).to_owned();
        let period = DataColumn { name, kind, ..DataColumn::default() };
        let place_years = periods.iter().map(|period| period.and_then(|it| it.year)).collect();
        Some(Long { columns, keys, period, value, years, year_column, place_years })
    }
}

/// The source of the periods' years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Years {
    Unknown,
    /// The names of their columns.
    Names,
    /// A column next to the periods.
    Column,
    /// The names of the table's place.
    Places,
}

fn years(columns: &PeriodColumns, year_column: Option<usize>, periods: &[Option<Period>]) -> Years {
    let has_year = |period: &Option<Period>| period.is_some_and(|it| it.year.is_some());
    match () {
        () if columns.have_years() => Years::Names,
        () if !columns.are_within_a_year() => Years::Unknown,
        () if year_column.is_some() => Years::Column,
        () if periods.iter().all(has_year) => Years::Places,
        () => Years::Unknown,
    }
}

/// The measured quantity that all places share, from the nearest kind of name that gives one.
fn names_of_places(places: &[Place], keys: &[String]) -> Measured {
    let stated: Vec<Vec<Measured>> = places
        .iter()
        .map(|place| place.names().map(|name| measured(name, keys)).collect())
        .collect();
    let depth = stated.iter().map(Vec::len).min().unwrap_or(0);
    let mut found = Measured::default();
    // Each place's names are read from the inside: captions, then inner to outer headings, then the file.
    for level in 0..depth {
        let of = |stated: &Vec<Measured>| match level + 1 == depth {
            true => stated.last().cloned(),
            false => stated.get(level).cloned(),
        };
        let mut all = stated.iter().filter_map(of);
        let Some(first) = all.next() else { break };
        let rest: Vec<Measured> = all.collect();
        if found.name.is_empty() && rest.iter().all(|it| it.name == first.name) {
            found.name = first.name;
        }
        if found.unit.is_none() && rest.iter().all(|it| it.unit == first.unit) {
            found.unit = first.unit;
        }
    }
    found
}

/// The header of the values: their name with their unit in brackets.
fn value_header(says: Measured, unit: Option<String>, is_chinese: bool) -> String {
    let Measured { name, unit: stated } = says;
    let name = match name.as_str() {
        "" if is_chinese => "数值",
        "" => "value",
        name => name,
    };
    match unit.or(stated) {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    }
}

/// The rule for reading the rows of a wide table as rows of a long one.
pub(super) struct Long {
    columns: PeriodColumns,
    /// Columns that are no numbers, with their places in the header.
    keys: Vec<(usize, TypedColumn)>,
    period: DataColumn,
    value: TypedColumn,
    years: Years,
    year_column: Option<usize>,
    /// The year in the name of each place.
    place_years: Vec<Option<i16>>,
}

impl Long {
    /// The key columns, the period and the value.
    pub(super) fn columns(&self) -> Vec<DataColumn> {
        let keys = self.keys.iter().map(|(_, typed)| typed.column.clone());
        keys.chain([self.period.clone(), self.value.column.clone()]).collect()
    }

    /// Whether the rows' periods include the years of their places.
    pub(super) fn has_years_of_places(&self) -> bool {
        self.years == Years::Places
    }

    /// Whether rows have years other than those of their places.
    pub(super) fn has_own_years(&self) -> bool {
        matches!(self.years, Years::Names | Years::Column)
    }

    /// Passes on a row's value for each period with a value; returns the number of its totals over the periods.
    pub(super) fn read(
        &self,
        row: &[String],
        place: usize,
        mut hand: impl FnMut(Vec<DataValue>),
    ) -> u64 {
        let cell = |column: usize| row.get(column).map(String::as_str).unwrap_or_default();
        let keys: Vec<DataValue> =
            self.keys.iter().map(|(column, typed)| typed.read(cell(*column))).collect();
        let year = match self.years {
            Years::Column => {
                self.keys.iter().zip(&keys).find_map(|((column, _), value)| match value {
                    DataValue::Integer(year) if Some(*column) == self.year_column => {
                        i16::try_from(*year).ok()
                    }
                    _ => None,
                })
            }
            Years::Places => self.place_years.get(place).copied().flatten(),
            _ => None,
        };
        for period in &self.columns.periods {
            let value = self.value.read(cell(period.column));
            if value == DataValue::Empty {
                continue;
            }
            let period = self.period(period, year);
            hand(keys.iter().cloned().chain([period, value]).collect());
        }
        let is_total = |column: &&usize| !is_missing(cell(**column));
        self.columns.totals.iter().filter(is_total).count() as u64
    }

    fn period(&self, named: &PeriodColumn, year: Option<i16>) -> DataValue {
        let period = named.period.in_year(year);
        let known = match self.period.kind {
            ColumnKind::Category => None,
            ColumnKind::Year => period.year.map(|year| DataValue::Integer(year.into())),
            _ => period.date().map(DataValue::Text),
        };
        known.unwrap_or_else(|| DataValue::Text(named.name.clone()))
    }
}
