//! Stores the folder that file names are relative to, and counts the content of each file.

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use super::base::Base;
use super::{put, rows};

/// The key of the root in `meta`.
const ROOT: &str = "root";

/// The key in `meta` of the folders that are disks of their own.
const MOUNTS: &str = "mounts";

/// The documents and chunks of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCounts {
    /// The file's name.
    pub path: String,
    /// Documents in it.
    pub documents: usize,
    /// Chunks of these documents.
    pub chunks: usize,
}

impl Base {
    /// The folder that file names are relative to, as given to [`Base::keep_root`]; `None` if none
    /// was given yet.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn root(&self) -> Result<Option<String>, StoreError> {
        self.querying("reading the root folder", root).await
    }

    /// Stores the folder that file names are relative to, unless one is stored already. Returns the
    /// stored folder.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn keep_root(&self, folder: &str) -> Result<String, StoreError> {
        let folder = folder.to_owned();
        self.writing("storing the root folder", move |tx| {
            tx.execute(
                "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![ROOT, folder],
            )?;
            Ok(root(tx)?.unwrap_or(folder))
        })
        .await
    }

    /// The folders in which separate disks were mounted when files were read from there, in order.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn mounts(&self) -> Result<Vec<String>, StoreError> {
        self.querying("reading the mount points", mounts).await
    }

    /// Adds such folders to the stored ones.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn add_mounts(&self, folders: Vec<String>) -> Result<(), StoreError> {
        self.writing("storing the mount points", move |tx| {
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

    /// Counts the documents and chunks of each file, by name.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn file_counts(&self) -> Result<Vec<FileCounts>, StoreError> {
        self.querying("counting files", |connection| {
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
