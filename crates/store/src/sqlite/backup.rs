//! Copies a base while it is in use, as one file from one snapshot, and restores a base from such a
//! copy.

use std::error::Error;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, ErrorCode};
use serde::Serialize;

use super::base::Base;
use super::inner::DATABASE;
use super::{claims, header, opening, rows};
use crate::error::{BaseProblem, Context};

/// The size and content of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// Bytes of the database.
    pub bytes: u64,
    /// Indexed files.
    pub files: usize,
    /// Recorded model calls.
    pub calls: usize,
    /// Stored runs.
    pub runs: usize,
}

impl Base {
    /// Writes the whole database to a new file, from one snapshot that concurrent writes do not
    /// change, without freed pages. Derived indexes are left out.
    ///
    /// # Errors
    /// The file already exists, or cannot be written; a failed write leaves no file.
    pub async fn backup(&self, to: &Path) -> Result<Copied, StoreError> {
        let (inner, to) = (self.inner.clone(), to.to_owned());
        let doing = format!("writing the backup {}", to.display());
        let named = doing.clone();
        tokio::task::spawn_blocking(move || {
            if to.try_exists().context(&named)? {
                return Err(BaseProblem::FileThere { path: to }).context(&named);
            }
            inner.with_reader(|connection| copy(connection, &to, Place::New, |_| Ok(())))
        })
        .await
        .context(&doing)?
    }

    /// Creates a base in `folder` from a backup or from the folder of another base, which stays
    /// unchanged.
    ///
    /// # Errors
    /// [`BaseProblem::Exists`] if `folder` has a base; [`BaseProblem::DamagedDatabase`] if the
    /// backup is damaged, its schema too; [`StoreError::NotOurs`] if it is not a backup.
    pub fn restore(from: &Path, folder: &Path) -> Result<Copied, StoreError> {
        let doing = format!("restoring {}", from.display());
        let from = if from.is_dir() { from.join(DATABASE) } else { from.to_owned() };
        if opening::layout_of(&from)?.is_none() {
            let (path, reason) =
                (from.display().to_string(), "it holds no knowledge base".to_owned());
            return Err(StoreError::NotOurs { path, reason });
        }
        let to = folder.join(DATABASE);
        // A log without its database would be taken for the log of the new database.
        if to.exists() && opening::layout_of(&to)?.is_some() || header::has_log(&to) {
            return Err(BaseProblem::Exists { folder: folder.to_owned() }).context(&doing);
        }
        let source = opening::to_copy(&from).map_err(|error| damage_named(error, &from, &doing))?;
        let whole = |database: &Connection| match faults(database).context(&doing)? {
            faults if faults.is_empty() => Ok(()),
            faults => {
                let path = from.clone();
                Err(BaseProblem::DamagedDatabase { path, faults }).context(&doing)
            }
        };
        whole(&source)?;
        fs::create_dir_all(folder).context(&doing)?;
        // Indexes left in the folder must not be taken for those of this base, so it gets a new
        // identity.
        let renamed = "UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'identity'";
        copy(&source, &to, Place::Any, |copy| {
            // A process that does not wait for locks may have written to the source in the
            // meantime.
            whole(copy)?;
            copy.execute(renamed, []).map(drop).context(&doing)
        })
    }
}

/// The faults of a database, in SQLite's words; empty if there are none.
pub(super) fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = faults_of(connection, "PRAGMA integrity_check(20)", |row| row.get(0))?;
    faults.retain(|fault| fault != "ok");
    let dangling = faults_of(connection, "PRAGMA foreign_key_check", |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of {table} refers to a missing row of {parent}"))
    })?;
    faults.extend(dangling);
    Ok(faults)
}

/// The most faults that one check reports.
const MOST_FAULTS: usize = 20;

