//! How is a document forgotten? With all that derives from it go the calls and runs that hold its text; then
//! every file of the base that held it is written anew.

use std::collections::{BTreeSet, HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pikerag_knowledge::{Millis, RunId, StoreError, Table};
use pikerag_language::sentences;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use serde_json::Value;

use super::codes::sets;
use super::{Base, DATABASE, Inner, locked, put, rows};
use crate::error::{BaseProblem, Context};
use crate::fulltext::WRITING;
use crate::phrases::Phrases;

/// The mark in `meta` of a base in which something is forgotten, and not overwritten yet.
pub(super) const UNFINISHED: &str = "forgetting";

/// What the base keeps of documents besides what derives from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Remains {
    /// Model calls whose prompt or reply holds their text, or what was made of it.
    pub calls: usize,
    /// Runs that hold it.
    pub runs: usize,
}

impl Base {
    /// Counts the calls and runs that hold the text of these files, while they are still there.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn remains_of(&self, files: &[String]) -> Result<Remains, StoreError> {
        let files = files.to_vec();
        self.looking("looking for what remains", move |connection| {
            let found = Traces::of(connection, &files)?;
            Ok(Remains { calls: found.calls.len(), runs: found.runs.len() })
        })
        .await
    }

    /// Deletes files with all that derives from them, and the calls and runs that hold their text; then overwrites
    /// what was freed: database, log, full text, codes. A crash on the way leaves a mark, and
    /// [`Base::finish_forgetting`] goes on.
    ///
    /// # Errors
    /// The base cannot be written; [`BaseProblem::Busy`] where another process keeps the log from being emptied.
    pub async fn forget_files(&self, files: &[String], now: Millis) -> Result<Remains, StoreError> {
        let files = files.to_vec();
        let removed = self
            .writing("forgetting", move |tx| {
                let found = Traces::of(tx, &files)?;
                found.remove(tx, now)?;
                for file in &files {
                    let chunks = put::chunks_of_file(tx, file)?;
                    tx.execute("DELETE FROM files WHERE path = ?1", [file])?;
                    put::forget(tx, chunks.into_iter())?;
                }
                tx.execute(
                    "INSERT OR REPLACE INTO meta(key, value) VALUES (?1, '1')",
                    [UNFINISHED],
                )?;
                Ok(Remains { calls: found.calls.len(), runs: found.runs.len() })
            })
            .await?;
        self.finish_forgetting().await?;
        Ok(removed)
    }

    /// Overwrites what was forgotten and is not overwritten yet; whether there was any.
    ///
    /// # Errors
    /// As [`Base::forget_files`].
    pub async fn finish_forgetting(&self) -> Result<bool, StoreError> {
        let inner = self.inner.clone();
        tokio::task::spawn_blocking(move || inner.overwrite()).await.context("overwriting")?
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
    pub(super) fn overwrite(&self) -> Result<bool, StoreError> {
        let doing = "overwriting what was forgotten";
        let is_marked = |connection: &Connection| super::counter(connection, UNFINISHED);
        if self.with_reader(|connection| is_marked(connection).context(doing))? == 0 {
            return Ok(false);
        }
        self.make_text(WRITING)?;
        for set in sets() {
            self.make_codes(set)?;
        }
        self.remove_leftovers()?;
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only(doing))?;
        let writer = locked(writer);
        // The copy that VACUUM makes on its way may be larger than memory.
        writer
            .execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")
            .context(doing)?;
        let busy: bool = writer
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .context(doing)?;
        if busy {
            return Err(BaseProblem::Busy { path: self.folder.join(DATABASE) }).context(doing);
        }
        writer.execute("DELETE FROM meta WHERE key = ?1", [UNFINISHED]).context(doing)?;
        Ok(true)
    }
}

/// The calls and runs that hold the text of some files, or what was made of it.
struct Traces {
    calls: HashSet<String>,
    runs: Vec<String>,
}

