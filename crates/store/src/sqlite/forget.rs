//! How is a document forgotten? With all that derives from it go the calls and runs that hold its text; then
//! every file of the base that held it is written anew.

mod texts;
mod traces;

use std::time::{Duration, Instant};

use pikerag_knowledge::{Millis, RunId, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction};
use serde::Serialize;

use self::traces::{Found, Traces};
use super::base::Base;
use super::codes::sets;
use super::counters::{FORGETTINGS, UNFINISHED, advance, counter};
use super::inner::Inner;
use super::locks::locked;
use super::log::{SHORT_WAIT, emptied};
use super::{corrections, jobs, put, rows, threads};
use crate::error::Context;
use crate::fulltext::WRITING;

/// How long questions and exports that read a state of before are waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks whether they have ended.
const PAUSE: Duration = Duration::from_millis(20);

/// What the base keeps of documents besides what derives from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Remains {
    /// Model calls whose prompt or reply holds their text, or what was made of it.
    pub calls: usize,
    /// Runs that hold it.
    pub runs: usize,
    /// Verified answers that hold it or rest on it.
    pub verified: usize,
}

/// What became of the bytes of what was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwriting {
    /// There were none.
    Nothing,
    /// They are overwritten.
    Done,
    /// A question, search or export that began before still reads them: they are overwritten later.
    StillRead,
}

impl From<&Found> for Remains {
    fn from(found: &Found) -> Self {
        Self { calls: found.calls.len(), runs: found.runs.len(), verified: found.verified.len() }
    }
}

impl Base {
    /// Counts the calls, runs and verified answers that hold the text of these files, or were made of it in an earlier
    /// version, while the files are still there.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn remains_of(&self, files: &[String]) -> Result<Remains, StoreError> {
        if files.is_empty() {
            return Ok(Remains::default());
        }
        Ok(Remains::from(&self.traces_of(files).await?.found()))
    }

    /// Deletes files with all that derives from them, and the calls, runs and verified answers that hold their text; then overwrites
    /// what was freed: database, log, full text, codes. A crash on the way leaves a mark, and
    /// [`Base::finish_forgetting`] goes on; so it does where the overwriting has to wait for others.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn forget_files(
        &self,
        files: &[String],
        now: Millis,
    ) -> Result<(Remains, Overwriting), StoreError> {
        // The ledger is looked through while others can write; what came since, while they wait.
        let traces = self.traces_of(files).await?;
        let files = files.to_vec();
        let removed = self
            .writing("forgetting", move |tx| {
                let found = traces.look_again(tx)?.found();
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
        self.looking("looking for what remains", move |connection| Traces::look(connection, files))
            .await
    }

    /// Overwrites what was forgotten and is not overwritten yet. Questions and exports that began before are waited for, ten
    /// seconds at most; meanwhile others read and write.
    ///
    /// # Errors
    /// As [`Base::forget_files`].
    pub async fn finish_forgetting(&self) -> Result<Overwriting, StoreError> {
        let inner = self.inner.clone();
        threads::writing("overwriting", move || inner.overwrite()).await
    }

    /// When a run was forgotten that is called so, or begins so.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn forgotten_run(&self, name: &str) -> Result<Option<(RunId, Millis)>, StoreError> {
        let name = name.to_owned();
        self.looking("reading forgotten runs", move |connection| {
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
    /// Writes anew all files that may hold what was forgotten, and takes the mark away.
    pub(super) fn overwrite(&self) -> Result<Overwriting, StoreError> {
        let doing = "overwriting what was forgotten";
        let is_marked = |connection: &Connection| counter(connection, UNFINISHED);
        if self.with_reader(|connection| is_marked(connection).context(doing))? == 0 {
            return Ok(Overwriting::Nothing);
        }
        self.make_text(WRITING)?;
        for set in sets() {
            self.make_codes(set)?;
        }
        self.remove_leftovers()?;
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only(doing))?;
        // The copy that VACUUM makes on its way may be larger than memory.
        locked(writer)
            .execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")
            .context(doing)?;
        let began = Instant::now();
        // Where questions overlap, one always reads: new ones wait a moment.
        self.gate.close(SHORT_WAIT);
        loop {
            // The lock is held for one look only: who reads an old state may need the writer to come to its end.
            let is_done = finish(&locked(writer));
            self.gate.open();
            if is_done.context(doing)? {
                return Ok(Overwriting::Done);
            }
            if PATIENCE <= began.elapsed() {
                return Ok(Overwriting::StillRead);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether something was forgotten since a question began: see [`Base::for_a_question`].
pub(super) fn forgotten_since(
    connection: &Connection,
) -> rusqlite::Result<impl Fn(Option<i64>) -> bool> {
    let now = counter(connection, FORGETTINGS)?;
    Ok(move |began_at: Option<i64>| began_at.is_some_and(|began| began < now))
}

/// Removes a run that read what was forgotten since, and the calls that it alone rests on.
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

/// Empties the log, where nobody reads a state that lies in it, and takes the mark away; whether it did.
fn finish(writer: &Connection) -> rusqlite::Result<bool> {
    let is_emptied = emptied(writer, Duration::ZERO)?;
    if is_emptied {
        writer.execute("DELETE FROM meta WHERE key = ?1", [UNFINISHED])?;
    }
    Ok(is_emptied)
}
