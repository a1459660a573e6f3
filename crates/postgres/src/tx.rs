//! Runs statements in one transaction of one base. A transaction is an owned value, so that a
//! question can hold one from its beginning to its end.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Object;
use futures::StreamExt;
use futures::stream::BoxStream;
use pikerag_knowledge::{Lease, StoreError};
use tokio::runtime::Handle;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::fault::{Fault, Sql};

/// Classes of advisory locks. The second number of a lock is the base.
pub(crate) mod lock {
    /// Held while the tables of the database change.
    pub(crate) const MIGRATION: i32 = 0x504b;
    /// Held by each write of documents and of results from them: one at a time in a base. So the
    /// counters in `meta` grow in the order of commits.
    pub(crate) const DOCUMENTS: i32 = 0x504c;
    /// Held alone by an operation that forgets, and shared by writes of replies and runs.
    pub(crate) const FORGETTING: i32 = 0x504d;
    /// Held while indexes of vectors are made.
    pub(crate) const INDEXES: i32 = 0x504e;
    /// Held while names of uploads are taken and given up.
    pub(crate) const UPLOADS: i32 = 0x5055;
}

/// The longest silence of a worker in a transaction, such as behind a broken network. Its locks would
/// keep others from its jobs.
const SILENCE: &str = "SET LOCAL idle_in_transaction_session_timeout = '2min'";

/// The content that a transaction reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads one state of the base.
    Read,
    /// The same, held by a question, whose filter may hide content.
    Held,
    /// Changes documents, or results, tags, tables and judgments that rest on them.
    Documents,
    /// Changes replies, runs or jobs, which many processes do at once.
    Records,
    /// As [`Access::Records`]; a crash of the server may lose the change.
    Unsynced,
    /// Forgets: nothing else changes meanwhile.
    Forget,
}

impl Access {
    /// The statements that begin the transaction.
    fn begin(self, base: i32, types: &str) -> String {
        let begin = match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // The lists of what a filter admits are temporary tables.
            Self::Held => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            _ => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        };
        let exclusive = |class: i32| format!("SELECT pg_advisory_xact_lock({class}, {base});");
        // A removal holds both locks, so no row of a removed base is written after it.
        let checked = format!("SELECT pikerag.check_base({base});");
        let more = match self {
            // The first statement fixes the state.
            Self::Read | Self::Held => "SELECT 1;".to_owned(),
            Self::Documents => exclusive(lock::DOCUMENTS) + &checked,
            Self::Records => {
                let shared = lock::FORGETTING;
                format!("SELECT pg_advisory_xact_lock_shared({shared}, {base}); {checked}")
            }
            Self::Unsynced => "SET LOCAL synchronous_commit = off;".to_owned(),
            Self::Forget => exclusive(lock::FORGETTING) + &exclusive(lock::DOCUMENTS),
        };
        // Temporary tables come last, so that they hide nothing unless a filter says so.
        format!(
            "{begin}; SET LOCAL pikerag.base = {base};
             SET LOCAL search_path = pikerag_base, {types}, pg_temp; {more}"
        )
    }
}

/// A transaction of one base. Statements name tables as `chunks`: they are the views of
/// `pikerag_base`, or those of a filter. Dropped without a commit, its changes are undone.
pub(crate) struct Tx {
    client: Option<Object>,
    is_over: AtomicBool,
    /// Whether the views of a filter hide content.
    is_filtered: bool,
    base: i32,
    /// Where the types and operators of pgvector are.
    types: String,
    /// For the rollback, which waits for the server.
    runtime: Handle,
}

/// A parameter of a statement.
pub(crate) type Param<'a> = &'a (dyn ToSql + Sync);

impl Tx {
    /// Begins a transaction on a connection of the caller's.
    pub(crate) async fn begin(client: Object, base: i32, types: &str, access: Access) -> Sql<Self> {
        let tx = Self {
            client: Some(client),
            is_over: AtomicBool::new(false),
            is_filtered: false,
            base,
            types: types.to_owned(),
            runtime: Handle::current(),
        };
        tx.batch(&access.begin(base, types)).await?;
        Ok(tx)
    }

    /// The number of the base.
    pub(crate) fn base(&self) -> i32 {
        self.base
    }

    /// Whether a filter hides content in this transaction.
    pub(crate) fn is_filtered(&self) -> bool {
        self.is_filtered
    }

