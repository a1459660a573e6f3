//! Keeps responses to requests with an `Idempotency-Key` for all servers over a database, so that a
//! request that is sent to two of them is done once.

use std::time::Duration;

use pikerag_knowledge::StoreError;
use tokio_postgres::Row;

use super::thread::BlockingThread;
use crate::fault::Sql;
use crate::location::Location;
use crate::rows::Text;
use crate::tx::{Access, Tx};

/// How long a request belongs to a server that shows nothing.
pub const RESPONSE_LEASE: Duration = Duration::from_mins(1);

/// The responses in a database. They belong to none of its bases.
pub struct ResponsesInPostgres(BlockingThread);

/// A request, by who sent it and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestName {
    /// The identifier of the access key; `-` without one.
    pub caller: String,
    /// The idempotency key.
    pub key: String,
}

/// A response that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// Its status.
    pub status: u16,
    /// Its media type.
    pub content_type: Option<String>,
    /// Its body.
    pub body: Vec<u8>,
}

/// What is known of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BegunResponse {
    /// It is the first: the caller does it, and no other server.
    First,
    /// A server is doing it.
    UnderWay,
    /// Its key belongs to another request.
    Reused,
    /// Its response is gone, because a document was forgotten since.
    Forgotten,
    /// Its response.
    Kept(StoredResponse),
}

impl ResponsesInPostgres {
    /// The responses in the database of an address. It is connected to when they are first used.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        BlockingThread::start(location, "responses").map(Self)
    }

    /// Begins a request for a holder, unless a server did. `fingerprint` is a hash of its content, if it
    /// is known already. Responses older than `kept` are dropped.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn begin(
        &self,
        name: &RequestName,
        fingerprint: Option<&str>,
        holder: &str,
        kept: Duration,
    ) -> Result<BegunResponse, StoreError> {
        let (name, fingerprint) = (name.clone(), fingerprint.map(str::to_owned));
        let holder = holder.to_owned();
        self.0.run("beginning a request", Access::Records, move |tx| async move {
            let old = "DELETE FROM pikerag.responses WHERE base = 0
                   AND coalesce(until, began + make_interval(secs => $1::double precision)) < clock_timestamp()";
            tx.run(old, &[&kept.as_secs_f64()]).await?;
            let sql = "INSERT INTO pikerag.responses (caller, key, fingerprint, holder, began, until)
                 VALUES ($1, $2, $3, $4, clock_timestamp(),
                   clock_timestamp() + make_interval(secs => $5::double precision))
                 ON CONFLICT DO NOTHING";
            let (caller, key) = (Text(&name.caller), Text(&name.key));
            let lease = RESPONSE_LEASE.as_secs_f64();
            let made = tx.run(sql, &[&caller, &key, &fingerprint, &holder, &lease]).await?;
            if made != 0 {
                return Ok(BegunResponse::First);
            }
            let sql = "SELECT fingerprint, status, content_type, body, is_void, until IS NULL
                 FROM pikerag.responses WHERE base = 0 AND caller = $1 AND key = $2";
            match tx.optional(sql, &[&caller, &key]).await? {
                Some(row) => found(&row, fingerprint.as_deref()),
                // It ended without a response at this moment.
                None => Ok(BegunResponse::UnderWay),
            }
        })
    }

    /// Shows that a request of a holder goes on.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn renew(&self, name: &RequestName, holder: &str) -> Result<(), StoreError> {
        let (name, holder) = (name.clone(), holder.to_owned());
        self.0.run("showing that a request goes on", Access::Unsynced, move |tx| async move {
            let sql = "UPDATE pikerag.responses
                 SET until = clock_timestamp() + make_interval(secs => $4::double precision)
                 WHERE base = 0 AND caller = $1 AND key = $2 AND holder = $3 AND until IS NOT NULL";
            let lease = RESPONSE_LEASE.as_secs_f64();
            let name = (Text(&name.caller), Text(&name.key));
            tx.run(sql, &[&name.0, &name.1, &holder, &lease]).await.map(drop)
        })
    }

    /// Keeps the response to a request of a holder, with the hash of its content.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn keep(
        &self,
        name: &RequestName,
        holder: &str,
        fingerprint: &str,
        response: StoredResponse,
    ) -> Result<(), StoreError> {
        let (name, holder) = (name.clone(), holder.to_owned());
        let fingerprint = fingerprint.to_owned();
        self.0.run("keeping a response", Access::Records, move |tx| async move {
            let sql =
                "UPDATE pikerag.responses SET fingerprint = $4, status = $5, content_type = $6,
                   body = CASE WHEN is_void THEN NULL ELSE $7::bytea END, until = NULL
                 WHERE base = 0 AND caller = $1 AND key = $2 AND holder = $3";
            let name = (Text(&name.caller), Text(&name.key));
            let StoredResponse { status, content_type, body } = response;
            let status = i32::from(status);
            tx.run(sql, &[&name.0, &name.1, &holder, &fingerprint, &status, &content_type, &body])
                .await
                .map(drop)
        })
    }

    /// Gives up a request of a holder that has no response to keep: the next one counts as the first.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn release(&self, name: &RequestName, holder: &str) -> Result<(), StoreError> {
        let (name, holder) = (name.clone(), holder.to_owned());
        self.0.run("giving up a request", Access::Records, move |tx| async move {
            let sql = "DELETE FROM pikerag.responses
                 WHERE base = 0 AND caller = $1 AND key = $2 AND holder = $3 AND until IS NOT NULL";
            let name = (Text(&name.caller), Text(&name.key));
            tx.run(sql, &[&name.0, &name.1, &holder]).await.map(drop)
        })
    }

    /// Deletes all bodies, which may hold the text of a forgotten document, and keeps none of a request
    /// that has begun.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn forget(&self) -> Result<(), StoreError> {
        self.0.run("forgetting responses", Access::Records, |tx| async move { forget(&tx).await })
    }
}

/// See [`ResponsesInPostgres::forget`].
pub(super) async fn forget(tx: &Tx) -> Sql<()> {
    let sql =
        "UPDATE pikerag.responses SET body = NULL, is_void = true WHERE base = 0 AND NOT is_void";
    tx.run(sql, &[]).await.map(drop)
}

/// What a row says to a request with this fingerprint.
fn found(row: &Row, fingerprint: Option<&str>) -> Sql<BegunResponse> {
    let own: Option<&str> = row.try_get(0)?;
    if let (Some(own), Some(fingerprint)) = (own, fingerprint)
        && own != fingerprint
    {
        return Ok(BegunResponse::Reused);
    }
    if !row.try_get::<_, bool>(5)? {
        return Ok(BegunResponse::UnderWay);
    }
    if row.try_get(4)? {
        return Ok(BegunResponse::Forgotten);
    }
    let status: Option<i32> = row.try_get(1)?;
    let body: Option<Vec<u8>> = row.try_get(3)?;
    Ok(BegunResponse::Kept(StoredResponse {
        status: status.and_then(|status| u16::try_from(status).ok()).unwrap_or(500),
        content_type: row.try_get(2)?,
        body: body.unwrap_or_default(),
    }))
}
