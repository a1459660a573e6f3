//! Decides whether a file may be opened, and whether for writing. It is examined before anything is
//! written: a foreign database stays unchanged, and a base that cannot be written can still be
//! read.

use std::path::Path;

use pikerag_knowledge::StoreError;
use pikerag_knowledge::uri::percent_encoded;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::busy::{LOCKED_FOR, unless_busy};
use super::data::functions;
use super::header::{self, Header};
use super::layouts::{self, APPLICATION, LAYOUT, OLDEST};
use crate::error::{BaseProblem, Context, is_exhaustion};

/// Counts the tables that a base has in every layout. They distinguish it from a database that has
/// its number by chance.
const OURS: &str = "SELECT count(*) FROM sqlite_schema
     WHERE type = 'table' AND name IN ('meta', 'files', 'sources', 'chunks', 'calls')";

/// Opens the database for writing, in the current layout; `None` if nothing can be written there.
///
/// # Errors
/// [`StoreError::NotOurs`], without a byte changed.
pub(super) fn to_write(path: &Path) -> Result<Option<Connection>, StoreError> {
    let found = layout_of(path)?;
    let refused = |error: &rusqlite::Error| not_ours(path, layouts::reason(error));
    let opened = match writer(path) {
        Err(error) if says_read_only(&error) && !can_write_beside(path)? => None,
        opened => opened.map_err(|error| refused(&error))?,
    };
    match (opened, found) {
        (Some(mut writer), _) => {
            layouts::bring_up_to_date(path, &mut writer)?;
            Ok(Some(writer))
        }
        (None, Some(LAYOUT)) => Ok(None),
        (None, Some(older)) => Err(not_ours(
            path,
            format!(
                "it has layout {older} and must be brought to layout {LAYOUT}, but cannot be written"
            ),
        )),
        (None, None) => {
            Err(not_ours(path, "there is no knowledge base, and none can be created".to_owned()))
        }
    }
}

fn writer(path: &Path) -> rusqlite::Result<Option<Connection>> {
    let writer = Connection::open(path)?;
    // SQLite silently opens a file for reading if it may not write it.
    if writer.is_readonly("main")? {
        return Ok(None);
    }
    tune(&writer)?;
    set_page_cache(&writer, WRITER_PAGE_CACHE)?;
    unless_busy(|| writer.execute_batch(WRITING))?;
    Ok(Some(writer))
}

fn says_read_only(error: &rusqlite::Error) -> bool {
    let read_only = [ErrorCode::ReadOnly, ErrorCode::CannotOpen, ErrorCode::PermissionDenied];
    error.sqlite_error_code().is_some_and(|code| read_only.contains(&code))
}

/// Whether a file can be created beside the database, as its log must be.
///
/// # Errors
/// No descriptor is free, so the answer is unknown.
fn can_write_beside(path: &Path) -> Result<bool, StoreError> {
    let probe = path.with_extension(format!("probe{}", std::process::id()));
    match std::fs::File::create_new(&probe) {
        Ok(_) => Ok(std::fs::remove_file(&probe).is_ok()),
        Err(error) if is_exhaustion(&error) => Err(error).context("opening the database"),
        Err(_) => Ok(false),
    }
}

/// The layout of the base at `path`; `None` if there is none yet.
///
/// # Errors
/// [`StoreError::NotOurs`] unless the file is a base of a layout that this version knows;
/// [`BaseProblem::DamagedDatabase`] if its header is damaged. Nothing is changed.
pub(super) fn layout_of(path: &Path) -> Result<Option<i64>, StoreError> {
    let header = header::read(path).map_err(|error| not_ours(path, error.to_string()))?;
    let damaged = |fault: &str| {
        let faults = vec![fault.to_owned()];
        Err(BaseProblem::DamagedDatabase { path: path.to_owned(), faults })
            .context("opening the database")
    };
    let (layout, application) = match header {
        Header::Damaged => return damaged("its header is damaged"),
        // A base gets our number and its layout in one transaction.
        Header::Database { layout: 0, application: APPLICATION, .. } => {
            return damaged("its header has no layout number");
        }
        Header::Empty | Header::Database { layout: 0, has_tables: false, .. } => return Ok(None),
        Header::NoDatabase => return Err(not_ours(path, "it is not a database".to_owned())),
        Header::Database { layout, application, .. } => (layout, application),
    };
    if layout == 0 {
        return Err(not_ours(path, layouts::FOREIGN.to_owned()));
    }
    if let Some(reason) = layouts::refused(layout) {
        return Err(not_ours(path, reason));
    }
    if application != APPLICATION {
        // Before layout 5 the file had no application id.
        let is_ours = |connection: Connection| -> rusqlite::Result<bool> {
            connection.query_row(OURS, [], |row| row.get::<_, i64>(0)).map(|tables| tables == 5)
        };
        let found =
            to_read(path).and_then(is_ours).map_err(|error| not_ours(path, error.to_string()))?;
        if !found {
            return Err(not_ours(path, layouts::FOREIGN.to_owned()));
        }
    }
    debug_assert!((OLDEST..=LAYOUT).contains(&layout));
    Ok(Some(layout))
}

