//! Finds pairs of tables where a column of one holds the key of the other.

use std::collections::HashSet;

use pikerag_knowledge::data::{ColumnKind, TableJoin};

use crate::catalog::{Catalog, TableView};

/// Fewer different values may agree by chance.
const LEAST_VALUES: usize = 3;

/// The share of a column's different values that the other column must hold.
const LEAST_SHARE: f64 = 0.5;

/// A column with a different value in each row of its table, and these values.
struct Key<'a> {
    column: usize,
    values: HashSet<&'a str>,
}

/// Pairs of tables, by their places in the catalog, with the join from the first to the second.
///
/// A pair has one join: the one that covers the largest share of the first table's values. Quadratic in the number of text
/// columns.
pub fn joins(catalog: &Catalog) -> Vec<(usize, usize, TableJoin)> {
    let keys: Vec<Vec<Key<'_>>> = catalog.tables.iter().map(keys).collect();
    let mut found = Vec::new();
    for (first, from) in catalog.tables.iter().enumerate() {
        for (second, (to, keys)) in catalog.tables.iter().zip(&keys).enumerate() {
            if first != second
                && let Some(join) = best_join(from, to, keys)
            {
                found.push((first, second, join));
            }
        }
    }
    found
}

fn keys(table: &TableView) -> Vec<Key<'_>> {
    table
        .columns()
        .filter(|(at, column, _)| is_joinable(column.kind) && table.is_unique(*at))
        .map(|(column, _, view)| Key {
            column,
            values: view.values.iter().map(String::as_str).collect(),
        })
        .collect()
}

fn best_join(from: &TableView, to: &TableView, keys: &[Key<'_>]) -> Option<TableJoin> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (at, column, view) in from.columns() {
        if !is_joinable(column.kind) || view.values.len() < LEAST_VALUES {
            continue;
        }
        for key in keys {
            let is_shared = |value: &&String| key.values.contains(value.as_str());
            let n_shared = view.values.iter().filter(is_shared).count();
            let share = n_shared as f64 / view.values.len() as f64;
            if LEAST_SHARE <= share && best.is_none_or(|(most, ..)| most < share) {
                best = Some((share, at, key.column));
            }
        }
    }
    let (_, column, key) = best?;
    Some(TableJoin { from: from.reference(column)?, to: to.reference(key)? })
}

fn is_joinable(kind: ColumnKind) -> bool {
    matches!(kind, ColumnKind::Text | ColumnKind::Identifier | ColumnKind::Category)
}
