//! Stores uploaded files in pieces, so that each server can receive, continue and read them.

use async_trait::async_trait;
use pikerag_knowledge::{Millis, StoreError};
use pikerag_store::{
    BegunUpload, DroppedParts, FinishedUpload, SENDER_KEPT, StoredPart, StoredUpload, StoredUploads,
};
use tokio_postgres::Row;

use crate::base::Base;
use crate::fault::Sql;
use crate::rows::{self, Text};
use crate::tx::{Access, Tx, lock};

/// The end of a sender's right, from now on; `$2` are seconds.
const UNTIL: &str = "clock_timestamp() + make_interval(secs => $2::double precision)";
/// Whether nobody is sending an upload.
const IS_IDLE: &str = "part IS NOT NULL AND (sender IS NULL OR until < clock_timestamp())";

#[async_trait]
impl StoredUploads for Base {
    async fn uploads(&self) -> Result<Vec<StoredUpload>, StoreError> {
        self.reading("listing uploads", |tx| async move {
            let sql = "SELECT id, name, bytes FROM uploads WHERE part IS NULL ORDER BY name";
            tx.all(sql, &[]).await?.iter().map(upload).collect()
        })
        .await
    }

    async fn upload(&self, name: &str) -> Result<Option<StoredUpload>, StoreError> {
        self.reading("finding an upload", |tx| async move {
            let sql = "SELECT id, name, bytes FROM uploads
                 WHERE md5(name) = md5($1::text) AND name = $1 AND part IS NULL";
            tx.optional(sql, &[&Text(name)]).await?.as_ref().map(upload).transpose()
        })
        .await
    }

    async fn upload_piece(&self, number: i64, from: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.reading("reading an upload", |tx| async move {
            // `from` may be within a piece.
            let sql = "SELECT substring(bytes FROM ($2 - start + 1)::integer) FROM upload_pieces
                 WHERE upload = $1 AND start <= $2 ORDER BY start DESC LIMIT 1";
            let from = from.cast_signed();
            if let Some(row) = tx.optional(sql, &[&number, &from]).await? {
                return Ok(Some(row.try_get(0)?));
            }
            let is_there = tx.exists("SELECT 1 FROM uploads WHERE id = $1", &[&number]).await?;
            Ok(is_there.then(Vec::new))
        })
        .await
    }

    async fn upload_parts(&self) -> Result<Vec<StoredPart>, StoreError> {
        self.reading("listing incomplete uploads", |tx| async move {
            let sql =
                "SELECT name, bytes, (extract(epoch FROM changed) * 1000)::bigint FROM uploads
                 WHERE part IS NOT NULL";
            let part = |row: &Row| {
                let changed: Millis = rows::id(row, 2)?;
                Ok(StoredPart { name: rows::text(row, 0)?, bytes: rows::id(row, 1)?, changed })
            };
            tx.all(sql, &[]).await?.iter().map(part).collect()
        })
        .await
    }

    async fn upload_held(&self, name: &str, part: &str) -> Result<u64, StoreError> {
        self.reading("finding an incomplete upload", |tx| async move {
            let sql = "SELECT bytes FROM uploads
                 WHERE md5(name) = md5($1::text) AND name = $1 AND part = $2";
            match tx.optional(sql, &[&Text(name), &part]).await? {
                Some(row) => rows::id(&row, 0),
                None => Ok(0),
            }
        })
        .await
    }

    async fn begin_upload(
        &self,
        name: &str,
        part: &str,
        from: u64,
        sender: &str,
    ) -> Result<BegunUpload, StoreError> {
        let [name, part, sender] = [name, part, sender].map(str::to_owned);
        self.writing("beginning an upload", Access::Records, move |tx| async move {
            locked(&tx).await?;
            let sql = format!(
                "SELECT id, bytes, {IS_IDLE} FROM uploads
                 WHERE md5(name) = md5($1::text) AND name = $1 AND part = $2"
            );
            let found = tx.optional(&sql, &[&Text(&name), &part]).await?;
            let (number, held) = match found {
                Some(row) if !row.try_get::<_, bool>(2)? => return Ok(BegunUpload::UnderWay),
                Some(row) => (Some(row.try_get::<_, i64>(0)?), rows::id(&row, 1)?),
                None => (None, 0),
            };
            if from != 0 && from != held {
                return Ok(BegunUpload::OutOfOrder { held });
            }
            if let (Some(number), 0) = (number, from) {
                tx.run("DELETE FROM uploads WHERE id = $1", &[&number]).await?;
            }
            let seconds = SENDER_KEPT.as_secs_f64();
            if let Some(number) = number.filter(|_| from != 0) {
                let sql = format!(
                    "UPDATE uploads SET sender = $3, changed = now(), until = {UNTIL} WHERE id = $1"
                );
                tx.run(&sql, &[&number, &seconds, &sender]).await?;
                return Ok(BegunUpload::Ours(number));
            }
            let sql = format!(
                "INSERT INTO uploads (name, part, bytes, changed, sender, until)
                 VALUES ($1, $3, 0, now(), $4, {UNTIL}) RETURNING id"
            );
            let number = tx.number(&sql, &[&Text(&name), &seconds, &part, &sender]).await?;
            Ok(BegunUpload::Ours(number))
        })
        .await
    }

