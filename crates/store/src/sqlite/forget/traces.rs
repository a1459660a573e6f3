//! Finds the calls, runs and verified answers that hold the text of some files or were made of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_knowledge::{Millis, RunState, Verified};
use rusqlite::{Connection, Transaction, params};
use serde_json::Value;

use super::super::counters::{FORGETTINGS, TEXT_GENERATION, UNFINISHED, counter};
use super::super::rows;
use super::texts::{own, phrases, sources};
use crate::phrases::Phrases;

/// The traces in one state of the base. Entries that came since can be searched alone.
pub(super) struct Traces {
    files: Vec<String>,
    state: State,
    /// The phrases of the files, and those that only these files have.
    all_phrases: Phrases,
    own: Phrases,
    /// The last row of the ledger that was searched.
    last_call: i64,
    calls: HashSet<String>,
    runs: HashMap<String, Run>,
    verified: Vec<i64>,
}

/// While this is unchanged, no document came or went, and the rows of the ledger keep their
/// numbers.
#[derive(PartialEq, Eq)]
struct State {
    text: i64,
    forgettings: i64,
    is_forgetting: bool,
}

struct Run {
    /// Whether it was running, and so may have changed since.
    was_running: bool,
    /// Whether only its calls are left.
    is_pruned: bool,
    holds: bool,
    /// The calls that it rests on.
    keys: HashSet<String>,
}

/// Keys of calls, names of runs, identifiers of verified answers.
pub(super) struct Found {
    pub(super) calls: HashSet<String>,
    pub(super) runs: Vec<String>,
    /// Runs of which only calls are left.
    pub(super) pruned: Vec<String>,
    pub(super) verified: Vec<i64>,
}

impl Traces {
    /// Searches the ledger and all runs.
    pub(super) fn find(connection: &Connection, files: Vec<String>) -> rusqlite::Result<Self> {
        let sources = sources(connection, &files)?;
        let all_phrases = phrases(connection, &sources)?;
        let own = match all_phrases.is_empty() {
            true => all_phrases.clone(),
            false => own(connection, &sources, &all_phrases)?,
        };
        let mut traces = Self {
            files,
            state: State::of(connection)?,
            all_phrases,
            own,
            last_call: 0,
            calls: HashSet::new(),
            runs: HashMap::new(),
            verified: Vec::new(),
        };
        if !sources.is_empty() {
            traces.search_calls(connection, &sources)?;
            traces.search_runs(connection, &sources)?;
            traces.search_verified(connection, &sources)?;
        }
        Ok(traces)
    }

    /// Searches the calls and runs that came since, or everything again if documents came or went.
    pub(super) fn find_new(mut self, connection: &Connection) -> rusqlite::Result<Self> {
        let sources = sources(connection, &self.files)?;
        let state = State::of(connection)?;
        let is_unchanged = state == self.state && !state.is_forgetting;
        if !is_unchanged || phrases(connection, &sources)? != self.all_phrases {
            return Self::find(connection, self.files);
        }
        if !sources.is_empty() {
            self.search_calls(connection, &sources)?;
            self.search_runs(connection, &sources)?;
            self.search_verified(connection, &sources)?;
        }
        Ok(self)
    }

    /// Finds the calls that were made of these documents, and the new calls whose text holds a
    /// phrase.
    fn search_calls(
        &mut self,
        connection: &Connection,
        sources: &BTreeSet<i64>,
    ) -> rusqlite::Result<()> {
        let mut made = connection.prepare("SELECT call FROM call_sources WHERE source = ?1")?;
        for source in sources {
            for call in made.query_map([source], |row| row.get(0))? {
                self.calls.insert(call?);
            }
        }
        let last = "SELECT coalesce(max(rowid), 0) FROM calls";
        let last: i64 = connection.query_row(last, [], |row| row.get(0))?;
        if !self.own.is_empty() {
            // The reply of an embedder consists of numbers.
            let mut statement = connection.prepare(
                "SELECT key, request, CASE role WHEN 'embed' THEN '' ELSE reply END FROM calls WHERE ?1 < rowid",
            )?;
            let mut rows = statement.query([self.last_call])?;
            while let Some(row) = rows.next()? {
                let (request, reply) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
                if asks(&self.own, request) || self.own.any_in_json(reply) {
                    self.calls.insert(row.get(0)?);
                }
            }
        }
        self.last_call = last;
        Ok(())
    }

