//! Finds the calls, runs and verified answers that hold the text of some files or were made of them.

use std::collections::{HashMap, HashSet};

use futures::StreamExt;
use pikerag_knowledge::{Millis, RunState, Verified};
use pikerag_store::Remains;
use pikerag_store::shared::{Phrases, asks};

use super::texts::{own, phrases, sources};
use crate::fault::Sql;
use crate::meta::{FORGETTINGS, TEXT_GENERATION, UNFINISHED, counter};
use crate::rows;
use crate::tx::Tx;

/// The number of calls that are read and searched at a time.
const CALLS: usize = 256;

/// The traces in one state of the base. Entries that came since can be searched alone.
pub(super) struct Traces {
    files: Vec<String>,
    state: State,
    /// The phrases of the files, and those that only these files have.
    all_phrases: Phrases,
    own: Phrases,
    /// The calls that were searched.
    searched: HashSet<String>,
    calls: HashSet<String>,
    runs: HashMap<String, Run>,
    verified: Vec<i64>,
}

/// While this is unchanged, no document came or went.
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
    pub(super) async fn find(tx: &Tx, files: Vec<String>) -> Sql<Self> {
        let sources = sources(tx, &files).await?;
        let all_phrases = phrases(tx, &sources).await?;
        let own = match all_phrases.is_empty() {
            true => all_phrases.clone(),
            false => own(tx, &sources, &all_phrases).await?,
        };
        let mut traces = Self {
            files,
            state: State::of(tx).await?,
            all_phrases,
            own,
            searched: HashSet::new(),
            calls: HashSet::new(),
            runs: HashMap::new(),
            verified: Vec::new(),
        };
        traces.search(tx, &sources).await?;
        Ok(traces)
    }

    /// Searches the calls and runs that came since, or everything again if documents came or went.
    pub(super) async fn find_new(mut self, tx: &Tx) -> Sql<Self> {
        let sources = sources(tx, &self.files).await?;
        let state = State::of(tx).await?;
        let is_unchanged = state == self.state && !state.is_forgetting;
        if !is_unchanged || phrases(tx, &sources).await? != self.all_phrases {
            return Self::find(tx, self.files).await;
        }
        self.search(tx, &sources).await?;
        Ok(self)
    }

    async fn search(&mut self, tx: &Tx, sources: &[i64]) -> Sql<()> {
        if sources.is_empty() {
            return Ok(());
        }
        self.search_calls(tx, sources).await?;
        self.search_runs(tx, sources).await?;
        self.search_verified(tx, sources).await
    }

    /// Finds the calls that were made of these documents, and the new calls whose text holds a
    /// phrase.
    async fn search_calls(&mut self, tx: &Tx, sources: &[i64]) -> Sql<()> {
        let made = "SELECT DISTINCT call FROM call_sources WHERE source = ANY($1)";
        for row in &tx.all(made, &[&sources]).await? {
            self.calls.insert(row.try_get(0)?);
        }
        if self.own.is_empty() {
            return Ok(());
        }
        let mut new: Vec<String> = Vec::new();
        for row in &tx.all("SELECT key FROM calls", &[]).await? {
            let key: String = row.try_get(0)?;
            if self.searched.insert(key.clone()) {
                new.push(key);
            }
        }
        // The reply of an embedder consists of numbers.
        let sql = "SELECT key, request, CASE role WHEN 'embed' THEN '' ELSE reply END FROM calls
             WHERE key = ANY($1)";
        for keys in new.chunks(CALLS) {
            for row in &tx.all(sql, &[&keys]).await? {
                let (request, reply) = (rows::text(row, 1)?, rows::text(row, 2)?);
                if asks(&self.own, &request) || self.own.any_in_json(&reply) {
                    self.calls.insert(row.try_get(0)?);
                }
            }
            // A search of many calls must not keep others from running.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Searches the runs that are new or were running, and what is left of pruned runs.
    async fn search_runs(&mut self, tx: &Tx, sources: &[i64]) -> Sql<()> {
        let listed = "SELECT id, state FROM runs UNION ALL
             SELECT DISTINCT run, NULL FROM run_calls WHERE run NOT IN (SELECT id FROM runs)";
        let listed: HashMap<String, Option<String>> = tx
            .all(listed, &[])
            .await?
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Sql<_>>()?;
        let is_unchanged = |id: &String, run: &Run| {
            listed.get(id).is_some_and(|state| state.is_none() == run.is_pruned) && !run.was_running
        };
        self.runs.retain(|id, run| is_unchanged(id, run));
        let naming = "SELECT DISTINCT run FROM run_sources WHERE source = ANY($1)";
        let names_them: HashSet<String> = tx
            .all(naming, &[&sources])
            .await?
            .iter()
            .map(|row| Ok(row.try_get(0)?))
            .collect::<Sql<_>>()?;
        let new: Vec<String> =
            listed.keys().filter(|id| !self.runs.contains_key(*id)).cloned().collect();
        for id in &new {
            let state = listed.get(id).and_then(Option::as_deref);
            let run = Run {
                was_running: state == Some(RunState::Running.as_str()),
                is_pruned: state.is_none(),
                holds: names_them.contains(id),
                keys: HashSet::new(),
            };
            self.runs.insert(id.clone(), run);
        }
        let calls = "SELECT run, call FROM run_calls WHERE run = ANY($1)";
        for row in &tx.all(calls, &[&new]).await? {
            if let Some(run) = self.runs.get_mut(row.try_get::<_, &str>(0)?) {
                run.keys.insert(row.try_get(1)?);
            }
        }
        let unread: Vec<&String> = new.iter().filter(|id| !names_them.contains(*id)).collect();
        let jsons = "SELECT id, record FROM runs WHERE id = ANY($1) UNION ALL
             SELECT run, event FROM run_events WHERE run = ANY($1)";
        let mut found = tx.stream(jsons, &[&unread]).await?;
        while let Some(row) = found.next().await {
            let row = row?;
            if let Some(run) = self.runs.get_mut(row.try_get::<_, &str>(0)?)
                && !run.holds
            {
                run.holds = self.own.any_in_json(row.try_get(1)?);
            }
        }
        Ok(())
    }

    /// Searches all verified answers: there are only as many as people have judged.
    async fn search_verified(&mut self, tx: &Tx, sources: &[i64]) -> Sql<()> {
        let nodes = nodes(tx, sources).await?;
        let mut uris = HashSet::new();
        for row in &tx.all("SELECT uri FROM sources WHERE id = ANY($1)", &[&sources]).await? {
            uris.insert(rows::text(row, 0)?);
        }
        self.verified.clear();
        for row in &tx.all("SELECT id, record FROM verified ORDER BY id", &[]).await? {
            let json: &str = row.try_get(1)?;
            let verified: Verified = rows::json(row, 1)?;
            // An answer may rest on an earlier version of the document.
            let rests_on_them = verified.grounds.iter().any(|ground| uris.contains(&ground.uri));
            if rests_on_them || self.own.any_in_json(json) || nodes.any_in_json(json) {
                self.verified.push(row.try_get(0)?);
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
    pub(super) fn remains(&self) -> Remains {
        Remains { calls: self.calls.len(), runs: self.runs.len(), verified: self.verified.len() }
    }

    pub(super) async fn remove(&self, tx: &Tx, now: Millis) -> Sql<()> {
        let mut calls: Vec<&String> = self.calls.iter().collect();
        calls.sort();
        tx.run("DELETE FROM calls WHERE key = ANY($1)", &[&calls]).await?;
        tx.run("DELETE FROM runs WHERE id = ANY($1)", &[&self.runs]).await?;
        let sql = "INSERT INTO forgotten_runs (id, forgotten) SELECT unnest($1::text[]), $2::bigint
             ON CONFLICT DO NOTHING";
        tx.run(sql, &[&self.runs, &now.cast_signed()]).await?;
        let all: Vec<&String> = self.runs.iter().chain(&self.pruned).collect();
        tx.run("DELETE FROM run_calls WHERE run = ANY($1)", &[&all]).await?;
        tx.run("DELETE FROM run_sources WHERE run = ANY($1)", &[&all]).await?;
        tx.run("DELETE FROM verified WHERE id = ANY($1)", &[&self.verified]).await.map(drop)
    }
}

impl State {
    async fn of(tx: &Tx) -> Sql<Self> {
        Ok(Self {
            text: counter(tx, TEXT_GENERATION).await?,
            forgettings: counter(tx, FORGETTINGS).await?,
            is_forgetting: counter(tx, UNFINISHED).await? != 0,
        })
    }
}

/// The names of chunks and atoms of these documents, as JSON writes them.
async fn nodes(tx: &Tx, sources: &[i64]) -> Sql<Phrases> {
    let sql = "SELECT id FROM chunks WHERE source = ANY($1) UNION ALL
         SELECT a.id FROM atoms a JOIN chunks c ON c.id = a.chunk WHERE c.source = ANY($1)";
    let ids = rows::ids(&tx.all(sql, &[&sources]).await?)?;
    Ok(Phrases::new(ids.into_iter().map(|id| format!("{id:016x}"))))
}
