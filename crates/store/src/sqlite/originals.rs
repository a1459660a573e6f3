//! Stores the bytes of the indexed files under their hash, each once, as long as a file has them.

use pikerag_knowledge::{FileRecord, StoreError};
use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use super::base::Base;
use super::rows;

/// Counts the stored bytes of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Originals {
    /// Files whose bytes are stored.
    pub files: usize,
    /// Files whose bytes are not stored.
    pub without: usize,
    /// All stored bytes; bytes that several files share count once.
    pub bytes: u64,
}

impl Base {
    /// Files whose bytes are not stored, by path.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn files_without_original(&self) -> Result<Vec<FileRecord>, StoreError> {
        self.querying("reading the record of originals", |connection| {
            connection
                .prepare(
                    "SELECT path, hash, recipe FROM files
                     WHERE hash NOT IN (SELECT hash FROM originals) ORDER BY path",
                )?
                .query_map([], |row| {
                    Ok(FileRecord { path: row.get(0)?, hash: row.get(1)?, recipe: row.get(2)? })
                })?
                .collect()
        })
        .await
    }

    /// Stores the bytes of a file. Returns whether a file has this hash; it may have been deleted
    /// in the meantime.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn keep_original(&self, hash: &str, bytes: Vec<u8>) -> Result<bool, StoreError> {
        let hash = hash.to_owned();
        self.writing("keeping an original", move |tx| {
            let is_known = tx.prepare_cached("SELECT 1 FROM files WHERE hash = ?1")?.exists([&hash])?;
            if is_known {
                tx.prepare_cached(
                    "INSERT INTO originals(hash, length, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                )?
                .execute(params![hash, rows::limit_of(bytes.len()), bytes])?;
            }
            Ok(is_known)
        })
        .await
    }

    /// The bytes under this hash, if they are stored.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn original(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let hash = hash.to_owned();
        self.querying("reading an original", move |connection| {
            connection
                .prepare_cached("SELECT bytes FROM originals WHERE hash = ?1")?
                .query_row([hash], |row| row.get(0))
                .optional()
        })
        .await
    }

    /// Counts the stored originals.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn originals(&self) -> Result<Originals, StoreError> {
        self.querying("counting originals", |connection| {
            connection.query_row(
                "SELECT count(o.hash), count(*) - count(o.hash),
                   (SELECT coalesce(sum(length), 0) FROM originals)
                 FROM files f LEFT JOIN originals o ON o.hash = f.hash",
                [],
                |row| {
                    Ok(Originals {
                        files: rows::size(row, 0)?,
                        without: rows::size(row, 1)?,
                        bytes: rows::id(row, 2)?,
                    })
                },
            )
        })
        .await
    }
}
