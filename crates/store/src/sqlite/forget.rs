//! Forgets documents. Their derived data goes, and so do the calls and runs that hold their text.
//! Then every file of the base that held the text is rewritten.

mod texts;
mod traces;

use std::time::{Duration, Instant};

use pikerag_knowledge::{Millis, RunId, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction};
use serde::Serialize;

pub use self::traces::asks;
use self::traces::{Found, Traces};
use super::base::Base;
use super::codes::sets;
use super::counters::{FORGETTINGS, UNFINISHED, advance, counter};
use super::inner::Inner;
use super::locks::locked;
use super::log::{SHORT_WAIT, empty_log};
use super::{corrections, jobs, put, rows, threads};
use crate::error::Context;
use crate::fulltext::WRITING;

/// How long to wait for questions and exports that read an earlier state.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(10);
/// The pause between two checks whether they have ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Traces of documents outside their derived data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Remains {
    /// Model calls whose prompt or reply holds the documents' text, or content derived from it.
    pub calls: usize,
    /// Runs that hold it.
    pub runs: usize,
    /// Verified answers that hold it or rest on it.
    pub verified: usize,
}

/// Whether the bytes of forgotten content were overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwriting {
    /// There was nothing to overwrite.
    Nothing,
    /// They are overwritten.
    Done,
    /// An earlier question, search or export still reads them: they are overwritten later.
    StillRead,
}

impl From<&Found> for Remains {
    fn from(found: &Found) -> Self {
        Self { calls: found.calls.len(), runs: found.runs.len(), verified: found.verified.len() }
    }
}

impl Base {
    /// Counts the calls, runs and verified answers that hold the text of these files, or were made
    /// of an earlier version. The files must still be in the base.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn remains_of(&self, files: &[String]) -> Result<Remains, StoreError> {
        if files.is_empty() {
            return Ok(Remains::default());
        }
        Ok(Remains::from(&self.traces_of(files).await?.found()))
    }

    /// Deletes files with everything derived from them, and the calls, runs and verified answers
    /// that hold their text. Then overwrites the freed bytes: database, log, full text, codes. A
    /// crash leaves a mark, and [`Base::finish_forgetting`] continues. It also continues if
    /// overwriting had to wait for others.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn forget_files(
        &self,
        files: &[String],
        now: Millis,
    ) -> Result<(Remains, Overwriting), StoreError> {
        // The ledger is searched while others can write; entries that came since are searched while
        // they wait.
        let traces = self.traces_of(files).await?;
        let files = files.to_vec();
        let removed = self
            .writing("forgetting", move |tx| {
                let found = traces.find_new(tx)?.found();
                found.remove(tx, now)?;
                for file in &files {
                    let chunks = put::chunks_of_file(tx, file)?;
                    corrections::forget(tx, file)?;
                    jobs::forget(tx, file)?;
                    tx.execute("DELETE FROM files WHERE path = ?1", [file])?;
                    put::forget(tx, chunks.into_iter())?;
                }
                advance(tx, FORGETTINGS)?;
                tx.execute(
                    "INSERT OR REPLACE INTO meta(key, value) VALUES (?1, '1')",
                    [UNFINISHED],
                )?;
                Ok(Remains::from(&found))
            })
            .await?;
        Ok((removed, self.finish_forgetting().await?))
    }

    async fn traces_of(&self, files: &[String]) -> Result<Traces, StoreError> {
        let files = files.to_vec();
        self.querying("searching for traces", move |connection| Traces::find(connection, files))
            .await
    }

    /// Overwrites forgotten content that is not overwritten yet. It waits at most ten seconds for
    /// earlier questions and exports; meanwhile others read and write.
    ///
    /// # Errors
    /// As [`Base::forget_files`].
    pub async fn finish_forgetting(&self) -> Result<Overwriting, StoreError> {
        let inner = self.inner.clone();
        threads::writing("overwriting", move || inner.overwrite()).await
    }

    /// The first forgotten run whose name is or begins with `name`, and when it was forgotten.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn forgotten_run(&self, name: &str) -> Result<Option<(RunId, Millis)>, StoreError> {
        let name = name.to_owned();
        self.querying("reading forgotten runs", move |connection| {
            connection
                .prepare_cached(
                    "SELECT id, forgotten FROM forgotten_runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id",
                )?
                .query_row([name], |row| Ok((RunId(row.get(0)?), rows::id(row, 1)?)))
                .optional()
        })
        .await
    }
}

impl Inner {
    /// Rewrites all files that may hold forgotten content, and removes the mark.
    pub(super) fn overwrite(&self) -> Result<Overwriting, StoreError> {
        let doing = "overwriting forgotten content";
        let is_marked = |connection: &Connection| counter(connection, UNFINISHED);
        if self.with_reader(|connection| is_marked(connection).context(doing))? == 0 {
            return Ok(Overwriting::Nothing);
        }
        self.rebuild_text(WRITING)?;
        for set in sets() {
            self.rebuild_codes(set)?;
        }
        self.remove_leftovers()?;
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only(doing))?;
        // The copy that VACUUM makes may be larger than memory.
        locked(writer)
            .execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")
            .context(doing)?;
        let began = Instant::now();
        // Among overlapping questions, one always reads, so new ones wait a moment.
        self.gate.close(SHORT_WAIT);
        loop {
            // The lock is held for one check only, because a reader of an old state may need the
            // writer to finish.
            let is_done = finish(&locked(writer));
            self.gate.open();
            if is_done.context(doing)? {
                return Ok(Overwriting::Done);
            }
            if MAX_WAIT <= began.elapsed() {
                return Ok(Overwriting::StillRead);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether content was forgotten since a question began: see [`Base::for_a_question`].
pub(super) fn forgotten_since(
    connection: &Connection,
) -> rusqlite::Result<impl Fn(Option<i64>) -> bool> {
    let now = counter(connection, FORGETTINGS)?;
    Ok(move |began_at: Option<i64>| began_at.is_some_and(|began| began < now))
}

/// Deletes a run that read content which was forgotten since, and the calls that only this run
/// rests on.
pub(super) fn forget_run(tx: &Transaction<'_>, run: &RunId) -> rusqlite::Result<()> {
    let calls = tx
        .prepare_cached(
            "SELECT call FROM run_calls WHERE run = ?1
             AND call NOT IN (SELECT call FROM run_calls WHERE run <> ?1)",
        )?
        .query_map([&run.0], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let found =
        Found { calls, runs: vec![run.0.clone()], pruned: Vec::new(), verified: Vec::new() };
    let now = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";
    found.remove(tx, tx.query_row(now, [], |row| rows::id(row, 0))?)
}

/// Empties the log if nobody reads a state in it, and removes the mark. Returns whether it did.
fn finish(writer: &Connection) -> rusqlite::Result<bool> {
    let is_emptied = empty_log(writer, Duration::ZERO)?;
    if is_emptied {
        writer.execute("DELETE FROM meta WHERE key = ?1", [UNFINISHED])?;
    }
    Ok(is_emptied)
}