    /// From now on shows only these chunks and sections, by the views of `scope.sql`, instead of what an
    /// earlier call showed. Lists with the same label are equal: a connection that has them keeps them.
    pub(crate) async fn show_only(
        &mut self,
        chunks: &[i64],
        sections: &[i64],
        label: &str,
    ) -> Sql<()> {
        let there = self.one("SELECT to_regclass('pg_temp.admitted') IS NOT NULL", &[]).await?;
        if !there.try_get::<_, bool>(0)? {
            self.batch(include_str!("scope.sql")).await?;
        }
        let path = format!("SET LOCAL search_path = pg_temp, pikerag_base, {};", self.types);
        self.batch(&path).await?;
        self.is_filtered = true;
        if self.exists("SELECT 1 FROM pg_temp.admitted_of WHERE label = $1", &[&label]).await? {
            return Ok(());
        }
        self.batch("TRUNCATE pg_temp.admitted, pg_temp.admitted_sections, pg_temp.admitted_of")
            .await?;
        let sql = "INSERT INTO pg_temp.admitted SELECT unnest($1::bigint[])";
        self.run(sql, &[&chunks]).await?;
        let sql = "INSERT INTO pg_temp.admitted_sections SELECT unnest($1::bigint[])";
        self.run(sql, &[&sections]).await?;
        self.run("INSERT INTO pg_temp.admitted_of VALUES ($1)", &[&label]).await?;
        // Without statistics, the planner takes each list for a long one.
        self.batch("ANALYZE pg_temp.admitted; ANALYZE pg_temp.admitted_sections;").await
    }

    /// Fails unless the lease still exists, which then cannot end before this transaction. Renewing it
    /// does not wait: this lock keeps the row from deletion only. If the worker falls silent within
    /// the transaction, the server ends it.
    pub(crate) async fn hold_lease(&self, lease: Lease) -> Sql<()> {
        self.batch(SILENCE).await?;
        let sql = "SELECT 1 FROM pikerag_base.job_leases WHERE fence = $1 FOR KEY SHARE";
        match self.exists(sql, &[&lease.fence.cast_signed()]).await? {
            true => Ok(()),
            false => Err(Fault::Store(StoreError::LeaseLost { job: lease.job })),
        }
    }

    /// All rows of a statement.
    pub(crate) async fn all(&self, sql: &str, params: &[Param<'_>]) -> Sql<Vec<Row>> {
        let client = self.client()?;
        let statement = client.prepare_cached(&self.marked(sql)).await?;
        Ok(client.query(&statement, params).await?)
    }

    /// The one row of a statement.
    pub(crate) async fn one(&self, sql: &str, params: &[Param<'_>]) -> Sql<Row> {
        let client = self.client()?;
        let statement = client.prepare_cached(&self.marked(sql)).await?;
        Ok(client.query_one(&statement, params).await?)
    }

    /// The row of a statement, if there is one; more than one is an error.
    pub(crate) async fn optional(&self, sql: &str, params: &[Param<'_>]) -> Sql<Option<Row>> {
        let client = self.client()?;
        let statement = client.prepare_cached(&self.marked(sql)).await?;
        Ok(client.query_opt(&statement, params).await?)
    }

    /// Whether a statement has any row.
    pub(crate) async fn exists(&self, sql: &str, params: &[Param<'_>]) -> Sql<bool> {
        Ok(!self.all(sql, params).await?.is_empty())
    }

    /// The number in the only row of a statement.
    pub(crate) async fn number(&self, sql: &str, params: &[Param<'_>]) -> Sql<i64> {
        Ok(self.one(sql, params).await?.try_get(0)?)
    }

    /// Runs a statement that changes rows. Returns their number.
    pub(crate) async fn run(&self, sql: &str, params: &[Param<'_>]) -> Sql<u64> {
        let client = self.client()?;
        let statement = client.prepare_cached(&self.marked(sql)).await?;
        Ok(client.execute(&statement, params).await?)
    }

    /// The rows of a statement as they arrive, for results that may be larger than memory.
    pub(crate) async fn stream(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Sql<BoxStream<'static, Sql<Row>>> {
        let client = self.client()?;
        let statement = client.prepare_cached(&self.marked(sql)).await?;
        let rows = client.query_raw(&statement, params.iter().copied()).await?;
        Ok(rows.map(|row| Ok(row?)).boxed())
    }

    /// Runs statements without parameters, and without keeping their plans.
    pub(crate) async fn batch(&self, sql: &str) -> Sql<()> {
        Ok(self.client()?.batch_execute(sql).await?)
    }

    /// Makes the changes permanent. Nothing can be run afterwards.
    pub(crate) async fn commit(&self) -> Sql<()> {
        self.batch("COMMIT").await?;
        self.is_over.store(true, Ordering::Release);
        Ok(())
    }

    fn client(&self) -> Sql<&Object> {
        self.client.as_ref().ok_or_else(|| Fault::content("the transaction is over"))
    }

    /// A plan belongs to one set of views, and the connection keeps plans by their text.
    fn marked<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        match self.is_filtered {
            true => Cow::Owned(format!("/* filtered */ {sql}")),
            false => Cow::Borrowed(sql),
        }
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        if self.is_over.load(Ordering::Acquire) {
            return;
        }
        // A rollback would drop the views and lists of filters, which the next question uses.
        let end = if self.is_filtered { "COMMIT" } else { "ROLLBACK" };
        self.runtime.spawn(async move {
            if client.batch_execute(end).await.is_err() {
                // The server ends the transaction with the connection.
                drop(Object::take(client));
            }
        });
    }
}
