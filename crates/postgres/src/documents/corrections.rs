//! Stores people's corrections of the reading of files: one row each, by file and in order.

use pikerag_knowledge::{Correction, SourceId, StoreError};

use crate::base::Base;
use crate::fault::Sql;
use crate::rows::{self, Text, number, to_json};
use crate::tx::{Access, Tx};

impl Base {
    /// The corrections of a file, in order. A file without its own takes those of another file with
    /// the same bytes, because it was moved.
    ///
    /// # Errors
    /// The base cannot be read; for a moved file, it cannot be written.
    pub async fn corrections(&self, file: &str, hash: &str) -> Result<Vec<Correction>, StoreError> {
        let (all, is_own) = self.stored_corrections(file, hash).await?;
        if !is_own {
            let (file, hash) = (file.to_owned(), hash.to_owned());
            self.writing("moving corrections", Access::Documents, move |tx| async move {
                adopt(&tx, &file, &hash).await
            })
            .await?;
        }
        Ok(all)
    }

    /// As [`Base::corrections`], for a reader: nothing is moved or written.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn read_corrections(
        &self,
        file: &str,
        hash: &str,
    ) -> Result<Vec<Correction>, StoreError> {
        Ok(self.stored_corrections(file, hash).await?.0)
    }

    /// The corrections, and whether they are the file's own.
    async fn stored_corrections(
        &self,
        file: &str,
        hash: &str,
    ) -> Result<(Vec<Correction>, bool), StoreError> {
        self.reading("reading corrections", |tx| async move { of_file(&tx, file, hash).await })
            .await
    }

    /// Adds corrections behind those of a file, and returns all of them. Corrections that are added
    /// at the same time are all kept. The file is read again the next time it is indexed.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn add_corrections(
        &self,
        file: &str,
        hash: &str,
        new: Vec<Correction>,
    ) -> Result<Vec<Correction>, StoreError> {
        let (file, hash) = (file.to_owned(), hash.to_owned());
        self.writing("keeping corrections", Access::Documents, move |tx| async move {
            let (mut all, _) = of_file(&tx, &file, &hash).await?;
            all.extend(new);
            replace(&tx, &file, &hash, &all).await?;
            Ok(all)
        })
        .await
    }

    /// Removes the correction of a file at `place`, from 0, and returns the others; `None` if there
    /// is no such place. The file is read again the next time it is indexed.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn remove_correction(
        &self,
        file: &str,
        hash: &str,
        place: usize,
    ) -> Result<Option<Vec<Correction>>, StoreError> {
        let (file, hash) = (file.to_owned(), hash.to_owned());
        self.writing("removing a correction", Access::Documents, move |tx| async move {
            let (mut all, _) = of_file(&tx, &file, &hash).await?;
            if all.len() <= place {
                return Ok(None);
            }
            all.remove(place);
            replace(&tx, &file, &hash, &all).await?;
            Ok(Some(all))
        })
        .await
    }

    /// Has unchanged files read again the next time they are indexed. Returns how many of them the
    /// base has.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn read_again(&self, files: &[String]) -> Result<usize, StoreError> {
        let files = files.to_vec();
        let doing = "marking files to be read again";
        self.writing(doing, Access::Documents, move |tx| async move {
            let sql = "UPDATE files SET recipe = '' WHERE path = ANY($1::text[])";
            let marked = tx.run(sql, &[&Text::all(&files)]).await?;
            Ok(usize::try_from(marked).unwrap_or(usize::MAX))
        })
        .await
    }

    /// The text of a document as it was read.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn text_of(&self, source: SourceId) -> Result<Option<String>, StoreError> {
        self.reading("reading a document's text", |tx| async move {
            let sql = "SELECT text FROM sources WHERE id = $1";
            match tx.optional(sql, &[&source.0.cast_signed()]).await? {
                Some(row) => rows::text(&row, 0).map(Some),
                None => Ok(None),
            }
        })
        .await
    }
}

async fn replace(tx: &Tx, file: &str, hash: &str, all: &[Correction]) -> Sql<()> {
    tx.run("DELETE FROM corrections WHERE file = $1", &[&Text(file)]).await?;
    let places: Vec<i64> = (1..=number(all.len())).collect();
    let corrections = all.iter().map(to_json).collect::<Sql<Vec<String>>>()?;
    let sql = "INSERT INTO corrections (file, place, hash, correction)
         SELECT $1::text, w.place, $2::text, w.correction
         FROM unnest($3::bigint[], $4::text[]) AS w(place, correction)";
    tx.run(sql, &[&Text(file), &Text(hash), &places, &corrections]).await?;
    tx.run("UPDATE files SET recipe = '' WHERE path = $1", &[&Text(file)]).await.map(drop)
}

/// Gives a file the corrections of its bytes. Names that the file had before lose them.
async fn adopt(tx: &Tx, file: &str, hash: &str) -> Sql<()> {
    // Another process may have done so since they were read.
    let sql = "INSERT INTO corrections (file, place, hash, correction)
         SELECT $1::text, place, hash, correction FROM corrections WHERE file =
             (SELECT file FROM corrections WHERE hash = $2::text ORDER BY file LIMIT 1)
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&Text(file), &Text(hash)]).await?;
    let sql = "DELETE FROM corrections
         WHERE hash = $2::text AND file <> $1::text AND file NOT IN (SELECT path FROM files)";
    tx.run(sql, &[&Text(file), &Text(hash)]).await.map(drop)
}

/// Handles a removed file that may come back: its corrections are deleted only if another file has
/// the same bytes.
pub(super) async fn leave(tx: &Tx, file: &str) -> Sql<()> {
    let sql = "DELETE FROM corrections
         WHERE file = $1 AND hash IN (SELECT hash FROM corrections WHERE file <> $1)";
    tx.run(sql, &[&Text(file)]).await.map(drop)
}

/// Deletes the corrections of a file that is forgotten, also under its earlier names.
pub(crate) async fn forget(tx: &Tx, file: &str) -> Sql<()> {
    let sql = "DELETE FROM corrections WHERE file = $1
         OR (file NOT IN (SELECT path FROM files) AND hash IN
             (SELECT hash FROM corrections WHERE file = $1 UNION SELECT hash FROM files WHERE path = $1))";
    tx.run(sql, &[&Text(file)]).await.map(drop)
}

/// The corrections, and whether they are the file's own.
async fn of_file(tx: &Tx, file: &str, hash: &str) -> Sql<(Vec<Correction>, bool)> {
    let sql = "SELECT correction, file = $1::text FROM corrections WHERE file = coalesce(
             (SELECT file FROM corrections WHERE file = $1::text LIMIT 1),
             (SELECT file FROM corrections WHERE hash = $2::text ORDER BY file LIMIT 1))
         ORDER BY place";
    let (mut all, mut is_own) = (Vec::new(), true);
    for row in tx.all(sql, &[&Text(file), &Text(hash)]).await? {
        is_own = row.try_get(1)?;
        all.push(rows::json(&row, 0)?);
    }
    Ok((all, is_own))
}