/// Opens the database for reading, and writes nothing beside it unless another process uses it.
pub(super) fn to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match header::has_log(path) {
        true => Connection::open_with_flags(path, flags)?,
        // Without a log the file is complete, and SQLite must not look for one.
        false => {
            Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    tune(&connection)?;
    Ok(connection)
}

/// A connection for reading, which also serves a process that cannot write.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    match to_read(path) {
        Err(_) if header::has_log(path) => {
            let reason = "it was not closed in order, and its log cannot be read without writing";
            Err(not_ours(path, reason.to_owned()))
        }
        opened => opened.context("opening the database to read"),
    }
}

/// Opens a database to copy it while others may write it. If this process can write beside it,
/// others may begin to do so at any time. The database is then locked as usual, and the files that
/// SQLite creates beside it go in the end.
pub(super) fn to_copy(path: &Path) -> Result<Connection, StoreError> {
    if !header::has_log(path) && can_write_beside(path)? {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let doing = "opening the database to copy it";
        let connection = Connection::open_with_flags(path, flags).context(doing)?;
        if !connection.is_readonly("main").context(doing)? {
            tune(&connection).context(doing)?;
            return Ok(connection);
        }
    }
    reader(path)
}

fn immutable_uri(path: &Path) -> String {
    format!("file:{}?immutable=1", percent_encoded(path))
}

fn not_ours(path: &Path, reason: String) -> StoreError {
    StoreError::NotOurs { path: path.display().to_string(), reason }
}

/// Settings of the one connection that writes. A frequent writer writes the same pages in
/// successive transactions. They are folded into the file every 32 MiB of the log, not every four,
/// which is as safe. A log that grew beyond that is cut when it begins again.
const WRITING: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 8192; PRAGMA journal_size_limit = 33554432;";

/// The page cache of the one connection that writes, in KiB, taken as needed. Identifiers are
/// hashes, so a transaction touches pages all over the file. Without a cache, each page would be
/// read, written and read again within it.
pub(super) const WRITER_PAGE_CACHE: u32 = 65_536;

/// The page cache of a connection that reads, in KiB.
pub(super) const PAGE_CACHE: u32 = 16_384;

pub(super) fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(LOCKED_FOR)?;
    // A question uses about a hundred statements.
    connection.set_prepared_statement_cache_capacity(128);
    // Else SQLite compiles a statement again for each new value that could change its plan. No base
    // has the statistics that this would need.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    functions::add(connection)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY;",
    )?;
    set_page_cache(connection, PAGE_CACHE)
}

/// Limits the pages that a connection keeps in memory, in KiB.
pub(super) fn set_page_cache(connection: &Connection, kibibytes: u32) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("PRAGMA cache_size = -{kibibytes};"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Base, DATABASE};

    /// The database is left as it was found.
    #[test]
    fn a_database_may_be_written_while_it_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        drop(Base::open_or_create(folder.path()).unwrap());
        let path = folder.path().join(DATABASE);
        let before = std::fs::read(&path).unwrap();
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();
        let copied = to_copy(&path).unwrap();
        let count = || -> i64 {
            copied.query_row("SELECT count(*) FROM meta", [], |row| row.get(0)).unwrap()
        };
        let first = count();
        drop(to_copy(&path).unwrap());
        assert!(before == std::fs::read(&path).unwrap());
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("INSERT INTO meta VALUES ('new', '')").unwrap();
        assert_eq!(count(), first + 1);
        drop((writer, copied));
        assert_eq!(entries(), 1);
    }
}
