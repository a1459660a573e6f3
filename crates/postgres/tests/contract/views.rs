//! Tests that filters know every table. No server is needed.

use std::collections::BTreeSet;

const TABLES: &str = include_str!("../../src/migrations/1.sql");
const VIEWS: &str = include_str!("../../src/scope.sql");

/// No question reads these: counters, the ledger with its origins, runs, jobs, original files with
/// their corrections, rows that will be deleted, and the keys and names of all bases. Tag pairs bring
/// their samples along. Searches limit words and rows of tables themselves.
const OTHERS: [&str; 24] = [
    "bases",
    "call_sources",
    "calls",
    "chunk_words",
    "claims",
    "corrections",
    "data_gone",
    "data_rows",
    "forgotten_runs",
    "job_files",
    "jobs",
    "key_facts",
    "keys",
    "meta",
    "originals",
    "refusals",
    "reservations",
    "run_calls",
    "run_events",
    "run_sources",
    "runs",
    "tag_samples",
    "templates",
    "words",
];

/// The names after `begin` in a script.
fn named<'a>(script: &'a str, begin: &str) -> BTreeSet<&'a str> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = |line: &'a str| {
        let rest = line.strip_prefix(begin)?;
        Some(rest.split(|letter| !is_of_name(letter)).next().unwrap_or_default())
    };
    script.lines().filter_map(name).collect()
}

/// A new table needs a view for filters, or an entry above that says why not.
#[test]
fn every_table_has_a_view_for_filters() {
    let tables = named(TABLES, "CREATE TABLE pikerag.");
    let views = named(VIEWS, "CREATE TEMP VIEW ");
    assert!(tables.contains("chunks") && views.contains("chunks"));
    let without: Vec<&str> = tables.difference(&views).copied().collect();
    assert_eq!(without, OTHERS);
    // A view of two others, which has no table.
    let more: Vec<&str> = views.difference(&tables).copied().collect();
    assert_eq!(more, ["whole_communities"]);
}
