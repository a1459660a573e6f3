//! Stores people's corrections of the reading of files: one row each, by file and in order.

use pikerag_knowledge::{Correction, SourceId, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::base::Base;
use super::put::json;
use super::rows;

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
            self.writing("moving corrections", move |tx| adopt(tx, &file, &hash)).await?;
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
        let (file, hash) = (file.to_owned(), hash.to_owned());
        let query = move |connection: &Connection| of_file(connection, &file, &hash);
        self.querying("reading corrections", query).await
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
        self.writing("keeping corrections", move |tx| {
            let (mut all, _) = of_file(tx, &file, &hash)?;
            all.extend(new);
            replace(tx, &file, &hash, &all)?;
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
        self.writing("removing a correction", move |tx| {
            let (mut all, _) = of_file(tx, &file, &hash)?;
            if all.len() <= place {
                return Ok(None);
            }
            all.remove(place);
            replace(tx, &file, &hash, &all)?;
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
        self.writing("marking files to be read again", move |tx| {
            let mut mark = tx.prepare_cached("UPDATE files SET recipe = '' WHERE path = ?1")?;
            files.iter().map(|file| mark.execute([file])).sum()
        })
        .await
    }

    /// The text of a document as it was read.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn text_of(&self, source: SourceId) -> Result<Option<String>, StoreError> {
        self.querying("reading a document's text", move |connection| {
            connection
                .prepare_cached("SELECT text FROM sources WHERE id = ?1")?
                .query_row([source.0.cast_signed()], |row| row.get(0))
                .optional()
        })
        .await
    }
}

fn replace(
    tx: &Transaction<'_>,
    file: &str,
    hash: &str,
    all: &[Correction],
) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM corrections WHERE file = ?1", [file])?;
    for (place, correction) in (1i64..).zip(all) {
        tx.prepare_cached("INSERT INTO corrections VALUES (?1, ?2, ?3, ?4)")?.execute(params![
            file,
            place,
            hash,
            json(correction)?
        ])?;
    }
    tx.execute("UPDATE files SET recipe = '' WHERE path = ?1", [file]).map(drop)
}

/// Gives a file the corrections of its bytes. Names that the file had before lose them.
fn adopt(tx: &Transaction<'_>, file: &str, hash: &str) -> rusqlite::Result<()> {
    tx.execute(
        // Another reader of the file may have moved them since.
        "INSERT OR IGNORE INTO corrections SELECT ?1, place, hash, correction FROM corrections WHERE file =
             (SELECT file FROM corrections WHERE hash = ?2 ORDER BY file LIMIT 1)",
        [file, hash],
    )?;
    tx.execute(
        "DELETE FROM corrections
         WHERE hash = ?2 AND file <> ?1 AND file NOT IN (SELECT path FROM files)",
        [file, hash],
    )
    .map(drop)
}

/// Handles a removed file that may come back: its corrections are deleted only if another file has
/// the same bytes.
pub(super) fn leave(tx: &Transaction<'_>, file: &str) -> rusqlite::Result<()> {
    tx.execute(
        "DELETE FROM corrections
         WHERE file = ?1 AND hash IN (SELECT hash FROM corrections WHERE file <> ?1)",
        [file],
    )
    .map(drop)
}

/// Deletes the corrections of a file that is forgotten, also under its earlier names.
pub(super) fn forget(tx: &Transaction<'_>, file: &str) -> rusqlite::Result<()> {
    tx.execute(
        "DELETE FROM corrections WHERE file = ?1
         OR file NOT IN (SELECT path FROM files) AND hash IN
             (SELECT hash FROM corrections WHERE file = ?1 UNION SELECT hash FROM files WHERE path = ?1)",
        [file],
    )
    .map(drop)
}

/// The corrections, and whether they are the file's own.
fn of_file(
    connection: &Connection,
    file: &str,
    hash: &str,
) -> rusqlite::Result<(Vec<Correction>, bool)> {
    let mut is_own = true;
    let all = connection
        .prepare_cached(
            "SELECT correction, file = ?1 FROM corrections WHERE file = coalesce(
                 (SELECT file FROM corrections WHERE file = ?1 LIMIT 1),
                 (SELECT file FROM corrections WHERE hash = ?2 ORDER BY file LIMIT 1))
             ORDER BY place",
        )?
        .query_map([file, hash], |row| {
            is_own = row.get(1)?;
            rows::json(row, 0)
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok((all, is_own))
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;

    fn correction(old: &str) -> Correction {
        let (fragment, new, by) = (String::new(), "new".to_owned(), "ada".to_owned());
        Correction { fragment, old: old.to_owned(), new, by, at: 1 }
    }

    #[tokio::test]
    async fn corrections_of_the_same_moment_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let olds = ["one", "two", "three", "four"];
        let adding = olds.map(|old| base.add_corrections("a.md", "hash", vec![correction(old)]));
        assert!(join_all(adding).await.iter().all(Result::is_ok));
        let kept = base.corrections("a.md", "hash").await.unwrap();
        assert_eq!(kept.len(), olds.len());
        let removing = [0, 0].map(|place| base.remove_correction("a.md", "hash", place));
        assert!(join_all(removing).await.iter().all(Result::is_ok));
        assert_eq!(base.corrections("a.md", "hash").await.unwrap(), kept[2..]);
        assert_eq!(base.remove_correction("a.md", "hash", 2).await.unwrap(), None);
    }

    #[tokio::test]
    async fn corrections_of_a_moved_file_are_moved_once_and_not_by_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let kept = base.add_corrections("a.md", "hash", vec![correction("one")]).await.unwrap();
        let files = || {
            base.querying("reading", |connection| -> rusqlite::Result<String> {
                let sql = "SELECT group_concat(file) FROM corrections";
                connection.query_row(sql, [], |row| row.get(0))
            })
        };
        assert_eq!(base.read_corrections("b.md", "hash").await.unwrap(), kept);
        let unmoved = files().await.unwrap();
        let moving = [0; 4].map(|_| base.corrections("b.md", "hash"));
        for moved in join_all(moving).await {
            assert_eq!(moved.unwrap(), kept);
        }
        let moved = files().await.unwrap();
        assert_eq!((unmoved.as_str(), moved.as_str()), ("a.md", "b.md"));
    }
}
