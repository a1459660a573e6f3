//! Reads and writes the tables of a base row by row, for a copy to or from another store.

mod data;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use pikerag_knowledge::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql, params, params_from_iter};

use self::tables::{DATA_ROWS, TABLES};
use super::backup::{Copied, Place, counted, draft_of, faults, keep};
use super::counters::FILTERABLE;
use super::inner::DATABASE;
use super::layouts::{self, LAYOUT};
use super::opening;
use crate::error::{BaseProblem, Context};

/// The value of a column.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of SQLite's types")]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Takes the rows of a table, one by one.
pub type TakeRow<'a> = &'a mut dyn FnMut(Vec<Cell>) -> Result<(), StoreError>;

/// The key in `meta` of the number of the last job. In SQLite, the number is not in `meta`.
const LAST_JOB: &str = "last_job";

/// A base in one file, which another store copies from or to.
pub struct FileCopy {
    /// In a transaction.
    connection: Option<Connection>,
    /// A file of ours, which is removed in the end.
    draft: Option<PathBuf>,
    /// The file that is read, or that will be written.
    path: PathBuf,
}

impl FileCopy {
    /// Opens a backup, or the base in a folder, for reading. Others may write it meanwhile. An older
    /// layout is read from a temporary copy beside it.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] if it is not a base; [`BaseProblem::DamagedDatabase`] if it is
    /// damaged.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let path = if path.is_dir() { path.join(DATABASE) } else { path.to_owned() };
        let doing = format!("reading {}", path.display());
        let Some(layout) = opening::layout_of(&path)? else {
            let reason = "it holds no knowledge base".to_owned();
            return Err(StoreError::NotOurs { path: path.display().to_string(), reason });
        };
        let source = opening::to_copy(&path)?;
        let faults = faults(&source).context(&doing)?;
        if !faults.is_empty() {
            return Err(BaseProblem::DamagedDatabase { path, faults }).context(&doing);
        }
        let mut copy = Self { connection: None, draft: None, path };
        let connection = match layout {
            LAYOUT => source,
            _ => copy.in_this_layout(&source, &doing)?,
        };
        connection.execute_batch("BEGIN").context(&doing)?;
        copy.connection = Some(connection);
        Ok(copy)
    }

    /// Brings a copy of an older base to the current layout.
    fn in_this_layout(
        &mut self,
        source: &Connection,
        doing: &str,
    ) -> Result<Connection, StoreError> {
        let draft = draft_of(&self.path);
        let name = draft.to_str().ok_or("its name is not UTF-8").context(doing)?;
        let _ = fs::remove_file(&draft);
        self.draft = Some(draft.clone());
        source.execute("VACUUM INTO ?1", [name]).context(doing)?;
        let mut connection = Connection::open(&draft).context(doing)?;
        opening::tune(&connection).context(doing)?;
        layouts::bring_up_to_date(&draft, &mut connection)?;
        Ok(connection)
    }

    /// Begins an empty base, which appears at `path` once it is complete.
    ///
    /// # Errors
    /// [`BaseProblem::FileThere`] if there is a file.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let doing = format!("writing {}", path.display());
        if path.try_exists().context(&doing)? {
            return Err(BaseProblem::FileThere { path: path.to_owned() }).context(&doing);
        }
        let draft = draft_of(path);
        let _ = fs::remove_file(&draft);
        let mut copy = Self { connection: None, draft: Some(draft.clone()), path: path.to_owned() };
        let mut connection = Connection::open(&draft).context(&doing)?;
        // A crash leaves a draft that nobody reads.
        connection
            .execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")
            .context(&doing)?;
        layouts::bring_up_to_date(&draft, &mut connection)?;
        // The rows are consistent already.
        connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN;").context(&doing)?;
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
            .context(&doing)?;
        copy.connection = Some(connection);
        Ok(copy)
    }

    /// The copied tables with their columns, in the order in which they can be inserted.
    pub fn tables() -> &'static [(&'static str, &'static [&'static str])] {
        TABLES
    }

    /// The size and content of the file that is read.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn counts(&self) -> Result<Copied, StoreError> {
        let doing = self.doing("reading");
        let bytes = fs::metadata(&self.path).context(&doing)?.len();
        Ok(Copied { bytes, ..counted(self.connection()?).context(&doing)? })
    }

    /// Passes all rows of a table to `row`, with the columns of [`FileCopy::tables`].
    ///
    /// # Errors
    /// The file cannot be read, or `row` fails.
    pub fn each(&self, table: &str, row: TakeRow<'_>) -> Result<(), StoreError> {
        let doing = self.doing("reading");
        let connection = self.connection()?;
        if table == DATA_ROWS {
            return data::each(connection, &doing, row);
        }
        let columns = columns(table).join(", ");
        let sql = match table {
            "meta" => format!(
                "SELECT {columns} FROM meta WHERE key NOT IN ('identity', 'forgetting', '{FILTERABLE}')
                 AND key NOT LIKE 'vector_log_floor:%'
                 UNION ALL SELECT '{LAST_JOB}', CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = 'jobs'"
            ),
            // A parent comes before its children.
            "communities" => {
                "WITH RECURSIVE below(id, level, parent, depth) AS (
                     SELECT id, level, parent, 0 FROM communities WHERE parent IS NULL
                     UNION ALL
                     SELECT c.id, c.level, c.parent, b.depth + 1 FROM communities c JOIN below b ON c.parent = b.id
                 )
                 SELECT id, level, parent FROM below ORDER BY depth, id"
                    .to_owned()
            }
            _ => format!("SELECT {columns} FROM {table}"),
        };
        let mut statement = connection.prepare(&sql).context(&doing)?;
        let width = statement.column_count();
        let mut found = statement.query([]).context(&doing)?;
        while let Some(read) = found.next().context(&doing)? {
            let cells = (0..width).map(|place| read.get_ref(place).map(Cell::of));
            row(cells.collect::<rusqlite::Result<_>>().context(&doing)?)?;
        }
        Ok(())
    }

    /// Adds rows to a table, with the columns of [`FileCopy::tables`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn insert(&self, table: &str, rows: &[Vec<Cell>]) -> Result<(), StoreError> {
        let doing = self.doing("writing");
        let connection = self.connection()?;
        let inserted = match table {
            DATA_ROWS => data::insert(connection, rows),
            "meta" => rows.iter().try_for_each(|row| insert_fact(connection, row)),
            _ => insert(connection, table, rows),
        };
        inserted.context(&doing)
    }

    /// Completes the file. Until then nothing appears at its path.
    ///
    /// # Errors
    /// The file cannot be written, or another file appeared at its path.
    pub fn finish(mut self) -> Result<Copied, StoreError> {
        let doing = self.doing("writing");
        let (Some(connection), Some(draft)) = (self.connection.take(), self.draft.clone()) else {
            return Err("it was opened to be read").context(&doing);
        };
        data::make_tables(&connection).context(&doing)?;
        connection.execute_batch("COMMIT").context(&doing)?;
        keep(connection, &draft, &self.path, Place::New)
    }

    fn connection(&self) -> Result<&Connection, StoreError> {
        let doing = self.doing("opening");
        self.connection.as_ref().ok_or("it is closed").context(&doing)
    }

    fn doing(&self, what: &str) -> String {
        format!("{what} {}", self.path.display())
    }
}

