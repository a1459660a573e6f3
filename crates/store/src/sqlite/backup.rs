//! How is a base copied while it lives? As one file, in one snapshot; and how does a base come of it again?

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

/// What a copy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// Bytes of the database.
    pub bytes: u64,
    /// Files that were indexed.
    pub files: usize,
    /// Model calls on record.
    pub calls: usize,
    /// Runs that were kept.
    pub runs: usize,
}

impl Base {
    /// Writes the whole database to a new file: as it stands now, whoever writes meanwhile, and without pages
    /// that were freed. What is derived from it is left out.
    ///
    /// # Errors
    /// The file is there already, or cannot be written; nothing is left of it then.
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

    /// Makes a base in `folder` of a backup, or of another base's folder, which stays as it is.
    ///
    /// # Errors
    /// [`BaseProblem::Exists`] where there is one; [`BaseProblem::DamagedDatabase`] where the backup is;
    /// [`StoreError::NotOurs`] where it is none.
    pub fn restore(from: &Path, folder: &Path) -> Result<Copied, StoreError> {
        let doing = format!("restoring {}", from.display());
        let from = if from.is_dir() { from.join(DATABASE) } else { from.to_owned() };
        if opening::look(&from)?.is_none() {
            let (path, reason) =
                (from.display().to_string(), "it holds no knowledge base".to_owned());
            return Err(StoreError::NotOurs { path, reason });
        }
        let to = folder.join(DATABASE);
        // A log without its database would be taken for that of the new one.
        if to.exists() && opening::look(&to)?.is_some() || header::has_log(&to) {
            return Err(BaseProblem::Exists { folder: folder.to_owned() }).context(&doing);
        }
        let source = opening::to_copy(&from)?;
        let whole = |database: &Connection| match faults(database).context(&doing)? {
            faults if faults.is_empty() => Ok(()),
            faults => {
                let path = from.clone();
                Err(BaseProblem::DamagedDatabase { path, faults }).context(&doing)
            }
        };
        whole(&source)?;
        fs::create_dir_all(folder).context(&doing)?;
        // Indexes that lie there from before must not be taken for this one's.
        let renamed = "UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'identity'";
        copy(&source, &to, Place::Any, |copy| {
            // Somebody may have written to it meanwhile who does not wait for others.
            whole(copy)?;
            copy.execute(renamed, []).map(drop).context(&doing)
        })
    }
}

/// What is wrong with a database, in SQLite's words; empty where nothing is.
pub(super) fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = said(connection, "PRAGMA integrity_check(20)", |row| row.get(0))?;
    faults.retain(|fault| fault != "ok");
    let dangling = said(connection, "PRAGMA foreign_key_check", |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of {table} names one of {parent} that is not there"))
    })?;
    faults.extend(dangling);
    Ok(faults)
}

/// At most so many faults of one kind are told.
const MOST_FAULTS: usize = 20;

/// What a check says, as far as it comes: where a page is not readable, that is the last thing it says.
fn said(
    connection: &Connection,
    check: &str,
    fault: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<String>,
) -> rusqlite::Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut tell = || {
        let mut check = connection.prepare(check)?;
        let mut rows = check.query([])?;
        while faults.len() < MOST_FAULTS
            && let Some(row) = rows.next()?
        {
            faults.push(fault(row)?);
        }
        Ok::<(), rusqlite::Error>(())
    };
    match tell() {
        Err(error) if is_damage(&error) => faults.push(error.to_string()),
        told => told?,
    }
    Ok(faults)
}

/// Whether an error says that the database is damaged, and not that it is busy or the like.
pub(super) fn is_damage(error: &(dyn std::error::Error + 'static)) -> bool {
    let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        || error.source().is_some_and(is_damage)
}

/// What may be where a copy is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    New,
    Any,
}

/// Removes what copies to the same place left behind that were killed.
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

/// Copies into a draft, and puts it in the place of `to` when it is whole and on disk.
fn copy(
    from: &Connection,
    to: &Path,
    place: Place,
    change: impl FnOnce(&Connection) -> Result<(), StoreError>,
) -> Result<Copied, StoreError> {
    let doing = format!("writing {}", to.display());
    remove_drafts(to);
    let mut draft = to.as_os_str().to_owned();
    draft.push(format!(".draft{}", std::process::id()));
    let draft = PathBuf::from(draft);
    let written = || -> Result<Copied, StoreError> {
        let name = draft.to_str().ok_or("its name is not UTF-8").context(&doing)?;
        from.execute("VACUUM INTO ?1", [name]).context(&doing)?;
        let made = Connection::open(&draft).context(&doing)?;
        change(&made)?;
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            made.query_row(&sql, [], |row| rows::size(row, 0)).context(&doing)
        };
        let (files, calls) = (count("files")?, count("calls")?);
        // Before layout 4 there were none.
        let has_runs = made.table_exists(None, "runs").context(&doing)?;
        let runs = if has_runs { count("runs")? } else { 0 };
        drop(made);
        let file = File::open(&draft).context(&doing)?;
        file.sync_all().context(&doing)?;
        let bytes = file.metadata().context(&doing)?.len();
        if place == Place::New {
            // At the last moment, so that a kill leaves nothing that looks like a backup: whoever was first stays.
            match File::create_new(to) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(BaseProblem::FileThere { path: to.to_owned() }).context(&doing);
                }
                made => drop(made.context(&doing)?),
            }
        }
        fs::rename(&draft, to).context(&doing)?;
        if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder).and_then(|folder| folder.sync_all()).context(&doing)?;
        }
        Ok(Copied { bytes, files, calls, runs })
    };
    let copied = written();
    if copied.is_err() {
        let _ = fs::remove_file(&draft);
    }
    copied
}
