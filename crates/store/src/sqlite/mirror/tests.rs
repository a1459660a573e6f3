//! Tests that plans and statements over a mirror give what the base gives.

use pikerag_knowledge::{Aggregate, ColumnKind, DataColumn, TableMeasure};

use super::*;

/// Sales of a north and a south document, of which a filter may hide the second.
fn sales() -> TableMirror {
    let column = |sql: &str, kind| DataColumn {
        name: sql.to_owned(),
        sql: sql.to_owned(),
        kind,
        ..DataColumn::default()
    };
    let columns = [column("region", ColumnKind::Text), column("total", ColumnKind::Integer)];
    let part = |source| CataloguePart {
        data: 7,
        source,
        title: "sales".to_owned(),
        about: "[]".to_owned(),
    };
    let chunk =
        |chunk, rows| CatalogueChunk { chunk, data: 7, source: 10 * chunk, rows, left_out: 0 };
    let mirror = TableMirror::new(&Catalogue {
        tables: vec![CatalogueTable {
            id: 7,
            name: "sales".to_owned(),
            title: "sales".to_owned(),
            columns: serde_json::to_string(&columns).unwrap(),
            is_surveyed: true,
        }],
        chunks: vec![chunk(1, 2), chunk(2, 1)],
        parts: vec![part(10), part(20)],
        sources: vec![(10, "north.csv".to_owned()), (20, "south.csv".to_owned())],
    })
    .unwrap();
    mirror.begin_rows(7, 2).unwrap();
    let row = |number, chunk, region: &str, total| MirroredRow {
        number,
        chunk,
        start: 0,
        stop: 9,
        cells: vec![DataValue::Text(region.to_owned()), DataValue::Integer(total)],
    };
    let rows = [row(1, 1, "north", 5), row(2, 1, "north", 6), row(3, 2, "south", 70)];
    mirror.add_rows(7, &rows).unwrap();
    mirror
}

fn total() -> TablePlan {
    let total = ColumnRef { table: "sales".to_owned(), column: "total".to_owned() };
    let measure =
        TableMeasure { function: Aggregate::Sum, column: Some(total), ..TableMeasure::default() };
    TablePlan { table: "sales".to_owned(), measures: vec![measure], ..TablePlan::default() }
}

#[test]
fn plans_and_statements_count_admitted_rows_only() {
    let mirror = sales();
    mirror.end_rows(7);
    let admitted = HashSet::from([1, 99]);
    for (admitted, figure) in [(None, 81), (Some(&admitted), 11)] {
        let rows = mirror.run_plan(admitted, &total()).unwrap();
        assert_eq!(rows.rows[0].cells, [DataValue::Integer(figure)]);
        let sql = "SELECT sum(total) FROM sales";
        let rows = mirror.run_sql(admitted, sql, SqlLimits::default()).unwrap();
        assert_eq!(rows.rows, [[DataValue::Integer(figure)]]);
    }
    let column = ColumnRef { table: "sales".to_owned(), column: "region".to_owned() };
    let regions = mirror.distinct(Some(&admitted), &column, 9).unwrap();
    assert_eq!(regions, [(DataValue::Text("north".to_owned()), 2)]);
    let tables = mirror.data_tables(Some(&admitted)).unwrap();
    assert_eq!((tables[0].rows, &*tables[0].title), (2, "sales"));
    assert_eq!(tables[0].columns[1].greatest.as_deref(), Some("6"));
    assert!(mirror.data_tables(Some(&HashSet::new())).unwrap().is_empty());
}

#[test]
fn a_query_names_the_tables_whose_rows_are_missing() {
    let mirror = sales();
    let (plan, north) = (total(), HashSet::from([1]));
    let missing = |admitted, query| mirror.missing(admitted, query).unwrap();
    assert_eq!(missing(None, TableQuery::Plan(&plan)), [(7, 2)]);
    assert_eq!(missing(None, TableQuery::Statement("SELECT 1 FROM Sales")), [(7, 2)]);
    assert!(missing(None, TableQuery::Statement("SELECT 1")).is_empty());
    // All facts are in the catalogue, unless a filter hides some rows.
    assert!(missing(None, TableQuery::Catalogue).is_empty());
    assert_eq!(missing(Some(&north), TableQuery::Catalogue), [(7, 2)]);
    mirror.end_rows(7);
    assert!(missing(None, TableQuery::Plan(&plan)).is_empty());
}
