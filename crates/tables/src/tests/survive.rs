//! Checks that no question and no table makes `readings` panic.

use crate::{Catalog, TableView, joins, readings};
use pikerag_knowledge::data::{ColumnKind, DataColumn, DataTable};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const KINDS: [ColumnKind; 8] = [
    ColumnKind::Integer,
    ColumnKind::Real,
    ColumnKind::Year,
    ColumnKind::Date,
    ColumnKind::Boolean,
    ColumnKind::Identifier,
    ColumnKind::Category,
    ColumnKind::Text,
];

/// Text that rules react to, between any other characters.
const TEXT: &str = "(\\PC|how many |the most |second most |top 3 |per |not |after |before |more than 5|-3 or more|\
    2013|July 2013|2013-Q3|from 2010 to 2012|difference |share of |first |Press |S1|name |cost |一月|最高的|第二多|\
    多少个|相差|占|哪家|各国|2013年2月1日|年|名称|费用|'|’|&|\\.|（|）){0,10}";

fn column() -> impl Strategy<Value = (DataColumn, Vec<String>)> {
    let bound = || proptest::option::of("-?[0-9]{0,4}");
    let unit = proptest::option::of("(\\PC|EUR|hours|元){0,2}");
    let counts = (0..4_u64, 0..4_u64);
    (TEXT, select(&KINDS[..]), unit, counts, bound(), bound(), vec(TEXT, 0..4)).prop_map(
        |(name, kind, unit, (filled, distinct), least, greatest, values)| {
            let sql = name.clone();
            let column = DataColumn {
                name,
                sql,
                kind,
                unit,
                filled,
                distinct,
                least,
                greatest,
                ..DataColumn::default()
            };
            (column, values)
        },
    )
}

fn table() -> impl Strategy<Value = TableView> {
    (TEXT, TEXT, 0..4_u64, vec(column(), 0..5), 0..6_usize).prop_map(
        |(title, about, rows, columns, n_lists)| {
            let (columns, mut values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
            // Columns without a list of values, and lists without a column.
            values.resize(n_lists, vec!["1".to_owned()]);
            let table = DataTable {
                name: title.clone(),
                title,
                about: vec![about],
                columns,
                rows,
                ..DataTable::default()
            };
            TableView::new(table, values)
        },
    )
}

proptest! {
    #[test]
    fn any_question_over_any_tables_is_survived(question in TEXT, tables in vec(table(), 0..3)) {
        let catalog = Catalog { tables };
        let _ = joins(&catalog);
        for reading in readings(&question, &catalog) {
            let _ = reading.is_certain();
            prop_assert!(reading.tables.iter().all(|table| *table < catalog.tables.len()));
            prop_assert!(!reading.computation.plans().is_empty());
        }
    }
}