    /// Searches the runs that are new or were running, and what is left of pruned runs.
    fn search_runs(
        &mut self,
        connection: &Connection,
        sources: &BTreeSet<i64>,
    ) -> rusqlite::Result<()> {
        let mut listed = connection.prepare(
            "SELECT id, state FROM runs UNION ALL
             SELECT DISTINCT run, NULL FROM run_calls WHERE run NOT IN (SELECT id FROM runs)",
        )?;
        let listed: HashMap<String, Option<String>> = listed
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let is_unchanged = |id: &String, run: &Run| {
            listed.get(id).is_some_and(|state| state.is_none() == run.is_pruned) && !run.was_running
        };
        self.runs.retain(|id, run| is_unchanged(id, run));
        let mut naming = connection.prepare("SELECT run FROM run_sources WHERE source = ?1")?;
        let mut names_them: HashSet<String> = HashSet::new();
        for source in sources {
            for run in naming.query_map([source], |row| row.get(0))? {
                names_them.insert(run?);
            }
        }
        let mut calls = connection.prepare("SELECT call FROM run_calls WHERE run = ?1")?;
        let mut jsons = connection.prepare(
            "SELECT record FROM runs WHERE id = ?1 UNION ALL SELECT event FROM run_events WHERE run = ?1",
        )?;
        for (id, state) in listed {
            if self.runs.contains_key(&id) {
                continue;
            }
            let keys = calls.query_map([&id], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let mut run = Run {
                was_running: state.as_deref() == Some(RunState::Running.as_str()),
                is_pruned: state.is_none(),
                holds: names_them.contains(&id),
                keys,
            };
            let mut rows = jsons.query([&id])?;
            while let (false, Some(row)) = (run.holds, rows.next()?) {
                run.holds = self.own.any_in_json(row.get_ref(0)?.as_str()?);
            }
            self.runs.insert(id, run);
        }
        Ok(())
    }

    /// Searches all verified answers: there are only as many as people have judged.
    fn search_verified(
        &mut self,
        connection: &Connection,
        sources: &BTreeSet<i64>,
    ) -> rusqlite::Result<()> {
        let nodes = nodes(connection, sources)?;
        let mut uris = HashSet::new();
        for source in sources {
            let uri = "SELECT uri FROM sources WHERE id = ?1";
            uris.insert(connection.query_row(uri, [source], |row| row.get::<_, String>(0))?);
        }
        let mut statement = connection.prepare("SELECT id, record FROM verified ORDER BY id")?;
        let mut listed = statement.query([])?;
        self.verified.clear();
        while let Some(row) = listed.next()? {
            let json = row.get_ref(1)?.as_str()?;
            let verified: Verified = rows::json(row, 1)?;
            // An answer may rest on an earlier version of the document.
            let rests_on_them = verified.grounds.iter().any(|ground| uris.contains(&ground.uri));
            if rests_on_them || self.own.any_in_json(json) || nodes.any_in_json(json) {
                self.verified.push(row.get(0)?);
            }
        }
        Ok(())
    }

    /// Runs that hold a phrase, name a node of these documents, or rest on a deleted call. Calls
    /// that only such runs rest on go as well, because a model may have reworded the text in them.
    pub(super) fn found(self) -> Found {
        let Self { mut calls, runs, verified, .. } = self;
        let (gone, kept): (Vec<_>, Vec<_>) = runs
            .into_iter()
            .partition(|(_, run)| run.holds || run.keys.iter().any(|key| calls.contains(key)));
        let needed: HashSet<&String> = kept.iter().flat_map(|(_, run)| &run.keys).collect();
        let alone = gone.iter().flat_map(|(_, run)| &run.keys).filter(|key| !needed.contains(key));
        calls.extend(alone.cloned());
        let (pruned, there): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|(_, run)| run.is_pruned);
        let ids = |runs: Vec<(String, Run)>| runs.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        let (mut runs, pruned) = (ids(there), ids(pruned));
        runs.sort();
        Found { calls, runs, pruned, verified }
    }
}

