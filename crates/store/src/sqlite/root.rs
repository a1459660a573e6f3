//! Where do the names of a base's files count from, and what does each file hold?

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use super::base::Base;
use super::{put, rows};

/// The key of the root in `meta`.
const ROOT: &str = "root";

/// The key of the folders with disks of their own in `meta`.
const MOUNTS: &str = "mounts";

/// How much of a base comes from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCounts {
    /// The file's name.
    pub path: String,
    /// Documents in it.
    pub documents: usize,
    /// Chunks of them.
    pub chunks: usize,
}

impl Base {
    /// The folder that names of files count from, as it was given to [`Base::keep_root`]; `None` where nobody
    /// has said yet.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn root(&self) -> Result<Option<String>, StoreError> {
        self.looking("reading where files are", root).await
    }

    /// Remembers the folder that names of files count from, unless one is remembered already; the one that holds.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn keep_root(&self, folder: &str) -> Result<String, StoreError> {
        let folder = folder.to_owned();
        self.writing("noting where files are", move |tx| {
            tx.execute(
                "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![ROOT, folder],
            )?;
            Ok(root(tx)?.unwrap_or(folder))
        })
        .await
    }

    /// The folders in which disks of their own were mounted when files were read from there, in order.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn mounts(&self) -> Result<Vec<String>, StoreError> {
        self.looking("reading where disks were", mounts).await
    }

    /// Remembers such folders, besides those that are remembered already.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn add_mounts(&self, folders: Vec<String>) -> Result<(), StoreError> {
        self.writing("noting where disks are", move |tx| {
            let known = mounts(tx)?;
            let mut all = known.clone();
            all.extend(folders);
            all.sort();
            all.dedup();
            if all == known {
                return Ok(());
            }
            tx.execute(
                "INSERT INTO meta(key, value) VALUES (?1, ?2)
                 ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                params![MOUNTS, put::json(&all)?],
            )
            .map(drop)
        })
        .await
    }

    /// How much of the base comes from each file, by name.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn file_counts(&self) -> Result<Vec<FileCounts>, StoreError> {
        self.looking("counting files", |connection| {
            connection
                .prepare(
                    "SELECT f.path, (SELECT count(*) FROM sources WHERE file = f.path),
                       (SELECT count(*) FROM chunks c JOIN sources s ON s.id = c.source WHERE s.file = f.path)
                     FROM files f ORDER BY f.path",
                )?
                .query_map([], |row| {
                    let (documents, chunks) = (rows::size(row, 1)?, rows::size(row, 2)?);
                    Ok(FileCounts { path: row.get(0)?, documents, chunks })
                })?
                .collect()
        })
        .await
    }
}

fn root(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [ROOT], |row| row.get(0))
        .optional()
}

fn mounts(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [MOUNTS], |row| rows::json(row, 0))
        .optional()
        .map(Option::unwrap_or_default)
}
