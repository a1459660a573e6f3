//! Reads the tables of an SQLite database, each under a heading with its name.

use std::io::Read;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB};

use crate::ParseError;
use crate::document::file::Input;
use crate::document::writing::Writing;
use pikerag_unpack::Problems;

/// The header bytes of the write and read versions: 1 for a journal, 2 for a separate log.
const VERSIONS: std::ops::Range<usize> = 18..20;
const WITH_LOG: u8 = 2;
const WITH_JOURNAL: u8 = 1;
/// The most bytes of one value: a computed column may be larger than the file.
const MOST_BYTES: i32 = 64 << 20;

/// Reads all tables except those of SQLite itself and of its extensions. Views are skipped, because
/// they repeat data of tables.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let malformed = |error: rusqlite::Error| input.malformed("an SQLite database", error);
    let connection = opened(input, problems).map_err(malformed)?;
    let tables = names(&connection).map_err(malformed)?;
    let mut writing = Writing::new(input.limits.max_cells);
    let mut cells_left = input.limits.max_cells;
    for table in tables {
        let rows = match rows(&connection, &table, &mut cells_left) {
            Ok(rows) => rows,
            Err(error) => {
                problems.add(
                    format!("table {table}"),
                    ProblemFact::TableUnreadable { reason: error.to_string() },
                );
                continue;
            }
        };
        if 0 < rows.n_blobs {
            let reason = ProblemFact::BinaryValues { cells: rows.n_blobs };
            problems.add(format!("table {table}"), reason);
        }
        if rows.is_cut {
            let reason = ProblemFact::FurtherRows { most: input.limits.max_cells };
            problems.add(format!("table {table}"), reason);
        }
        writing.plain(BlockKind::Heading { level: 1 }, &table);
        writing.named_table(rows.header, rows.cells);
    }
    Ok(input.document(None, writing))
}

/// Opens a copy of the database in memory, read-only. Its schema is not trusted.
fn opened(input: &Input, problems: &mut Problems) -> rusqlite::Result<Connection> {
    let (header, rest) = input.bytes.split_at_checked(VERSIONS.end).unwrap_or_default();
    let mut header = header.to_vec();
    for version in header.get_mut(VERSIONS).into_iter().flatten() {
        if *version == WITH_LOG {
            // A database in memory has no log.
            *version = WITH_JOURNAL;
        }
    }
    if input.bytes.get(VERSIONS) != header.get(VERSIONS) {
        problems.add(String::new(), ProblemFact::WriteAheadLog);
    }
    let mut connection = Connection::open_in_memory()?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    let whole = header.as_slice().chain(rest);
    connection.deserialize_read_exact(MAIN_DB, whole, input.bytes.len(), true)?;
    Ok(connection)
}

/// The names of tables in the order of creation.
fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare(
        "SELECT name, rootpage = 0 FROM sqlite_schema WHERE type = 'table' ORDER BY rowid",
    )?;
    let tables = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let tables: Vec<(String, bool)> = tables.collect::<rusqlite::Result<_>>()?;
    // Extensions store the content of their tables in other tables, which carry their names:
    // `texts_content`.
    let is_of_extension = |name: &str| {
        let mut own = tables.iter().filter(|(_, is_virtual)| *is_virtual);
        own.any(|(own, _)| {
            name.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('_'))
        })
    };
    let is_plain = |(name, is_virtual): &(String, bool)| {
        !is_virtual && !name.starts_with("sqlite_") && !is_of_extension(name)
    };
    Ok(tables.iter().filter(|table| is_plain(table)).map(|(name, _)| name.clone()).collect())
}

/// The rows of a table as text.
#[derive(Default)]
struct Rows {
    header: Vec<String>,
    cells: Vec<Vec<String>>,
    n_blobs: usize,
    is_cut: bool,
}