impl Traces {
    fn of(connection: &Connection, files: &[String]) -> rusqlite::Result<Self> {
        let sources = sources(connection, files)?;
        let phrases = own(connection, &sources, phrases(connection, &sources)?)?;
        let mut calls = HashSet::new();
        if !phrases.is_empty() {
            let mut statement = connection.prepare("SELECT key, request, reply FROM calls")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (request, reply) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
                if phrases.any_in_json(request) || phrases.any_in_json(reply) {
                    calls.insert(row.get(0)?);
                }
            }
        }
        let runs = runs(connection, &sources, &phrases, &mut calls)?;
        Ok(Self { calls, runs })
    }

    fn remove(&self, tx: &Transaction<'_>, now: Millis) -> rusqlite::Result<()> {
        let mut call = tx.prepare("DELETE FROM calls WHERE key = ?1")?;
        for key in &self.calls {
            call.execute([key])?;
        }
        let mut run = tx.prepare("DELETE FROM runs WHERE id = ?1")?;
        let mut note = tx.prepare(
            "INSERT INTO forgotten_runs(id, forgotten) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        for id in &self.runs {
            run.execute([id])?;
            note.execute(params![id, now.cast_signed()])?;
        }
        Ok(())
    }
}

/// Identifiers of the documents of files.
fn sources(connection: &Connection, files: &[String]) -> rusqlite::Result<BTreeSet<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM sources WHERE file = ?1")?;
    let mut sources = BTreeSet::new();
    for file in files {
        for id in statement.query_map([file], |row| row.get(0))? {
            sources.insert(id?);
        }
    }
    Ok(sources)
}

/// What stands in documents or was made of them, each query with the document that it belongs to.
const TEXTS: &[&str] = &[
    "SELECT id, text FROM sources",
    "SELECT id, summary FROM sources WHERE summary IS NOT NULL",
    "SELECT source, heading FROM sections",
    "SELECT source, summary FROM chunks WHERE summary IS NOT NULL",
    "SELECT c.source, a.text FROM atoms a JOIN chunks c ON c.id = a.chunk",
    "SELECT c.source, r.fields FROM records r JOIN chunks c ON c.id = r.chunk",
    "SELECT c.source, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, m.description FROM relation_mentions m JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, t.text FROM chunk_tags t JOIN chunks c ON c.id = t.chunk",
    "SELECT c.source, t.text FROM tag_examples t JOIN chunks c ON c.id = t.chunk",
];

/// What was made of several documents together, and goes with any of them. It is no text of another document.
const SHARED: &[&str] = &[
    "SELECT c.source, d.text FROM descriptions d JOIN entity_mentions m ON m.entity = d.node
     JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, d.text FROM descriptions d JOIN relation_mentions m ON m.relation = d.node
     JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, r.summary || char(10) || r.findings FROM reports r
     JOIN members x ON x.community = r.community JOIN entity_mentions m ON m.entity = x.entity
     JOIN chunks c ON c.id = m.chunk",
    "WITH RECURSIVE above(source, summary) AS (
         SELECT c.source, s.summary FROM summary_children s JOIN chunks c ON c.id = s.chunk
         UNION
         SELECT a.source, s.summary FROM summary_children s JOIN above a ON s.child = a.summary)
     SELECT a.source, x.text FROM above a JOIN summaries x ON x.id = a.summary",
];

/// Hands on each text with the document that it belongs to.
fn each_text(
    connection: &Connection,
    queries: &[&str],
    mut hand: impl FnMut(i64, &str),
) -> rusqlite::Result<()> {
    for query in queries {
        let mut statement = connection.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            hand(row.get(0)?, row.get_ref(1)?.as_str()?);
        }
    }
    Ok(())
}

