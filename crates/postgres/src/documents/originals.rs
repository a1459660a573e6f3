//! Stores the bytes of the indexed files under their hash, each once, as long as a file has them.

use pikerag_knowledge::{FileRecord, StoreError};
use pikerag_store::Originals;

use super::put;
use crate::base::Base;
use crate::rows::{self, Text, number};
use crate::tx::Access;

impl Base {
    /// Files whose bytes are not stored, by path.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn files_without_original(&self) -> Result<Vec<FileRecord>, StoreError> {
        self.reading("reading the record of originals", |tx| async move {
            let sql = "SELECT path, hash, recipe FROM files
                 WHERE hash NOT IN (SELECT hash FROM originals) ORDER BY path";
            tx.all(sql, &[]).await?.iter().map(put::file_record).collect()
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
        self.writing("keeping an original", Access::Documents, move |tx| async move {
            let sql = "SELECT 1 FROM files WHERE hash = $1 LIMIT 1";
            let is_known = tx.exists(sql, &[&Text(&hash)]).await?;
            if is_known {
                let sql = "INSERT INTO originals (hash, length, bytes) VALUES ($1, $2, $3)
                     ON CONFLICT DO NOTHING";
                tx.run(sql, &[&Text(&hash), &number(bytes.len()), &bytes]).await?;
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
        self.reading("reading an original", |tx| async move {
            let sql = "SELECT bytes FROM originals WHERE hash = $1";
            match tx.optional(sql, &[&Text(hash)]).await? {
                Some(row) => Ok(Some(row.try_get(0)?)),
                None => Ok(None),
            }
        })
        .await
    }

    /// Counts the stored originals.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn originals(&self) -> Result<Originals, StoreError> {
        self.reading("counting originals", |tx| async move {
            let sql = "SELECT count(o.hash), count(*) - count(o.hash),
                   (SELECT coalesce(sum(length), 0)::bigint FROM originals)
                 FROM files f LEFT JOIN originals o ON o.hash = f.hash";
            let row = tx.one(sql, &[]).await?;
            Ok(Originals {
                files: rows::size(&row, 0)?,
                without: rows::size(&row, 1)?,
                bytes: rows::id(&row, 2)?,
            })
        })
        .await
    }
}
