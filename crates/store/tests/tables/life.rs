//! Tests tables whose documents are added, changed and deleted.

use pikerag_knowledge::{
    Aggregate, ColumnRef, CorpusWriter, DataTables, DataValue, Filter, SearchWriter, Snapshots,
    SqlLimits, TableMeasure, TablePlan,
};
use pikerag_store::{Base, DATABASE, Health, Repair};

use super::shelf::{base, filter, index, put, shown};

const NORTH: &[&str] = &[
    "region:category, amount:integer, day:date",
    "north, 5, 2013-07-05",
    "north, 7, 2013",
    "total, 12,",
    "north, n/a, soon",
    "south,,2014-01",
];
const EAST: &[&str] =
    &["Region:category, Amount:integer,  DAY:date", "east, 9, 2015", "east, 9, 2016"];

#[tokio::test]
async fn a_table_follows_its_documents() {
    let (_folder, base) = base();
    put(&base, "sales_north.csv", NORTH).await;
    insta::assert_snapshot!(shown(&base).await, @r#"
    sales_north (sales_north): 4 rows, 1 left out; sales_north.csv 4
      region category: 4 filled, 0 unread, 2 different, .. ["north", "south"]
      amount integer: 3 filled, 1 unread, 3 different, 5..7 ["5", "7", "n/a"]
      day date: 4 filled, 1 unread, 4 different, 2013..2014-01 ["2013", "2013-07-05", "2014-01", "soon"]
    "#);
    put(&base, "sales_east.csv", EAST).await;
    insta::assert_snapshot!(shown(&base).await, @r#"
    sales (sales): 6 rows, 1 left out; sales_east.csv 2; sales_north.csv 4
      Region category: 6 filled, 0 unread, 3 different, .. ["north", "east", "south"]
      Amount integer: 5 filled, 1 unread, 4 different, 5..9 ["9", "5", "7", "n/a"]
      DAY date: 6 filled, 1 unread, 6 different, 2013..2016 ["2013", "2013-07-05", "2014-01", "2015", "2016", "soon"]
      file category: 6 filled, 0 unread, 2 different, .. ["sales_north.csv", "sales_east.csv"]
    "#);
    put(&base, "sales_east.csv", &[EAST[0], "east, 1, 2017", "east, 2, 2017"]).await;
    insta::assert_snapshot!(shown(&base).await, @r#"
    sales (sales): 6 rows, 1 left out; sales_east.csv 2; sales_north.csv 4
      Region category: 6 filled, 0 unread, 3 different, .. ["north", "east", "south"]
      Amount integer: 5 filled, 1 unread, 5 different, 1..7 ["1", "2", "5", "7", "n/a"]
      DAY date: 6 filled, 1 unread, 5 different, 2013..2017 ["2017", "2013", "2013-07-05", "2014-01", "soon"]
      file category: 6 filled, 0 unread, 2 different, .. ["sales_north.csv", "sales_east.csv"]
    "#);
    base.delete_file("sales_east.csv").await.unwrap();
    insta::assert_snapshot!(shown(&base).await, @r#"
    sales_north (sales_north): 4 rows, 1 left out; sales_north.csv 4
      Region category: 4 filled, 0 unread, 2 different, .. ["north", "south"]
      Amount integer: 3 filled, 1 unread, 3 different, 5..7 ["5", "7", "n/a"]
      DAY date: 4 filled, 1 unread, 4 different, 2013..2014-01 ["2013", "2013-07-05", "2014-01", "soon"]
      file category: 4 filled, 0 unread, 1 different, .. ["sales_north.csv"]
    "#);
    base.refresh().await.unwrap();
    index(&base).await;
    insta::assert_snapshot!(shown(&base).await, @r#"
    sales_north (sales_north): 4 rows, 1 left out; sales_north.csv 4
      region category: 4 filled, 0 unread, 2 different, .. ["north", "south"]
      amount integer: 3 filled, 1 unread, 3 different, 5..7 ["5", "7", "n/a"]
      day date: 4 filled, 1 unread, 4 different, 2013..2014-01 ["2013", "2013-07-05", "2014-01", "soon"]
    "#);
    base.delete_file("sales_north.csv").await.unwrap();
    assert_eq!(shown(&base).await, "");
}

#[tokio::test]
async fn one_row_is_no_table() {
    let (_folder, base) = base();
    put(&base, "a.csv", &["x:integer", "1"]).await;
    assert_eq!(shown(&base).await, "");
    put(&base, "b.csv", &["x:integer", "2"]).await;
    insta::assert_snapshot!(shown(&base).await, @r#"
    a (a): 2 rows, 0 left out; a.csv 1; b.csv 1
      x integer: 2 filled, 0 unread, 2 different, 1..2 ["1", "2"]
      file category: 2 filled, 0 unread, 2 different, .. ["a.csv", "b.csv"]
    "#);
}

#[tokio::test]
async fn a_filter_shows_the_rows_that_it_admits() {
    let (_folder, base) = base();
    put(&base, "open/sales_north.csv", NORTH).await;
    put(&base, "shut/sales_secret.csv", EAST).await;
    put(&base, "shut/wages.csv", &["wage:real", "1", "2"]).await;
    let visible = base.snapshot(&filter("folder=open"), &Filter::default()).await.unwrap();
    insta::assert_snapshot!(shown(visible.as_ref()).await, @r#"
    sales_north (sales_north): 4 rows, 1 left out; open/sales_north.csv 4
      region category: 4 filled, 0 unread, 2 different, .. ["north", "south"]
      amount integer: 3 filled, 1 unread, 3 different, 5..7 ["5", "7", "n/a"]
      day date: 4 filled, 1 unread, 4 different, 2013..2014-01 ["2013", "2013-07-05", "2014-01", "soon"]
      file category: 4 filled, 0 unread, 1 different, .. ["open/sales_north.csv"]
    "#);
    let table = visible.data_tables().await.unwrap().remove(0).name;
    let plan = |table: &str| TablePlan {
        table: table.to_owned(),
        measures: vec![TableMeasure {
            function: Aggregate::Sum,
            column: Some(ColumnRef { table: table.to_owned(), column: "amount".to_owned() }),
            ..TableMeasure::default()
        }],
        ..TablePlan::default()
    };
    let found = visible.run_plan(&plan(&table)).await.unwrap();
    assert_eq!((found.matched, &found.rows[0].cells), (4, &vec![DataValue::Integer(12)]));
    let column = ColumnRef { table: table.clone(), column: "region".to_owned() };
    let regions = visible.distinct(&column, 9).await.unwrap();
    let text = |text: &str| DataValue::Text(text.to_owned());
    assert_eq!(regions, [(text("north"), 3), (text("south"), 1)]);
    let error = visible.run_plan(&plan("wages")).await.unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    let error = visible.run_sql("SELECT * FROM wages", SqlLimits::default()).await.unwrap_err();
    assert!(error.to_string().contains("no such table"), "{error}");
    let sql = format!("SELECT sum(amount), count(*) FROM {table}");
    let rows = visible.run_sql(&sql, SqlLimits::default()).await.unwrap().rows;
    assert_eq!(rows[0][1], DataValue::Integer(4));
}

#[tokio::test]
async fn no_byte_of_a_forgotten_row_is_left() {
    let (folder, base) = base();
    put(&base, "a.csv", &["code:identifier", "kept-one", "kept-two"]).await;
    put(&base, "b.csv", &["code:identifier", "zebra-one", "zebra-two"]).await;
    let path = folder.path().join(DATABASE);
    let holds = |base: &Base| {
        assert!(!base.is_read_only());
        let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.is_file()).any(|path| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(5).any(|part| part == b"zebra")
        })
    };
    assert!(holds(&base) && path.is_file());
    base.forget_files(&["b.csv".to_owned()], 1).await.unwrap();
    assert!(!holds(&base));
    insta::assert_snapshot!(shown(&base).await, @r#"
    a (a): 2 rows, 0 left out; a.csv 2
      code identifier: 2 filled, 0 unread, 2 different, .. ["kept-one", "kept-two"]
      file category: 2 filled, 0 unread, 1 different, .. ["a.csv"]
    "#);
    let database = base.check(Repair::No).await.unwrap().remove(0);
    assert_eq!(database.health, Health::Sound, "{database:?}");
    base.refresh().await.unwrap();
    index(&base).await;
    insta::assert_snapshot!(shown(&base).await, @r#"
    a (a): 2 rows, 0 left out; a.csv 2
      code identifier: 2 filled, 0 unread, 2 different, .. ["kept-one", "kept-two"]
    "#);
}

#[tokio::test]
async fn a_snapshot_keeps_the_rows_of_its_time() {
    let (_folder, base) = base();
    put(&base, "a.csv", &["x:integer", "1", "2"]).await;
    let held = base.snapshot(&Filter::default(), &Filter::default()).await.unwrap();
    assert_eq!(held.state().await.unwrap().chunks, 1);
    put(&base, "b.csv", &["x:integer", "3", "4"]).await;
    let count = |base: &[pikerag_knowledge::DataTable]| base[0].rows;
    assert_eq!(count(&held.data_tables().await.unwrap()), 2);
    assert_eq!(count(&base.data_tables().await.unwrap()), 4);
}