/// The sentences and lines of these documents and of what was made of them.
fn phrases(connection: &Connection, sources: &BTreeSet<i64>) -> rusqlite::Result<Phrases> {
    let mut texts: HashSet<String> = HashSet::new();
    let mut take = |source: i64, text: &str| {
        if sources.contains(&source) {
            for sentence in sentences(text).into_iter().filter_map(|range| text.get(range)) {
                texts.extend(sentence.lines().map(str::to_owned));
                texts.insert(sentence.to_owned());
            }
        }
    };
    each_text(connection, TEXTS, &mut take)?;
    each_text(connection, SHARED, &mut take)?;
    // Prompts show tables by their cells, which need not stand so in the text.
    let cells = &["SELECT source, cells FROM chunks WHERE cells IS NOT NULL"];
    each_text(connection, cells, |source, json| {
        if sources.contains(&source) {
            let Table { header, rows, .. } = serde_json::from_str(json).unwrap_or_default();
            for row in rows.into_iter().chain([header]) {
                texts.insert(row.join(" | "));
                texts.extend(row);
            }
        }
    })?;
    let figures = "SELECT c.source, f.bytes FROM figures f JOIN chunks c ON c.id = f.chunk";
    let mut statement = connection.prepare(figures)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if sources.contains(&row.get(0)?) {
            texts.insert(STANDARD.encode(row.get_ref(1)?.as_blob()?));
        }
    }
    Ok(Phrases::new(texts))
}

/// Those phrases that no other document has.
fn own(
    connection: &Connection,
    sources: &BTreeSet<i64>,
    phrases: Phrases,
) -> rusqlite::Result<Phrases> {
    let mut others = BTreeSet::new();
    each_text(connection, TEXTS, |source, text| {
        if !sources.contains(&source) {
            phrases.mark(text, &mut others);
        }
    })?;
    let figures = "SELECT c.source, f.bytes FROM figures f JOIN chunks c ON c.id = f.chunk";
    let mut statement = connection.prepare(figures)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !sources.contains(&row.get(0)?) {
            phrases.mark(&STANDARD.encode(row.get_ref(1)?.as_blob()?), &mut others);
        }
    }
    Ok(phrases.without(&others))
}

/// Runs that hold one of the phrases, name a node of these documents, or rest on a call that goes. Calls that
/// only such runs rest on go as well: what a model made of the text in words of its own.
fn runs(
    connection: &Connection,
    sources: &BTreeSet<i64>,
    phrases: &Phrases,
    calls: &mut HashSet<String>,
) -> rusqlite::Result<Vec<String>> {
    let nodes = nodes(connection, sources)?;
    let mut rests_on: HashMap<String, (bool, HashSet<String>)> = HashMap::new();
    let mut look = |run: String, json: &str| {
        let (is_forgotten, keys) = rests_on.entry(run).or_default();
        *is_forgotten = *is_forgotten || phrases.any_in_json(json) || nodes.any_in_json(json);
        // What cannot be read rests on nothing that is known.
        let event: Value = serde_json::from_str(json).unwrap_or_default();
        let called = event.get("calls").and_then(Value::as_array).into_iter().flatten();
        keys.extend(called.filter_map(Value::as_str).map(str::to_owned));
    };
    for query in ["SELECT id, record FROM runs", "SELECT run, event FROM run_events"] {
        let mut statement = connection.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            look(row.get(0)?, row.get_ref(1)?.as_str()?);
        }
    }
    let (gone, kept): (Vec<_>, Vec<_>) =
        rests_on.into_iter().partition(|(_, (forgotten, keys))| {
            *forgotten || keys.iter().any(|key| calls.contains(key))
        });
    let needed: HashSet<&String> = kept.iter().flat_map(|(_, (_, keys))| keys).collect();
    let alone = gone.iter().flat_map(|(_, (_, keys))| keys).filter(|key| !needed.contains(key));
    calls.extend(alone.cloned());
    let mut gone: Vec<String> = gone.into_iter().map(|(run, _)| run).collect();
    gone.sort();
    Ok(gone)
}

/// The names of chunks and atoms of these documents, as JSON writes them.
fn nodes(connection: &Connection, sources: &BTreeSet<i64>) -> rusqlite::Result<Phrases> {
    let mut names = Vec::new();
    for query in [
        "SELECT id FROM chunks WHERE source = ?1",
        "SELECT a.id FROM atoms a JOIN chunks c ON c.id = a.chunk WHERE c.source = ?1",
    ] {
        let mut statement = connection.prepare(query)?;
        for source in sources {
            for id in statement.query_map([source], |row| rows::id(row, 0))? {
                names.push(format!("{:016x}", id?));
            }
        }
    }
    Ok(Phrases::new(names))
}
