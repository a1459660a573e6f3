//! Stores the folder that file names are relative to, and counts the content of each file.

use pikerag_knowledge::StoreError;
use pikerag_store::FileCounts;

use crate::base::Base;
use crate::fault::Sql;
use crate::rows::{self, Text, to_json};
use crate::tx::{Access, Tx};

/// The key of the root in `meta`.
const ROOT: &str = "root";

/// The key in `meta` of the folders that are disks of their own.
const MOUNTS: &str = "mounts";

impl Base {
    /// The folder that file names are relative to, as given to [`Base::keep_root`]; `None` if none
    /// was given yet.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn root(&self) -> Result<Option<String>, StoreError> {
        self.reading("reading the root folder", |tx| async move { root(&tx).await }).await
    }

    /// Stores the folder that file names are relative to, unless one is stored already. Returns the
    /// stored folder.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn keep_root(&self, folder: &str) -> Result<String, StoreError> {
        let folder = folder.to_owned();
        self.writing("storing the root folder", Access::Documents, move |tx| async move {
            let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            tx.run(sql, &[&ROOT, &Text(&folder)]).await?;
            Ok(root(&tx).await?.unwrap_or(folder))
        })
        .await
    }

    /// The folders in which separate disks were mounted when files were read from there, in order.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn mounts(&self) -> Result<Vec<String>, StoreError> {
        self.reading("reading the mount points", |tx| async move { mounts(&tx).await }).await
    }

    /// Adds such folders to the stored ones.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn add_mounts(&self, folders: Vec<String>) -> Result<(), StoreError> {
        self.writing("storing the mount points", Access::Documents, move |tx| async move {
            let known = mounts(&tx).await?;
            let mut all = known.clone();
            all.extend(folders);
            all.sort();
            all.dedup();
            if all == known {
                return Ok(());
            }
            let sql = "INSERT INTO meta (key, value) VALUES ($1, $2)
                 ON CONFLICT (base, key) DO UPDATE SET value = excluded.value";
            tx.run(sql, &[&MOUNTS, &to_json(&all)?]).await.map(drop)
        })
        .await
    }

    /// Counts the documents and chunks of each file, by name.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn file_counts(&self) -> Result<Vec<FileCounts>, StoreError> {
        self.reading("counting files", |tx| async move {
            let sql = "SELECT f.path, coalesce(d.count, 0), coalesce(k.count, 0) FROM files f
                 LEFT JOIN (SELECT file, count(*) AS count FROM sources GROUP BY file) d
                   ON d.file = f.path
                 LEFT JOIN (SELECT s.file, count(*) AS count
                   FROM chunks c JOIN sources s ON s.id = c.source GROUP BY s.file) k
                   ON k.file = f.path
                 ORDER BY f.path";
            let mut counts = Vec::new();
            for row in tx.all(sql, &[]).await? {
                let (documents, chunks) = (rows::size(&row, 1)?, rows::size(&row, 2)?);
                counts.push(FileCounts { path: rows::text(&row, 0)?, documents, chunks });
            }
            Ok(counts)
        })
        .await
    }
}

async fn root(tx: &Tx) -> Sql<Option<String>> {
    match tx.optional("SELECT value FROM meta WHERE key = $1", &[&ROOT]).await? {
        Some(row) => rows::text(&row, 0).map(Some),
        None => Ok(None),
    }
}

async fn mounts(tx: &Tx) -> Sql<Vec<String>> {
    match tx.optional("SELECT value FROM meta WHERE key = $1", &[&MOUNTS]).await? {
        Some(row) => rows::json(&row, 0),
        None => Ok(Vec::new()),
    }
}
