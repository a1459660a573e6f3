//! Tests that the pages list the methods that exist.

use std::fs;
use std::path::Path;

use crate::common::Place;

/// The text between the markers of a page.
fn region(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(path).unwrap();
    let (_, after) = text.split_once("<!-- methods:begin -->\n").unwrap();
    after.split_once("<!-- methods:end -->").unwrap().0.to_owned()
}

#[test]
fn the_pages_list_the_existing_methods() {
    let table = Place::new().run_to(0, &["methods", "--markdown"]).stdout;
    assert_eq!(
        region("docs/reference/methods.md"),
        table,
        "docs/reference/methods.md is out of date: run `cargo xtask docs`"
    );
    let rows = table.lines().skip(2);
    let names: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    for page in ["README.md", "README.zh.md"] {
        let text = region(page);
        let listed: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, names, "{page} is out of date: run `cargo xtask docs`");
    }
}

#[test]
fn a_method_is_shown_with_its_settings() {
    let place = Place::new();
    place.write("pikerag.toml", "[methods.kar3]\nn = 3\n");
    let shown = place.run_to(0, &["methods", "kar3"]).stdout;
    assert!(shown.contains("n = 3, by default 5 (1 to 1000): the most rounds"), "{shown}");
    assert!(shown.contains("delta = unset (-1 to 1)"), "{shown}");
    let json = place.run_to(0, &["--json", "methods", "kar3"]).json();
    assert_eq!((&json["set"]["n"], &json["parameters"][0]["default"]), (&3.into(), &5.into()));
    let all = place.run_to(0, &["--json", "methods"]).json();
    let kar3 = all.as_array().unwrap().iter().find(|method| method["name"] == "kar3").unwrap();
    assert_eq!(kar3["without_model"], "hop_retrieval", "{all:#}");
    assert!(place.run_to(2, &["methods", "kar4"]).stderr.contains("no method `kar4`"));
    place.run_to(2, &["methods", "kar3", "--markdown"]);
}
