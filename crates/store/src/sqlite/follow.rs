//! How does full text follow the database? It is stamped with the generation that it stands at; what
//! was added and what went since is applied in one commit, one writer at a time.

use std::sync::Mutex;
use std::time::Instant;

use pikerag_knowledge::{Chunk, StoreError};
use rusqlite::Connection;

use super::{Freshness, Inner, TEXT_GENERATION, counter, locked, rows};
use crate::error::Context;
use crate::fulltext::Changes;

/// When full text was last caught up with behind a search; `None` while it is.
pub(super) struct CatchingUp(Mutex<Option<Instant>>);

impl Default for CatchingUp {
    fn default() -> Self {
        Self(Mutex::new(Some(Instant::now())))
    }
}

impl Inner {
    /// Brings full text up to the database before it is searched: at once if this process may
    /// write it, else by looking at what another process committed. Where searches may be behind, it is
    /// searched as it is, and caught up with meanwhile.
    pub(super) fn follow_text(&self, connection: &Connection) -> Result<(), StoreError> {
        let generation = counter(connection, TEXT_GENERATION).context("reading the generation")?;
        let index = self.fulltext()?;
        if index.stamp() == self.stamp(generation) {
            return index.reload();
        }
        if let Freshness::Within(lag) = self.freshness
            && index.stamp().starts_with(&self.identity)
        {
            let mut last = locked(&self.catching_up.0);
            if let Some(me) = self.me.upgrade()
                && last.is_some_and(|last| lag <= last.elapsed())
            {
                *last = None;
                std::thread::spawn(move || {
                    if let Err(error) = me.refresh_text() {
                        tracing::warn!(error = ?error, "full text is behind the database");
                    }
                    *locked(&me.catching_up.0) = Some(Instant::now());
                });
            }
            return index.reload();
        }
        if let Err(error) = self.refresh_text() {
            tracing::warn!(error = ?error, "full text is behind the database; searching it as it is");
            return index.reload();
        }
        Ok(())
    }

    /// Commits to full text what changed since its last commit, or all if it cannot be followed.
    pub(super) fn refresh_text(&self) -> Result<(), StoreError> {
        let doing = "following the database with full text";
        let index = self.fulltext()?;
        let turn = index.turn()?;
        // A snapshot taken now: whoever had the turn before may have committed later changes than
        // the caller's snapshot knows.
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context(doing)?;
            match self.changes(&snapshot, &index.stamp()).context(doing)? {
                Some(changes) => index.apply(&turn, changes),
                None => index.reload(),
            }
        })
    }

    /// What full text that stands at this stamp is missing; `None` where it is up to date.
    fn changes(
        &self,
        connection: &Connection,
        standing: &str,
    ) -> rusqlite::Result<Option<Changes>> {
        let generation = counter(connection, TEXT_GENERATION)?;
        if standing == self.stamp(generation) {
            return Ok(None);
        }
        let known = standing
            .strip_prefix(&format!("{}:", self.identity))
            .and_then(|number| number.parse::<i64>().ok())
            .filter(|known| *known <= generation);
        let gone = known
            .map(|known| {
                connection
                    .prepare_cached(
                        "SELECT chunk FROM gone WHERE generation > ?1 ORDER BY generation, chunk",
                    )?
                    .query_map([known], |row| rows::id(row, 0))?
                    .collect()
            })
            .transpose()?;
        let sql = format!(
            "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source
             WHERE c.generation > ?1 AND {} ORDER BY c.id",
            rows::CHUNK_COLUMNS,
            rows::SEARCHABLE
        );
        let added = connection
            .prepare_cached(&sql)?
            .query_map([known.unwrap_or(-1)], |row| {
                let chunk = rows::chunk(row)?;
                Ok((chunk.id.0, searchable(&chunk)))
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(Changes { stamp: self.stamp(generation), gone, added }))
    }
}

/// What full text and embedders see of a chunk: title, headings, text.
pub(super) fn searchable(chunk: &Chunk) -> String {
    format!("{}\n{}", chunk.full_title(), chunk.searched_text())
}
