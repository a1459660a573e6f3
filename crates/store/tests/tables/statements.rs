//! Tests which statements of a person run, and which are refused.

use pikerag_knowledge::{DataTables, SqlLimits};
use pikerag_store::Base;

use super::shelf::{base, put};

async fn run(base: &Base, sql: &str) -> String {
    match base.run_sql(sql, SqlLimits { rows: 3, seconds: 2, bytes: 10_000 }).await {
        Ok(found) => {
            let show =
                |row: &Vec<_>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let mut lines = vec![found.columns.join(", ")];
            lines.extend(found.rows.iter().map(show));
            lines.extend(found.is_cut.then(|| "…".to_owned()));
            lines.join("\n")
        }
        Err(error) => format!("! {error}"),
    }
}

async fn orders() -> (tempfile::TempDir, Base) {
    let (folder, base) = base();
    let rows = &[
        "region:category, amount:integer, select:text",
        "north, 5, a",
        "south, 7, b",
        "north, 9, c",
        "east, 1, d",
    ];
    put(&base, "orders.csv", rows).await;
    (folder, base)
}

#[tokio::test]
async fn a_select_is_run() {
    let (_folder, base) = orders().await;
    let mut shown = Vec::new();
    for sql in [
        "SELECT * FROM orders",
        "select region, sum(amount) as total, median(amount) from Orders group by region order by 2 desc",
        "WITH north AS (SELECT * FROM orders WHERE contains(region, 'NORTH')) SELECT count(*) FROM north;",
        "SELECT region, rank() OVER (ORDER BY amount DESC) FROM orders LIMIT 1",
        "SELECT \"select\" FROM orders WHERE amount > (SELECT avg(amount) FROM orders) ORDER BY 1",
    ] {
        shown.push(format!("{sql}\n{}", run(&base, sql).await));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    SELECT * FROM orders
    region, amount, select
    north, 5, a
    south, 7, b
    north, 9, c
    …
    select region, sum(amount) as total, median(amount) from Orders group by region order by 2 desc
    region, total, median(amount)
    north, 14, 7
    south, 7, 7
    east, 1, 1
    WITH north AS (SELECT * FROM orders WHERE contains(region, 'NORTH')) SELECT count(*) FROM north;
    count(*)
    2
    SELECT region, rank() OVER (ORDER BY amount DESC) FROM orders LIMIT 1
    region, rank() OVER (ORDER BY amount DESC)
    north, 1
    SELECT "select" FROM orders WHERE amount > (SELECT avg(amount) FROM orders) ORDER BY 1
    select
    b
    c
    "#);
}

const REFUSED: &[&str] = &[
    "",
    "SELECT",
    "SELECT colour FROM orders",
    "SELECT * FROM invoices",
    "SELECT * FROM chunks",
    "SELECT * FROM main.data_1",
    "SELECT count(*) FROM data_1",
    "WITH orders AS (SELECT * FROM data_1) SELECT * FROM orders",
    "WITH orders AS (SELECT * FROM chunks) SELECT * FROM orders",
    "SELECT * FROM sqlite_schema",
    "SELECT count(*) FROM sqlite_temp_schema",
    "SELECT * FROM pragma_database_list",
    "SELECT count(*) FROM pragma_table_list",
    "SELECT * FROM dbstat",
    "SELECT * FROM temp.admitted",
    "PRAGMA table_info(orders)",
    "ATTACH 'x' AS y",
    "DETACH temp",
    "INSERT INTO orders VALUES (1, 2, 3)",
    "UPDATE orders SET amount = 1",
    "DELETE FROM orders",
    "DROP VIEW orders",
    "CREATE TABLE x (y)",
    "CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
    "BEGIN",
    "VACUUM",
    "EXPLAIN SELECT * FROM orders",
    "SELECT load_extension('x')",
    "SELECT randomblob(10)",
    "SELECT first_rows(amount) FROM orders",
    "SELECT 1; DROP TABLE chunks",
    "SELECT zeroblob(1000000000)",
];

#[tokio::test]
async fn other_statements_are_refused() {
    let (_folder, base) = orders().await;
    let mut shown = Vec::new();
    for sql in REFUSED {
        shown.push(format!("{sql}\n  {}", run(&base, sql).await));
    }
    insta::assert_snapshot!(shown.join("\n"), @r"

      ! the statement is refused (it is not a SELECT): one SELECT over the tables is allowed; tables: orders
    SELECT
      ! incomplete input; tables: orders
    SELECT colour FROM orders
      ! no such column: colour; tables: orders
    SELECT * FROM invoices
      ! no such table: invoices; tables: orders
    SELECT * FROM chunks
      ! no such table: chunks; tables: orders
    SELECT * FROM main.data_1
      ! no such table: main.data_1; tables: orders
    SELECT count(*) FROM data_1
      ! no such table: data_1; tables: orders
    WITH orders AS (SELECT * FROM data_1) SELECT * FROM orders
      ! no such table: data_1; tables: orders
    WITH orders AS (SELECT * FROM chunks) SELECT * FROM orders
      ! no such table: chunks; tables: orders
    SELECT * FROM sqlite_schema
      ! the statement is refused (`sqlite_master` is not one of the tables): one SELECT over the tables is allowed; tables: orders
    SELECT count(*) FROM sqlite_temp_schema
      ! the statement is refused (`sqlite_temp_schema` is not one of the tables): one SELECT over the tables is allowed; tables: orders
    SELECT * FROM pragma_database_list
      ! the statement is refused (`pragma_database_list` is not one of the tables): one SELECT over the tables is allowed; tables: orders
    SELECT count(*) FROM pragma_table_list
      ! the statement is refused (`pragma_table_list` is not one of the tables): one SELECT over the tables is allowed; tables: orders
    SELECT * FROM dbstat
      ! the statement is refused (`dbstat` is not one of the tables): one SELECT over the tables is allowed; tables: orders
    SELECT * FROM temp.admitted
      ! no such table: temp.admitted; tables: orders
    PRAGMA table_info(orders)
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    ATTACH 'x' AS y
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    DETACH temp
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    INSERT INTO orders VALUES (1, 2, 3)
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    UPDATE orders SET amount = 1
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    DELETE FROM orders
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    DROP VIEW orders
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    CREATE TABLE x (y)
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    BEGIN
      ! the statement is refused (it is not read-only): one SELECT over the tables is allowed; tables: orders
    VACUUM
      ! the statement is refused (it is not a SELECT): one SELECT over the tables is allowed; tables: orders
    EXPLAIN SELECT * FROM orders
      ! the statement is refused (it is not a SELECT): one SELECT over the tables is allowed; tables: orders
    SELECT load_extension('x')
      ! the statement is refused (there is no function `load_extension`): one SELECT over the tables is allowed; tables: orders
    SELECT randomblob(10)
      ! the statement is refused (there is no function `randomblob`): one SELECT over the tables is allowed; tables: orders
    SELECT first_rows(amount) FROM orders
      ! the statement is refused (there is no function `first_rows`): one SELECT over the tables is allowed; tables: orders
    SELECT 1; DROP TABLE chunks
      ! no such table: chunks; tables: orders
    SELECT zeroblob(1000000000)
      ! the statement is refused (there is no function `zeroblob`): one SELECT over the tables is allowed; tables: orders
    ");
}

#[tokio::test]
async fn a_statement_that_takes_too_long_or_too_much_is_stopped() {
    let (_folder, base) = orders().await;
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    insta::assert_snapshot!(run(&base, endless).await, @"! the statement was stopped after 2 s; narrow it down or aggregate");
    let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT printf('%5000d', i) FROM n";
    let found = base.run_sql(long, SqlLimits { rows: 9, seconds: 2, bytes: 20_000 }).await.unwrap();
    assert_eq!((found.rows.len(), found.is_cut), (3, true));
    insta::assert_snapshot!(run(&base, "SELECT length(printf('%100000000d', 1))").await, @"! string or blob too big; tables: orders");
}
