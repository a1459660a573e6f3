//! Creates the tables, and brings older bases to the current layout. Each step is one transaction,
//! and keeps everything that was paid for.

use std::path::Path;

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, ErrorCode};
use rusqlite_migration::{Error, M, Migrations};

use super::busy::{is_busy, unless_busy};

/// The layout that this version reads and writes.
pub const LAYOUT: i64 = 12;
/// The oldest layout that can be brought to the current one.
pub(super) const OLDEST: i64 = 3;
/// The application id in the file: `PIKE`, from layout 5 on.
pub(super) const APPLICATION: u32 = 0x5049_4b45;
/// Why a database without our tables is not opened.
pub(super) const FOREIGN: &str = "it is the database of another program";

/// The step to each layout, from the first on. Bases of layouts 1 and 2 existed, but none was in
/// use.
const STEPS: &[M<'_>] = &[
    M::up(include_str!("layouts/3.sql")),
    M::up("-- as 3"),
    M::up("-- as 3"),
    M::up(include_str!("layouts/4.sql")),
    M::up(include_str!("layouts/5.sql")),
    M::up(include_str!("layouts/6.sql")),
    M::up(include_str!("layouts/7.sql")),
    M::up(include_str!("layouts/8.sql")),
    M::up(include_str!("layouts/9.sql")),
    M::up(include_str!("layouts/10.sql")),
    M::up(include_str!("layouts/11.sql")),
    M::up(include_str!("layouts/12.sql")),
];

/// Why a base of this layout is not opened; `None` if it is.
pub(super) fn refused(layout: i64) -> Option<String> {
    match layout {
        OLDEST..=LAYOUT => None,
        other if LAYOUT < other => Some(format!(
            "it has layout {other}, and this version of pikerag knows layouts up to {LAYOUT}: a newer version \
             wrote it"
        )),
        other => Some(format!(
            "it has layout {other}, which was never released; layouts from {OLDEST} on are read"
        )),
    }
}

/// Brings the database at `path`, an empty file or an older base, to the current layout.
///
/// # Errors
/// [`StoreError::NotOurs`] for the database of another program, and for a base whose layout is
/// newer or older than this version knows. It stays unchanged.
pub(super) fn bring_up_to_date(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let not_ours =
        |reason: String| StoreError::NotOurs { path: path.display().to_string(), reason };
    let broken = |error: rusqlite::Error| not_ours(reason(&error));
    let number = |connection: &Connection, sql: &str| {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(broken)
    };
    match number(connection, "PRAGMA user_version")? {
        LAYOUT => return Ok(()),
        0 if number(connection, "SELECT count(*) FROM sqlite_schema")? != 0 => {
            // Another process may be creating the base; then its layout is set by now.
            if number(connection, "PRAGMA user_version")? != LAYOUT {
                return Err(not_ours(FOREIGN.to_owned()));
            }
            return Ok(());
        }
        0 => {}
        other => {
            if let Some(reason) = refused(other) {
                return Err(not_ours(reason));
            }
        }
    }
    let brought = unless_busy(|| match Migrations::from_slice(STEPS).to_latest(connection) {
        Err(Error::RusqliteError { err, .. }) if is_busy(&err) => Err(err),
        done => Ok(done),
    });
    let failed = match brought {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(Error::RusqliteError { err, .. })) | Err(err) => reason(&err),
        Ok(Err(error)) => error.to_string(),
    };
    match number(connection, "PRAGMA user_version")? {
        // Two processes may have begun at once: the second finds the work done.
        LAYOUT => Ok(()),
        _ => Err(not_ours(format!("it could not be brought to layout {LAYOUT}: {failed}"))),
    }
}

