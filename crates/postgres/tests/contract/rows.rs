//! Tests that each column of each table comes back from a database as it was.

use std::collections::BTreeMap;
use std::path::Path;

use pikerag_postgres::{Base, export_file, import};
use pikerag_store::shared::{Cell, FileCopy};

use crate::server::{connected, location};

/// A text with the characters that a database does not store as they are.
const TEXT: &str = "a\0b \u{f8fe}";
/// The same in JSON, which escapes U+0000 itself.
const JSON: &str = "[\"\\u0000 \u{f8fe}\"]";

/// A value that refers to the rows of the other tables.
#[expect(clippy::match_same_arms, reason = "a column of one table comes before that of all")]
fn value(table: &str, column: &str) -> Cell {
    let text = |text: &str| Cell::Text(text.to_owned());
    match (table, column) {
        ("communities", "parent")
        | ("summary_children", "child")
        | ("chunks", "area" | "cells" | "boxes")
        | ("jobs", "outcome") => Cell::Null,
        ("meta", _) => text("k"),
        ("chunks", "kind") => text("text"),
        ("atoms", "kind") => text("question"),
        ("data_tables", "columns") => text("[{}, {}]"),
        ("data_rows", "cells") => text("[2.0,\"\u{f8fe}\"]"),
        ("data_tables", "is_stale") => Cell::Integer(0),
        (_, "vector") => Cell::Bytes([0.1_f32.to_le_bytes(), (-2.5_f32).to_le_bytes()].concat()),
        (_, "bytes") => Cell::Bytes(vec![0, 255]),
        (_, "weight" | "rating") => Cell::Real(0.1),
        ("structured", "hash")
        | ("names" | "source_names" | "tag_classes" | "chunk_tags", "key")
        | ("tag_examples" | "chunk_tags", "class")
        | ("summary_children", "summary") => Cell::Integer(1),
        ("runs" | "forgotten_runs", "id") => text(TEXT),
        ("structured", "schema")
        | (
            _,
            "metadata" | "headings" | "fields" | "findings" | "record" | "event" | "correction"
            | "about",
        ) => text(JSON),
        (
            _,
            "path" | "hash" | "recipe" | "file" | "uri" | "title" | "media_type" | "language"
            | "text" | "summary" | "kind" | "target" | "schema" | "origin" | "name" | "description"
            | "model" | "embedder" | "covers" | "colloquial" | "professional" | "class" | "stage"
            | "label" | "cause" | "reason" | "key" | "role" | "request" | "reply" | "call"
            | "state" | "run",
        ) => text(TEXT),
        _ => Cell::Integer(1),
    }
}

/// All rows by table, in any order.
fn all(path: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let copy = FileCopy::open_to_read(path).unwrap();
    let of = |table: &'static str| {
        let mut rows = Vec::new();
        copy.each(table, &mut |row| {
            rows.push(format!("{row:?}"));
            Ok(())
        })
        .unwrap();
        rows.sort_unstable();
        rows
    };
    FileCopy::tables().iter().map(|(table, _)| (*table, of(table))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_column_comes_back_from_a_database() {
    let Some(location) = location() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from.sqlite"), folder.path().join("to.sqlite"));
    let copy = FileCopy::create(&from).unwrap();
    for (table, columns) in FileCopy::tables() {
        let row = columns.iter().map(|column| value(table, column)).collect();
        copy.insert(table, &[row]).unwrap();
    }
    copy.finish().unwrap();
    let rows = all(&from);
    assert!(rows.values().all(|rows| !rows.is_empty()));
    let database = connected(&location).await;
    import(&database, &location, &from).await.unwrap();
    let base = Base::open(&database, &location).await.unwrap();
    export_file(&base, &to).await.unwrap();
    assert_eq!(all(&to), rows);
    assert!(database.remove(location.base()).await.unwrap());
}