impl Drop for FileCopy {
    fn drop(&mut self) {
        drop(self.connection.take());
        // After `finish` there is none.
        if let Some(draft) = &self.draft {
            let _ = fs::remove_file(draft);
        }
    }
}

fn columns(table: &str) -> &'static [&'static str] {
    TABLES.iter().find(|(name, _)| *name == table).map_or(&[], |(_, columns)| columns)
}

fn insert(connection: &Connection, table: &str, rows: &[Vec<Cell>]) -> rusqlite::Result<()> {
    let columns = columns(table);
    let places = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", columns.join(", "));
    let mut statement = connection.prepare_cached(&sql)?;
    rows.iter().try_for_each(|row| statement.execute(params_from_iter(row)).map(drop))
}

fn insert_fact(connection: &Connection, row: &[Cell]) -> rusqlite::Result<()> {
    let [key, value] = row else {
        return Err(rusqlite::Error::InvalidParameterCount(row.len(), 2));
    };
    if *key != Cell::Text(LAST_JOB.to_owned()) {
        let sql = "INSERT OR REPLACE INTO meta(key, value) VALUES (?1, ?2)";
        return connection.execute(sql, params![key, value]).map(drop);
    }
    let held: Option<i64> = connection
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'", [], |row| row.get(0))
        .optional()?;
    let sql = match held {
        Some(_) => {
            "UPDATE sqlite_sequence SET seq = max(seq, CAST(?1 AS INTEGER)) WHERE name = 'jobs'"
        }
        None => "INSERT INTO sqlite_sequence(name, seq) VALUES ('jobs', CAST(?1 AS INTEGER))",
    };
    connection.execute(sql, [value]).map(drop)
}

#[cfg(test)]
mod tests;