    async fn add_to_upload(
        &self,
        number: i64,
        sender: &str,
        from: u64,
        bytes: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let (sender, from) = (sender.to_owned(), from.cast_signed());
        // A crash of the server may lose the piece: `finish_upload` makes all of them durable.
        self.writing("storing a piece of an upload", Access::Unsynced, move |tx| async move {
            let sql = format!(
                "UPDATE uploads SET bytes = bytes + $5, changed = now(), until = {UNTIL}
                 WHERE id = $1 AND sender = $3 AND bytes = $4 AND part IS NOT NULL"
            );
            let (seconds, more) = (SENDER_KEPT.as_secs_f64(), rows::number(bytes.len()));
            if tx.run(&sql, &[&number, &seconds, &sender, &from, &more]).await? == 0 {
                return Ok(false);
            }
            if !bytes.is_empty() {
                let sql = "INSERT INTO upload_pieces (upload, start, bytes) VALUES ($1, $2, $3)";
                tx.run(sql, &[&number, &from, &bytes]).await?;
            }
            Ok(true)
        })
        .await
    }

    async fn release_upload(&self, number: i64, sender: &str) -> Result<(), StoreError> {
        let sender = sender.to_owned();
        // After this, its sender relies on the pieces.
        self.writing("keeping an incomplete upload", Access::Records, move |tx| async move {
            let sql =
                "UPDATE uploads SET sender = NULL, until = NULL WHERE id = $1 AND sender = $2";
            tx.run(sql, &[&number, &sender]).await.map(drop)
        })
        .await
    }

    async fn is_upload_name_taken(&self, name: &str) -> Result<bool, StoreError> {
        self.reading(
            "checking the name of an upload",
            |tx| async move { is_taken(&tx, name).await },
        )
        .await
    }

    async fn finish_upload(&self, number: i64, sender: &str) -> Result<FinishedUpload, StoreError> {
        let sender = sender.to_owned();
        self.writing("completing an upload", Access::Records, move |tx| async move {
            locked(&tx).await?;
            let sql = "SELECT name FROM uploads
                 WHERE id = $1 AND sender = $2 AND part IS NOT NULL FOR UPDATE";
            let Some(row) = tx.optional(sql, &[&number, &sender]).await? else {
                return Ok(FinishedUpload::NotOurs);
            };
            let name = rows::text(&row, 0)?;
            if is_taken(&tx, &name).await? {
                return Ok(FinishedUpload::NameTaken);
            }
            remove(&tx, &name).await?;
            let sql = "UPDATE uploads SET part = NULL, sender = NULL, until = NULL, changed = now()
                 WHERE id = $1";
            tx.run(sql, &[&number]).await?;
            Ok(FinishedUpload::Complete)
        })
        .await
    }

    async fn discard_upload(&self, number: i64, sender: &str) -> Result<(), StoreError> {
        let sender = sender.to_owned();
        self.writing("discarding an upload", Access::Records, move |tx| async move {
            let sql = "DELETE FROM uploads WHERE id = $1 AND sender = $2 AND part IS NOT NULL";
            tx.run(sql, &[&number, &sender]).await.map(drop)
        })
        .await
    }

    async fn remove_upload(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.writing("removing an upload", Access::Records, move |tx| async move {
            locked(&tx).await?;
            Ok(remove(&tx, &name).await? != 0)
        })
        .await
    }

    async fn drop_upload_parts(&self, which: DroppedParts<'_>) -> Result<usize, StoreError> {
        let (name, seconds) = match which {
            DroppedParts::Of(name) => (Some(name.to_owned()), 0.0),
            DroppedParts::OlderThan(age) => (None, age.as_secs_f64()),
        };
        self.writing("dropping incomplete uploads", Access::Records, move |tx| async move {
            let sql = format!(
                "DELETE FROM uploads WHERE {IS_IDLE} AND ($1::text IS NULL OR name = $1)
                   AND changed <= clock_timestamp() - make_interval(secs => $2::double precision)"
            );
            let name = Text::optional(name.as_ref());
            Ok(tx.run(&sql, &[&name, &seconds]).await? as usize)
        })
        .await
    }
}

/// Waits until no other transaction of the base takes names of uploads or gives them up.
async fn locked(tx: &Tx) -> Sql<()> {
    let sql = "SELECT 1 FROM (SELECT pg_advisory_xact_lock($1, $2)) l";
    tx.run(sql, &[&lock::UPLOADS, &tx.base()]).await.map(drop)
}

async fn remove(tx: &Tx, name: &str) -> Sql<u64> {
    let sql = "DELETE FROM uploads
         WHERE md5(name) = md5($1::text) AND name = $1 AND part IS NULL";
    tx.run(sql, &[&Text(name)]).await
}

async fn is_taken(tx: &Tx, name: &str) -> Sql<bool> {
    let above: Vec<String> =
        name.match_indices('/').filter_map(|(at, _)| name.get(..at).map(str::to_owned)).collect();
    let sql = "SELECT 1 FROM uploads WHERE part IS NULL
           AND (starts_with(name, $1) OR name = ANY($2)) LIMIT 1";
    let below = format!("{name}/");
    tx.exists(sql, &[&Text(&below), &Text::all(&above)]).await
}

fn upload(row: &Row) -> Sql<StoredUpload> {
    Ok(StoredUpload {
        number: row.try_get(0)?,
        name: rows::text(row, 1)?,
        bytes: rows::id(row, 2)?,
    })
}