/// The cause of a failure and, if the disk is to blame, what to do.
pub(super) fn reason(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => format!(
            "the disk is full or cannot be written ({error}); nothing was lost: make space, then try again"
        ),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(statements: &str) -> (tempfile::TempDir, Result<(), String>, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("base.sqlite");
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch(statements).unwrap();
        let result = bring_up_to_date(&path, &mut connection).map_err(|error| error.to_string());
        (folder, result, connection)
    }

    fn version(connection: &Connection) -> i64 {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_steps_are_valid_and_lead_to_the_current_layout() {
        Migrations::from_slice(STEPS).validate().unwrap();
        assert_eq!(i64::try_from(STEPS.len()), Ok(LAYOUT));
        let (_folder, result, connection) = opened("");
        assert_eq!((result, version(&connection)), (Ok(()), LAYOUT));
    }

    #[test]
    fn headings_become_lists() {
        let three = format!(
            "{} PRAGMA user_version = 3;
             INSERT INTO files VALUES ('f', 'h', 'r');
             INSERT INTO sources VALUES (1, 'f', 'f', 't', 'm', 'h', NULL, '{{}}', 'x', NULL);
             INSERT INTO sections VALUES (7, 1, NULL, 0, 1, 'A › B'), (8, 1, 7, 1, 2, 'C');
             INSERT INTO chunks(id, source, section, headings, ordinal, kind, text, span_start, span_end, hidden, generation)
             VALUES (1, 1, 8, 'A › B › C', 0, 'text', 'x', 0, 1, 0, 1), (2, 1, NULL, '', 1, 'text', 'y', 1, 2, 0, 1);",
            include_str!("layouts/3.sql")
        );
        let (_folder, result, connection) = opened(&three);
        result.unwrap();
        let headings: Vec<String> = connection
            .prepare("SELECT headings FROM chunks ORDER BY id")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(headings, [r#"["A › B","C"]"#, "[]"]);
    }

    #[test]
    fn files_that_replaced_each_other_are_read_again() {
        let four = format!(
            "{} PRAGMA user_version = 3;
             INSERT INTO files VALUES ('a.md', 'h', 'r'), ('r.jsonl', 'h', 'r'), ('r.jsonl#x.md', 'h', 'r');",
            include_str!("layouts/3.sql")
        );
        let (_folder, result, connection) = opened(&four);
        result.unwrap();
        let kept: String = connection
            .query_row("SELECT group_concat(path) FROM files WHERE hash <> ''", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(kept, "a.md");
    }

    /// Events name nodes, atoms too; a document that no run names has no entry.
    #[test]
    fn runs_of_earlier_layouts_know_their_calls_and_documents() {
        let named =
            "{\"calls\":[\"k\"],\"at\":[{\"chunk\":\"0000000000000001\"},\"ffffffffffffffff\"]}";
        let seven = format!(
            "{} PRAGMA user_version = 3;
             INSERT INTO files VALUES ('f', 'h', 'r');
             INSERT INTO sources VALUES (1, 'f', 'f', 't', 'm', 'h', NULL, '{{}}', 'x', NULL),
                 (2, 'f', 'g', 't', 'm', 'h', NULL, '{{}}', 'x', NULL), (3, 'f', 'i', 't', 'm', 'h', NULL, '{{}}', 'x', NULL);
             INSERT INTO chunks(id, source, section, headings, ordinal, kind, text, span_start, span_end, hidden, generation)
             VALUES (1, 1, NULL, '', 0, 'text', 'x', 0, 1, 0, 1), (2, 2, NULL, '', 0, 'text', 'x', 0, 1, 0, 1),
                 (3, 3, NULL, '', 0, 'text', 'x', 0, 1, 0, 1);
             INSERT INTO atoms(id, chunk, kind, ordinal, text) VALUES (-1, 2, 'question', 0, 'x');",
            include_str!("layouts/3.sql")
        );
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path().join("base.sqlite")).unwrap();
        connection.execute_batch(&seven).unwrap();
        Migrations::from_slice(STEPS).to_version(&mut connection, 7).unwrap();
        connection
            .execute_batch(&format!(
                "INSERT INTO runs VALUES ('r', 1, 'answered', '{{}}'), ('broken', 1, 'answered', 'no json');
                 INSERT INTO run_events VALUES ('r', 0, '{named}'), ('broken', 0, 'no json');"
            ))
            .unwrap();
        bring_up_to_date(&folder.path().join("base.sqlite"), &mut connection).unwrap();
        let of = |sql: &str| -> String { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
        assert_eq!(of("SELECT group_concat(run || ' ' || call) FROM run_calls"), "r k");
        assert_eq!(of("SELECT group_concat(run || ' ' || source) FROM run_sources"), "r 1,r 2");
        connection.execute_batch("DELETE FROM runs").unwrap();
        assert_eq!(of("SELECT count(*) || '' FROM run_sources"), "2", "its call is still there");
    }

    #[test]
    fn newer_and_foreign_databases_stay_unchanged() {
        let (_folder, result, connection) = opened("PRAGMA user_version = 99; CREATE TABLE x (y);");
        assert!(result.unwrap_err().contains("a newer version wrote it"));
        assert_eq!(version(&connection), 99);
        let (_folder, result, connection) = opened("CREATE TABLE x (y);");
        assert!(result.unwrap_err().contains("another program"));
        assert_eq!(version(&connection), 0);
    }
}
