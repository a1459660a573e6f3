//! Keeps full text in step with the database. The index is stamped with its generation. Chunks that
//! were added and removed since are applied in one commit, one writer at a time.

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
    Access, Changes, FullText, SEARCHING, WRITING, WriteLock, is_leftover_file, lock_in,
    unless_damaged,
};

impl Inner {
    /// Rebuilds full text if a failed search shows that it is damaged.
    ///
    /// # Errors
    /// The same error if nothing is damaged.
    pub(super) fn rebuilt_text(&self, failed: StoreError) -> Result<Arc<FullText>, StoreError> {
        let index = self.text(SEARCHING)?;
        if is_whole(&index)? {
            return Err(failed);
        }
        tracing::warn!(error = ?failed, "the full-text index is damaged; it is rebuilt");
        self.rebuild_text(SEARCHING)
    }

    /// Full text, brought up to the database before a search. If searches may lag behind, it is
    /// used as it is and updated in the background. If the base cannot be written, full text is
    /// read from disk or built in memory.
    pub(super) fn text_at(&self, connection: &Connection) -> Result<Arc<FullText>, StoreError> {
        let generation = counter(connection, TEXT_GENERATION).context("reading the generation")?;
        let stamp = self.stamp(generation);
        if self.writer.is_none() {
            return self.text_in_memory(connection, &stamp);
        }
        let index = self.text(SEARCHING)?;
        if index.stamp()? == stamp || self.updates_in_background(&index)? {
            if unless_damaged(index.reload())?.is_some() {
                return Ok(index);
            }
            tracing::warn!("the full-text index is damaged; it is rebuilt");
            return self.rebuild_text(SEARCHING);
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

    /// Whether a search may lag behind; then a thread updates full text if it is time.
    fn updates_in_background(&self, index: &FullText) -> Result<bool, StoreError> {
        let Freshness::Within(lag) = self.freshness else { return Ok(false) };
        if !index.stamp()?.starts_with(&self.identity) {
            return Ok(false);
        }
        let mut last = locked(&self.last_update.0);
        if let Some(me) = self.me.upgrade()
            && last.is_some_and(|last| lag <= last.elapsed())
        {
            *last = None;
            std::thread::spawn(move || {
                if let Err(error) = me.refresh_text(WRITING) {
                    tracing::warn!(error = ?error, "full text is behind the database");
                }
                *locked(&me.last_update.0) = Some(Instant::now());
            });
        }
        Ok(true)
    }

    /// Full text of a base that cannot be written: the index on disk if it is up to date, else one
    /// in memory.
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
                    "full text is not up to date and cannot be written, so it is built in memory"
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

    /// The full-text index, opened on first use, because most commands do not need it.
    fn text(&self, max_wait: Duration) -> Result<Arc<FullText>, StoreError> {
        if let Some(index) = locked(&self.fulltext).as_ref() {
            return Ok(Arc::clone(index));
        }
        // This may wait for a thread that builds the index. That thread stores the index here
        // before it releases the lock.
        let index = Arc::new(FullText::open(&self.folder, max_wait)?);
        Ok(Arc::clone(locked(&self.fulltext).get_or_insert(index)))
    }

    /// Commits to full text the changes since its last commit, or everything if the changes are
    /// unknown. Rebuilds it if the attempt shows that it is damaged.
    pub(super) fn refresh_text(&self, max_wait: Duration) -> Result<Arc<FullText>, StoreError> {
        let index = self.text(max_wait)?;
        let lock = index.lock_writes(max_wait)?;
        match self.catch_up(&index, &lock) {
            Ok(()) => Ok(index),
            Err(error) if !is_leftover_file(&error) && is_whole(&index)? => Err(error),
            Err(error) => {
                tracing::warn!(error = ?error, "the full-text index is damaged; it is rebuilt");
                self.rebuild_text_locked(&lock)
            }
        }
    }

    /// Rebuilds full text from the database, whatever is there.
    pub(super) fn rebuild_text(&self, max_wait: Duration) -> Result<Arc<FullText>, StoreError> {
        let lock = lock_in(&self.folder, max_wait)?;
        self.rebuild_text_locked(&lock)
    }

    fn rebuild_text_locked(&self, lock: &WriteLock) -> Result<Arc<FullText>, StoreError> {
        let index = Arc::new(FullText::create(&self.folder, lock)?);
        self.catch_up(&index, lock)?;
        *locked(&self.fulltext) = Some(Arc::clone(&index));
        Ok(index)
    }

    fn catch_up(&self, index: &FullText, lock: &WriteLock) -> Result<(), StoreError> {
        let doing = "following the database with full text";
        // A new snapshot, because the previous writer may have committed later changes than the
        // caller's snapshot shows.
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context(doing)?;
            match self.changes(&snapshot, &index.stamp()?).context(doing)? {
                Some(changes) => index.apply(lock, changes),
                None => index.reload(),
            }
        })
    }

    /// The changes that full text with this stamp misses; `None` if it is up to date.
    fn changes(&self, connection: &Connection, stamp: &str) -> rusqlite::Result<Option<Changes>> {
        let generation = counter(connection, TEXT_GENERATION)?;
        if stamp == self.stamp(generation) {
            return Ok(None);
        }
        let known = stamp
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
/// The system cannot read the files now.
fn is_whole(index: &FullText) -> Result<bool, StoreError> {
    Ok(unless_damaged(index.damaged())?.is_some_and(|damaged| damaged.is_empty()))
}

/// The text of a chunk for full text and embedders: title, headings, text.
pub fn searchable(chunk: &Chunk) -> String {
    format!("{}\n{}", chunk.full_title(), chunk.searched_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Base;

    /// One thread waits for the write lock to build the missing index, while the lock's holder
    /// builds it.
    #[test]
    fn the_index_is_built_while_another_thread_waits_for_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let lock = lock_in(folder.path(), SEARCHING).unwrap();
        let inner = Arc::clone(&base.inner);
        let waiting = std::thread::spawn(move || inner.refresh_text(SEARCHING).map(drop));
        // Long enough for the other thread to wait for the lock; if it is slower, less is tested.
        std::thread::sleep(Duration::from_millis(100));
        base.inner.rebuild_text_locked(&lock).unwrap();
        drop(lock);
        waiting.join().unwrap().unwrap();
    }
}
