//! Reads the rows of documents as rows of a typed table: first the columns, then the values.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pikerag_knowledge::data::{ColumnKind, DataColumn, DataValue};
use pikerag_knowledge::{RowPlace, RowReader};

use super::apart::{Label, Place, labels};
use super::periods::Period;
use super::wide::{Long, Unfolded};
use crate::{ColumnGuess, TypedColumn, header_says, is_left_out, sql_names};

/// The columns of a table, guessed while its rows are seen, then typed.
#[derive(Default)]
pub struct TypedRows {
    header: Vec<String>,
    guesses: Vec<ColumnGuess>,
    typed: Vec<TypedColumn>,
    kinds: Vec<ColumnKind>,
    /// The places of rows, in the order of reading.
    places: Vec<Place>,
    numbers: BTreeMap<Place, usize>,
    /// The place of the rows that follow.
    at: usize,
    /// The same rows with one row for each period, during the first pass.
    unfolded: Option<Unfolded>,
    /// The rule for reading such rows, if the table is a long one.
    long: Option<Long>,
    /// Columns that distinguish places.
    labels: Vec<Label>,
}

impl RowReader for TypedRows {
    fn begin(&mut self, header: &[String]) {
        self.header = header.to_vec();
        self.guesses = header.iter().map(|name| ColumnGuess::new(name)).collect();
        self.unfolded = Unfolded::of(header);
    }

    fn enter(&mut self, place: RowPlace<'_>) {
        let place = Place::of(place);
        if let Some(known) = self.numbers.get(&place) {
            self.at = *known;
            return;
        }
        self.at = self.places.len();
        self.places.push(place.clone());
        self.numbers.insert(place, self.at);
    }

    fn see(&mut self, row: &[String]) {
        for (guess, cell) in self.guesses.iter_mut().zip(row) {
            guess.see(cell);
        }
        if let Some(unfolded) = &mut self.unfolded {
            unfolded.see(row);
        }
    }

    fn settle(&mut self) -> Vec<DataColumn> {
        let guesses = std::mem::take(&mut self.guesses);
        self.typed = guesses.into_iter().map(ColumnGuess::settle).collect();
        self.kinds = self.typed.iter().map(|typed| typed.column.kind).collect();
        let periods: Vec<Option<Period>> = self.places.iter().map(Place::period).collect();
        let is_chinese =
            self.header.iter().any(|name| name.chars().any(pikerag_language::is_chinese));
        self.long = self
            .unfolded
            .take()
            .and_then(|unfolded| unfolded.settle(&self.kinds, &self.places, &periods));
        let is_dated = self.long.as_ref().is_some_and(Long::has_years_of_places);
        let has_year = self.header.iter().any(|name| header_says(name).is_year)
            || self.long.as_ref().is_some_and(Long::has_own_years);
        self.labels = labels(&self.places, &periods, is_dated, has_year, is_chinese);
        let mut columns: Vec<DataColumn> = match &self.long {
            Some(long) => long.columns(),
            None => self.typed.iter().map(|typed| typed.column.clone()).collect(),
        };
        columns.extend(self.labels.iter().map(|label| label.column.clone()));
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let sql = sql_names(&names, &mut HashSet::new());
        for (column, sql) in columns.iter_mut().zip(sql) {
            column.sql = sql;
        }
        columns
    }

    fn read(&self, row: &[String], values: &mut Vec<DataValue>) -> u64 {
        if is_left_out(&self.header, &self.kinds, row) {
            return 1;
        }
        let label = |label: &Label| label.values.get(self.at).cloned().unwrap_or_default();
        let labels = || self.labels.iter().map(label);
        let Some(long) = &self.long else {
            values.extend(self.typed.iter().zip(row).map(|(typed, cell)| typed.read(cell)));
            values.extend(labels());
            return 0;
        };
        long.read(row, self.at, |own| {
            values.extend(own);
            values.extend(labels());
        })
    }

    fn name(&self, title: &str, taken: &BTreeSet<String>) -> String {
        let named = sql_names(&[title.to_owned()], &mut taken.iter().cloned().collect());
        named.into_iter().next().unwrap_or_default()
    }
}