fn rows(connection: &Connection, table: &str, cells_left: &mut usize) -> rusqlite::Result<Rows> {
    let quoted = table.replace('"', "\"\"");
    let mut query = connection.prepare(&format!("SELECT * FROM \"{quoted}\""))?;
    let header: Vec<String> = query.column_names().into_iter().map(str::to_owned).collect();
    let mut found = Rows { header, ..Rows::default() };
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let Some(left) = cells_left.checked_sub(found.header.len()) else {
            found.is_cut = true;
            break;
        };
        *cells_left = left;
        let mut cells = Vec::with_capacity(found.header.len());
        for at in 0..found.header.len() {
            cells.push(match row.get_ref(at)? {
                ValueRef::Null => String::new(),
                ValueRef::Integer(whole) => whole.to_string(),
                ValueRef::Real(real) => real.to_string(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                ValueRef::Blob(_) => {
                    found.n_blobs += 1;
                    String::new()
                }
            });
        }
        found.cells.push(cells);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::{Connection, MAIN_DB};

    use crate::test_support::run;

    /// The bytes of a database that statements make.
    fn database(statements: &str) -> Vec<u8> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(statements).unwrap();
        connection.serialize(MAIN_DB).unwrap().to_vec()
    }

    const SHOP: &str = "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price REAL);
        INSERT INTO products VALUES (1, 'Pump', 120.5), (2, '阀门', NULL);
        CREATE TABLE \"odd \"\"name\"\"\" (day TEXT, photo BLOB, n AS (length(day)));
        INSERT INTO \"odd \"\"name\"\"\" VALUES ('2024-05-01', x'00ff'), ('2024-05-02', NULL);
        CREATE VIEW dear AS SELECT * FROM products;
        CREATE TABLE blank (a, b);";

    #[test]
    fn each_table_is_read_under_its_name() {
        insta::assert_snapshot!(run("shop.db", database(SHOP)), @r#"
        == shop
        h1 "products"
        table "id | name | price\nid: 1; name: Pump; price: 120.5\nid: 2; name: 阀门"
          header ["id", "name", "price"]
          row ["1", "Pump", "120.5"]
          row ["2", "阀门", ""]
        h1 "odd \"name\""
        table "day | photo | n\nday: 2024-05-01; n: 10\nday: 2024-05-02; n: 10"
          header ["day", "photo", "n"]
          row ["2024-05-01", "", "10"]
          row ["2024-05-02", "", "10"]
        h1 "blank"
        table "a | b"
          header ["a", "b"]
        ! table odd "name": binary values were skipped, in 1 cells
        "#);
    }

    /// Tables of extensions, and the tables with their content.
    #[test]
    fn tables_of_extensions_are_left_out() {
        let statements = "CREATE VIRTUAL TABLE notes USING fts3(text);
            INSERT INTO notes VALUES ('a note'); CREATE TABLE notebooks (name); INSERT INTO notebooks VALUES ('red');";
        insta::assert_snapshot!(run("notes.db", database(statements)), @r#"
        == notes
        h1 "notebooks"
        table "name\nname: red"
          header ["name"]
          row ["red"]
        "#);
    }

    #[test]
    fn a_database_with_a_log_is_read_without_the_log() {
        let mut bytes = database(SHOP);
        bytes[18..20].fill(2);
        let read = run("shop.sqlite", &bytes);
        assert!(read.contains("Pump") && read.contains("-wal"), "{read}");
    }

    #[test]
    fn damaged_databases_are_refused() {
        let cut = &database(SHOP)[..1000];
        insta::assert_snapshot!(run("cut.db", cut), @"`cut.db` is not readable as an SQLite database: database disk image is malformed; open it in its program and save it again; if it is plain text, rename it to .txt");
    }

    proptest! {
        #[test]
        fn handles_any_damage(at in 0_usize..8192, byte in any::<u8>(), length in 0_usize..9000) {
            let mut bytes = database(SHOP);
            let at = at % bytes.len();
            if 16 <= at {
                bytes[at] = byte;
            }
            bytes.truncate(length.max(16));
            let _ = run("damaged.db", bytes);
        }
    }
}