/// The faults that a check reports. A page that cannot be read ends the check and is its last
/// fault.
fn faults_of(
    connection: &Connection,
    check: &str,
    fault: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<String>,
) -> rusqlite::Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut collect = || {
        let mut check = connection.prepare(check)?;
        let mut rows = check.query([])?;
        while faults.len() < MOST_FAULTS
            && let Some(row) = rows.next()?
        {
            faults.push(fault(row)?);
        }
        Ok::<(), rusqlite::Error>(())
    };
    match collect() {
        Err(error) if is_damage(&error) => faults.push(error.to_string()),
        collected => collected?,
    }
    Ok(faults)
}

/// The same error; [`BaseProblem::DamagedDatabase`] if it says that the database is damaged.
fn damage_named(error: StoreError, path: &Path, doing: &str) -> StoreError {
    if !is_damage(&error) {
        return error;
    }
    let fault = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let problem = BaseProblem::DamagedDatabase { path: path.to_owned(), faults: vec![fault] };
    StoreError::Failed { what: doing.to_owned(), source: problem.into() }
}

/// Whether an error says that the database is damaged, and not that it is busy or the like.
pub(super) fn is_damage(error: &(dyn Error + 'static)) -> bool {
    let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        || error.source().is_some_and(is_damage)
}

/// Whether a copy may replace a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    New,
    Any,
}

/// The file beside `to` in which this process writes a copy. Drafts that killed copies to the same
/// file left behind are removed.
pub(super) fn draft_of(to: &Path) -> PathBuf {
    remove_drafts(to);
    let mut draft = to.as_os_str().to_owned();
    draft.push(format!(".draft{}", std::process::id()));
    draft.into()
}

fn remove_drafts(to: &Path) {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
    let Some(name) = to.file_name() else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let process = path.file_name().and_then(|draft| {
            let rest = draft.as_encoded_bytes().strip_prefix(name.as_encoded_bytes())?;
            std::str::from_utf8(rest).ok()?.strip_prefix(".draft")?.parse::<u32>().ok()
        });
        if process.is_some_and(claims::is_gone) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Copies into a draft, and renames it to `to` once it is complete and on disk.
fn copy(
    from: &Connection,
    to: &Path,
    place: Place,
    change: impl FnOnce(&Connection) -> Result<(), StoreError>,
) -> Result<Copied, StoreError> {
    let doing = format!("writing {}", to.display());
    let draft = draft_of(to);
    let written = || -> Result<Copied, StoreError> {
        let name = draft.to_str().ok_or("its name is not UTF-8").context(&doing)?;
        from.execute("VACUUM INTO ?1", [name]).context(&doing)?;
        let made = Connection::open(&draft).context(&doing)?;
        change(&made)?;
        keep(made, &draft, to, place)
    };
    let copied = written();
    if copied.is_err() {
        let _ = fs::remove_file(&draft);
    }
    copied
}

/// Renames a complete draft to `to`, once it is on disk.
pub(super) fn keep(
    made: Connection,
    draft: &Path,
    to: &Path,
    place: Place,
) -> Result<Copied, StoreError> {
    let doing = format!("writing {}", to.display());
    let copied = counted(&made).context(&doing)?;
    drop(made);
    let file = File::open(draft).context(&doing)?;
    file.sync_all().context(&doing)?;
    let bytes = file.metadata().context(&doing)?.len();
    if place == Place::New {
        // The target is created last, so that a killed copy leaves nothing that looks like a
        // backup. The first of several copies wins.
        match File::create_new(to) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(BaseProblem::FileThere { path: to.to_owned() }).context(&doing);
            }
            made => drop(made.context(&doing)?),
        }
    }
    fs::rename(draft, to).context(&doing)?;
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder).and_then(|folder| folder.sync_all()).context(&doing)?;
    }
    Ok(Copied { bytes, ..copied })
}

/// The content of a database; its bytes are unknown.
pub(super) fn counted(database: &Connection) -> rusqlite::Result<Copied> {
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        database.query_row(&sql, [], |row| rows::size(row, 0))
    };
    // Layouts before 4 have no runs.
    let runs = if database.table_exists(None, "runs")? { count("runs")? } else { 0 };
    Ok(Copied { bytes: 0, files: count("files")?, calls: count("calls")?, runs })
}
