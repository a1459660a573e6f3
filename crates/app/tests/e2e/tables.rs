//! Do tables of documents become typed tables that can be listed and queried? From the command line.

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
        order_ identifier, region category, amount integer, file category
    "#);
    insta::assert_snapshot!(place.run_to(0, &["tables", "orders"]).stdout, @r#"
    orders  "orders": 5 rows of 2 documents
        order_ identifier "order": 5 filled, 5 different; A-1, A-2, A-3, B-1, B-2
        region category: 5 filled, 3 different; east, north, south
        amount integer: 5 filled, 5 different, 1 to 9; 1, 2, 5, 7, 9
        file category: 5 filled, 2 different; orders_2023.csv, orders_2024.csv
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
    insta::assert_snapshot!(refused.stderr, @"error: the statement is refused (`sqlite_master` is none of them): one SELECT over the tables is allowed; tables: orders; `pikerag tables` lists them with their columns");
    place.run_to(0, &["delete", "--forget", "orders_2023.csv"]);
    insta::assert_snapshot!(place.run_to(0, &["tables"]).stdout, @r#"
    orders_2024  "orders_2024": 2 rows of orders_2024.csv
        order_ identifier, region category, amount integer, file category
    "#);
}

#[test]
fn records_of_one_file_are_a_table() {
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
fn lines_of_data_are_a_table() {
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
    // The name is no title besides.
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