impl Found {
    pub(super) fn remove(&self, tx: &Transaction<'_>, now: Millis) -> rusqlite::Result<()> {
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
        for table in ["run_calls", "run_sources"] {
            let mut noted = tx.prepare(&format!("DELETE FROM {table} WHERE run = ?1"))?;
            for id in self.runs.iter().chain(&self.pruned) {
                noted.execute([id])?;
            }
        }
        let mut verified = tx.prepare("DELETE FROM verified WHERE id = ?1")?;
        for id in &self.verified {
            verified.execute([id])?;
        }
        Ok(())
    }
}

impl State {
    fn of(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            text: counter(connection, TEXT_GENERATION)?,
            forgettings: counter(connection, FORGETTINGS)?,
            is_forgetting: counter(connection, UNFINISHED)? != 0,
        })
    }
}

/// Whether a request holds one of the phrases outside the schema for the reply, which is ours.
pub fn asks(phrases: &Phrases, request: &str) -> bool {
    if !phrases.any_in_json(request) {
        return false;
    }
    let Ok(Value::Object(mut parts)) = serde_json::from_str(request) else { return true };
    match parts.remove("schema") {
        Some(_) => phrases.any_in_json(&Value::Object(parts).to_string()),
        None => true,
    }
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

#[cfg(test)]
mod tests {
    use pikerag_extract::{ChunkParams, document_graph};
    use pikerag_knowledge::{CallOrigin, CallRecord, CorpusWriter, FileRecord, Ledger, Usage};
    use pikerag_parse::{Limits, NoTools, parse};

    use super::*;
    use crate::Base;

    async fn put(base: &Base, path: &str, text: &str) {
        let parsed = parse(path, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
        let graph = |document| document_graph(path, document, ChunkParams::default());
        let graphs = parsed.documents.into_iter().map(graph).collect();
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let file = FileRecord { path: path.to_owned(), hash, recipe: "r".to_owned() };
        base.put_file(&file, graphs).await.unwrap();
    }

    async fn keep(base: &Base, key: &str, request: &str) {
        let [key, request] = [key, request].map(str::to_owned);
        let (role, model, reply) = ("answer".to_owned(), "m".to_owned(), "{}".to_owned());
        let usage = Usage::default();
        let call = CallRecord {
            key,
            role,
            model,
            request,
            reply,
            usage,
            unusable: false,
            origin: CallOrigin::default(),
        };
        base.keep_all(vec![call]).await.unwrap();
    }

    /// Entries that were searched are not searched again while others wait, unless documents came
    /// or went.
    #[tokio::test]
    async fn only_new_entries_are_searched_again() {
        const SECRET: &str = "The secret crane lifts nine tons.";
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        put(&base, "a.txt", SECRET).await;
        keep(&base, "asked", SECRET).await;
        keep(&base, "changed", "Well?").await;
        let connection = base.inner.reader().unwrap();
        let find = || Traces::find(&connection, vec!["a.txt".to_owned()]).unwrap();
        let (one, other) = (find(), find());
        let sql = "UPDATE calls SET request = ?1 WHERE key = 'changed'";
        base.inner.transaction("changing", |tx| tx.execute(sql, [SECRET])).unwrap();
        keep(&base, "new", SECRET).await;
        keep(&base, "other", "Well?").await;
        let mut found: Vec<_> =
            one.find_new(&connection).unwrap().found().calls.into_iter().collect();
        found.sort();
        assert_eq!(found, ["asked", "new"]);
        put(&base, "b.txt", "Another crane.").await;
        assert_eq!(other.find_new(&connection).unwrap().found().calls.len(), 3);
    }
}
