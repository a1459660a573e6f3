//! Keeps the database's log short. SQLite restarts the log when nobody reads a state in it.
//! Overlapping questions always read one, so the log grows as long as they come. Once it is long,
//! new questions wait a moment until earlier ones have ended.

use std::sync::Weak;
use std::time::Duration;

use rusqlite::Connection;

use super::busy::{LOCKED_FOR, is_busy};
use super::gate::LONG;
use super::header::log_of;
use super::inner::{DATABASE, Inner};
use super::locks::locked;

/// The bytes of a log from which questions wait as long as most questions take.
pub(super) const VERY_LONG: u64 = 16 * LONG;

/// How long new questions wait for earlier ones, if the log is long and if it is very long.
pub(super) const SHORT_WAIT: Duration = Duration::from_secs(2);
pub(super) const LONG_WAIT: Duration = Duration::from_secs(30);
/// A failed attempt is repeated after this many times the wait.
pub(super) const PAUSE: u32 = 10;
/// How long to wait for single reads, which hold no state.
const READS_TAKE: Duration = Duration::from_millis(200);

impl Inner {
    /// Shortens the log if it is long. Another thread does it, because the caller may hold a state
    /// that must end first.
    pub(super) fn shorten_log_if_long(&self) {
        let log = log_of(&self.folder.join(DATABASE));
        let length = std::fs::metadata(log).map_or(0, |it| it.len());
        if !self.gate.begin(length) {
            return;
        }
        let wait = if length < VERY_LONG { SHORT_WAIT } else { LONG_WAIT };
        let me = Weak::clone(&self.me);
        let begun = std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            if let Some(inner) = me.upgrade() {
                inner.shorten_log(wait);
            }
        });
        if begun.is_err() {
            self.gate.end(wait * PAUSE);
        }
    }

    fn shorten_log(&self, wait: Duration) {
        self.gate.close(wait);
        let is_done = match &self.writer {
            Some(writer) => empty_log(&locked(writer), READS_TAKE),
            None => Ok(false),
        };
        self.gate.open();
        if let Err(error) = &is_done {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "the log of the database could not be shortened"
            );
        }
        let again_after = if is_done.unwrap_or_default() { Duration::ZERO } else { wait * PAUSE };
        self.gate.end(again_after);
    }
}

/// Empties the log if nobody reads a state in it. Returns whether it did.
pub(super) fn empty_log(writer: &Connection, wait: Duration) -> rusqlite::Result<bool> {
    writer.busy_timeout(wait)?;
    let result = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    writer.busy_timeout(LOCKED_FOR)?;
    let is_busy: bool = match result {
        Err(error) if is_busy(&error) => true,
        result => result?,
    };
    Ok(!is_busy)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use pikerag_knowledge::{Filter, Snapshots};

    use super::*;
    use crate::Base;

    /// Bytes that one change writes.
    const WRITTEN: i64 = 16 << 10;

    fn length_of_log(base: &Base) -> u64 {
        std::fs::metadata(log_of(&base.inner.folder.join(DATABASE))).map_or(0, |it| it.len())
    }

    /// Questions through another handle overlap, so that a state is always read. Changes go on
    /// until the log gets shorter.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn the_log_is_shortened_while_questions_overlap() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        base.inner.gate.set_long(1 << 18);
        let other = Base::open(folder.path()).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let questions: Vec<_> = (0..3)
            .map(|_| {
                let (base, is_over) = (other.clone(), Arc::clone(&is_over));
                tokio::spawn(async move {
                    while !is_over.load(Ordering::Relaxed) {
                        let everything = Filter::default();
                        let held = base.snapshot(&everything, &everything).await.unwrap();
                        tokio::time::sleep(Duration::from_millis(30)).await;
                        drop(held);
                    }
                })
            })
            .collect();
        let mut lengths = vec![0];
        while lengths.is_sorted() {
            assert!(lengths.len() < 5_000, "the log was never shortened: {:?}", lengths.last());
            let inner = Arc::clone(&base.inner);
            tokio::task::spawn_blocking(move || {
                let write = |tx: &rusqlite::Transaction<'_>| {
                    let insert = "INSERT OR REPLACE INTO meta VALUES ('written', randomblob(?1))";
                    tx.execute(insert, [WRITTEN])
                };
                inner.transaction("writing", write).unwrap();
            })
            .await
            .unwrap();
            lengths.push(length_of_log(&base));
        }
        is_over.store(true, Ordering::Relaxed);
        for question in questions {
            question.await.unwrap();
        }
    }
}
