//! Tests from the command line that tables of documents become typed tables that can be listed and
//! queried.

use crate::common::Place;

const SETTINGS: &str = "[embed]\nkind = \"none\"\n";
const ORDERS: &str = "order,region,amount\nA-1,north,5\nA-2,south,7\nA-3,north,9\n";

#[test]
fn tables_are_listed_and_queried() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write("orders_2023.csv", ORDERS);
    let none = place.run_to(0, &["index", "pikerag.toml"]);
    assert!(!none.stdout.contains("orders"), "{}", none.stdout);
    assert!(place.run_to(0, &["tables"]).stderr.contains("no tables"));
    place.run_to(0, &["index", "orders_2023.csv"]);
    place.write("orders_2024.csv", "Order,Region,Amount\nB-1,east,1\nB-2,east,2\n");
    place.run_to(0, &["index", "orders_2024.csv"]);
    insta::assert_snapshot!(place.run_to(0, &["tables"]).stdout, @r#"
    orders  "orders": 5 rows of 2 documents
        order_ identifier, region category, amount integer, year year
    "#);
    insta::assert_snapshot!(place.run_to(0, &["tables", "orders"]).stdout, @r#"
    orders  "orders": 5 rows of 2 documents
        order_ identifier "order": 5 filled, 5 different; A-1, A-2, A-3, B-1, B-2
        region category: 5 filled, 3 different; east, north, south
        amount integer: 5 filled, 5 different, 1 to 9; 1, 2, 5, 7, 9
        year year: 5 filled, 2 different, 2023 to 2024; 2023, 2024
    "#);
    let sql = "SELECT region, sum(amount) FROM orders GROUP BY region ORDER BY 2 DESC";
    insta::assert_snapshot!(place.run_to(0, &["sql", sql]).stdout, @r"
    region  sum(amount)
    north            14
    south             7
    east              3
    ");
    let cut = place.run_to(0, &["sql", "--most", "1", sql]);
    assert!(cut.stderr.contains("only the first 1 row"), "{}", cut.stderr);
    let rows = place.run_to(0, &["--json", "sql", sql]).json();
    assert_eq!(rows["rows"][0], serde_json::json!(["north", 14]));
    let unknown = place.run_to(1, &["sql", "SELECT * FROM invoices"]);
    insta::assert_snapshot!(unknown.stderr, @"error: no such table: invoices; tables: orders; `pikerag tables` lists them with their columns");
    let refused = place.run_to(1, &["sql", "SELECT * FROM sqlite_schema"]);
    insta::assert_snapshot!(refused.stderr, @"error: the statement is refused (`sqlite_master` is not one of the tables): one SELECT over the tables is allowed; tables: orders; `pikerag tables` lists them with their columns");
    place.run_to(0, &["delete", "--forget", "orders_2023.csv"]);
    insta::assert_snapshot!(place.run_to(0, &["tables"]).stdout, @r#"
    orders_2024  "orders_2024": 2 rows of orders_2024.csv
        order_ identifier, region category, amount integer, year year
    "#);
}

/// Columns of months become one row for each month, which cites its row of the file.
#[test]
fn columns_of_months_become_rows() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    let use_2024 =
        "Plant,Jan,Feb,Mar,Total\nNorth,10,20,31,61\nSouth,15,0,,15\nTotal,25,20,31,76\n";
    place.write("electricity_use_2024.csv", use_2024);
    place.run_to(0, &["index", "electricity_use_2024.csv"]);
    place.write(
        "electricity_use_2025.csv",
        "Plant,Jan,Feb,Mar,Total\nNorth,1,2,3,6\nSouth,7,8,9,24\n",
    );
    place.run_to(0, &["index", "electricity_use_2025.csv"]);
    insta::assert_snapshot!(place.run_to(0, &["tables"]).stdout, @r#"
    electricity_use  "electricity_use": 11 rows of 2 documents, 5 left out (totals, notes)
        plant category, month date, electricity_use integer
    "#);
    let sql = "SELECT plant, month, electricity_use FROM electricity_use WHERE month < '2025'";
    insta::assert_snapshot!(place.run_to(0, &["sql", sql]).stdout, @r"
    plant  month    electricity_use
    North  2024-01               10
    North  2024-02               20
    North  2024-03               31
    South  2024-01               15
    South  2024-02                0
    ");
    let ask = |question: &str| {
        let shown = place.run_to(0, &["--offline", "ask", "--quiet", question]).stdout;
        shown.trim_start().to_owned()
    };
    let most = ask("Which plant used most electricity in March 2024?");
    assert!(most.starts_with("North"), "{most}");
    assert!(most.contains("electricity_use_2024.csv"), "{most}");
    let total = ask("What was the total electricity use in 2024?");
    assert!(total.starts_with("76"), "{total}");
    place.run_to(0, &["delete", "--forget", "electricity_use_2024.csv"]);
    let total = ask("What was the total electricity use in 2025?");
    assert!(total.starts_with("30"), "{total}");
}

#[test]
fn records_of_one_file_become_a_table() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write(
        "drugs.jsonl",
        "{\"title\": \"Adalin\", \"text\": \"For pain.\", \"year\": 2013}\n\
         {\"title\": \"Bealin\", \"text\": \"For colds.\", \"year\": 2014, \"company\": \"B\"}\n",
    );
    place.run_to(0, &["index", "drugs.jsonl"]);
    insta::assert_snapshot!(place.run_to(0, &["sql", "SELECT * FROM drugs"]).stdout, @r"
    title   company  year
    Adalin           2013
    Bealin  B        2014
    ");
}

/// Lines of plain data, without a text and without titles.
#[test]
fn lines_of_data_become_a_table() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write(
        "recent_quakes.jsonl",
        "{\"id\": \"us1\", \"magnitude\": 5.3, \"place\": \"Sangiang\", \"felt\": 4}\n\
         {\"id\": \"us2\", \"magnitude\": 4.7, \"place\": \"Raoul\", \"felt\": null}\n",
    );
    place.write(
        "staff.json",
        "[{\"name\": \"Ada\", \"born\": 1815}, {\"name\": \"Bob\", \"born\": 1820}]",
    );
    place.run_to(0, &["index", "recent_quakes.jsonl", "staff.json"]);
    // The column `name` is not used as a title as well.
    insta::assert_snapshot!(place.run_to(0, &["sql", "SELECT * FROM staff"]).stdout, @r"
    born  name
    1815  Ada
    1820  Bob
    ");
    insta::assert_snapshot!(place.run_to(0, &["sql", "SELECT * FROM recent_quakes"]).stdout, @r"
    felt  id   magnitude  place
       4  us1        5.3  Sangiang
          us2        4.7  Raoul
    ");
}

#[test]
fn parquet_files_are_queried() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../parse/corpus/parquet/orders.parquet");
    place.write("orders.parquet", std::fs::read(file).unwrap());
    place.run_to(0, &["index", "orders.parquet"]);
    let sql = "SELECT region, round(sum(amount), 2) FROM orders WHERE ordered < '2024-04' \
               GROUP BY region ORDER BY region";
    let sums = place.run_to(0, &["--json", "sql", sql]).json();
    let expected = serde_json::json!([["east", 17.75], ["north", 16.75], ["south", 17.25]]);
    assert_eq!(sums["rows"], expected);
    let asked =
        place.run_to(0, &["ask", "--quiet", "What is the total amount of orders from the north?"]);
    assert!(asked.stdout.trim_start().starts_with("27.65 ("), "{}", asked.stdout);
}
