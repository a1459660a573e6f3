//! Tests that a copy has all rows of a base, and appears only when it is whole.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::Base;

const FILL: &str = r"
    INSERT INTO files VALUES ('f', 'h', 'r');
    INSERT INTO sources VALUES (1, 'f', 'f', 'a' || char(0) || 'b', 'm', 'h', NULL, '{}', 'x', NULL);
    INSERT INTO chunks(id, source, section, headings, ordinal, kind, text, span_start, span_end, hidden, generation)
    VALUES (9223372036854775807, 1, NULL, '[]', 0, 'text', 'x', 0, 1, 0, 1);
    INSERT INTO chunk_vectors VALUES (9223372036854775807, 'e', x'0000803f00000000');
    INSERT INTO communities VALUES (3, 1, NULL), (1, 0, 3), (2, 0, 3);
    INSERT INTO jobs(id, state, due, record) VALUES (7, 'done', 1, '{}');
    DELETE FROM jobs;
    INSERT INTO data_tables(id, shape, name, columns) VALUES (4, 5, 'towns', '[{}, {}]');
    CREATE TABLE data_4 (row INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, c0, c1);
    INSERT INTO data_4 VALUES (1, 9223372036854775807, 0, 1, 2, 2.0), (2, 9223372036854775807, 0, 1, 'two', NULL);
    INSERT INTO meta VALUES ('root', '/here');
";

fn all(copy: &FileCopy) -> BTreeMap<&'static str, Vec<Vec<Cell>>> {
    let of = |table: &'static str| {
        let mut rows = Vec::new();
        copy.each(table, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        rows
    };
    FileCopy::tables().iter().map(|(table, _)| (*table, of(table))).collect()
}

/// The copy has other triggers, logs and identity, but the same rows.
#[test]
fn rows_come_back_from_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    drop(Base::open_or_create(folder.path()).unwrap());
    let path = folder.path().join(DATABASE);
    Connection::open(&path).unwrap().execute_batch(FILL).unwrap();
    let from = FileCopy::open_to_read(folder.path()).unwrap();
    let rows = all(&from);
    assert_eq!(rows["communities"][0], [Cell::Integer(3), Cell::Integer(1), Cell::Null]);
    assert_eq!(rows["data_rows"][0][5], Cell::Text("[2,2.0]".to_owned()));
    let last = vec![Cell::Text("last_job".to_owned()), Cell::Text("7".to_owned())];
    assert!(rows["meta"].contains(&last));
    let to = folder.path().join("copy.sqlite");
    let copy = FileCopy::create(&to).unwrap();
    for (table, _) in FileCopy::tables() {
        copy.insert(table, &rows[table]).unwrap();
    }
    assert!(!to.exists());
    let copied = copy.finish().unwrap();
    assert_eq!((copied.files, copied.calls, copied.runs), (1, 0, 0));
    assert_eq!(all(&FileCopy::open_to_read(&to).unwrap()), rows);
    assert!(FileCopy::create(&to).is_err());
    let base = folder.path().join("restored");
    Base::restore(&to, &base).unwrap();
    assert!(!Base::open(&base).unwrap().is_read_only());
    let drafts = fs::read_dir(folder.path()).unwrap().flatten();
    let is_draft = |name: &str| name.contains(".draft");
    assert!(!drafts.map(|it| it.file_name()).any(|name| is_draft(name.to_str().unwrap())));
}

#[test]
fn an_unfinished_copy_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy.sqlite");
    drop(FileCopy::create(&to).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(FileCopy::open_to_read(&to).is_err());
}

/// The tables of a base that a copy leaves out: running calls and jobs, logs of derived indexes, and
/// rows that will be deleted.
const LEFT_OUT: [&str; 5] = ["claims", "data_gone", "gone", "job_leases", "vector_log"];

/// A new table must be copied, or be listed with the reason.
#[test]
fn every_table_is_copied_with_every_column() {
    let folder = tempfile::tempdir().unwrap();
    let copy = FileCopy::create(&folder.path().join("copy.sqlite")).unwrap();
    let connection = copy.connection().unwrap();
    let names = |sql: &str| -> BTreeSet<String> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables =
        names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    let mut known: BTreeSet<String> =
        TABLES.iter().map(|(name, _)| *name).chain(LEFT_OUT).map(str::to_owned).collect();
    assert!(known.remove(DATA_ROWS));
    assert_eq!(tables, known);
    for (table, columns) in TABLES.iter().filter(|(table, _)| *table != DATA_ROWS) {
        let mut columns: BTreeSet<String> =
            columns.iter().map(|column| (*column).to_owned()).collect();
        if *table == "job_files" {
            // The leases are left out, too.
            columns.insert("fence".to_owned());
        }
        assert_eq!(
            names(&format!("SELECT name FROM pragma_table_info('{table}')")),
            columns,
            "{table}"
        );
    }
}
