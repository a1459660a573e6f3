//! Tests the lists that the reference pages are generated from: formats, and limits of the server.

use crate::common::Place;

#[test]
fn formats_are_listed_with_extensions_and_missing_programs() {
    let place = Place::new().set("PATH", "");
    let shown = place.run_to(0, &["formats"]).stdout;
    for line in [
        "PDF (.pdf); needs Tesseract for scanned pages: not installed",
        "CSV, TSV (.csv, .tsv, .tab)",
        "SQLite databases (any extension)",
        "refused: programs: it is not a document",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    let json = place.run_to(0, &["--json", "formats"]).json();
    let tools: Vec<_> = json["tools"].as_array().unwrap().iter().collect();
    assert_eq!((&tools[0]["tool"], &tools[0]["is_here"]), (&"tesseract".into(), &false.into()));
    let old = json["formats"].as_array().unwrap().iter().find(|line| line["tool"] == "libreoffice");
    assert_eq!(old.unwrap()["has_tool"], false, "{json:#}");
    assert_eq!(place.run_to(0, &["--lang", "zh", "--json", "formats"]).json(), json);
}

#[test]
fn limits_are_listed_with_the_values_in_use() {
    let place = Place::new();
    place.write("pikerag.toml", "[server]\nbody_mib = 16\n");
    let shown = place.run_to(0, &["serve", "--limits"]).stdout;
    let line = "body of a request: 16 MiB (default: 4 MiB; set by `server.body_mib`); beyond: 413";
    assert!(shown.lines().any(|shown| shown == line), "{shown}");
    let json = place.run_to(0, &["--json", "serve", "--limits"]).json();
    let body = json.as_array().unwrap().iter().find(|limit| limit["setting"] == "server.body_mib");
    assert_eq!(body.unwrap()["now"], "16 MiB", "{json:#}");
    place.run_to(2, &["serve", "--limits", "--openapi"]);
}
