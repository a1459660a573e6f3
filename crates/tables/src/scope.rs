//! Holds the tables that one reading covers: one table, or two joined ones.

use pikerag_knowledge::data::{ColumnKind, ColumnRef, DataColumn, TableJoin};

use crate::catalog::{Catalog, ColumnView, TableView};
use crate::lexicon::{Meaning, meanings};

/// A column of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnPlace {
    /// The table's place in the scope; 0 is the table whose rows are counted.
    pub(crate) table: usize,
    /// The column's place in its table.
    pub(crate) column: usize,
}

/// The tables that one reading covers.
pub(crate) struct Scope<'a> {
    /// Their places in the catalog.
    pub(crate) places: Vec<usize>,
    pub(crate) views: Vec<&'a TableView>,
    pub(crate) joins: Vec<TableJoin>,
}

impl<'a> Scope<'a> {
    pub(crate) fn of_table(catalog: &'a Catalog, table: usize) -> Option<Self> {
        let view = catalog.tables.get(table)?;
        Some(Self { places: vec![table], views: vec![view], joins: Vec::new() })
    }

    pub(crate) fn of_join(
        catalog: &'a Catalog,
        first: usize,
        second: usize,
        join: TableJoin,
    ) -> Option<Self> {
        let views = vec![catalog.tables.get(first)?, catalog.tables.get(second)?];
        Some(Self { places: vec![first, second], views, joins: vec![join] })
    }

    /// All columns, those of the first table first.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (ColumnPlace, &DataColumn, &ColumnView)> {
        self.views.iter().enumerate().flat_map(|(table, view)| {
            view.columns()
                .map(move |(column, data, view)| (ColumnPlace { table, column }, data, view))
        })
    }

    pub(crate) fn view(&self, place: ColumnPlace) -> Option<&'a TableView> {
        self.views.get(place.table).copied()
    }

    pub(crate) fn column(&self, place: ColumnPlace) -> Option<&'a DataColumn> {
        self.view(place)?.table.columns.get(place.column)
    }

    pub(crate) fn kind(&self, place: ColumnPlace) -> ColumnKind {
        self.column(place).map(|column| column.kind).unwrap_or_default()
    }

    /// Whether a column's values can be summed and averaged.
    pub(crate) fn is_measure(&self, place: ColumnPlace) -> bool {
        self.kind(place).is_measure()
    }

    /// Whether a column's values can be compared with numbers.
    pub(crate) fn is_number(&self, place: ColumnPlace) -> bool {
        matches!(self.kind(place), ColumnKind::Integer | ColumnKind::Real | ColumnKind::Year)
    }

    pub(crate) fn is_unique(&self, place: ColumnPlace) -> bool {
        self.view(place).is_some_and(|view| view.is_unique(place.column))
    }

    pub(crate) fn range(&self, place: ColumnPlace) -> Option<(f64, f64)> {
        self.view(place)?.range(place.column)
    }

    /// The number of words in a column's name.
    pub(crate) fn n_words(&self, place: ColumnPlace) -> usize {
        self.view(place).map_or(0, |view| view.words(place.column).len())
    }

    /// The number of words that name a column in full, if a question has these words of its name, by place. A unit at
    /// the end need not be among them: `fee` for `fee_eur`.
    pub(crate) fn n_needed(&self, place: ColumnPlace, matched: &[usize]) -> usize {
        let n_words = self.n_words(place);
        let has_unit = self.column(place).is_some_and(ends_with_unit);
        let leaves_it =
            n_words.checked_sub(1).is_some_and(|unit| 0 < unit && !matched.contains(&unit));
        n_words - usize::from(has_unit && leaves_it)
    }

    /// A column as plans name it. Places come from this scope, so the column exists; any other place names no column, which
    /// no table accepts.
    pub(crate) fn reference(&self, place: ColumnPlace) -> ColumnRef {
        let reference = self.view(place).and_then(|view| view.reference(place.column));
        reference.unwrap_or_else(|| ColumnRef { table: String::new(), column: String::new() })
    }

    /// The place of a column as plans name it.
    pub(crate) fn place(&self, column: &ColumnRef) -> Option<ColumnPlace> {
        self.columns().map(|(place, ..)| place).find(|place| self.reference(*place) == *column)
    }

    /// Whether a word of a column's name shares a meaning with an English word.
    pub(crate) fn has_meaning(&self, place: ColumnPlace, word: &str) -> bool {
        self.has_any_meaning(place, meanings(&pikerag_language::stem(word)))
    }

    pub(crate) fn has_any_meaning(&self, place: ColumnPlace, wanted: &[Meaning]) -> bool {
        let words = self.view(place).map(|view| view.words(place.column)).unwrap_or_default();
        words.iter().flat_map(|word| word.meanings).any(|meaning| wanted.contains(meaning))
    }

    /// The first column of a kind.
    pub(crate) fn first_of_kind(&self, kind: ColumnKind) -> Option<ColumnPlace> {
        self.columns().find(|(_, column, _)| column.kind == kind).map(|(place, ..)| place)
    }

    /// The first column whose name shares a meaning with an English word.
    pub(crate) fn first_meaning(&self, word: &str) -> Option<ColumnPlace> {
        self.columns().map(|(place, ..)| place).find(|place| self.has_meaning(*place, word))
    }

    /// The column with the time of a row.
    pub(crate) fn time_column(&self) -> Option<ColumnPlace> {
        self.first_of_kind(ColumnKind::Date).or_else(|| self.first_of_kind(ColumnKind::Year))
    }

    /// The column with a place or region.
    pub(crate) fn location_column(&self) -> Option<ColumnPlace> {
        ["place", "city", "state", "country", "airport"]
            .iter()
            .find_map(|word| self.first_meaning(word))
            .or_else(|| self.name_column())
    }

    /// The column that names the rows of the first table.
    pub(crate) fn name_column(&self) -> Option<ColumnPlace> {
        let column = self.views.first()?.name_column()?;
        Some(ColumnPlace { table: 0, column })
    }

    /// The measure of the first table, if it has exactly one.
    pub(crate) fn only_measure(&self) -> Option<ColumnPlace> {
        let mut measures = self
            .columns()
            .filter(|(place, column, _)| place.table == 0 && column.kind.is_measure());
        let (only, ..) = measures.next()?;
        measures.next().is_none().then_some(only)
    }
}

/// Whether the last word of a column's name is its unit: `weight_kg`, `share pct`.
fn ends_with_unit(column: &DataColumn) -> bool {
    let Some((_, last)) = column.name.rsplit_once(['_', ' ']) else { return false };
    column.unit.as_deref().is_some_and(|unit| {
        unit.eq_ignore_ascii_case(last)
            || unit == "%" && ["pct", "percent"].iter().any(|name| name.eq_ignore_ascii_case(last))
    })
}
