//! How does full text follow the database? It is stamped with the generation that it stands at; what
//! was added and what went since is applied in one commit, one writer at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pikerag_knowledge::{Chunk, StoreError};
use rusqlite::Connection;

use super::counters::{TEXT_GENERATION, counter};
use super::inner::{Freshness, Inner};
use super::locks::locked;
use super::rows;
use crate::error::Context;
use crate::fulltext::{
    Access, Changes, FullText, SEARCHING, Turn, WRITING, is_in_the_way, turn_in, unless_damaged,
};

impl Inner {
    /// Full text made again where a search that failed so proves it damaged.
    ///
    /// # Errors
    /// The same error where nothing is damaged.
    pub(super) fn remade_text(&self, failed: StoreError) -> Result<Arc<FullText>, StoreError> {
        let index = self.text(SEARCHING)?;
        if is_whole(&index)? {
            return Err(failed);
        }
        tracing::warn!(error = ?failed, "the full-text index is damaged; it is made again");
        self.make_text(SEARCHING)
    }

    /// Full text, brought up to the database before it is searched: at once if this process may write it,
    /// else by looking at what another process committed. Where searches may be behind, it is as it is, and
    /// caught up with meanwhile.
    pub(super) fn text_at(&self, connection: &Connection) -> Result<Arc<FullText>, StoreError> {
        let generation = counter(connection, TEXT_GENERATION).context("reading the generation")?;
        let stamp = self.stamp(generation);
        if self.writer.is_none() {
            return self.text_in_memory(connection, &stamp);
        }
        let index = self.text(SEARCHING)?;
        if index.stamp()? == stamp || self.catches_up_behind(&index)? {
            if unless_damaged(index.reload())?.is_some() {
                return Ok(index);
            }
            tracing::warn!("the full-text index is damaged; it is made again");
            return self.make_text(SEARCHING);
        }
        match self.refresh_text(SEARCHING) {
            Ok(index) => Ok(index),
            Err(error) => {
                tracing::warn!(error = ?error, "full text is behind the database; searching it as it is");
                index.reload()?;
                Ok(index)
            }
        }
    }

    /// Whether a search may be behind; then full text is caught up with meanwhile, if it is time.
    fn catches_up_behind(&self, index: &FullText) -> Result<bool, StoreError> {
        let Freshness::Within(lag) = self.freshness else { return Ok(false) };
        if !index.stamp()?.starts_with(&self.identity) {
            return Ok(false);
        }
        let mut last = locked(&self.catching_up.0);
        if let Some(me) = self.me.upgrade()
            && last.is_some_and(|last| lag <= last.elapsed())
        {
            *last = None;
            std::thread::spawn(move || {
                if let Err(error) = me.refresh_text(WRITING) {
                    tracing::warn!(error = ?error, "full text is behind the database");
                }
                *locked(&me.catching_up.0) = Some(Instant::now());
            });
        }
        Ok(true)
    }

    /// Full text of a base that cannot be written: as it lies there if it is up to date, else made in memory.
    fn text_in_memory(
        &self,
        connection: &Connection,
        stamp: &str,
    ) -> Result<Arc<FullText>, StoreError> {
        let mut held = locked(&self.fulltext);
        if let Some(index) = held.as_ref()
            && index.stamp()? == stamp
        {
            return Ok(Arc::clone(index));
        }
        let index = match FullText::existing(&self.folder, Access::Read)? {
            Some(index) if index.stamp()? == stamp => index,
            _ => {
                tracing::warn!(
                    "full text is not up to date and cannot be written: made in memory, each time anew"
                );
                match self.changes(connection, "").context("reading chunks")? {
                    Some(all) => FullText::in_memory(&self.folder, all)?,
                    None => return Err("no stamp is empty").context("reading chunks"),
                }
            }
        };
        let index = Arc::new(index);
        *held = Some(Arc::clone(&index));
        Ok(index)
    }

    /// The full-text index, opened on first use: most commands need none.
    fn text(&self, patience: Duration) -> Result<Arc<FullText>, StoreError> {
        if let Some(index) = locked(&self.fulltext).as_ref() {
            return Ok(Arc::clone(index));
        }
        // This may wait for a thread that makes the index, and that thread puts it here before it gives up its turn.
        let index = Arc::new(FullText::open(&self.folder, patience)?);
        Ok(Arc::clone(locked(&self.fulltext).get_or_insert(index)))
    }

    /// Commits to full text what changed since its last commit, or all if it cannot be followed; all of it
    /// anew where that proves it damaged.
    pub(super) fn refresh_text(&self, patience: Duration) -> Result<Arc<FullText>, StoreError> {
        let index = self.text(patience)?;
        let turn = index.turn(patience)?;
        match self.catch_up(&index, &turn) {
            Ok(()) => Ok(index),
            Err(error) if !is_in_the_way(&error) && is_whole(&index)? => Err(error),
            Err(error) => {
                tracing::warn!(error = ?error, "the full-text index is damaged; it is made again");
                self.make_text_in(&turn)
            }
        }
    }

    /// Makes full text from the database, whatever stands there.
    pub(super) fn make_text(&self, patience: Duration) -> Result<Arc<FullText>, StoreError> {
        let turn = turn_in(&self.folder, patience)?;
        self.make_text_in(&turn)
    }

    fn make_text_in(&self, turn: &Turn) -> Result<Arc<FullText>, StoreError> {
        let index = Arc::new(FullText::create(&self.folder, turn)?);
        self.catch_up(&index, turn)?;
        *locked(&self.fulltext) = Some(Arc::clone(&index));
        Ok(index)
    }

    fn catch_up(&self, index: &FullText, turn: &Turn) -> Result<(), StoreError> {
        let doing = "following the database with full text";
        // A snapshot taken now: whoever had the turn before may have committed later changes than
        // the caller's snapshot knows.
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context(doing)?;
            match self.changes(&snapshot, &index.stamp()?).context(doing)? {
                Some(changes) => index.apply(turn, changes),
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

/// Whether no file is damaged.
///
/// # Errors
/// The system cannot read them now.
fn is_whole(index: &FullText) -> Result<bool, StoreError> {
    Ok(unless_damaged(index.damaged())?.is_some_and(|damaged| damaged.is_empty()))
}

/// What full text and embedders see of a chunk: title, headings, text.
pub(super) fn searchable(chunk: &Chunk) -> String {
    format!("{}\n{}", chunk.full_title(), chunk.searched_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Base;

    /// One thread waits for its turn to make the index that is missing, while the one whose turn it is makes it.
    #[test]
    fn the_index_is_made_while_another_thread_waits_for_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let turn = turn_in(folder.path(), SEARCHING).unwrap();
        let inner = Arc::clone(&base.inner);
        let waiting = std::thread::spawn(move || inner.refresh_text(SEARCHING).map(drop));
        // Long enough for the other thread to ask for its turn; where it is slower, less is tested.
        std::thread::sleep(Duration::from_millis(100));
        base.inner.make_text_in(&turn).unwrap();
        drop(turn);
        waiting.join().unwrap().unwrap();
    }
}
